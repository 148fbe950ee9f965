"""Components and orders of vertices against SciPy, and the attributes of graph objects."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.csgraph
from graphs import cycle
from kdegraph.dispatch import spectral_clustering
from kdegraph.estimators import KDESpectralClustering
from kdegraph.spectral.checked_graph import ORDER_MATTERS_ABOVE, check_adjacency
from kdegraph.spectral.components import breadth_first_order, connected_components


def random_graph(n, n_edges, seed):
    """Return a graph with about this number of random edges."""
    rows, columns = np.random.default_rng(seed).integers(0, n, (2, n_edges))
    A = sp.csr_array((np.ones(n_edges), (rows, columns)), shape=(n, n))
    A = sp.csr_array(A + A.T)
    A.sort_indices()
    return A


def components_of(A):
    return connected_components(A.shape[0], lambda: [(0, A.indptr, A.indices)])


@pytest.mark.parametrize("n_edges", [0, 20, 45, 60, 200, 1000])
def test_components_are_those_of_scipy(n_edges):
    for seed in range(5):
        A = random_graph(100, n_edges, seed)
        component, sizes = components_of(A)
        count, expected = scipy.sparse.csgraph.connected_components(A)
        assert np.array_equal(component, expected)  # numbered by first vertex, too
        assert np.array_equal(sizes, np.bincount(expected, minlength=count))


def test_components_that_only_a_late_edge_joins():
    """Even and odd vertices, and one edge between them that is neither early nor last."""
    n = 40
    A = np.equal.outer(np.arange(n) % 2, np.arange(n) % 2).astype(float)
    A[20, 21] = A[21, 20] = 1
    A = sp.csr_array(A)
    component, sizes = components_of(A)
    assert sizes.tolist() == [n]
    assert not component.any()


@pytest.mark.parametrize("n_edges", [0, 45, 60, 1000])
def test_breadth_first_order_goes_through_the_levels_of_every_component(n_edges):
    A = random_graph(100, n_edges, 1)
    component = scipy.sparse.csgraph.connected_components(A)[1]
    order = breadth_first_order(A.indptr, A.indices, component)
    assert np.array_equal(np.sort(order), np.arange(100))
    for number in np.unique(component):
        members = order[component[order] == number]
        levels = scipy.sparse.csgraph.shortest_path(A, unweighted=True, indices=members[0])[members]
        assert (np.diff(levels) >= 0).all()


def test_order_of_large_graphs_is_the_one_given_or_found():
    n = ORDER_MATTERS_ABOVE + 1
    A, points = cycle(n), np.zeros((n, 1))
    order = np.arange(n)[::-1].copy()
    checked = check_adjacency(SimpleNamespace(adjacency=A, points=points, order=order))
    assert checked.order is order
    assert checked.points is points
    assert check_adjacency(checked) is checked
    found = check_adjacency(SimpleNamespace(adjacency=A, points=points))
    assert found.points is None  # they are of use only with the order of the tree
    assert found.order[:5].tolist() == [0, 1, n - 1, 2, n - 2]


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (lambda n: np.arange(n) + 1, "must be a permutation"),
        (lambda n: np.zeros(n, int), "must be a permutation"),
        (lambda n: np.arange(n) - 1, "must be a permutation"),
        (lambda n: np.arange(n - 1), rf"got an array of shape \({ORDER_MATTERS_ABOVE},\)"),
        (lambda n: np.arange(n) / 2, "dtype float64"),
    ],
)
def test_an_order_that_is_no_permutation_is_refused(order, message):
    n = ORDER_MATTERS_ABOVE + 1
    with pytest.raises(ValueError, match=rf"adjacency\.order .*{message}"):
        check_adjacency(SimpleNamespace(adjacency=cycle(n), order=order(n)))
    with pytest.raises(ValueError, match=rf"adjacency\.points must have {n} rows"):
        check_adjacency(
            SimpleNamespace(adjacency=cycle(n), order=np.arange(n), points=np.zeros((3, 1)))
        )


@pytest.mark.parametrize("kind", ["float16", "float32", ">f4", ">f8", "int8", ">i2", "bool"])
def test_dense_weights_of_any_width_and_byte_order(kind):
    blocks = np.kron(np.eye(2), np.ones((4, 4))).astype(kind)
    assert spectral_clustering(blocks, 2).labels.tolist() == [0] * 4 + [1] * 4
    model = KDESpectralClustering(2, affinity="precomputed").fit(blocks)
    np.testing.assert_array_equal(model.affinity_matrix_.toarray(), blocks)
