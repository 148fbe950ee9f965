"""Progress of functions that take a while: stages, fractions that rise, and cancelling."""

import functools
import itertools

import kdegraph
import pytest
from kdegraph import Cancelled, datasets, similarity_graph
from kdegraph.automatic import count_clusters
from kdegraph.decision import Settings, decide
from promises import check_reports
from tiled import lazy, rings

X = datasets.make("moons", n=6000, seed=0).X
SPECTRAL = ["components", "eigenvectors"]
SEEDS = itertools.count()  # each is used once, as clusters that are in a folder are not found again


@functools.cache
def tiled():
    """A graph in a folder."""
    return similarity_graph(lazy(rings()), sigma=0.12, seed=3)


def decision(**how):
    """The clusters of all points by scales that some of them have decided about."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kdegraph.decision.MAX_COMPARED", 300)
        return decide(X[:500], Settings("auto", {}, {}), 0, **how)


@pytest.fixture(scope="module")
def graph():
    return similarity_graph(X, sigma=0.15, n_rounds=20, seed=0)


CALLS = {
    "full graph": (
        lambda _, **how: kdegraph.full_graph(X[:5000], sigma=0.1, **how),
        ["full graph"],
    ),
    "k-NN graph": (lambda _, **how: kdegraph.knn_graph(X, **how), ["nearest neighbors"]),
    "by tiles": (
        lambda _, **how: similarity_graph(lazy(X), sigma=0.1, seed=0, **how),
        ["points", "tree", "kernel degrees", "samples", "graph"],
    ),
    "spectrum": (lambda graph, **how: kdegraph.spectrum(graph, 8, **how), SPECTRAL),
    "approximate spectrum": (
        lambda graph, **how: kdegraph.spectrum(graph, 8, approximate=True, **how),
        SPECTRAL,
    ),
    "clusters": (
        lambda graph, **how: kdegraph.spectral_clustering(graph, 7, seed=0, **how),
        [*SPECTRAL, "k-means"],
    ),
    "layout": (lambda graph, **how: kdegraph.graph_layout(graph, **how), [*SPECTRAL, "layout"]),
    "clusters by tiles": (
        lambda _, **how: kdegraph.spectral_clustering(tiled(), 2, seed=next(SEEDS), **how),
        [*SPECTRAL, "k-means"],
    ),
    "scales": (lambda _, **how: kdegraph.cluster_scales(X[:200], seed=0, **how), ["scales"]),
    "numbers": (
        lambda graph, **how: kdegraph.cluster_numbers(graph, range(2, 6), **how),
        ["numbers"],
    ),
    "decision": (
        lambda _, **how: decision(**how),
        ["number of clusters", "scales", "clusters"],
    ),
    "number of clusters": (lambda _, **how: count_clusters(X[:300], seed=0, **how), None),
}


@pytest.mark.parametrize(("call", "expected"), CALLS.values(), ids=CALLS)
def test_reports_rise_within_each_stage_and_each_stage_can_be_cancelled(graph, call, expected):
    reports = []
    call(graph, progress=lambda *report: reports.append(report))
    stages = list(dict.fromkeys(stage for stage, _ in reports))
    if expected is not None:  # else several small graphs are made one after the other
        assert check_reports(reports) == stages == expected
        not_told = (*SPECTRAL, "k-means", "clusters", "scales", "numbers")
        assert reports[-1][1] == 1.0 or stages[-1] in not_told
        if "eigenvectors" in stages:  # each product with the matrix
            assert [stage for stage, _ in reports].count("eigenvectors") > 10
    for at in stages:
        reached = []

        def cancel(stage, fraction, at=at, reached=reached):
            if stage == at:
                reached.append(at)
                raise Cancelled(at)

        # Of tiles, a thread that is cancelled by another one may be the first to end.
        with pytest.raises(Cancelled, match=None if "tree" in stages else at):
            call(graph, progress=cancel)
        assert reached
