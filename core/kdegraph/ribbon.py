"""Clusters at a range of scales, or in a range of numbers, and their picture: a ribbon of bands."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdegraph.bands import Outline, follow, outlines, parents

__all__ = ["ClusterScales"]

TICKS = ("1", "2", "3", "5", "7")  # the first digits of numbers of clusters below a plot
AXES = {"sigma": "bandwidth sigma", "n_clusters": "number of clusters"}


@dataclass(frozen=True, eq=False, repr=False)
class ClusterScales:
    """Hold the clusters of points at several scales, as `cluster_scales` returns them.

    In the result of `cluster_numbers` the scales are numbers of clusters.

    Clusters have numbers from 0, and keep them from scale to scale as long as more than half of
    the points in either of two are in both.

    Attributes
    ----------
    sigma : (s,) float64 array
        The scales, ascending: one bandwidth for all points. The same for all numbers; NaN where
        each point has its own.
    n_clusters : (s,) int array
        The number of clusters at each scale, descending if the scales are numbers.
    confidence : (s,) float64 array
        How clear this number is, from 0 to 1, see `suggest_n_clusters`; NaN if it was given.
    eigengap : (s,) float64 array
        How much larger the eigenvalue after those of the clusters is than the last of these; NaN
        where the graph has too few vertices.
    rows : (m,) int array
        The points that were used, ascending: all of them, or a random part.
    labels : (s, m) int32 array
        The number of the cluster of each of these points at each scale.
    stability : (s, c) float64 array
        For each scale and each number of a cluster the mean over the replicates of its Jaccard
        index with the closest cluster there: the points in both, as a share of the points in
        either. NaN where there is no such cluster.
    along : {"sigma", "n_clusters"}
        The attribute in which the scales differ.

    Examples
    --------
    >>> import kdegraph
    >>> X = kdegraph.datasets.make("blobs", n=300, seed=0).X
    >>> kdegraph.cluster_scales(X, [0.5, 1.0], seed=0)
    <ClusterScales with 300 points, sigma 0.5 to 1, 3 to 3 clusters>
    """

    sigma: NDArray[np.float64]
    n_clusters: NDArray[np.int64]
    confidence: NDArray[np.float64]
    eigengap: NDArray[np.float64]
    rows: NDArray[np.intp]
    labels: NDArray[np.int32]
    stability: NDArray[np.float64]
    along: str = "sigma"

    @property
    def scales(self) -> NDArray[Any]:
        """The values of the attribute in which the scales differ."""
        return getattr(self, self.along)

    def __repr__(self) -> str:
        """Return a line without the arrays."""
        ends = f"sigma {self.sigma[0]:.4g} to {self.sigma[-1]:.4g}, "
        numbers = f"{self.n_clusters.min()} to {self.n_clusters.max()} clusters"
        of_scales = ends if self.along == "sigma" else ""
        return f"<ClusterScales with {len(self.rows):,} points, {of_scales}{numbers}>"

    def to_arrow(self) -> Any:
        """Return a table with a row for each cluster at each scale.

        Its methods ``to_pandas()`` and ``to_pydict()`` return a data frame and a dict of lists.

        Returns
        -------
        pyarrow.Table
            With the columns `sigma`, `cluster`, `size` (the number of its points among those that
            were used), `stability`, `parent` (the cluster at the next larger scale, or in the next
            smaller number, that most of its points are in; null at the last one), and, the same for
            all clusters of a scale, `n_clusters`, `confidence` and `eigengap`.

        Examples
        --------
        >>> import kdegraph
        >>> X = kdegraph.datasets.make("blobs", n=300, seed=0).X
        >>> found = kdegraph.cluster_scales(X, [0.5, 1.0], seed=0)
        >>> found.to_arrow().slice(2, 2).select(["cluster", "size", "parent"]).to_pydict()
        {'cluster': [2, 0], 'size': [100, 100], 'parent': [2, None]}
        """
        import pyarrow as pa

        scale, cluster = np.nonzero(np.isfinite(self.stability))
        places = list(zip(scale.tolist(), cluster.tolist(), strict=True))
        above = parents(self.labels)
        return pa.table(
            {
                "sigma": self.sigma[scale],
                "cluster": cluster,
                "size": [np.count_nonzero(self.labels[i] == number) for i, number in places],
                "stability": self.stability[scale, cluster],
                "parent": pa.array([above[i].get(number) for i, number in places], pa.int64()),
                "n_clusters": self.n_clusters[scale],
                "confidence": self.confidence[scale],
                "eigengap": self.eigengap[scale],
            }
        )

    def outlines(self) -> list[Outline]:
        """Return the outlines of the bands of clusters, and of the points between them.

        Returns
        -------
        list of Outline
            With the attributes `cluster`, `scale` (its place in `scales`), `into` (for points on
            the way to the next scale, the cluster there; otherwise None), `opacity`, `x`
            (logarithms of the scales, base 10), `low` and `high`. All points together have a height
            of 1.
        """
        return outlines(self.labels, self.scales, self.stability)

    def plot(self, ax: Any = None) -> Any:
        """Draw the clusters as bands along the scales, with Matplotlib.

        A band is as high as its cluster is large, and faint where that is not stable. The number of
        clusters stands above each bandwidth.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            By default the axes of a new figure.

        Returns
        -------
        matplotlib.axes.Axes
        """
        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=(7, 3.5), layout="constrained")
        drawn = self.outlines()
        for one in drawn:
            x = 10**one.x
            look = {"color": f"C{one.cluster % 10}", "alpha": one.opacity, "linewidth": 0}
            ax.fill_between(x, one.low, one.high, **look)
        top = max(one.high.max() for one in drawn)
        if self.along == "sigma":
            for sigma, number in zip(self.sigma, self.n_clusters, strict=True):
                ax.text(sigma, top + 0.04, str(number), ha="center")
        ax.set(xscale="log", xlabel=AXES[self.along], ylabel="points", yticks=[])
        if self.along == "n_clusters":
            ticks = [k for k in self.n_clusters.tolist() if str(k).rstrip("0") in TICKS]
            ax.set_xticks(ticks, [*map(str, ticks)])
            ax.minorticks_off()
        ax.set_ylim(-top - 0.04, top + 0.16)
        return ax


class AtScale(NamedTuple):
    """The clusters at one scale."""

    labels: NDArray[np.int32]
    stability: NDArray[np.float64]
    confidence: float
    eigengap: float


def followed(found, **fields):
    """Return the `ClusterScales` of the clusters at all scales, `AtScale`."""
    labels = follow(np.array([one.labels for one in found]))
    stability = np.full((len(found), labels.max() + 1), np.nan)
    for i, one in enumerate(found):
        stability[i, labels[i]] = one.stability[one.labels]
    return ClusterScales(
        confidence=np.array([one.confidence for one in found]),
        eigengap=np.array([one.eigengap for one in found]),
        labels=labels,
        stability=stability,
        **fields,
    )
