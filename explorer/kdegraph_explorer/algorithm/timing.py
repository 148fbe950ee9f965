"""Time against the number of points."""

import time
from dataclasses import dataclass

import numpy as np
from kdegraph import knn_graph, similarity_graph, spectrum
from kdegraph.clustering.partition import spectral_clustering, vertices_in_clusters

from .full import sparse_full_graph

SIZES = (500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
FULL_UP_TO = 5000  # points; beyond, it needs gigabytes and minutes
N_EIGENVALUES = 10


@dataclass(frozen=True)
class Timing:
    """Seconds of one method at one size.

    Attributes
    ----------
    method : str
        "kde", "knn" or "full".
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
    sigma : float
    n_rounds, n_neighbors, n_clusters, seed : int
    """

    methods: tuple
    sizes: tuple
    points: object
    sigma: float
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
    timings, jobs = (
        [],
        [
            (n, method)
            for n in series.sizes
            for method in series.methods
            if method != "full" or n <= FULL_UP_TO
        ],
    )
    weights = np.cumsum([n if method != "full" else n * n / 1000 for n, method in jobs])
    for i, (n, method) in enumerate(jobs):
        begin, share = (
            (weights[i - 1] if i else 0.0) / weights[-1],
            (weights[i] - (weights[i - 1] if i else 0.0)) / weights[-1],
        )

        def report(stage, fraction, begin=begin, share=share, n=n, method=method):
            progress(
                f"{n:,} points, {method}: {stage}", begin + share * min(max(fraction, 0.0), 1.0)
            )

        report("points", 0.0)
        X = series.points(n)
        timings.append(_measure(method, series, X, report))
        publish(list(timings))
    return timings


def _measure(method, series, X, progress):
    n_clusters, moments = min(series.n_clusters, len(X)), [time.perf_counter()]
    if method == "kde":
        graph = similarity_graph(
            X, sigma=series.sigma, n_rounds=series.n_rounds, seed=series.seed, progress=progress
        )
    elif method == "knn":
        graph = knn_graph(X, min(series.n_neighbors, len(X) - 1), progress=progress)
    else:
        graph = sparse_full_graph(X, series.sigma, progress)
    moments.append(time.perf_counter())
    k = min(max(N_EIGENVALUES, n_clusters), max(1, len(vertices_in_clusters(graph))))
    found = spectrum(
        graph, k, seed=series.seed, tol=1e-3, smallest_component="auto", progress=progress
    )
    moments.append(time.perf_counter())
    spectral_clustering(
        graph, n_clusters, seed=series.seed, spectrum=found, points=X, progress=progress
    )
    moments.append(time.perf_counter())
    n_edges = getattr(graph, "adjacency", graph).nnz // 2
    return Timing(
        method,
        len(X),
        dict(zip(("graph", "eigenvalues", "clusters"), np.diff(moments).tolist(), strict=True)),
        n_edges,
    )
