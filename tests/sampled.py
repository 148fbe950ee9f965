"""Graphs by every way of drawing neighbors, and all that their bits are."""

import numpy as np
import pytest

WAYS = {
    "rejection": {"sampler": "rejection"},
    "near": {"sampler": "near"},
    "stratified": {"sampler": "recursive", "draws": "stratified", "kde": "direct"},
    "independent": {"sampler": "recursive", "draws": "independent", "kde": "direct"},
}


def ways(function):
    return pytest.mark.parametrize("name", WAYS)(function)


def cloud(n, d=2, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.normal(size=(n // 2, d)), 3 + 0.5 * rng.normal(size=(n - n // 2, d))]
    )


def digest(graph):
    return [
        graph.neighbors.tobytes(),
        graph.adjacency.data.tobytes(),
        graph.adjacency.indices.tobytes(),
        graph.adjacency.indptr.tobytes(),
    ]
