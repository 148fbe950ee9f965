"""Measure time against the number of points."""

import time
from dataclasses import dataclass

import numpy as np
from kdegraph import knn_graph, similarity_graph, spectral_clustering, spectrum
from kdegraph.clustering import vertices_in_clusters

from ..limits import check
from ..stages import N_EIGENVALUES, TOLERANCE, sparse_full_graph

# Numbers of points that are timed, in the order of an experiment.
TIMED_SIZES = (500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
STAGES = ("graph", "eigenvalues", "clusters")
FULL_TIMED_UP_TO = 5000  # points; the full graph of more needs gigabytes and minutes


@dataclass(frozen=True)
class Timing:
    """The seconds of one method at one size.

    `method` is a key of `ALL_METHODS`; `seconds` are those of the `STAGES`.
    """

    method: str
    n: int
    seconds: dict
    n_edges: int

    @property
    def total(self):
        """Return the seconds of all stages."""
        return sum(self.seconds.values())


@dataclass(frozen=True, eq=False)
class Series:
    """The methods and sizes to measure, with the parameters of the graphs.

    ``points(n)`` returns an (n, d) array; `bandwidths` has the `Bandwidth` of each method by its
    key.
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
    """Measure every method at every size, small sizes first; return a list of `Timing`.

    `publish` is called with the list so far.
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
        check("points", n, "the next size has", "measure up to fewer points")
        timings.append(_timed(method, series, series.points(n), report))
        publish(list(timings))
    return timings


def _shares(runs):
    """Return how much of all the work is done before each run, and 1 at the end.

    The time of the full graph grows with the square of the points; 1,000 of them take about as long
    as with the other methods.
    """
    work = [n * n / 1000 if method == "full" else n for n, method in runs]
    done = np.concatenate([[0.0], np.cumsum(work)])
    return done / max(done[-1], 1.0)


def _timed(method, series, X, progress):
    n_clusters = min(series.n_clusters, len(X))
    moments = [time.perf_counter()]
    graph = _graph(method, series, X, progress)
    moments.append(time.perf_counter())
    k = min(max(N_EIGENVALUES, n_clusters), max(1, len(vertices_in_clusters(graph))))
    found = spectrum(
        graph, k, seed=series.seed, tol=TOLERANCE, smallest_component="auto", progress=progress
    )
    moments.append(time.perf_counter())
    spectral_clustering(
        graph, n_clusters, seed=series.seed, spectrum=found, points=X, progress=progress
    )
    moments.append(time.perf_counter())
    seconds = dict(zip(STAGES, np.diff(moments).tolist(), strict=True))
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


WHERE = "on a computer with two cores, for moons with σ = 0.1, L = 20 and k = 10 neighbors"
RECORDED = tuple(
    Timing(method, n, dict(zip(STAGES, seconds, strict=True)), n_edges)
    for method, n, n_edges, *seconds in (
        ("kde", 500, 4193, 0.0027, 0.0039, 0.0008),
        ("other", 500, 1669, 0.0031, 0.0063, 0.0008),
        ("knn", 500, 2918, 0.0011, 0.0045, 0.0008),
        ("full", 500, 16437, 0.0035, 0.0042, 0.0083),
        ("kde", 1000, 12244, 0.0038, 0.0044, 0.0009),
        ("other", 1000, 3246, 0.0046, 0.0074, 0.0009),
        ("knn", 1000, 6114, 0.0014, 0.0049, 0.0008),
        ("full", 1000, 66432, 0.0097, 0.0082, 0.0093),
        ("kde", 2000, 30685, 0.0069, 0.0108, 0.0018),
        ("other", 2000, 6478, 0.0073, 0.017, 0.0011),
        ("knn", 2000, 12274, 0.0028, 0.0131, 0.0011),
        ("full", 2000, 266996, 0.0399, 0.02, 0.0154),
        ("kde", 5000, 89244, 0.0089, 0.0306, 0.0032),
        ("other", 5000, 16337, 0.015, 0.0372, 0.0035),
        ("knn", 5000, 30112, 0.0059, 0.0284, 0.0018),
        ("full", 5000, 1673450, 1.1926, 0.126, 0.0432),
        ("kde", 10000, 188870, 0.0153, 0.0229, 0.0223),
        ("other", 10000, 33091, 0.0348, 0.0913, 0.0024),
        ("knn", 10000, 59331, 0.0109, 0.0541, 0.0034),
        ("kde", 20000, 388624, 0.0253, 0.0422, 0.0075),
        ("other", 20000, 66412, 0.0558, 0.2936, 0.004),
        ("knn", 20000, 116824, 0.0166, 0.1176, 0.0058),
        ("kde", 50000, 988471, 0.0617, 0.1143, 0.0653),
        ("other", 50000, 167222, 0.1379, 1.2154, 0.0382),
        ("knn", 50000, 289378, 0.0422, 0.3343, 0.0405),
        ("kde", 100000, 1988331, 0.1097, 0.1667, 0.1105),
        ("other", 100000, 335379, 0.2756, 5.7343, 0.0161),
        ("knn", 100000, 575563, 0.1005, 1.1662, 0.0342),
    )
)
