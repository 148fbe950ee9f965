"""Graphs of local bandwidths from data that are unusual: a clear error or the right answer."""

import numpy as np
import oracle
import pytest
from kdegraph import local_bandwidths, similarity_graph


def cloud(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def assert_right(graph, X, perplexity=None):
    """Check bandwidths, kernel degrees, and the degrees of a graph that is nearly the full one, as
    its rounds are many.
    """
    np.testing.assert_array_equal(graph.sigma, local_bandwidths(X, perplexity=perplexity))
    K = oracle.full_graph(X, "gaussian", np.sqrt(np.multiply.outer(graph.sigma, graph.sigma)))
    np.testing.assert_allclose(graph.kernel_degrees, K.sum(axis=1), rtol=graph.eps)
    np.testing.assert_allclose(graph.adjacency.sum(axis=1), K.sum(axis=1), rtol=0.02)


def test_a_perplexity_of_all_points_is_refused():
    X = cloud(12, 2)
    for perplexity in (12, 12.5, 1e300):
        with pytest.raises(ValueError, match=r"perplexity is an effective number .* n = 12; got"):
            similarity_graph(X, seed=0, sigma="local", perplexity=perplexity)
    graph = similarity_graph(X, seed=0, sigma="local", perplexity=11.9, n_rounds=5000, eps=1e-3)
    assert_right(graph, X, 11.9)
    for perplexity in (0.5, -1, np.nan, "5"):
        error = TypeError if perplexity == "5" else ValueError
        with pytest.raises(error, match="perplexity"):
            similarity_graph(X, seed=0, sigma="local", perplexity=perplexity)


def test_points_that_are_all_equal_have_the_kernel_value_one():
    for n in (1, 2, 30):
        graph = similarity_graph(np.full((n, 3), 7.0), seed=0, sigma="local", n_rounds=5000)
        assert graph.sigma.tolist() == [1.0] * n
        np.testing.assert_array_equal(graph.kernel_degrees, np.full(n, n - 1.0))
        np.testing.assert_allclose(graph.adjacency.toarray(), 1 - np.eye(n), rtol=1e-9)


@pytest.mark.parametrize(("n", "d"), [(2, 100), (10, 50), (30, 1000)])
def test_fewer_points_than_dimensions(n, d):
    X = cloud(n, d)
    assert_right(similarity_graph(X, seed=0, sigma="local", n_rounds=5000, eps=1e-3), X)
