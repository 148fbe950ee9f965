"""Show size, time and quality of both graphs in numbers."""

import numpy as np
from kdegraph.votes import SURE

from ..drawing.palette import MARKERS, METHOD
from ..results import METHODS
from .base import View, number
from .markup import Markup, html_table, styled_text

CONDUCTANCE = "Largest conductance"
STABILITY = "Least stability"
DOUBTFUL = "Doubtful points"
EXPLANATIONS = {  # of every row, in order: quality, size of the graph, time
    "Adjusted Rand index": "Agreement with the true labels: 1 is perfect, 0 is chance",
    STABILITY: "For the cluster that changes most from one draw of the neighbors to the next: the "
    "points that stay, as a share of those that are in it either time; 1 if none changes. Clusters "
    "that were edited by hand do not count",
    DOUBTFUL: f"Points that are in their computed cluster in fewer than {SURE:.0%} of several "
    "graphs, each with neighbors of its own",
    CONDUCTANCE: "Share of the similarity of a cluster's points that is with points outside, for "
    "the worst cluster; 0 is perfect, 1 is no cluster at all. All methods are judged alike, by the "
    "similarities of all pairs of points with the chosen bandwidth",
    "Edges": "Number of edges of the graph",
    "Mean degree": "Edges per point, counted at both ends",
    "Isolated points": "Points without an edge; each joins the cluster of its nearest other point",
    "Points in small components": "Outliers in components that are too small to be a cluster; "
    "they join the cluster of the nearest point outside",
    "Megabytes": "Memory of the graph",
    "Seconds: decision": "Time to decide on bandwidths and clusters, with all graphs for that",
    "Seconds: graph": "Time to build the graph when it was last built",
    "Seconds: eigenvalues": "Time to find the smallest eigenvalues and their eigenvectors",
    "Seconds: clusters": "Time to group the points by the eigenvectors",
}


def score_rows(state, methods):
    """Return all known scores and seconds: a list of (name, one value per method).

    None stands for a value that is not known yet.
    """
    columns = [_scores(state, method) for method in methods]
    return [
        (name, *(column.get(name) for column in columns))
        for name in EXPLANATIONS
        if any(name in column for column in columns)
    ]


def _scores(state, method):
    """Return the scores and seconds of a method by their names; none before it has a result."""
    outcome = state.outcome(method)
    if outcome is None:
        return {}
    seconds = {f"Seconds: {stage}": seconds for stage, seconds in outcome.seconds.items()}
    sure = {}
    if outcome.vote is not None:
        known = outcome.stability[np.isfinite(outcome.stability)]
        sure = {STABILITY: min(known, default=None), DOUBTFUL: outcome.vote.n_doubtful}
    judged = {CONDUCTANCE: conductance_words(state.judgement(method))}
    return {**outcome.scores, **seconds, **sure, **judged}


def conductance_words(judgement):
    """Return the largest conductance of a `Judgement` as text, or None without one."""
    if judgement is None:
        return None
    if np.isnan(judgement.largest):
        return "no edges"
    return "≈ " * (not judgement.exact) + f"{judgement.largest:.2g}"


def score_table(methods, rows):
    """Return rows of `score_rows` as an HTML table, with a column for each method."""
    columns = [colored(method, name) for method, name in methods.items()]
    explained = ((name, map(number, values), EXPLANATIONS[name]) for name, *values in rows)
    return html_table(("", *columns), explained)


def table_pane(*css_classes):
    """Return a place for a table, which fills its card; the CSS classes are hooks for tests."""
    options = {"sizing_mode": "stretch_both", "margin": (0, 8)}
    return styled_text("table", css_classes=list(css_classes), **options)


def colored(method, name):
    """Return a name behind the mark of a method, as HTML; its lines end between words."""
    mark = Markup('<i aria-hidden="true" style="color:{}">{}</i>')
    words = Markup(" ").join(map(Markup("<span>{}</span>").format, name.split()))
    return mark.format(METHOD[method], MARKERS[method][1]) + words


class ScoresView(View):
    """Show size, time and quality in a table, with a column for each graph."""

    key, label, area = "scores", "Scores", "bottom"
    width = 2

    def __init__(self, session):
        super().__init__(session)
        self._table = table_pane("kg-scores", "kg-scroll")
        self._body = self.card(
            "Scores", "both graphs; hover over a row for its meaning", self._table
        )
        self.keep_up(self._update, "result", "shown", "judgements")

    def rows(self):
        """Return the table: a list of (name, value of the KDE graph, value of the k-NN graph)."""
        return [row for row in score_rows(self.state, METHODS) if row[0] != "Megabytes"]

    def _update(self):
        self._table.content = score_table(METHODS, self.rows())
