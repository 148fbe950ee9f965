"""Coarse graphs, and the approximate spectra that they give."""

import itertools
from types import SimpleNamespace
from unittest import mock

import kdegraph
import numpy as np
import oracle
import pytest
import scipy.linalg
import scipy.sparse as sp
from graphs import separated_blobs
from kdegraph.dispatch import spectrum
from kdegraph.graph import similarity_graph
from kdegraph.spectral.blocks import NullSpace
from kdegraph.spectral.checked_graph import check_adjacency
from kdegraph.spectral.laplacian import NormalizedAdjacency
from kdegraph.spectral.solver import coarse
from kdegraph.spectral.solver.coarse import has_settled
from kdegraph.spectral.solver.iteration import Start, block_width, solve
from kdegraph.spectral.solver.rayleigh_ritz import ritz_rotation, ritz_vectors
from sklearn.metrics import adjusted_rand_score

# ---------------------------------------------------------------- the coarse graph


@pytest.fixture(params=["blobs", "star", "complete", "weights of many magnitudes", "loops"])
def adjacency(request):
    """Graphs without isolated vertices, whose components are runs of vertices."""
    rng = np.random.default_rng(0)
    if request.param == "blobs":
        A = separated_blobs(9000, 3)[0]
        order = np.argsort(sp.csgraph.connected_components(A)[1], kind="stable")
        return sp.csr_array(A[order][:, order])
    if request.param == "star":
        star = sp.lil_array((5001, 5001))
        star[0, 1:] = 1
        return sp.csr_array(star + star.T)
    if request.param == "complete":
        return sp.csr_array(np.ones((300, 300)) - np.eye(300))
    X = rng.normal(size=(6000, 2))
    A = similarity_graph(X, sigma=0.1, n_rounds=10, weighting="paper", seed=0).adjacency
    A = sp.csr_array(A + sp.diags_array(np.ones(5999), offsets=1).T)
    A = A + A.T
    if request.param == "loops":
        return sp.csr_array(A + sp.diags_array(rng.random(6000)))
    scale = sp.diags_array(10.0 ** rng.uniform(-15, 15, 6000))
    return sp.csr_array(scale @ A @ scale)


def operator_and_null_space(A):
    graph = check_adjacency(A)
    squares = graph.degrees / np.bincount(graph.component, graph.degrees)[graph.component]
    bounds = np.r_[0, np.flatnonzero(np.diff(graph.component)) + 1, graph.n]
    operator = NormalizedAdjacency.of_graph(graph, np.arange(graph.n))
    return operator, NullSpace(bounds, np.sqrt(squares))


@pytest.mark.parametrize("with_runs", [False, True])
def test_coarse_graph_is_the_galerkin_projection(adjacency, with_runs, monkeypatch):
    if with_runs:
        monkeypatch.setattr(coarse, "MAX_SHARE_IN_RUN", 1.0)
    operator, null = operator_and_null_space(adjacency)
    runs = np.arange(operator.n) // 50 if with_runs else None
    made = coarse.coarsen(operator, null, runs)
    m = made.operator.n
    assert m < operator.n
    restriction = sp.csr_array((null.vector, (made.node, np.arange(operator.n))))
    restriction = sp.diags_array(1 / np.sqrt(restriction.power(2).sum(axis=1))) @ restriction
    indptr, indices, weights = operator.matrix(np.float64)
    M = sp.csr_array((weights, indices, indptr), shape=(operator.n, operator.n))
    exact = (restriction @ M @ restriction.T).toarray()
    assert np.abs(made.operator.toarray() - exact).max() < 1e-5
    # Its null space has one vector for each component of the graph, which is the restricted one.
    assert len(made.null) == len(null)
    assert np.allclose(made.null.vector, restriction @ null.vector)
    for first, last in itertools.pairwise(made.null.bounds):
        part = np.where((np.arange(m) >= first) & (np.arange(m) < last), made.null.vector, 0)
        assert np.abs(exact @ part - part).max() < 1e-12


def test_groups_hang_together_and_do_not_cross_components(adjacency):
    operator, null = operator_and_null_space(adjacency)
    node, m = coarse.group_rows(operator.matrix(np.float32))
    first_rows = np.unique(node, return_index=True)[1]
    assert len(first_rows) == m
    assert (np.diff(first_rows) > 0).all()
    component = np.repeat(np.arange(len(null)), np.diff(null.bounds))
    within = adjacency.tocoo()
    same = node[within.row] == node[within.col]
    n_pieces, _ = sp.csgraph.connected_components(
        sp.coo_array((np.ones(same.sum()), (within.row[same], within.col[same])), adjacency.shape)
    )
    assert n_pieces == m  # each group is connected
    assert len(np.unique(component + len(null) * node.astype(int))) == m


# ---------------------------------------------------------------- approximate spectra


@pytest.mark.parametrize(
    ("name", "sigma"), [("moons", None), ("blobs", "local"), ("varied", "local"), ("rings", None)]
)
def test_approximate_eigenvalues_are_within_a_fifth(small_graphs_have_coarse_ones, name, sigma):
    data = kdegraph.datasets.make(name, n=2000, seed=0)
    graph = similarity_graph(data.X, sigma=sigma or data.sigma, n_rounds=20, seed=0)
    found = spectrum(graph, 6, approximate=True)
    exact = oracle.eigenvalues(graph.adjacency)[:6]
    assert found.converged
    assert found.n_products > 0
    assert (found.eigenvalues > exact - 1e-6).all()  # Ritz values are no smaller
    assert (found.eigenvalues < 1.2 * exact + 1e-6).all()
    assert np.abs(found.eigenvectors.T @ found.eigenvectors - np.eye(6)).max() < 1e-9


def test_one_round_of_smoothing_does_not_always_do():
    """Blobs with local bandwidths: the smallest eigenvalues settle slowly."""
    data = kdegraph.datasets.make("blobs", n=6_000, seed=0)
    graph = similarity_graph(data.X, sigma="local", n_rounds=20, seed=0)
    proven, found = spectrum(graph, 6), spectrum(graph, 6, approximate=True)
    assert found.converged
    assert found.n_products > 5  # a round
    assert (found.eigenvalues < 1.2 * proven.eigenvalues + 1e-6).all()


@pytest.mark.parametrize(
    ("name", "sigma"), [("moons", "local"), ("blobs", None), ("varied", None), ("rings", "local")]
)
def test_clusters_are_those_of_the_proven_spectrum(name, sigma):
    data = kdegraph.datasets.make(name, n=8_000, seed=1)
    graph = similarity_graph(data.X, sigma=sigma or data.sigma, n_rounds=20, seed=0)
    k = len(np.unique(data.y))
    proven = spectrum(graph, 2 * k, smallest_component="auto")
    expected = kdegraph.spectral_clustering(graph, k, spectrum=proven)
    found = kdegraph.spectral_clustering(graph, k)
    assert adjusted_rand_score(found.labels, expected.labels) >= 0.98
    assert found.spectrum.n_products <= proven.n_products
    if expected.conductances.max() < 0.01:
        assert adjusted_rand_score(found.labels, expected.labels) >= 0.999


def test_blocks_of_all_coarse_graphs_have_the_same_width(
    small_graphs_have_coarse_ones, monkeypatch
):
    blocks = []

    def watched(operator, null, k, start, progress=None):
        blocks.append(start.block.shape)
        return refine(operator, null, k, start, progress)

    refine = coarse.refine
    monkeypatch.setattr(coarse, "refine", watched)
    monkeypatch.setattr("kdegraph.spectral.spectrum.refine", watched)
    data = kdegraph.datasets.make("blobs", n=2500, seed=0)
    spectrum(similarity_graph(data.X, sigma="local", seed=0), 6, approximate=True)
    assert len(blocks) >= 2
    assert {width for _, width in blocks} == {block_width(6)}


def test_what_does_not_settle_is_proven(monkeypatch):
    data = kdegraph.datasets.make("moons", n=6000, seed=0)
    graph = similarity_graph(data.X, sigma=data.sigma, n_rounds=20, seed=0)
    proven = spectrum(graph, 4)
    approximate = spectrum(graph, 4, approximate=True)
    assert 0 < approximate.n_products < proven.n_products
    monkeypatch.setattr("kdegraph.spectral.solver.coarse.has_settled", lambda *_: False)
    made = mock.Mock(side_effect=coarse.coarsen)
    monkeypatch.setattr("kdegraph.spectral.solver.coarse.coarsen", made)
    found = spectrum(graph, 4, approximate=True)
    assert made.call_count == 1  # the proven way begins with the same coarse graph
    assert found.converged
    assert np.abs(found.eigenvalues - proven.eigenvalues).max() < 5e-6
    assert found.residuals.max() <= 1e-4


@pytest.mark.parametrize(
    ("before", "now", "residual", "settled"),
    [
        ([1e-9, 3e-8, 1.0e-6], [-2e-9, 1e-8, 0.95e-6], 0.5, True),  # only rounding errors
        ([1e-9, 3e-8, 1.0e-6], [-2e-9, 1e-8, 0.80e-6], 0.5, False),
        ([0.01, 0.02, 0.03], [0.0095, 0.019, 0.028], 0.5, True),
        ([0.01, 0.02, 0.03], [0.0080, 0.019, 0.028], 0.5, False),
        # An eigenvalue may fall further, but only by the square of the angle of its vector.
        ([1e-5], [1e-7], 0.019, True),
        ([1e-5], [1e-7], 0.021, False),
    ],
)
def test_eigenvalues_settle(before, now, residual, settled):
    guards = [1.0] * 5
    ritz = SimpleNamespace(
        values=1 - np.array(now + guards), residuals=np.full(len(now) + 5, residual)
    )
    assert has_settled(1 - np.array(before + guards), ritz, len(now)) is settled


# ---------------------------------------------------------------- from a block to Ritz vectors


def test_ritz_finds_the_eigenpairs_within_the_span():
    rng = np.random.default_rng(0)
    basis = scipy.linalg.qr(rng.normal(size=(50, 5)), mode="economic")[0]
    M = rng.normal(size=(50, 50))
    M = M + M.T
    M /= np.linalg.norm(M, 2)
    block = np.c_[basis @ rng.normal(size=(5, 5)), basis[:, :1]]  # the last one is dependent
    images = M @ block
    both = np.hstack([block, images])
    values, residuals, rotation = ritz_rotation(both.T @ both)
    np.testing.assert_allclose(values, scipy.linalg.eigvalsh(basis.T @ M @ basis)[::-1])
    found = block @ rotation
    np.testing.assert_allclose(found.T @ found, np.eye(5), atol=1e-10)
    norms = np.linalg.norm(M @ found - found * values, axis=0)
    np.testing.assert_allclose(residuals, norms, rtol=1e-6)


@pytest.mark.parametrize("adjacency", ["blobs"], indirect=True)
def test_images_are_the_better_vectors(adjacency):
    """Vectors near the eigenvectors, and parts of the null space in them."""
    operator, null = operator_and_null_space(adjacency)
    exact = solve(operator, null, 2, 1e-8, rng=np.random.default_rng(0)).vectors
    noise = np.random.default_rng(1).normal(size=exact.shape) / operator.n**0.5
    block = exact + 0.01 * noise + null.vector[:, None]
    image = operator.step(block, np.zeros_like(block))
    ritz = ritz_rotation(null.overlaps(block, image).gram)
    angles = []
    for given in (None, image):
        vectors = ritz_vectors(null, block, given, ritz, np.float64)
        assert np.abs(vectors.T @ vectors - np.eye(2)).max() < 1e-12
        starts = null.bounds[:-1]
        assert np.abs(np.add.reduceat(null.vector[:, None] * vectors, starts)).max() < 1e-12
        angles.append(scipy.linalg.subspace_angles(exact, vectors).max())
    assert angles[1] < 0.7 * angles[0]


@pytest.mark.parametrize("adjacency", ["blobs"], indirect=True)
def test_a_block_of_dependent_vectors_does_not_settle(adjacency):
    operator, null = operator_and_null_space(adjacency)
    one = np.random.default_rng(0).normal(size=(operator.n, 1)).astype(np.float32)
    pairs = coarse.refine(operator, null, 2, Start(np.tile(one, 8), 0, np.full(8, 0.9)))
    assert not pairs.converged
