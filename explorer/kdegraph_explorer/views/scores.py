"""The numbers: size, time and quality of both graphs."""

from ..drawing.palette import METHOD
from ..pipeline import METHODS
from .base import View, card, number
from .markup import TABLE_STYLE, Markup, Text, html_table

EXPLAIN = {
    "Edges": "Number of edges of the graph",
    "Mean degree": "Edges per point, counted at both ends",
    "Megabytes": "Memory of the graph",
    "Isolated points": "Points without any edge; each takes the cluster of its nearest other point",
    "Points in small components": "Too few to be a cluster, they reach no other point: outliers, which take the cluster of the nearest one",
    "Seconds: graph": "Time to build the graph when it was last built",
    "Seconds: eigenvalues": "Time to find the smallest eigenvalues and their eigenvectors",
    "Seconds: clusters": "Time to group the points by the eigenvectors",
    "Largest conductance": "Share of a cluster's edge weight that leaves it, worst cluster; 0 is perfect, 1 is no cluster at all",
    "Adjusted Rand index": "Agreement with the true labels: 1 is perfect, 0 is chance",
}


def score_rows(state, methods):
    """All scores and seconds that are known as a list of (name, a value for each of the methods);
    None where there is no value yet.
    """
    outcomes = [state.outcome(method) for method in methods]
    columns = [
        {}
        if found is None
        else {
            **found.scores,
            **{f"Seconds: {stage}": seconds for stage, seconds in found.seconds.items()},
        }
        for found in outcomes
    ]
    return [
        (name, *(column.get(name) for column in columns))
        for name in EXPLAIN
        if any(name in column for column in columns)
    ]


def score_table(methods, rows):
    """Rows of `score_rows` as an HTML table, with a column for each of the methods (key to name)."""
    columns = [colored(method, name) for method, name in methods.items()]
    explained = ((name, map(number, values), EXPLAIN[name]) for name, *values in rows)
    return html_table(("", *columns), explained)


def colored(method, name):
    """A name behind a dot in the color of a method, as HTML."""
    return Markup('<i style="background:{}"></i>{}').format(METHOD[method], name)


class ScoresView(View):
    """A table with a column for each graph."""

    key, label, area = "scores", "Scores", "bottom"
    width = 2

    def __init__(self, session, **params):
        super().__init__(session, **params)
        self._table = Text(
            css_classes=["kg-scores", "kg-scroll"],
            stylesheets=[TABLE_STYLE],
            sizing_mode="stretch_both",
            margin=(0, 8),
        )
        self._body = card(
            "Scores", "both graphs in numbers; hover a row for its meaning", self._table
        )
        self.state.param.watch(lambda *events: self._update(), ["result", "shown"])
        self._update()

    def rows(self):
        """The table as a list of (name, value of the KDE graph, value of the k-NN graph); None
        where there is no value yet.
        """
        return [row for row in score_rows(self.state, METHODS) if row[0] != "Megabytes"]

    def _update(self):
        self._table.content = score_table(METHODS, self.rows())
