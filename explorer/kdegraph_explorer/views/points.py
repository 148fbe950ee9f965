"""Show the points with the sampled edges, and the same for the k-NN graph."""

from functools import partial

from ..results import METHODS
from .base import View, beside, figure_pane
from .describe import clusters
from .plots import PLOTTED, LinkedPlots


class PointsView(View):
    """Show both graphs side by side: points and edges, linked and colored by cluster."""

    key, label, area = "points", "Graphs", "top"
    colored = True

    def __init__(self, session):
        super().__init__(session)
        self._plots = LinkedPlots(
            session,
            {method: f"{name}: points and edges" for method, name in METHODS.items()},
            self._graph,
            colored=True,
        )
        self.frame = self._plots.frame
        sentences = {"kde": "edges sampled by similarity", "knn": "edges to the nearest neighbors"}
        self._body = beside(
            *(
                self.card(
                    METHODS[method],
                    sentences[method],
                    figure_pane(figure, f"{method}-points"),
                    describe=partial(clusters, self.state, method),
                )
                for method, figure in self._plots.figures.items()
            ),
            min_height=240,
        )
        self.follow(self._plots.update, *PLOTTED, "early")

    def _graph(self, method):
        outcome = self.state.outcome(method)
        graph = self.state.early if method == "kde" and self.state.early is not None else outcome
        edges = getattr(graph, "adjacency", None) if self.state.show_edges else None
        return edges, getattr(outcome, "colors", None)
