"""Find the clusters of points at a range of scales, and number them as those of the picture."""

import numpy as np
from kdegraph import cluster_scales

FIRST_POINTS = 1_000  # whose bands are shown within about a second
MANY_POINTS = 3_000  # of more points, those are shown first ...
MANY_DIMENSIONS = 30  # ... but not in more dimensions, where all that are used are hardly more
ALIKE = 0.5  # Jaccard index above which a band has the color of a cluster


def find_bands(dataset, progress, publish):
    """Return the `ClusterScales` of points and True; `publish` is called with that of a part of
    many points and False.
    """
    n, d = dataset.embedded.shape
    if n > MANY_POINTS and d <= MANY_DIMENSIONS:
        few = cluster_scales(dataset.embedded, max_points=FIRST_POINTS, seed=0, progress=progress)
        publish((few, False))
    return cluster_scales(dataset.embedded, seed=0, progress=progress), True


def numbers_of_bands(found, colors):
    """Return for each band of a `ClusterScales` the number of the cluster that it is, by the colors
    (n,) of the points; bands that are no cluster have numbers after these. Without colors, their
    own numbers are returned.
    """
    if colors is None:
        return np.arange(found.stability.shape[1])
    from scipy.optimize import linear_sum_assignment  # slow to import

    colors = colors[found.rows]
    n_clusters = int(colors.max()) + 1
    n_bands = found.stability.shape[1]
    alike = np.zeros((n_bands, n_clusters))
    for labels in found.labels:
        common = np.zeros_like(alike)
        np.add.at(common, (labels, colors), 1)
        either = common.sum(axis=1)[:, None] + common.sum(axis=0) - common
        alike = np.maximum(alike, common / np.maximum(either, 1))
    bands, clusters = linear_sum_assignment(alike, maximize=True)
    sure = alike[bands, clusters] > ALIKE
    numbers = np.full(n_bands, -1)
    numbers[bands[sure]] = clusters[sure]
    others = numbers < 0
    numbers[others] = n_clusters + np.arange(np.count_nonzero(others))
    return numbers
