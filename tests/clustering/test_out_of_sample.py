"""The nearest points of groups, against all distances."""

import numpy as np
import pytest
from kdegraph.clustering.out_of_sample import SMALL_GROUP, nearest_to_groups
from scipy.spatial.distance import cdist


@pytest.mark.parametrize("kernel", [None, "gaussian", "laplacian"])
@pytest.mark.parametrize("d", [1, 3])
def test_the_point_nearest_to_each_group(kernel, d):
    rng = np.random.default_rng(d)
    points = rng.normal(size=(500, d))
    sizes = [1, 2, SMALL_GROUP, SMALL_GROUP + 1, 10 * SMALL_GROUP, 1, 700]
    group = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    queries = rng.normal(size=(len(group), d)) + 3.0 * rng.normal(size=(len(sizes), d))[group]
    distances = cdist(queries, points, "cityblock" if kernel == "laplacian" else "euclidean")
    expected = [distances[group == i].min(axis=0).argmin() for i in range(len(sizes))]
    np.testing.assert_array_equal(nearest_to_groups(points, queries, group, kernel), expected)


def test_a_group_that_touches_a_point():
    points, queries = np.arange(5.0)[:, None], np.arange(3.0, 300.0)[:, None]
    assert nearest_to_groups(points, queries, np.zeros(297, int)).tolist() == [3]
    queries[:] = 4.0  # copies of a point
    assert nearest_to_groups(points, queries, np.zeros(297, int)).tolist() == [4]
