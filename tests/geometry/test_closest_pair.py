"""The closest pair of points of two trees, against all distances."""

import numpy as np
import pytest
from kdegraph.geometry.closest_pair import closest_pair
from kdegraph.geometry.kernels import GAUSSIAN, LAPLACIAN
from kdegraph.geometry.tree import build_tree
from scipy.spatial.distance import cdist

METRICS = {GAUSSIAN: "euclidean", LAPLACIAN: "cityblock"}


@pytest.mark.parametrize("code", METRICS)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 500), (300, 7), (200, 900)])
def test_closest_pair(code, n, m):
    for d in (1, 2, 5):
        for shift in (0.0, 3.0, 1e6):
            rng = np.random.default_rng([d, n, m])
            X, Y = rng.normal(size=(n, d)), rng.normal(size=(m, d)) + shift
            distances = cdist(X, Y, METRICS[code])
            i, j = closest_pair(code, build_tree(X), build_tree(Y))
            assert distances[i, j] == distances.min()


def test_a_point_that_both_have():
    X, Y = np.zeros((50, 2)), np.ones((60, 2))
    X[17] = Y[33] = 0.5
    assert closest_pair(GAUSSIAN, build_tree(X), build_tree(Y)) == (17, 33)
