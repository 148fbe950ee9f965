"""Arguments that all public functions refuse, and those that all accept."""

import dask.array as da
import kdegraph
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
from kdegraph import datasets, similarity_graph
from kdegraph_explorer import Explorer

X = np.random.default_rng(0).normal(size=(12, 2))
ONES = np.ones(12)
A = np.exp(-np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))) * (1 - np.eye(4))
MIXED = np.array(["a", "b", "a", "a"])
FRAME = pd.DataFrame(X, columns=["a", "b"])


def masked(values):
    """The values with the first one masked."""
    mask = np.zeros(np.shape(values), bool)
    mask.flat[0] = True
    return np.ma.masked_array(values, mask)


# The argument, values for it, and a call with them.
CALLS = [
    ("X", X, lambda a: similarity_graph(da.from_array(a), sigma=1.0)),
    ("sigma", ONES, lambda a: similarity_graph(X, sigma=a)),
    ("sigma", 1.0, lambda a: similarity_graph(X, sigma=a)),
    ("alpha", 0.5, lambda a: similarity_graph(X, sigma=1.0, alpha=a)),
    ("sigma", ONES, lambda a: kdegraph.full_graph(X, sigma=a)),
    ("sigma", ONES, lambda a: kdegraph.knn_graph(X, 3, mode="kernel", sigma=a)),
    ("weights", ONES, lambda a: kdegraph.kernel_sum(X, sigma=1.0, weights=a)),
    ("sigma", 1.0, lambda a: kdegraph.gauss_transform(X, sigma=a)),
    ("adjacency", A, lambda a: kdegraph.spectrum(a, 2)),
    ("adjacency", A, lambda a: kdegraph.spectral_clustering(a, 2)),
    ("points", X[:4], lambda a: kdegraph.spectral_clustering(A, 2, points=a)),
    ("adjacency", A, lambda a: kdegraph.conductance(a, [0, 0, 1, 1])),
    ("labels", [0, 0, 1, 1], lambda a: kdegraph.conductance(A, a)),
    ("adjacency", A, kdegraph.diagnose),
    ("graph", A, lambda a: kdegraph.export_graph("a.gexf", a)),
    (
        r"attributes\['n'\]",
        MIXED,
        lambda a: kdegraph.export_graph("a.gexf", A, attributes={"n": a}),
    ),
    ("eigenvalues", [0.0, 0.1, 1.0], kdegraph.suggest_n_clusters),
    (
        "eigenvectors",
        np.eye(3),
        lambda a: kdegraph.suggest_n_clusters([0.0, 0.1, 1.0], eigenvectors=a),
    ),
    ("X", X, lambda a: kdegraph.KDESpectralClustering(2).fit(a)),
    ("sigma", ONES, lambda a: kdegraph.KDESpectralClustering(2, sigma=a).fit(X)),
    ("X", X, lambda a: kdegraph.SimilarityGraphTransformer().fit(a)),
    ("X", X, lambda a: kdegraph.KDESpectralClustering(2).fit(X).predict(a)),
    ("X", X, lambda a: kdegraph.SimilarityGraphTransformer().fit(X).transform(a)),
    ("image", np.zeros((4, 4, 3)), datasets.image_points),
    ("points", [1, 2], lambda a: datasets.Dataset(X).subset(a)),
    ("labels", [0, 1], lambda a: datasets.expand_labels(a, (1, 2), (2, 4))),
    ("X", X, Explorer),
    ("y", MIXED.repeat(3), lambda a: Explorer(X, y=a)),
]


def test_masked_entries_are_refused_and_the_argument_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, values, call in CALLS:
        with pytest.raises(ValueError, match=rf"^{name} has masked \(missing\) values"):
            call(masked(values))
    assert list(tmp_path.iterdir()) == []


BAD_POINTS = [
    (masked(X), ValueError, r"has masked \(missing\) values"),
    ([[0.0, 1.0], [np.nan, 2.0]], ValueError, r"finite.*\[1, 0\].*nan"),
    ([[0.0, np.inf]], ValueError, r"finite.*\[0, 1\].*inf"),
    (np.array([[np.longdouble("1e400"), 0]]), ValueError, "finite"),
    (np.zeros((0, 2)), ValueError, "no points"),
    ([], ValueError, r"shape \(n, d\), got \(0,\)"),
    (np.zeros((3, 0)), ValueError, "no columns"),
    ([1.0, 2.0], ValueError, r"shape \(n, d\), got \(2,\).*reshape"),
    (np.zeros((2, 2, 2)), ValueError, r"shape \(n, d\), got \(2, 2, 2\)"),
    (3.0, ValueError, r"shape \(n, d\), got \(\)"),
    ([[1.0], [1.0, 2.0]], ValueError, "rows differ in length"),
    ([["a", "b"]], ValueError, "must hold numbers"),
    ([["1", "2"]], ValueError, "must hold numbers"),
    (np.array([[b"1"]]), ValueError, "must hold numbers"),
    ([[1.0, {}]], ValueError, "must hold numbers"),
    ([[1.0, None]], ValueError, "must hold numbers|finite"),
    (np.array([["2020-01-01"]], dtype="M8[D]"), ValueError, "must hold numbers"),
    (np.zeros((2, 2), dtype=[("a", float)]), ValueError, "must hold numbers"),
    ([[1j, 2.0]], ValueError, "complex"),
    (np.array([[10**400, 1], [1, 2]], dtype=object), ValueError, "beyond the range of float64"),
    ("points.csv", ValueError, r"shape \(n, d\), got \(\)"),
    ((row for row in X), ValueError, r"shape \(n, d\), got \(\)"),
    (
        FRAME.astype("Float64").mask(FRAME > 1),
        ValueError,
        r"must be finite, but .*\] is <NA> .*drop",
    ),
    (pd.DataFrame({"a": pd.Categorical(["u"] * 3)}), ValueError, "must hold numbers"),
    (scipy.sparse.coo_array(ONES), (ValueError, TypeError), "2D|toarray"),
]
OF_POINTS = {
    "similarity_graph": ("X", lambda X: similarity_graph(X, sigma=1.0, seed=0).adjacency.toarray()),
    "local": ("X", lambda X: similarity_graph(X, sigma="local", seed=0).adjacency.toarray()),
    "direct": ("sources", lambda X: kdegraph.kernel_sum(X, sigma=1.0, method="direct")),
    "fgt": ("sources", lambda X: kdegraph.gauss_transform(X, sigma=1.0, method="fgt")),
    "tree": ("sources", lambda X: kdegraph.kernel_sum(X, sigma=1.0, method="tree")),
    "targets": ("targets", lambda Y: kdegraph.kernel_sum([[0.0, 1.0]], Y, sigma=1.0)),
    "full_graph": ("X", lambda X: kdegraph.full_graph(X, sigma=1.0)),
    "knn_graph": ("X", lambda X: kdegraph.knn_graph(X, 3).toarray()),
    "estimate_sigma": ("X", kdegraph.estimate_sigma),
    "local_bandwidths": ("X", kdegraph.local_bandwidths),
    "moderate": ("X", lambda X: kdegraph.local_bandwidths(X, rule="moderate")),
}
ESTIMATORS = {
    "cluster": lambda X: kdegraph.KDESpectralClustering(
        2, sigma="moderate", random_state=0
    ).fit_predict(X),
    "transform": lambda X: (
        kdegraph.SimilarityGraphTransformer(random_state=0).fit_transform(X).toarray()
    ),
}


@pytest.mark.parametrize(("name", "call"), OF_POINTS.values(), ids=OF_POINTS)
def test_bad_points_are_refused_and_the_argument_is_named(name, call):
    for bad, kind, message in BAD_POINTS:
        with pytest.raises(kind, match=rf"^{name} .*{message}"):
            call(bad)


@pytest.mark.parametrize("call", [*(call for _, call in OF_POINTS.values()), *ESTIMATORS.values()])
def test_kinds_of_points(call):
    """All are the doubles that they hold, and none is changed."""
    ints = np.random.default_rng(2).integers(-30, 30, size=(80, 2))
    read_only = ints.astype(float)
    read_only.flags.writeable = False
    wide = np.zeros((160, 4))
    wide[::2, ::2] = ints
    frame = pd.DataFrame(ints, columns=["a", "b"])
    expected = call(ints.astype(float))
    for points in (
        ints,
        ints.tolist(),
        tuple(map(tuple, ints.tolist())),
        *(ints.astype(kind) for kind in ("f4", "f2", "i1", object, ">f8", np.longdouble)),
        np.asfortranarray(ints.astype(float)),
        read_only,
        wide[::2, ::2],
        ints[::-1].astype(float)[::-1],
        np.ma.array(ints, mask=False),
        frame,
        frame.astype("Float64"),
        pa.table(frame),
    ):
        np.testing.assert_array_equal(call(points), expected)
    np.testing.assert_array_equal(read_only, ints)
    truth = ints > 0
    np.testing.assert_array_equal(call(truth), call(truth.astype(float)))


def test_an_array_of_shape_nothing_is_a_number():
    one = np.array(0.5)
    assert np.array_equal(
        kdegraph.kernel_sum(X, sigma=one, eps=np.array(1e-3)),
        kdegraph.kernel_sum(X, sigma=0.5, eps=1e-3),
    )
    graph = similarity_graph(X, sigma=one, alpha=one, n_rounds=np.array(5), seed=0)
    expected = similarity_graph(X, sigma=0.5, alpha=0.5, n_rounds=5, seed=0)
    assert (graph.adjacency != expected.adjacency).nnz == 0


def test_large_unsigned_labels_are_no_noise():
    adjacency = [[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]]
    found = kdegraph.conductance(adjacency, np.array([0, 0, 0, 2**63], np.uint64))
    np.testing.assert_allclose(found, [1 / 7, 1.0])


def damaged(kind, change):
    """A sparse matrix of a cycle whose index arrays `change` has damaged, as SciPy can hold it."""
    matrix = getattr(scipy.sparse, f"{kind}_array")(
        np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), 1, axis=1)
    )
    change(matrix)
    return matrix


def put(name, place, value):
    def change(matrix):
        array = np.array(getattr(matrix, name))
        array[place] = value
        setattr(matrix, name, array)

    return change


def shorten(name):
    return lambda matrix: setattr(matrix, name, getattr(matrix, name)[:-1])


DAMAGES = {
    "too large by one": put("indices", 0, 6),
    "too large": put("indices", 0, 50_000_000),
    "negative": put("indices", 3, -1),
    "indptr decreases": put("indptr", 1, 5),
    "indptr begins late": put("indptr", 0, 1),
    "indptr ends late": put("indptr", 6, 10_000_000),
    "indptr too short": shorten("indptr"),
    "too few indices": shorten("indices"),
    "too few values": shorten("data"),
}
USES = {
    "spectrum": lambda A: kdegraph.spectrum(A, 2),
    "spectral_clustering": lambda A: kdegraph.spectral_clustering(A, 2),
    "conductance": lambda A: kdegraph.conductance(A, np.zeros(6, int)),
    "diagnose": kdegraph.diagnose,
    "export_graph": lambda A: kdegraph.export_graph("never.gexf", A),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_index_arrays_that_lead_nowhere_are_refused(use):
    for damage in DAMAGES:
        for kind in ("csr", "csc", "bsr"):
            with pytest.raises(ValueError, match=r"^(adjacency|graph)\.(indices|indptr)\b"):
                use(damaged(kind, DAMAGES[damage]))


def lengthen(matrix):
    matrix.rows = np.concatenate([matrix.rows, matrix.rows])


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("dia", shorten("offsets"), r"offsets has 3 indices for 4 values"),
        ("dia", put("offsets", 0, 50_000_000), r"offsets must be from -12 to 11"),
        ("bsr", put("indptr", 6, 11), r"indices has 12 indices for 12 values, of which 11"),
        ("coo", lambda A: np.put(A.coords[1], 0, 50_000_000), r"coords\[1\] must be from 0 to 5"),
        ("lil", lambda A: A.rows[0].__setitem__(0, 50_000_000), "indices must be from 0 to 5"),
        ("lil", lengthen, r"rows and .*\.data differ"),
        ("lil", lambda matrix: matrix.data[0].append(1.0), r"rows and .*\.data differ"),
        (
            "csr",
            lambda A: setattr(A, "indices", A.indices / 2),
            "indices must be an int32 or int64",
        ),
        ("csr", lambda A: setattr(A, "data", A.data[:, None]), r"data has shape \(12, 1\)"),
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(kind, change, message):
    """SciPy would end the process for some of them."""
    for name, use in (("adjacency", USES["spectrum"]), ("X", lambda X: kdegraph.knn_graph(X, 2))):
        with pytest.raises(ValueError, match=rf"^{name}\.{message}"):
            use(damaged(kind, change))


def test_values_beyond_the_last_row_are_ignored():
    matrix = damaged("csr", lambda matrix: None)
    longer = scipy.sparse.csr_array(matrix)
    longer.data, longer.indices = np.tile(matrix.data, 2), np.tile(matrix.indices, 2)
    found, expected = (kdegraph.graph_layout(A, seed=0) for A in (longer, matrix))
    np.testing.assert_array_equal(found, expected)
    assert len(longer.data) == 24
