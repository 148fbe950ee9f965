"""Time against the number of points."""

import time
from dataclasses import dataclass

import numpy as np
from kdegraph import (
    knn_graph,
    similarity_graph,
    spectral_clustering,
    spectrum,
    vertices_in_clusters,
)

from ..pipeline import N_EIGENVALUES, TOLERANCE
from .full import sparse_full_graph

# Numbers of points that are timed, in the order of an experiment.
TIMED_SIZES = (500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
FULL_TIMED_UP_TO = 5000  # points; the full graph of more needs gigabytes and minutes


@dataclass(frozen=True)
class Timing:
    """Seconds of one method at one size.

    Attributes
    ----------
    method : str
        A key of `ALL_METHODS`.
    n : int
    seconds : dict
        Of the stages "graph", "eigenvalues" and "clusters".
    n_edges : int
    """

    method: str
    n: int
    seconds: dict
    n_edges: int

    @property
    def total(self):
        """Seconds of all stages."""
        return sum(self.seconds.values())


@dataclass(frozen=True, eq=False)
class Series:
    """What to measure.

    Attributes
    ----------
    methods : tuple of str
    sizes : tuple of int
    points : callable
        Takes n, returns an (n, d) array.
    bandwidths : dict
        Key of a method to its `Bandwidth`.
    n_rounds, n_neighbors, n_clusters, seed : int
    """

    methods: tuple
    sizes: tuple
    points: object
    bandwidths: dict
    n_rounds: int
    n_neighbors: int
    n_clusters: int
    seed: int


def measure(series, progress, publish):
    """Measure every method at every size, small sizes first.

    Parameters
    ----------
    series : Series
    progress : callable
        Called as ``progress(stage, fraction)``; may raise `kdegraph.Cancelled`.
    publish : callable
        Called with the list of `Timing` so far.

    Returns
    -------
    list of Timing
    """
    runs = [
        (n, method)
        for n in series.sizes
        for method in series.methods
        if method != "full" or n <= FULL_TIMED_UP_TO
    ]
    timings, shares = [], _shares(runs)
    for (n, method), begin, end in zip(runs, shares[:-1], shares[1:], strict=True):

        def report(stage, fraction, begin=begin, end=end, n=n, method=method):
            done = begin + (end - begin) * min(max(fraction, 0.0), 1.0)
            progress(f"{n:,} points, {method}: {stage}", done)

        report("points", 0.0)
        timings.append(_timed(method, series, series.points(n), report))
        publish(list(timings))
    return timings


def _shares(runs):
    """How much of all the work is done before each run, and 1 at the end.

    The time of the full graph grows with the square of the points; 1,000 of them take about as long
    as with the other methods.
    """
    work = [n * n / 1000 if method == "full" else n for n, method in runs]
    done = np.concatenate([[0.0], np.cumsum(work)])
    return done / max(done[-1], 1.0)


def _timed(method, series, X, progress):
    n_clusters = min(series.n_clusters, len(X))
    begin = time.perf_counter()
    graph = _graph(method, series, X, progress)
    built = time.perf_counter()
    k = min(max(N_EIGENVALUES, n_clusters), max(1, len(vertices_in_clusters(graph))))
    found = spectrum(
        graph, k, seed=series.seed, tol=TOLERANCE, smallest_component="auto", progress=progress
    )
    solved = time.perf_counter()
    spectral_clustering(
        graph, n_clusters, seed=series.seed, spectrum=found, points=X, progress=progress
    )
    seconds = {
        "graph": built - begin,
        "eigenvalues": solved - built,
        "clusters": time.perf_counter() - solved,
    }
    return Timing(method, len(X), seconds, getattr(graph, "adjacency", graph).nnz // 2)


def _graph(method, series, X, progress):
    if method in ("kde", "other"):
        width = series.bandwidths[method].arguments
        return similarity_graph(
            X, **width, n_rounds=series.n_rounds, seed=series.seed, progress=progress
        )
    if method == "knn":
        return knn_graph(X, min(series.n_neighbors, len(X) - 1), progress=progress)
    return sparse_full_graph(X, series.bandwidths["full"], progress)
