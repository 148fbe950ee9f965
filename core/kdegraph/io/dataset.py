"""What every source of data returns: points, and what is known about them."""

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kdegraph.validation import as_array


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

    def subset(self, points: ArrayLike) -> Self:
        """Return some of the points, with what is known about them.

        Parameters
        ----------
        points : (m,) int array
            Their indices, each once, in the order of the new points.

        Returns
        -------
        Dataset
            Its `rows` are the rows, or the indices, that the points have in these data. `sigma` and
            `n_clusters` are left out, as they suit all points together, and so is the picture, of
            which the points are no longer the whole.

        Raises
        ------
        ValueError
            If there are no points, or if indices are out of range or occur twice.

        Examples
        --------
        >>> from kdegraph import datasets
        >>> part = datasets.make("moons", n=100, seed=0).subset([7, 3])
        >>> part.n_points, part.rows
        (2, array([7, 3]))
        """
        chosen = as_array(points, "points")
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or len(chosen) == 0:
            raise ValueError("points must be a list of the indices of at least one point")
        if chosen.min() < 0 or chosen.max() >= self.n_points:
            raise ValueError(
                f"points must be indices from 0 to {self.n_points - 1}, "
                f"got {chosen.min()} to {chosen.max()}"
            )
        if len(np.unique(chosen)) < len(chosen):
            raise ValueError("points must be different indices, got one of them twice")
        rows = np.arange(self.n_points) if self.rows is None else self.rows
        return replace(
            self,
            X=self.X[chosen],
            y=None if self.y is None else self.y[chosen],
            rows=rows[chosen],
            description=f"{len(chosen):,} of {self.n_points:,} points. {self.description}",
            sigma=None,
            n_clusters=None,
            image=None,
            shape=None,
        )

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
        labels = as_array(labels, "labels")
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
    labels = as_array(labels, "labels")
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
