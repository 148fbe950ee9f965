"""What every source of data returns: points, and what is known about them."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """Points with what is known about them.

    Parameters
    ----------
    X : (n, d) float64 array
        The points.
    y : (n,) int64 array, optional
        Known labels 0, 1, ..., which are indices into `label_names`.
    name : str
        A short name, for example that of the generator or of the file.
    description : str
        One sentence on what the data show.
    feature_names : tuple of d str
        Names of the columns of `X`; by default "x1", "x2", ...
    label_names : tuple of str
        What each value of `y` stands for.
    sigma : float, optional
        A bandwidth that suits the data. None if no bandwidth is known; see
        `kdegraph.estimate_sigma`.
    n_clusters : int, optional
        A number of clusters that suits the data.
    rows : (n,) int64 array, optional
        For data from a file: the row of the file, from 0, that each point comes from. It differs
        from 0, 1, ... only where rows were left out.
    image : (height, width, 3) uint8 array, optional
        The picture in full size, if the points are its pixels.
    shape : (rows, columns), optional
        The grid of the points of a picture, in row-major order. It is smaller than the picture if
        that was scaled down.

    Examples
    --------
    >>> import numpy as np
    >>> from kdegraph.datasets import Dataset
    >>> data = Dataset(np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]), name="diagonal")
    >>> data.n_points, data.feature_names
    (3, ('x1', 'x2'))
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64] | None = None
    name: str = ""
    description: str = ""
    feature_names: tuple[str, ...] = ()
    label_names: tuple[str, ...] = ()
    sigma: float | None = None
    n_clusters: int | None = None
    rows: NDArray[np.int64] | None = field(default=None, repr=False)
    image: NDArray[np.uint8] | None = field(default=None, repr=False)
    shape: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if not self.feature_names:
            names = tuple(f"x{i + 1}" for i in range(self.X.shape[1]))
            object.__setattr__(self, "feature_names", names)

    @property
    def n_points(self) -> int:
        """The number of points n."""
        return len(self.X)

    def label_image(self, labels: ArrayLike) -> NDArray:
        """Return the labels of the points as a picture in full size.

        Each pixel has the label of the nearest point of the grid.

        Parameters
        ----------
        labels : (n,) array
            One label for each point.

        Returns
        -------
        (height, width) array
            Of the type of `labels`.

        Raises
        ------
        ValueError
            If the points are not the pixels of a picture, or if there are not n labels.
        """
        if self.image is None or self.shape is None:
            raise ValueError(
                f"the points of {self.name or 'this data set'} are not the pixels of an image, "
                "so their labels are no picture"
            )
        labels = np.asarray(labels)
        if labels.shape != (self.n_points,):
            raise ValueError(
                f"labels must have shape ({self.n_points},), one per point, got {labels.shape}"
            )
        height, width = self.image.shape[:2]
        return expand_labels(labels, self.shape, (height, width))


def expand_labels(
    labels: ArrayLike, shape: tuple[int, int], full_shape: tuple[int, int]
) -> NDArray:
    """Scale the labels of a grid of points up to a picture, without mixing labels.

    Parameters
    ----------
    labels : (rows * columns,) or (rows, columns) array
        The labels of the points of the grid, in row-major order.
    shape : (rows, columns)
        The grid of the points.
    full_shape : (height, width)
        The size of the picture.

    Returns
    -------
    (height, width) array
        For each pixel, the label of the cell of the grid in which its center lies.

    Raises
    ------
    ValueError
        If the number of labels is not ``rows * columns``.

    Examples
    --------
    >>> from kdegraph.datasets import expand_labels
    >>> expand_labels([[0, 1]], (1, 2), (2, 4))
    array([[0, 0, 1, 1],
           [0, 0, 1, 1]])
    """
    labels = np.asarray(labels)
    if labels.size != shape[0] * shape[1]:
        raise ValueError(
            f"labels must have {shape[0]} x {shape[1]} values, one per point of the grid, "
            f"got shape {labels.shape}"
        )
    row, column = (
        (2 * np.arange(full) + 1) * small // (2 * full)
        for small, full in zip(shape, full_shape, strict=True)
    )
    return labels.reshape(shape)[np.ix_(row, column)]
