"""Clusters of graphs in folders: those of the same graph in memory, whoever computes them and
however often they are interrupted.
"""

import shutil
from types import SimpleNamespace

import dask.array as da
import kdegraph
import numpy as np
import pytest
from kdegraph import TiledGraph, datasets, similarity_graph, spectral_clustering, spectrum
from kdegraph.tiles import matrix
from sklearn.metrics import adjusted_rand_score
from tiled import N, interrupt, lazy, rings, touching, with_outliers, written

BLOBS = touching()


def pixels():
    picture = np.zeros((100, 100, 3), np.uint8)
    picture[30:60, 20:80] = 200
    picture[60:, :, 1] = 120
    noise = np.random.default_rng(0).integers(0, 10, picture.shape, dtype=np.uint8)
    return datasets.image_points(picture + noise, max_pixels=None).X


# A graph with groups along its edges, and most vertices in one component.
CONNECTED = {"sigma": 0.15, "n_rounds": 20, "seed": 3}

CASES = {
    "narrow kernel": (rings(), 2, {"sigma": 0.02, "n_rounds": 20}, {}),
    "local and alpha": (rings(), 2, {"sigma": "local", "alpha": 0.5, "perplexity": 40}, {}),
    "outliers": (with_outliers(4), 2, {"sigma": 0.3}, {}),
    "outliers are clusters": (with_outliers(4), 3, {"sigma": 0.3}, {"smallest_component": 2}),
    "degree": (with_outliers(4), 2, {"sigma": 0.5}, {"embedding": "degree"}),
    "plain": (BLOBS, 9, {"sigma": 0.5}, {"embedding": "plain", "assign_labels": "cluster_qr"}),
    "pixels": (pixels(), 3, {"sigma": 0.05}, {}),
    "one cluster": (rings(), 1, {"sigma": 0.12}, {}),
    "automatic number": (BLOBS, "auto", {"sigma": 0.5}, {}),
    "components, automatic number": (with_outliers(4), "auto", {"sigma": 0.3}, {}),
}


@pytest.mark.parametrize(("X", "k", "of_graph", "of_clusters"), CASES.values(), ids=CASES)
def test_same_clusters_as_in_memory(X, k, of_graph, of_clusters):
    tiled = similarity_graph(lazy(X), seed=3, **of_graph)
    found = spectral_clustering(tiled, k, seed=0, **of_clusters)
    expected = spectral_clustering(tiled.compute(), k, seed=0, **of_clusters)
    assert isinstance(found.labels, da.Array)
    labels = found.labels.compute()
    assert labels.dtype == np.int32
    assert adjusted_rand_score(labels, expected.labels) > 0.995
    assert found.n_clusters == expected.n_clusters
    numbers, first = np.unique(labels, return_index=True)
    np.testing.assert_array_equal(numbers, np.arange(expected.n_clusters))
    assert np.all(np.diff(first) > 0)  # numbered by first members
    np.testing.assert_array_equal(found.isolated, expected.isolated)
    np.testing.assert_allclose(
        found.conductances, kdegraph.conductance(tiled.compute(), labels), rtol=1e-9, atol=1e-12
    )
    for name in ("n_connected_components", "smallest_component", "converged"):
        assert getattr(found.spectrum, name) == getattr(expected.spectrum, name)


@pytest.mark.parametrize("change", ["spectrum", "points", "few"])
def test_what_needs_the_graph_in_memory_has_the_same_labels(change):
    X = rings()[:: 3 if change == "few" else 1]
    tiled = similarity_graph(lazy(X), sigma=0.12, seed=3)
    graph = tiled.compute()
    options = {
        "spectrum": {"spectrum": spectrum(graph, 4, omit_isolated=True)},
        "points": {"points": X},
    }.get(change, {})
    found = spectral_clustering(tiled, 2, seed=0, **options)
    expected = spectral_clustering(graph, 2, seed=0, **options)
    assert isinstance(found.labels, da.Array)
    np.testing.assert_array_equal(found.labels.compute(), expected.labels)


def test_a_graph_without_edges_is_one_cluster():
    X = np.arange(6_000.0)[:, None]
    tiled = similarity_graph(lazy(X), sigma=1e-3, seed=3)
    assert tiled.n_edges == 0
    assert not spectral_clustering(tiled, 1, seed=0).labels.compute().any()
    with pytest.raises(ValueError, match="n_clusters must be at most"):
        spectral_clustering(tiled, 6_001)
    with pytest.raises(ValueError, match="n_clusters must be 1 for a graph without edges"):
        spectral_clustering(tiled, 2, seed=0)


@pytest.fixture(scope="module")
def expected():
    """Labels and eigenvalues of the clusters that tests compute in other ways, or interrupt."""
    found = spectral_clustering(similarity_graph(lazy(BLOBS), **CONNECTED), 3, seed=0)
    return found.labels.compute(), found.spectrum.eigenvalues


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of that graph, which tests copy."""
    store = tmp_path_factory.mktemp("made") / "graph"
    similarity_graph(lazy(BLOBS), **CONNECTED, store=store)
    return store


@pytest.fixture
def tiled(made, tmp_path):
    """That graph, in a folder that tests may change."""
    shutil.copytree(made, tmp_path / "graph")
    return TiledGraph.load(tmp_path / "graph")


@pytest.mark.usefixtures("in_another_process")
def test_labels_do_not_depend_on_who_computes_them(tiled, expected):
    labels = spectral_clustering(tiled, 3, seed=0).labels.compute()
    np.testing.assert_array_equal(labels, expected[0])


def test_a_node_has_vertices_of_one_run_and_one_component():
    component = np.random.default_rng(0).integers(0, 3, 50)
    folder = SimpleNamespace(read=lambda step, name: component)
    nodes = matrix._number_nodes(folder, np.array([0, 20, 35, 50]))
    run = np.repeat([0, 1, 2], [20, 15, 15])
    assert sorted(set(nodes)) == list(range(9))
    assert len(set(zip(nodes, run, component, strict=True))) == 9


# ---------------------------------------------------------------- interruptions


TASKS = {
    "matrix": "matrix._write_walk",
    "groups": "matrix._group_tile",
    "coarse graph": "matrix._sum_tile",
    "start": "spectrum._prolong",
    "products": "spectrum._recur",
    "images": "spectrum._multiply",
    "overlaps": "spectrum._overlap",
    "embedding": "clusters._embed_tile",
    "labels": "clusters._label_tile",
    "cut": "clusters._cut_tile",
}


def interrupted(tiled, task):
    interrupt(f"kdegraph.tiles.{TASKS[task]}", lambda: spectral_clustering(tiled, 3, seed=0))


@pytest.mark.parametrize("task", TASKS)
def test_interrupted_clusters_are_completed(task, tiled, expected, tmp_path):
    interrupted(tiled, task)
    before = written(tmp_path)
    found = spectral_clustering(TiledGraph.load(tmp_path / "graph"), 3, seed=0)
    np.testing.assert_array_equal(found.labels.compute(), expected[0])
    np.testing.assert_array_equal(found.spectrum.eigenvalues, expected[1])
    after = written(tmp_path)
    kept = [name for name in before if "/clusters" not in name and name in after]
    assert kept
    assert all(after[name] == before[name] for name in kept)


def test_clusters_that_are_there_are_read(tiled, tmp_path):
    first = spectral_clustering(tiled, 3, seed=0)
    before = written(tmp_path)
    again = spectral_clustering(tiled, 3, seed=0)
    np.testing.assert_array_equal(again.labels.compute(), first.labels.compute())
    assert written(tmp_path) == before
    (folder,) = (tmp_path / "graph").glob("clusters-*")
    names = {file.name.partition(".")[0] for file in folder.iterdir()}
    assert len(names) == 4  # what it is, the result, the labels and one block of vectors
    other = spectral_clustering(tiled, 2, seed=0)
    assert other.n_clusters == 2
    assert written(tmp_path).items() > before.items()


def test_a_damaged_tile_is_named(tiled):
    interrupted(tiled, "products")
    damaged = tiled.path / "walk-2.columns.npy"
    contents = bytearray(damaged.read_bytes())
    contents[-5] ^= 1
    damaged.write_bytes(contents)
    with pytest.raises(ValueError, match=r"walk-2\.columns\.npy' is damaged"):
        spectral_clustering(tiled, 3, seed=0)


def test_what_does_not_settle_is_said(tiled, monkeypatch):
    monkeypatch.setattr("kdegraph.tiles.spectrum.has_settled", lambda *_: False)
    with pytest.warns(match="did not converge"):
        found = spectral_clustering(tiled, 2, seed=0)
    assert not found.spectrum.converged
    with pytest.warns(match="did not converge"):
        spectral_clustering(tiled, 2, seed=0)


# ---------------------------------------------------------------- the estimator


@pytest.mark.parametrize(
    "options",
    [
        {"n_clusters": "auto", "alpha": 0.5},
        {"sigma": 0.5, "embedding": "row", "kernel": "laplacian"},
    ],
)
def test_the_estimator_finds_the_same_clusters(options):
    X, options = touching(4_000), {"n_clusters": 9, "random_state": 0} | options
    lazily = kdegraph.KDESpectralClustering(**options).fit(lazy(X))
    eagerly = kdegraph.KDESpectralClustering(**options).fit(X)
    assert isinstance(lazily.labels_, da.Array)
    assert isinstance(lazily.affinity_matrix_, da.Array)
    assert isinstance(lazily.graph_, TiledGraph)
    assert lazily.n_features_in_ == 2
    assert lazily.n_clusters_ == eagerly.n_clusters_
    np.testing.assert_array_equal(lazily.confidence_, eagerly.confidence_)
    np.testing.assert_array_equal(lazily.sigma_, eagerly.sigma_)
    # The labels in memory are those of several replicates, where no sigma is given.
    of_one = {"n_clusters": eagerly.n_clusters_} | eagerly._scale._asdict()
    one = kdegraph.KDESpectralClustering(**options | of_one).fit(X)
    assert adjusted_rand_score(lazily.labels_.compute(), one.labels_) > 0.995
    assert adjusted_rand_score(lazily.labels_.compute(), eagerly.labels_) > 0.99
    new = touching(500, seed=1)
    assert adjusted_rand_score(lazily.predict(new), eagerly.predict(new)) > 0.99


@pytest.mark.parametrize("chunk", [1, 3])
@pytest.mark.parametrize("sigma", [1.0, "moderate"])
def test_identical_points_have_the_clusters_of_one_graph_in_memory(chunk, sigma):
    X = np.repeat([[0.0], [1.0]], [7, 1], axis=0)
    model = kdegraph.KDESpectralClustering(2, sigma=sigma, n_rounds=5, random_state=0)
    expected = model.fit(X).labels_
    found = model.fit(da.from_array(X, chunks=(chunk, 1))).labels_.compute()
    np.testing.assert_array_equal(found, expected)


def test_the_estimator_refuses_what_is_wrong_with_a_dask_array():
    X = touching()
    X[5_000, 1] = np.nan
    with pytest.raises(ValueError, match=r"X\[5000, 1\] is nan"):
        kdegraph.KDESpectralClustering(3).fit(lazy(X))
    with pytest.raises(ValueError, match="n_clusters must be"):
        kdegraph.KDESpectralClustering(N + 1).fit(lazy(touching()))
