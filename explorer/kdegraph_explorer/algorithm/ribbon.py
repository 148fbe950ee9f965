"""Find the clusters of points at a range of scales, or of a photograph in a range of numbers, and
number them as those of the picture.
"""

from typing import Any, NamedTuple

import numpy as np
from kdegraph import cluster_numbers, cluster_scales

from ..drawing.segments import mean_colors
from ..stages import MOST_SEGMENTS

FIRST_POINTS = 1_000  # whose bands are shown within about a second
MANY_POINTS = 3_000  # of more points, those are shown first ...
MANY_DIMENSIONS = 30  # ... but not in more dimensions, where all that are used are hardly more
FIRST_NUMBERS = 8, 20  # largest numbers of segments in what is shown first
ALIKE = 0.5  # Jaccard index above which a band has the color of a cluster


class Subject(NamedTuple):
    """Hold what bands are found of: points at all scales, or the `graph` of a photograph with its
    `spectrum`, in up to `MOST_SEGMENTS` segments.
    """

    dataset: Any
    graph: Any = None
    spectrum: Any = None
    seed: int = 0


class Bands(NamedTuple):
    """Hold a `ClusterScales`, its outlines, and whether it is complete; for segments also their
    mean colors, (s, c, 3) uint8, and the largest number of them in the complete one.
    """

    found: Any
    outlines: list
    complete: bool
    means: Any = None
    most: int = 0


def find_bands(subject, progress, publish):
    """Return the `Bands` of a `Subject`; those of a part are published before."""
    if subject.graph is not None:
        return _find_segments(subject, progress, publish)
    points = subject.dataset.embedded
    n, d = points.shape
    if n > MANY_POINTS and d <= MANY_DIMENSIONS:
        few = cluster_scales(points, max_points=FIRST_POINTS, seed=0, progress=progress)
        publish(Bands(few, few.outlines(), False))
    found = cluster_scales(points, seed=0, progress=progress)
    return Bands(found, found.outlines(), True)


def _find_segments(subject, progress, publish):
    """Return the `Bands` of a photograph; those of few segments are published before, as if they
    were stable, which only another graph shows.
    """
    dataset, graph, spectrum, seed = subject
    options = {"spectrum": spectrum, "seed": seed}
    most = min(MOST_SEGMENTS, spectrum.n_components)
    first = {"n_replicates": 0, "progress": lambda stage, fraction: progress(stage, 0.0)}
    for number in FIRST_NUMBERS:
        if number < most:
            few = cluster_numbers(graph, range(2, number + 1), **first, **options)
            publish(Bands(few, few.outlines(), False, segment_colors(few, dataset), most))
    found = cluster_numbers(graph, progress=progress, **options)
    return Bands(found, found.outlines(), True, segment_colors(found, dataset), most)


def segment_colors(found, dataset):
    """Return the mean color of each segment of a photograph, (s, c, 3) uint8."""
    n_bands = found.stability.shape[1]
    pixels = mean_colors(np.arange(dataset.n_points).reshape(dataset.shape), dataset.image)
    means = np.zeros((*found.stability.shape, 3), np.uint8)
    for labels, colors in zip(found.labels, means, strict=True):
        sizes = np.maximum(np.bincount(labels, minlength=n_bands), 1)
        for i, values in enumerate(pixels.T):
            colors[:, i] = np.round(np.bincount(labels, values, n_bands) / sizes)
    return means


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
