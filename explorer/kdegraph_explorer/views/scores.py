"""The numbers: size, time and quality of both graphs."""

from html import escape

from ..drawing.palette import METHOD
from ..pipeline import METHODS
from .base import View, card, number
from .markup import TABLE_STYLE, Markup

EXPLAIN = {
    "Edges": "Number of edges of the graph",
    "Mean degree": "Edges per point, counted at both ends",
    "Megabytes": "Memory of the graph",
    "Isolated points": "Points without any edge; each takes the cluster of its nearest other point",
    "Seconds: graph": "Time to build the graph when it was last built",
    "Seconds: eigenvalues": "Time to find the smallest eigenvalues and their eigenvectors",
    "Seconds: clusters": "Time to group the points by the eigenvectors",
    "Largest conductance": "Share of a cluster's edge weight that leaves it, worst cluster; 0 is perfect, 1 is no cluster at all",
    "Adjusted Rand index": "Agreement with the true labels: 1 is perfect, 0 is chance",
}


class ScoresView(View):
    """A table with a column for each graph."""

    key = "scores"
    label = "Scores"
    width = 2

    def __init__(self, session, **params):
        super().__init__(session, **params)
        self._table = Markup(css_classes=["kg-scores", "kg-scroll"], stylesheets=[TABLE_STYLE], sizing_mode="stretch_both", margin=(0, 8))
        self._body = card("Scores", "both graphs in numbers; hover a row for its meaning", self._table)
        self.state.param.watch(lambda *events: self._update(), ["result", "shown"])
        self._update()

    def __panel__(self):
        return self._body

    def rows(self):
        """The table as a list of (name, value of the KDE graph, value of the k-NN graph); None where there is no value yet."""
        columns = []
        for method in METHODS:
            outcome = self.state.outcome(method)
            column = {}
            if outcome is not None:
                column = {**outcome.scores, **{f"Seconds: {stage}": seconds for stage, seconds in outcome.seconds.items()}}
            columns.append(column)
        return [
            (name, *(column.get(name) for column in columns))
            for name in EXPLAIN
            if name != "Megabytes" and any(name in column for column in columns)
        ]

    def _update(self):
        head = "".join(f'<th scope="col"><i style="background:{METHOD[method]}"></i>{name}</th>' for method, name in METHODS.items())
        body = "".join(
            f'<tr title="{escape(EXPLAIN[name])}"><th scope="row">{name}</th>'
            + "".join(f"<td>{number(value)}</td>" for value in values)
            + "</tr>"
            for name, *values in self.rows()
        )
        self._table.html = f"<table><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>"
