"""Place points in many dimensions on a map, by the edges of their first graph."""

import weakref

from kdegraph import graph_layout

from ..projection import MAP, first_axes, has_map, set_map

MAX_POINTS = 100_000  # four seconds on two cores, with 30 edges per point


class Cartographer:
    """Make the map of points in more than three dimensions after their first result, as a job.

    Points stay where they are on it when the graph changes. The plots turn to the map when it is
    ready, unless other axes have been chosen meanwhile.
    """

    def __init__(self, session):
        self._session, self._state = session, session.state
        self._job = session.latest(self._draw, deliver=self._take)
        self._requested = lambda: None  # refers weakly to the graph whose layout was requested
        self._state.param.watch(lambda *events: self._request(), "result")

    def _request(self):
        result, outcome = self._state.result, self._state.outcome("kde")
        if outcome is None or result.coarse:
            return
        dataset = result.request.dataset
        wanted = dataset.image is None and dataset.X.shape[1] > 3
        if not wanted or dataset.n_points > MAX_POINTS or has_map(dataset):
            return
        if self._requested() is not outcome.graph:  # a result comes once for each of its methods
            self._requested = weakref.ref(outcome.graph)
            self._job.request((dataset, outcome.graph))

    @staticmethod
    def _draw(request, progress, publish):
        _, graph = request
        return graph_layout(graph, progress=progress)

    def _take(self, request, places):
        dataset, _ = request
        before = first_axes(dataset)
        set_map(dataset, places)
        state = self._state
        if state.shown is not dataset:
            return
        with self._session.settling:
            state.offer_axes(dataset)
            if (state.horizontal, state.vertical) == before:
                state.param.update(horizontal=MAP[0], vertical=MAP[1])
