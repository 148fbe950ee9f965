"""Attack the functions of graphs: weights at any scale, parts, loops, formats, damaged matrices."""

import inspect

import kdegraph
import networkx
import numpy as np
import oracle
import pytest
import scipy.sparse
from attack.contract import REFUSED, attempt, check_refusal, unchanged
from attack.points import SPARSE
from attack.points import values as any_value
from hypothesis import given, settings
from hypothesis import strategies as st

FEWER = settings(max_examples=max(1, settings.default.max_examples // 2))


def structured(kind, n, rng):
    """Return the adjacency matrix of a graph of some structure with weights 1."""
    A, i = np.zeros((n, n)), np.arange(n)
    if kind == "path":
        A[i[:-1], i[1:]] = 1
    elif kind == "cycle":
        A[i, (i + 1) % n] = 1
    elif kind == "star":
        A[0, 1:] = 1
    elif kind == "complete":
        A[:] = 1
    elif kind == "bipartite":
        A[: n // 2, n // 2 :] = 1
    elif kind == "pairs":
        A[i[: n - n % 2 : 2], i[1::2]] = 1
    elif kind == "cliques":
        A[i[:, None] // 5 == i // 5] = 1
    else:
        A[rng.random((n, n)) < {"sparse": 1 / n, "dense": 0.4, "empty": 0.0}[kind]] = 1
    return A


KINDS = [
    "path",
    "cycle",
    "star",
    "complete",
    "bipartite",
    "pairs",
    "cliques",
    "sparse",
    "dense",
    "empty",
]
CONTAINERS = {
    **{name: lambda A, name=name: scipy.sparse.csr_array(A).asformat(name) for name in SPARSE},
    "matrix": scipy.sparse.csr_matrix,
    "long indices": lambda A: long_indices(scipy.sparse.csr_array(A)),
    "dense": lambda A: A,
    "list": lambda A: A.tolist(),
    "Fortran order": np.asfortranarray,
    "networkx": networkx.from_numpy_array,
    "duplicates": lambda A: with_duplicates(scipy.sparse.coo_array(A)),
    "zeros": lambda A: with_zeros(scipy.sparse.csr_array(A)),
    "unsorted, read-only": lambda A: unsorted(scipy.sparse.csr_array(A)),
}


def long_indices(A):
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return A


def unsorted(A):
    """Store each row from its end, in arrays that cannot be written."""
    order = np.lexsort((-A.indices, np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))))
    arrays = A.data[order], A.indices[order], A.indptr
    for array in arrays:
        array.flags.writeable = False
    return scipy.sparse.csr_array(arrays, shape=A.shape)


def with_duplicates(A):
    """Store each entry as two halves."""
    row, column = (np.tile(one, 2) for one in A.coords)
    return scipy.sparse.coo_array((np.tile(A.data / 2, 2), (row, column)), shape=A.shape)


def with_zeros(A):
    """Store all entries."""
    row, column = np.indices(A.shape).reshape(2, -1)
    return scipy.sparse.csr_array((A.toarray().ravel(), (row, column)), shape=A.shape)


@st.composite
def graphs(draw, n=(1, 40), spread=6):
    """Return a symmetric dense matrix of weights >= 0, perhaps with loops and isolated vertices."""
    size = draw(st.integers(*n))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    A = structured(draw(st.sampled_from(KINDS)), size, rng)
    A = A * 10.0 ** rng.uniform(-draw(st.integers(0, spread)), 0, A.shape)
    A = np.maximum(A, A.T)
    if not draw(st.booleans()):
        np.fill_diagonal(A, 0)
    alone = rng.random(size) < draw(st.sampled_from([0.0, 0.0, 0.2]))
    A[alone] = A[:, alone] = 0
    order = rng.permutation(size)
    return A[np.ix_(order, order)] * 10.0 ** draw(st.one_of(st.just(0), st.integers(-250, 300)))


containers = st.sampled_from(sorted(CONTAINERS))


@given(A=graphs(), container=containers, k=st.integers(1, 40), seed=st.integers(0, 99))
def test_spectra_are_those_of_a_dense_solver(A, container, k, seed):
    n, matrix = len(A), CONTAINERS[container](A)
    k = min(k, n)
    with unchanged(*[matrix] * (container != "networkx")):
        found = attempt(lambda: kdegraph.spectrum(matrix, k, seed=seed), "adjacency")
    assert found is not REFUSED
    exact = oracle.eigenvalues(A.astype(np.longdouble) / (A.max() or 1.0))[:k]
    assert np.abs(found.eigenvalues - exact).max() < 1e-5
    assert np.abs(found.eigenvectors.T @ found.eigenvectors - np.eye(k)).max() < 1e-8
    assert found.converged


@FEWER
@given(A=graphs(), container=containers, k=st.integers(1, 12), data=st.data())
def test_clusters_are_a_partition_of_the_vertices_with_an_edge(A, container, k, data):
    options = {
        "embedding": data.draw(st.sampled_from(["soft", "softer", "degree", "row", "plain"])),
        "assign_labels": data.draw(st.sampled_from(["kmeans", "cluster_qr"])),
        "smallest_component": data.draw(st.sampled_from(["auto", 1, 2, 5])),
    }
    clusters = data.draw(st.sampled_from([k, "auto"]))
    matrix = CONTAINERS[container](A)
    found = attempt(
        lambda: kdegraph.spectral_clustering(matrix, clusters, seed=0, **options),
        *("n_clusters", "smallest_component", "adjacency"),
    )
    if found is REFUSED:
        return
    assert found.labels.shape == (len(A),)
    used = np.unique(found.labels[found.labels >= 0])
    assert (used == np.arange(found.n_clusters)).all()
    if found.n_clusters:
        assert np.isfinite(found.conductances).all()
        inside = found.labels == used[:, None]
        scaled = A.astype(np.longdouble) / (A.max() or 1.0)
        volumes = np.array([scaled[own].sum() for own in inside])
        cuts = np.array([scaled[np.ix_(own, ~own)].sum() for own in inside])
        np.testing.assert_allclose(found.conductances * volumes, cuts, atol=1e-9)


FUNCTIONS = {
    "spectrum": {"n_components": 2},
    "spectral_clustering": {"n_clusters": 2},
    "conductance": {"labels": np.arange(12) % 2},
    "graph_layout": {},
    "diagnose": {},
}
every_function = pytest.mark.parametrize("name", FUNCTIONS)


def changed(A, row, column, value):
    return np.where(np.arange(A.size).reshape(A.shape) == row * len(A) + column, value, A)


SPOILED = {
    "asymmetric": (lambda A: changed(A, 0, 1, 2.0), r"symmetric, but adjacency\[0, 1\] is 2.0"),
    "negative": (lambda A: A - 0.5, r"adjacency\[0, 0\] is -0.5"),
    "nan": (lambda A: changed(A, 3, 3, np.nan), r"adjacency\[3, 3\] is nan"),
    "infinite": (lambda A: np.where(A > 0, np.inf, 0.0), r"adjacency\[0, 1\] is inf"),
    "not square": (lambda A: A[:, :-1], r"square.*\(12, 11\)"),
    "vector": (lambda A: A[0], "square"),
    "cube": (lambda A: A[None], "square"),
    "nothing": (lambda A: None, "real numbers"),
    "words": (lambda A: "graph", "real numbers"),
    "empty": (lambda A: A[:0, :0], "no vertices"),
    "ragged": (lambda A: [[0, 1], [1]], "rows differ in length"),
    "complex": (lambda A: A * 1j, "complex"),
    "text": (lambda A: A.astype(str), "real numbers"),
    "objects": (lambda A: [[None]], "adjacency"),
    "masked": (lambda A: np.ma.array(A, mask=A > 0), "masked"),
    "sparse nan": (
        lambda A: scipy.sparse.csr_array(changed(A, 0, 1, np.nan)),
        r"adjacency\[0, 1\] is nan",
    ),
    "sparse vector": (lambda A: scipy.sparse.coo_array(A[0]), "square"),
    "negative edge": (
        lambda A: networkx.Graph([(0, 1, {"weight": -1.0})]),
        r"adjacency\[0, 1\] is -1.0",
    ),
    **{
        f"edge of {weight!r}": (
            lambda A, weight=weight: networkx.Graph([(0, 1, {"weight": weight})]),
            "weights of the graph must be numbers",
        )
        for weight in ("heavy", [1.0])
    },
    "graph without vertices": (lambda A: networkx.Graph(), "no vertices"),
    "arrows": (lambda A: networkx.DiGraph([(0, 1)]), r"symmetric, but adjacency\[0, 1\]"),
    "class": (lambda A: networkx.Graph, "adjacency must be a sparse or dense matrix"),
}
RING = structured("cycle", 12, None) + structured("cycle", 12, None).T


@every_function
@pytest.mark.parametrize(("spoil", "message"), SPOILED.values(), ids=SPOILED)
def test_what_is_no_graph_is_refused(name, spoil, message):
    with pytest.raises((ValueError, TypeError), match=message) as refusal:
        getattr(kdegraph, name)(spoil(RING), **FUNCTIONS[name])
    check_refusal(refusal.value, ("adjacency", "graph"))


@every_function
def test_any_value_of_a_parameter_is_used_or_refused(name):
    function = getattr(kdegraph, name)
    flags = {"progress", "approximate", "omit_isolated"}
    known = [key for key in list(inspect.signature(function).parameters)[1:] if key not in flags]

    @FEWER
    @given(options=st.dictionaries(st.sampled_from(known), any_value, min_size=1, max_size=2))
    def check(options):
        options = FUNCTIONS[name] | options
        attempt(lambda: function(scipy.sparse.csr_array(RING), **options), "adjacency", *known)

    check()


@FEWER
@given(A=graphs(), container=containers)
def test_no_function_fails_for_a_graph(A, container):
    matrix = CONTAINERS[container](A)
    places = attempt(lambda: kdegraph.graph_layout(matrix, seed=0), "adjacency", "n_components")
    assert places is REFUSED or np.isfinite(places).all()
    assert all(str(finding) for finding in kdegraph.diagnose(matrix, n_clusters=2))
    found = kdegraph.conductance(matrix, np.arange(len(A)) % 3)
    assert ((found >= 0) & (found <= 1)).all()
