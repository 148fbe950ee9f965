"""Possible problems of a graph, in sentences with a remedy."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kdegraph.bandwidth import estimate_sigma, is_pixel_grid
from kdegraph.findings import Finding, GraphWarning, matrix_as_points, warn
from kdegraph.geometry.neighbors import duplicate_groups
from kdegraph.sampled_graph.result import SimilarityGraph
from kdegraph.spectral.checked_graph import AdjacencyLike, check_adjacency, graph_parts
from kdegraph.summary import bandwidth_in_words, in_short
from kdegraph.validation import SparsePoints, check_count, check_points

__all__ = ["Finding", "GraphWarning", "diagnose", "unequal_columns"]


def diagnose(
    adjacency: AdjacencyLike,
    *,
    points: ArrayLike | None = None,
    n_clusters: int | None = None,
    feature_names: Sequence[str] | None = None,
) -> list[Finding]:
    """Look for frequent causes of poor clusters in a graph.

    Parameters
    ----------
    adjacency : SimilarityGraph, sparse or dense (n, n) matrix, or graph of NetworkX or igraph
        Symmetric weights, finite and >= 0.
    points : (n, d) array_like, optional
        The points that the vertices stand for; by default those of the `SimilarityGraph`.
    n_clusters : int, optional
        The number of clusters to be found in the graph.
    feature_names : sequence of d str, optional
        The names of the columns of the points; by default they are numbered from 0.

    Returns
    -------
    list of Finding
        A str with a remedy for each of these: columns of very different spreads, see
        `unequal_columns`; a sigma so large that the mean kernel value exceeds 0.9, or so small that
        more than half of the points have no edge; a bandwidth for each point that is below a
        sixth of the distances to the nearest others; a graph with more than three times as many
        connected components as clusters, the largest of which lack more than a tenth of the points;
        points that are a symmetric matrix. Empty for most data. Columns matter for the metric
        "euclidean" only.

    Raises
    ------
    ValueError, TypeError
        For bad input.

    Notes
    -----
    Cost: O(number of edges), and that of `estimate_sigma` where sigma is too large or too small.

    Examples
    --------
    >>> import kdegraph
    >>> X = kdegraph.datasets.make("moons", n=500, seed=0).X
    >>> kdegraph.diagnose(kdegraph.similarity_graph(X, seed=0), n_clusters=2)
    []
    >>> for sentence in kdegraph.diagnose(kdegraph.similarity_graph(X, sigma=20.0, seed=0)):
    ...     print(sentence)
    sigma 20 is far above the distances between the points: ...
    """
    if points is None:
        points = graph_parts(adjacency).points
    else:
        points = check_points(points, "points", keep_single=True, keep_sparse=True)
    found = []
    if points is not None:
        found += [matrix_as_points(points)]
        if found == [None] and getattr(adjacency, "metric", "euclidean") == "euclidean":
            found += [unequal_columns(points, feature_names)]
    if isinstance(adjacency, SimilarityGraph):
        found += [too_wide(adjacency), too_narrow(adjacency), concentrated(adjacency)]
    elif n_clusters is None:
        check_adjacency(adjacency)
    if n_clusters is not None:
        found += [many_parts(adjacency, check_count(n_clusters, "n_clusters"))]
    return [finding for finding in found if finding is not None]


def warn_of(graph: SimilarityGraph, **options: Any) -> None:
    """Show the findings of `diagnose` as warnings."""
    for sentence in diagnose(graph, **options):
        warn(sentence)


def _with_verb(sigma):
    """Return the beginning of a sentence on sigma."""
    return f"{bandwidth_in_words(sigma)} {'are' if isinstance(sigma, np.ndarray) else 'is'}"


def unequal_columns(
    points: NDArray[np.float64], feature_names: Sequence[str] | None = None
) -> Finding | None:
    """Find columns of very different spreads, such as lengths beside prices.

    Distances between points then depend on the wide columns alone, whether these matter or not.
    This is one of the problems for which `diagnose` looks.

    Parameters
    ----------
    points : (n, d) array
        Points, finite.
    feature_names : sequence of d str, optional
        The names of the columns; by default they are numbered from 0.

    Returns
    -------
    Finding or None
        A sentence with a remedy, if the interquartile range of a column is more than 100 times that
        of another one; a quarter of the columns, and constant ones, may be narrower. None for the
        pixels of a picture, see `kdegraph.datasets.image_points`.

    Raises
    ------
    ValueError
        If there is not one name for each column.

    Examples
    --------
    >>> import numpy as np
    >>> from kdegraph.diagnosis import unequal_columns
    >>> points = np.random.default_rng(0).normal(size=(100, 2))
    >>> unequal_columns(points) is None
    True
    >>> print(unequal_columns(points * [1, 1000], ["width", "price"]))
    the columns have very different scales: column price varies by ...
    """
    if feature_names is not None and len(feature_names) != points.shape[1]:
        raise ValueError(
            f"feature_names must be one name for each of the {points.shape[1]} columns of the "
            f"points, got {len(feature_names)} names"
        )
    if isinstance(points, SparsePoints) or is_pixel_grid(points):
        return None  # most values are zero; a picture of little color is no mistake
    some = points[:: -(-len(points) // 10_000)]  # at most 10,000 points
    # Halves, as the difference of huge numbers would overflow.
    low, high = np.quantile(some / 2, [0.25, 0.75], axis=0)
    spreads = high - low
    narrow_first = np.argsort(spreads, kind="stable")[np.count_nonzero(spreads == 0) :]
    if narrow_first.size < 2:
        return None
    # A quarter of the columns may be narrow: in pictures as points, pixels at the edge are almost
    # constant.
    narrow, wide = narrow_first[(narrow_first.size - 1) // 4], narrow_first[-1]
    if spreads[wide] / 100 <= spreads[narrow]:
        return None
    name = range(len(spreads)) if feature_names is None else feature_names
    return Finding(
        "columns",
        f"the columns have very different scales: column {name[wide]} varies by "
        f"{in_short(2 * spreads[wide])}, column {name[narrow]} by {in_short(2 * spreads[narrow])} "
        "(between quartiles), so that distances hardly depend on the latter",
        "standardize the columns, for instance with sklearn.preprocessing.StandardScaler in a "
        f"pipeline, or take the same unit for all{_metric_of_degrees(points)}",
    )


def _metric_of_degrees(points):
    """Return the end of a remedy for points that may be latitudes and longitudes in degrees."""
    if points.shape[1] != 2:
        return ""
    latitude, longitude = np.sort(np.abs(points).max(axis=0))
    if latitude > 90 or not 90 < longitude <= 180:
        return ""
    return "; for latitudes and longitudes in degrees, in this order, take metric='haversine'"


def too_wide(graph: SimilarityGraph) -> Finding | None:
    """Find a sigma far above the distances between the points."""
    n, points = len(graph.kernel_degrees), graph.points
    degrees = graph.kernel_degrees if graph.densities is None else graph.densities - 1
    if n < 2 or graph.sample_weight is not None or np.mean(degrees) <= 0.9 * (n - 1):
        return None
    if points is not None:
        # No sigma is too large for points that are the same; the other pairs count.
        sizes = np.diff(duplicate_groups(points)[1], append=n).astype(float)
        n_same = np.sum(sizes * (sizes - 1))
        n_others = n * (n - 1) - n_same
        if np.sum(degrees) - n_same <= 0.9 * n_others:
            return None
    return Finding(
        "wide",
        f"{_with_verb(graph.sigma)} far above the distances between the points: nearly "
        "all kernel values are 1, and the graph cannot tell clusters apart",
        f"take a smaller sigma{_automatic(points)}",
    )


def too_narrow(graph: SimilarityGraph) -> Finding | None:
    """Find a sigma far below the distances between the points."""
    n = len(graph.kernel_degrees)
    n_isolated = np.count_nonzero(np.diff(graph.adjacency.indptr) == 0)
    if n < 2 or n_isolated <= n / 2:
        return None
    return Finding(
        "narrow",
        f"{_with_verb(graph.sigma)} far below the distances between the points: "
        f"{n_isolated:,} of {n:,} have no edge",
        f"take a larger sigma{_automatic(graph.points)}",
    )


def concentrated(graph: SimilarityGraph) -> Finding | None:
    """Find distances that hardly differ, so that bandwidths of the points decide, not distances.

    With a perplexity of 5 the kernel values of nearest neighbors are 0.001 to 0.1 in measured data
    of 13 to 625 columns, and below 1e-30 in words counted in texts.
    """
    if not isinstance(graph.sigma, np.ndarray):
        return None
    if graph.densities is not None or graph.sample_weight is not None:
        return None
    # The degree of an effective number of 5 neighbors, at 6.3 times the bandwidth.
    if not 0 < np.median(graph.kernel_degrees) < 5 * math.exp(-40):
        return None
    return Finding(
        "concentrated",
        "the distances of a point to most others hardly differ: they are far above its bandwidth, "
        "so that kernel values depend more on the bandwidths of two points than on their distance",
        "take a larger perplexity or knn_graph, or reduce the points to some 100 columns, for "
        "instance with sklearn.decomposition.TruncatedSVD in a pipeline",
    )


def _automatic(points):
    """Return the end of a sentence: other values for sigma."""
    if points is None:
        return ""
    return f", such as 'auto', which is {estimate_sigma(points, seed=0):.3g}, or 'local'"


def many_parts(adjacency: AdjacencyLike, n_clusters: int) -> Finding | None:
    """Find a graph with many more connected components than clusters."""
    sizes = check_adjacency(adjacency).sizes
    parts = np.sort(sizes[sizes > 1])[::-1]
    inside = parts[:n_clusters].sum()
    if parts.size <= 3 * n_clusters or inside >= 0.9 * parts.sum():
        return None
    largest = "largest" if n_clusters == 1 else f"{n_clusters} largest"
    return Finding(
        "parts",
        f"the graph falls into {parts.size:,} parts without an edge between them, and the "
        f"{largest} have {inside / sizes.sum():.0%} of the points",
        "take a larger sigma or perplexity, more neighbors, or more clusters",
    )
