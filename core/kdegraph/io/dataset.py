"""What every source of data returns."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class Dataset:
    """Points with what is known about them.

    Parameters
    ----------
    X : (n, d) float64 array
        The points.
    y : (n,) int64 array, optional
        Known labels, 0, 1, ..., as indices into `label_names`.
    name : str
        Short name, e.g. that of the generator or the file.
    description : str
        One sentence on what the data show.
    feature_names : tuple of d str
    label_names : tuple of str
        What each value of `y` stands for.
    sigma : float, optional
        A bandwidth that suits the data; None where nothing is known (use
        `kdegraph.estimate_sigma`).
    n_clusters : int, optional
        A number of clusters that suits the data.
    rows : (n,) int64 array, optional
        For data from a file: which of its rows each point is, from 0. Differs from 0, 1, ... only
        where rows were dropped.
    image : (height, width, 3) uint8 array, optional
        The picture, in full size, if the points are its pixels.
    shape : (rows, columns), optional
        For an image: the grid of the points, in row-major order; smaller than the picture where
        that was scaled down.
    """

    X: np.ndarray
    y: np.ndarray | None = None
    name: str = ""
    description: str = ""
    feature_names: tuple = ()
    label_names: tuple = ()
    sigma: float | None = None
    n_clusters: int | None = None
    rows: np.ndarray | None = field(default=None, repr=False)
    image: np.ndarray | None = field(default=None, repr=False)
    shape: tuple | None = None

    def __post_init__(self):
        if not self.feature_names:
            object.__setattr__(
                self, "feature_names", tuple(f"x{i + 1}" for i in range(self.X.shape[1]))
            )

    @property
    def n_points(self):
        """The number of points n."""
        return len(self.X)

    def label_image(self, labels):
        """The labels of the points as a picture in full size, each pixel labeled like the nearest
        point of the grid.

        Parameters
        ----------
        labels : (n,) array
            One label per point.

        Returns
        -------
        (height, width) array
            Of the type of `labels`.

        Raises
        ------
        ValueError
            If the points are not the pixels of an image, or there are not n labels.
        """
        if self.image is None:
            raise ValueError(
                f"the points of {self.name or 'this data set'} are not the pixels of an image, so their labels are no picture"
            )
        labels = np.asarray(labels)
        if labels.shape != (len(self.X),):
            raise ValueError(
                f"labels must have shape ({len(self.X)},), one per point, got {labels.shape}"
            )
        return expand_labels(labels, self.shape, self.image.shape[:2])


def expand_labels(labels, shape, full_shape):
    """Scale the labels of a grid of points up to a picture, without mixing labels.

    Parameters
    ----------
    labels : (rows * columns,) or (rows, columns) array
    shape : (rows, columns)
        The grid of the points.
    full_shape : (height, width)
        The size of the picture.

    Returns
    -------
    (height, width) array
        The label of the cell of the grid in which the center of each pixel lies.
    """
    grid = np.asarray(labels).reshape(shape)
    row, column = (
        (2 * np.arange(full) + 1) * small // (2 * full)
        for small, full in zip(shape, full_shape, strict=True)
    )
    return grid[np.ix_(row, column)]
