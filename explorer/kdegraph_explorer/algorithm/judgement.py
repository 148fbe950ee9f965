"""Judge the clusters of all graphs alike, by their conductances in the full graph."""

import time
from dataclasses import dataclass, replace

import numpy as np
from kdegraph import kernel_sum

from ..state import State

# Products of points and coordinates up to which all kernel values of a clustering are summed, or
# replaced by expansions, in about half a second. Beyond it, a sample represents each cluster.
MAX_WORK = 4e9
MIN_ROWS = 500  # points that are used in any case
EPS = 1e-6  # relative error of the kernel sums
REST = 0.15  # seconds without a newer result after which clusters are judged


@dataclass(frozen=True, eq=False)
class Judgement:
    """The conductances of the clusters that one method found.

    `colors` (n,) are the clusters, and `bandwidth` is that of the full graph. `conductances` (k,)
    are by the numbers in `colors`: NaN for a number that is not used, and for a cluster without
    edges. They are estimates unless `exact`.
    """

    colors: np.ndarray
    bandwidth: object
    conductances: np.ndarray
    exact: bool

    @property
    def largest(self):
        """Return the largest conductance, or NaN if there are no edges."""
        known = self.conductances[np.isfinite(self.conductances)]
        return float(known.max()) if len(known) else float("nan")

    def of(self, clusters):
        """Return the conductances of some clusters, NaN for those of other graphs: float array."""
        n = len(self.conductances)
        return np.array([self.conductances[c] if c < n else np.nan for c in clusters])

    def holds_for(self, outcome, bandwidth):
        """Return whether these are the clusters of an `Outcome`, judged with this `Bandwidth`."""
        return self.colors is outcome.colors and self.bandwidth == bandwidth


def judge(graph, colors, bandwidth, progress):
    """Judge clusters in the full graph, whose kernel degrees `graph` has; return a `Judgement`.

    `colors` are the clusters, and `bandwidth` is that of `graph`, as it was chosen. `progress` is
    called before each cluster; it may raise `kdegraph.Cancelled`.
    """
    n_rows = max(MIN_ROWS, int(MAX_WORK / graph.points.size))
    sizes = np.bincount(colors)
    conductances = np.full(len(sizes), np.nan)
    rng = np.random.default_rng(0)
    per_cluster = max(1, n_rows // np.count_nonzero(sizes))
    for c in np.flatnonzero(sizes):
        progress("conductances", c / len(sizes))
        members = np.flatnonzero(colors == c)
        if n_rows < len(colors) and len(members) > per_cluster:
            members = rng.choice(members, per_cluster, replace=False)
        volume = graph.kernel_degrees[members].sum()
        if volume > 0:
            cut = _kernel_sums(graph, np.flatnonzero(colors != c), members).sum()
            conductances[c] = min(cut / volume, 1.0)
    return Judgement(colors, bandwidth, conductances, n_rows >= len(colors))


def _kernel_sums(graph, sources, targets):
    """Sum the kernel between each target and all sources, both given by their indices."""
    if not len(sources):
        return np.zeros(len(targets))
    X, sigma = graph.points, graph.sigma
    local = np.ndim(sigma) > 0
    return kernel_sum(
        X[sources],
        X[targets],
        sigma=sigma[sources] if local else sigma,
        target_sigma=sigma[targets] if local else None,
        eps=EPS,
    )


class Judge:
    """Put a `Judgement` of each method into the state after each result, as a job of its own.

    A new choice stops it.
    """

    def __init__(self, session):
        self._state = session.state
        self._job = session.latest(self._judge, deliver=self._take, grace=0.0)
        self._state.param.watch(self._follow, [*State.REQUESTED, "result", "stage"])

    def _follow(self, *events):
        if {event.name for event in events} <= set(State.REQUESTED):
            self._job.cancel()
        elif self._state.stage is None or any(event.name == "result" for event in events):
            self._request()

    def _request(self):
        state = self._state
        kde = state.outcome("kde")
        if kde is None or state.result.coarse:
            return
        new = {
            method: outcome.colors
            for method, outcome in state.result.outcomes.items()
            if state.judgement(method) is None
        }
        if new:
            self._job.request((kde, new))
        else:  # an earlier result, whose choices were undone, may still be judged
            self._job.cancel()

    @staticmethod
    def _judge(request, progress, publish):
        kde, new = request
        end = time.monotonic() + REST
        while time.monotonic() < end:
            progress("conductances", 0.0)
            time.sleep(REST / 10)
        found = {}
        for method, colors in new.items():
            same = next((j for j in found.values() if np.array_equal(j.colors, colors)), None)
            if same is None:
                found[method] = judge(kde.graph, colors, kde.bandwidth, progress)
            else:
                found[method] = replace(same, colors=colors)
        return found

    def _take(self, request, found):
        self._state.judgements = {**self._state.judgements, **found}
