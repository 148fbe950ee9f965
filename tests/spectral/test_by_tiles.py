"""Spectra of graphs in folders: those of the same graph in memory."""

import dask.array as da
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from kdegraph import similarity_graph, spectrum
from kdegraph.tiles import matrix
from kdegraph.tiles.folder import Folder
from tiled import N, lazy, rings, touching, with_outliers, written


@pytest.mark.parametrize("sigma", [0.12, 0.02])  # runs in space, and groups along the edges
def test_the_coarse_graph_sums_the_weights_between_nodes(sigma):
    tiled = similarity_graph(lazy(rings()), sigma=sigma, n_rounds=10, seed=3)
    folder = Folder(tiled.path)
    vertices = matrix.make_matrix(folder)
    summed = matrix.coarse_adjacency(folder, vertices)
    place, node = folder.read("order", "place"), folder.read(matrix.NODES, "node")
    graph = tiled.compute().adjacency
    P = scipy.sparse.csr_array((np.ones(N), (np.arange(N), node[place])))
    np.testing.assert_allclose(summed.toarray(), (P.T @ graph @ P).toarray(), rtol=1e-12)
    n_nodes = summed.shape[0]
    assert 50 < n_nodes < N / 3
    assert len(np.unique(np.stack([node, vertices.component]), axis=1).T) == n_nodes
    n_components, component = scipy.sparse.csgraph.connected_components(graph)
    assert len(vertices.sizes) == n_components
    np.testing.assert_array_equal(
        np.unique(np.stack([component[vertices.order], vertices.component]), axis=1).shape,
        (2, n_components),
    )
    np.testing.assert_allclose(vertices.degrees[place], graph.sum(axis=1), rtol=1e-12)


CASES = {
    "wide": (rings(), 4, {"sigma": 0.12}, {}),
    "touching": (touching(), 9, {"sigma": 0.5}, {}),
    "local": (touching(), 20, {"sigma": "local"}, {}),
    "components": (with_outliers(9), 6, {"sigma": 0.3}, {"smallest_component": "auto"}),
    "pairs": (with_outliers(9), 6, {"sigma": 0.3}, {"omit_isolated": True}),
    "only components": (with_outliers(9), 2, {"sigma": 0.3}, {"smallest_component": 3}),
}


@pytest.mark.parametrize(("X", "k", "of_graph", "options"), CASES.values(), ids=CASES)
def test_the_spectrum_of_a_tiled_graph(X, k, of_graph, options):
    tiled = similarity_graph(lazy(X), seed=3, **of_graph)
    found = spectrum(tiled, k, approximate=True, seed=0, **options)
    graph = tiled.compute()
    exact = spectrum(graph, k, tol=1e-8, **options)
    assert isinstance(found.eigenvectors, da.Array)
    assert found.converged
    np.testing.assert_allclose(found.eigenvalues, exact.eigenvalues, rtol=0.15, atol=1e-7)
    np.testing.assert_array_equal(found.eigenvalues == 0, exact.eigenvalues == 0)
    np.testing.assert_array_equal(found.isolated, exact.isolated)
    for name in ("smallest_component", "omit_isolated", "n_connected_components"):
        assert getattr(found, name) == getattr(exact, name)

    U = found.eigenvectors.compute()
    assert U.shape == (len(X), k)
    np.testing.assert_allclose(U.T @ U, np.eye(k), atol=1e-5)
    assert np.all(U[np.abs(U).argmax(axis=0), np.arange(k)] > 0)
    lengths = np.sqrt(np.maximum(graph.adjacency.sum(axis=1), 1e-300))[:, None]
    residuals = U - graph.adjacency @ (U / lengths) / lengths - U * found.eigenvalues
    np.testing.assert_allclose(
        np.linalg.norm(residuals, axis=0), found.residuals, rtol=0.01, atol=1e-3
    )


def test_accurate_spectra_and_isolated_vertices_are_those_in_memory():
    tiled = similarity_graph(lazy(with_outliers(9)), sigma=0.3, seed=3)
    graph = tiled.compute()
    assert len(spectrum(graph, 1).isolated) == 2
    for options in ({"omit_isolated": True}, {"approximate": True}):
        found, expected = (spectrum(given, 6, seed=0, **options) for given in (tiled, graph))
        np.testing.assert_array_equal(found.eigenvalues, expected.eigenvalues)
        np.testing.assert_array_equal(found.eigenvectors, expected.eigenvectors)


def test_a_spectrum_that_is_there_is_read(tmp_path):
    tiled = similarity_graph(lazy(rings()), sigma=0.12, seed=3, store=tmp_path / "graph")
    first = spectrum(tiled, 4, approximate=True)
    before = written(tmp_path)
    again = spectrum(tiled, 4, approximate=True)
    assert written(tmp_path) == before
    np.testing.assert_array_equal(again.eigenvalues, first.eigenvalues)
    np.testing.assert_array_equal(again.eigenvectors, first.eigenvectors)
    assert spectrum(tiled, 5, approximate=True).n_components == 5


def test_wrong_arguments_are_refused(tmp_path):
    tiled = similarity_graph(lazy(rings()), sigma=0.12, seed=3, store=tmp_path / "graph")
    for n_components, options, message in (
        (N + 1, {}, "n_components must be"),
        ("../4", {}, "n_components must be"),
        (4, {"smallest_component": "largest"}, "unknown smallest_component"),
        (4, {"smallest_component": 0}, "smallest_component must be"),
        (4, {"smallest_component": N + 1}, "adjacency has only small components"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            spectrum(tiled, n_components, approximate=True, **options)
    assert spectrum(tiled, 4, approximate=True).n_components == 4
