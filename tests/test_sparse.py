"""Sparse points in all public functions: as dense ones, and never dense themselves."""

import re

import dask.array as da
import kdegraph
import numpy as np
import pytest
import scipy.sparse
from kdegraph.automatic import count_clusters
from kdegraph.geometry import neighbor_forest
from kdegraph.geometry.neighbor_forest import NeighborLists
from kdegraph.geometry.sparse_points import nearest_rows
from kdegraph.scaled_kernel import kernel_blocks
from kdegraph.validation import SparsePoints, check_points
from sklearn.metrics import adjusted_rand_score
from test_arguments import DAMAGES, damaged

METRICS = ("euclidean", "cosine")


@pytest.fixture(scope="module")
def dense():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 50)) * (rng.random((600, 50)) < 0.2)
    return X[np.count_nonzero(X, axis=1) > 2]


@pytest.fixture(scope="module")
def exact_lists():
    """Let all points have the nearest neighbors, also dense ones."""
    patch = pytest.MonkeyPatch()

    def search(X, k, progress):
        points = check_points(scipy.sparse.csr_array(X), keep_sparse=True)
        return NeighborLists(*nearest_rows(points, k), np.arange(len(X)))

    patch.setattr(neighbor_forest, "_search", search)
    yield
    patch.undo()


def topics(n=900, d=3000, k=6, seed=0):
    """Documents of 60 to 100 words, most of them from one of k topics; their topics."""
    rng = np.random.default_rng(seed)
    labels, lengths = rng.integers(0, k, n), rng.integers(60, 101, n)
    rows = np.repeat(np.arange(n), lengths)
    frequencies = np.cumsum(1 / np.arange(1, d + 1))
    words = np.searchsorted(frequencies, rng.random(len(rows)) * frequencies[-1])
    orders = np.stack([rng.permutation(d) for _ in range(k)])
    words = np.where(rng.random(len(rows)) < 0.7, orders[labels[rows], words], words)
    counts = scipy.sparse.coo_array((np.ones(len(rows)), (rows, words)), shape=(n, d)).tocsr()
    counts.sum_duplicates()
    rarity = np.log(n / np.maximum(1, np.bincount(counts.indices, minlength=d))) + 1
    counts.data *= rarity[counts.indices]
    return counts, labels


@pytest.mark.usefixtures("exact_lists")
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("sigma", [1.5, "auto", "local", "moderate"])
def test_graphs_are_those_of_dense_points(dense, sigma, metric):
    graph, expected = (
        kdegraph.similarity_graph(X, sampler="mixture", sigma=sigma, metric=metric, seed=0)
        for X in (scipy.sparse.csr_array(dense), dense)
    )
    assert isinstance(graph.points, SparsePoints)
    np.testing.assert_allclose(graph.sigma, expected.sigma, rtol=1e-9)
    np.testing.assert_array_equal(graph.neighbors, expected.neighbors)
    np.testing.assert_allclose(graph.kernel_degrees, expected.kernel_degrees, rtol=1e-8)
    np.testing.assert_array_equal(graph.adjacency.indices, expected.adjacency.indices)
    np.testing.assert_allclose(graph.adjacency.data, expected.adjacency.data, rtol=1e-8)


@pytest.mark.parametrize("metric", METRICS)
def test_bandwidths_and_other_graphs_are_those_of_dense_points(dense, metric):
    X = scipy.sparse.csr_array(dense)
    for call in (
        kdegraph.estimate_sigma,
        lambda X, metric: kdegraph.estimate_sigma(X, 3, metric=metric),
        kdegraph.local_bandwidths,
        lambda X, metric: kdegraph.local_bandwidths(X, rule="neighbor", metric=metric),
        lambda X, metric: kdegraph.local_bandwidths(X, perplexity=30, metric=metric),
    ):
        np.testing.assert_allclose(call(X, metric=metric), call(dense, metric=metric), rtol=1e-9)
    for options in (
        {"sigma": 1.0},
        {"sigma": 0.05},
        {"sigma": "local"},
        {"sigma": 1.0, "alpha": 0.5},
        {"sigma": "local", "kernel": "matern-3/2"},
    ):
        full, expected = (kdegraph.full_graph(Z, metric=metric, **options) for Z in (X, dense))
        assert scipy.sparse.issparse(full) == scipy.sparse.issparse(expected)
        full, expected = (scipy.sparse.csr_array(K).toarray() for K in (full, expected))
        np.testing.assert_allclose(full, expected, rtol=1e-9)
    for options in ({}, {"mode": "kernel"}, {"mode": "kernel", "sigma": "local"}):
        found, expected = (kdegraph.knn_graph(Z, 7, metric=metric, **options) for Z in (X, dense))
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_allclose(found.data, expected.data, rtol=1e-9)


def test_new_points_have_their_own_bandwidths_in_every_block():
    rng = np.random.default_rng(0)
    known, new = rng.random((2, 1_500, 3))
    bandwidths, own = rng.uniform(0.5, 2.0, size=(2, 1_500))
    wide = (np.hstack([Z, np.zeros((1_500, 100))]) for Z in (known, new))
    X, queries = (check_points(scipy.sparse.csr_array(Z), keep_sparse=True) for Z in wide)
    blocks = list(kernel_blocks("gaussian", bandwidths, X, queries, own))
    assert len(blocks) > 1
    squares = np.square(new[:, None] - known).sum(axis=2)
    expected = np.exp(-squares / np.outer(own, bandwidths))
    np.testing.assert_allclose(np.concatenate(blocks), expected, rtol=1e-9)


def test_topics_are_found_and_predicted():
    X, labels = topics()
    known, new = X[:700], X[700:]
    model = kdegraph.KDESpectralClustering(6, metric="cosine", random_state=0).fit(known)
    assert adjusted_rand_score(labels[:700], model.labels_) > 0.95
    assert adjusted_rand_score(labels[700:], model.predict(new)) > 0.9
    assert model.probabilities_.shape == (700,)
    shares, places = model.predict_proba(new), model.transform(new)
    many = scipy.sparse.vstack([new] * 16, format="csr")  # more than one block
    np.testing.assert_allclose(model.predict_proba(many), np.tile(shares, (16, 1)), rtol=1e-9)
    model._points = model._points.toarray()
    np.testing.assert_allclose(shares, model.predict_proba(new), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(places, model.transform(new), rtol=1e-6, atol=1e-9)
    assert count_clusters(known, metric="cosine", seed=0) == 6


def test_one_sigma_and_points_out_of_reach(dense):
    X = scipy.sparse.csr_array(dense)
    model = kdegraph.KDESpectralClustering(2, sigma=2.0, random_state=0).fit(X)
    far = scipy.sparse.csr_array(dense[:5] * 1e6)
    assert set(model.predict_proba(far).ravel().tolist()) <= {0.0, 1.0}
    np.testing.assert_array_equal(model.predict(X.tolil()), model.predict(dense))
    by_dense = kdegraph.KDESpectralClustering(2, sigma=2.0, random_state=0).fit(dense)
    np.testing.assert_array_equal(by_dense.predict(X), by_dense.predict(dense))

    outlier = scipy.sparse.vstack([X, far[[0]], X[[1]]], format="csr")
    graph = kdegraph.similarity_graph(outlier, sigma=2.0, seed=0)
    isolated = np.flatnonzero(np.diff(graph.adjacency.indptr) == 0)
    assert isolated.tolist() == [len(dense)]
    found = kdegraph.spectral_clustering(graph, 2, seed=0)
    to_all = np.linalg.norm(outlier.toarray()[:-2] - far[[0]].toarray(), axis=1)
    assert found.labels[len(dense)] == found.labels[np.argmin(to_all)]


@pytest.mark.usefixtures("exact_lists")
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("options", [{}, {"mode": "distance"}, {"mode": "distance", "k": 5}])
def test_rows_for_pipelines_are_those_of_dense_points(dense, options, metric):
    options = {"mode": options.get("mode", "affinity"), "n_neighbors": options.get("k")}
    options |= {"sigma": "local", "metric": metric, "random_state": 0, "sampler": "mixture"}
    transformer = kdegraph.SimilarityGraphTransformer(**options)
    X, queries = scipy.sparse.csr_array(dense), dense[[3, 3, 500]]
    rows, of_queries = transformer.fit_transform(X), transformer.transform(queries)
    assert (transformer.transform(X) != rows).nnz == 0
    expected = transformer.fit_transform(dense)
    for found, wanted in ((rows, expected), (of_queries, transformer.transform(queries))):
        assert found.nnz == wanted.nnz
        np.testing.assert_allclose(found.toarray(), wanted.toarray(), rtol=1e-8, atol=1e-8)


def test_rows_of_new_points_have_the_expectation_of_the_kernel(dense):
    X, n_rounds = scipy.sparse.csr_array(dense), 5000
    transformer = kdegraph.SimilarityGraphTransformer(sigma=2.0, n_rounds=n_rounds, random_state=0)
    transformer.fit(X)
    new = dense[:20] * 1.1
    rows = transformer.transform(scipy.sparse.csr_array(new)).toarray()
    values = np.exp(-((new[:, None] - dense) ** 2).sum(axis=2) / 4)
    # Stratified: no sum of weights is off by more than one draw.
    assert (abs(rows - values) <= values.sum(axis=1, keepdims=True) / n_rounds * (1 + 1e-9)).all()


def test_points_of_any_kind(dense):
    counts = np.round(3 * np.abs(dense)).astype(np.uint8)
    counts[:3] = 0
    X = scipy.sparse.csr_array(counts)
    zeros = scipy.sparse.csr_array(np.where(counts == 0, 255, counts))
    zeros.data[zeros.data == 255] = 0
    wide = X.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    fixed = X.astype(float)
    fixed.data.flags.writeable = fixed.indices.flags.writeable = False
    rows, columns = X.tocoo().coords
    places = np.tile(rows, 2), np.tile(columns, 2)
    halves = scipy.sparse.coo_array((np.tile(X.data / 2, 2), places), shape=X.shape)
    first, *others = (
        kdegraph.similarity_graph(Z, sigma=2.0, seed=0)
        for Z in (X, X.astype(np.float32), X.astype(int), X.tobsr(), zeros, wide, fixed, halves)
    )
    assert first.sampler == "mixture"
    for graph in others:
        np.testing.assert_array_equal(graph.neighbors, first.neighbors)
        np.testing.assert_array_equal(graph.adjacency.data, first.adjacency.data)
    assert zeros.nnz == counts.size  # what the caller has is not changed


def test_unusual_points():
    one = scipy.sparse.csr_array(np.ones((1, 20)))
    zeros = scipy.sparse.csr_array((300, 20))
    for sigma in (1.0, "auto", "local"):
        assert kdegraph.similarity_graph(one, sigma=sigma, seed=0).n_edges == 0
        graph = kdegraph.similarity_graph(zeros, sigma=sigma, seed=0)
        np.testing.assert_allclose(graph.kernel_degrees, 299, rtol=1e-12)
    assert (kdegraph.local_bandwidths(zeros) == 1.0).all()
    assert kdegraph.estimate_sigma(zeros) == 1.0
    assert count_clusters(zeros, seed=0) == 1
    assert kdegraph.KDESpectralClustering(1, random_state=0).fit(zeros).n_clusters_ == 1
    few = scipy.sparse.csr_array(np.eye(12)[:, :12])  # hardly larger when it is dense
    assert isinstance(kdegraph.similarity_graph(few, sigma=1.0, seed=0).points, np.ndarray)


def test_ten_million_columns_never_become_dense():
    """A dense table would take 80 GB."""
    rng, n, d = np.random.default_rng(0), 1000, 10_000_000
    labels = rng.integers(0, 2, n)
    words = np.where(rng.random((n, 60)) < 0.5, rng.integers(0, d, (n, 60)), 0)
    words += np.where(words == 0, 1 + rng.integers(0, 200, (n, 60)) + 5000 * labels[:, None], 0)
    entries = np.ones(words.size), (np.repeat(np.arange(n), 60), words.ravel())
    X = scipy.sparse.coo_array(entries, shape=(n, d))
    model = kdegraph.KDESpectralClustering(
        2, sigma="local", perplexity=40, metric="cosine", random_state=0
    ).fit(X)
    assert adjusted_rand_score(labels, model.labels_) > 0.95
    assert (model.predict(X.tocsr()[:20]) == model.labels_[:20]).all()
    rows = kdegraph.SimilarityGraphTransformer(mode="distance", n_neighbors=5).fit_transform(X)
    assert rows.nnz == 6 * n


CALLS = {
    "similarity_graph": lambda X: kdegraph.similarity_graph(X, sigma=1.0),
    "full_graph": lambda X: kdegraph.full_graph(X, sigma=1.0),
    "knn_graph": lambda X: kdegraph.knn_graph(X, 3),
    "estimate_sigma": kdegraph.estimate_sigma,
    "local_bandwidths": kdegraph.local_bandwidths,
    "count_clusters": count_clusters,
    "fit": lambda X: kdegraph.KDESpectralClustering(2).fit(X),
    "transformer": lambda X: kdegraph.SimilarityGraphTransformer().fit(X),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_bad_matrices_are_refused(call):
    for damage in DAMAGES.values():
        for kind in ("csr", "csc", "bsr"):
            with pytest.raises(ValueError, match=r"^X\.(indices|indptr)\b"):
                call(damaged(kind, damage))
    for value in (np.nan, np.inf):
        X = scipy.sparse.eye_array(20, format="csr")
        X.data[7] = value
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            call(X)
    with pytest.raises(ValueError, match="omplex"):
        call(scipy.sparse.eye_array(20, dtype=complex).tocsr())
    with pytest.raises(ValueError, match="0 sample"):
        call(scipy.sparse.csr_array((0, 20)))
    with pytest.raises(ValueError, match="2D"):
        call(scipy.sparse.coo_array(np.ones(20)))


def test_a_number_that_is_not_finite_is_named():
    X = scipy.sparse.random_array((30, 40), density=0.3, rng=np.random.default_rng(0)).tolil()
    X[17, 23] = np.nan
    with pytest.raises(ValueError, match=re.escape("X[17, 23] is nan")):
        kdegraph.knn_graph(X, 3)
    empty = scipy.sparse.vstack([X[:3].tocsr(), scipy.sparse.csr_array((1, 40))]).tocsr()
    with pytest.raises(ValueError, match=re.escape("X[3] has only zeros (1 of 4 rows)")):
        kdegraph.knn_graph(empty, 2, metric="cosine")


def test_what_needs_dense_points_is_refused(dense, tmp_path):
    X = scipy.sparse.csr_array(dense)
    for options, remedy in (
        ({"sampler": "near"}, "sampler='auto'"),
        ({"kde": "direct"}, "kde='auto'"),
        ({"alpha": 0.5}, "alpha=0"),
        ({"weighting": "paper"}, "weighting='inclusion'"),
        ({"kernel": "laplacian"}, "'exponential'"),
    ):
        with pytest.raises(ValueError, match=f"sparse points.*{remedy}.*toarray"):
            kdegraph.similarity_graph(X, sigma=1.0, **options)
    for call in (
        lambda: kdegraph.kernel_sum(X, sigma=1.0),
        lambda: kdegraph.gauss_transform(X, sigma=1.0),
        lambda: kdegraph.similarity_graph(X, sigma=1.0, store=tmp_path / "store"),
        lambda: np.asarray(kdegraph.similarity_graph(X, sigma=1.0, seed=0).points),
    ):
        with pytest.raises(TypeError, match=r"sparse.*toarray"):
            call()
    with pytest.raises(MemoryError, match=r"full graph of n = .* GiB|MiB"):
        kdegraph.full_graph(X, sigma=1.0, max_bytes=1000)
    blocks = da.from_array(dense, chunks=(300, 50)).map_blocks(scipy.sparse.csr_array)
    with pytest.raises(TypeError, match=r"block of X is a sparse csr_array.*toarray"):
        kdegraph.similarity_graph(blocks, sigma=1.0)


def test_files_leave_sparse_points_out(dense, tmp_path):
    graph = kdegraph.similarity_graph(scipy.sparse.csr_array(dense), sigma=1.0, seed=0)
    graph.save(tmp_path / "graph.npz")
    graph.to_zarr(tmp_path / "graph.zarr")
    for again in (
        kdegraph.SimilarityGraph.load(tmp_path / "graph.npz"),
        kdegraph.SimilarityGraph.from_zarr(tmp_path / "graph.zarr"),
    ):
        assert again.points is None
        assert again.order is None
        np.testing.assert_array_equal(again.adjacency.data, graph.adjacency.data)
