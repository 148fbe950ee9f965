"""Data sets: points with labels, names and a picture."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from kdegraph.metrics import points_of
from kdegraph.principal import reduced
from kdegraph.validation import as_array, check_positive


@dataclass(frozen=True, eq=False)
class Dataset:
    """Hold points with their known labels, names, and the picture whose pixels they are.

    Parameters
    ----------
    X : (n, d) float64 array
        The points.
    y : (n,) int64 array, optional
        Known labels 0, 1, ..., which are indices into `label_names`.
    name : str
        A short name, for example that of the generator or of the file.
    description : str
        One sentence about the data.
    feature_names : tuple of d str
        Names of the columns of `X`; by default "x1", "x2", ...
    label_names : tuple of str
        The meaning of each value of `y`.
    sigma : float, optional
        A bandwidth that suits the data. None if no bandwidth is known; see
        `kdegraph.estimate_sigma`.
    n_clusters : int, optional
        A number of clusters that suits the data.
    rows : (n,) int64 array, optional
        For data from a file: the row of the file, from 0, that each point comes from. It differs
        from 0, 1, ... only if rows were skipped.
    image : (height, width, 3) uint8 array, optional
        The picture in full size, if the points are its pixels.
    shape : (rows, columns), optional
        The grid of the points of a picture, in row-major order. It is smaller than the picture if
        that was scaled down.
    metric : {"euclidean", "cosine", "haversine"}
        The distance that suits the data, see `kdegraph.similarity_graph`.
    template : xarray.DataArray, optional
        Has the rows, columns and coordinates of the picture, and `label_image` returns such a one.

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
    metric: str = "euclidean"
    template: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.feature_names:
            names = tuple(f"x{i + 1}" for i in range(self.X.shape[1]))
            object.__setattr__(self, "feature_names", names)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the points, so that functions and estimators take the data set for them."""
        return np.array(self.X, dtype=dtype, copy=copy)

    @property
    def n_points(self) -> int:
        """The number of points n."""
        return len(self.X)

    @cached_property
    def embedded(self) -> NDArray[np.float64]:
        """Points whose Euclidean distances are those of the `metric`; `X` itself for "euclidean".
        Of more than 50 dimensions, the first 50 principal components.

        A ValueError is raised if the metric does not suit `X`.
        """
        return reduced(points_of(self.X, self.metric))

    def subset(self, points: ArrayLike) -> Self:
        """Return some of the points with their labels and names.

        Parameters
        ----------
        points : (m,) int array
            Indices, each once, in the order of the new points.

        Returns
        -------
        Dataset
            Its `rows` are the rows, or the indices, of the points in these data. It has no `sigma`,
            no `n_clusters` and no picture, which belong to all points together.

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
        return replace(
            self,
            X=self.X[chosen],
            y=None if self.y is None else self.y[chosen],
            rows=np.arange(self.n_points)[chosen] if self.rows is None else self.rows[chosen],
            description=f"{len(chosen):,} of {self.n_points:,} points. {self.description}",
            sigma=None,
            n_clusters=None,
            image=None,
            shape=None,
            template=None,
        )

    def label_image(self, labels: ArrayLike) -> Any:
        """Return the labels of the pixels of a picture in full size.

        Parameters
        ----------
        labels : (n,) array
            One label for each point.

        Returns
        -------
        (height, width) array or xarray.DataArray
            The label of the nearest point for each pixel, of the type of `labels`; a DataArray if
            the picture was one.

        Raises
        ------
        ValueError
            If the points are not the pixels of a picture, or if there are not n labels.
        """
        if self.image is None or self.shape is None:
            raise ValueError(
                f"the points of {self.name or 'this data set'} are not the pixels of an image, "
                "so their labels do not make a picture"
            )
        height, width = self.image.shape[:2]
        segments = expand_labels(labels, self.shape, (height, width))
        return segments if self.template is None else self.template.copy(data=segments)


def expand_labels(
    labels: ArrayLike, shape: tuple[int, int], full_shape: tuple[int, int]
) -> NDArray[Any]:
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


def rescale(
    dataset: Dataset,
    *,
    log: Iterable[str] = (),
    standardize: Iterable[str] = (),
    weights: Mapping[str, float] | None = None,
) -> Dataset:
    """Change the scales of features, which determine distances.

    Parameters
    ----------
    dataset : Dataset
        Points with named features.
    log : iterable of str
        Names of the features that are replaced by their logarithm to base 10.
    standardize : iterable of str
        Names of the features that then get mean 0 and standard deviation 1 (that of the points,
        with divisor n). A feature that is the same at all points becomes 0.
    weights : mapping of str to float, optional
        Factors > 0 by which features are multiplied at the end.

    Returns
    -------
    Dataset
        The names of its features state the changes, such as "income (log10, standardized, × 2)".
        It has no `sigma`, which belongs to the former scales. If nothing changes, it is `dataset`
        itself.

    Raises
    ------
    ValueError
        If there is no such feature, if a logarithm is taken of a value that is not above 0, if a
        weight is not positive, or if a value becomes too large.

    Examples
    --------
    >>> from kdegraph import datasets
    >>> data = datasets.load(b"income,age\\n10,20\\n1000,60\\n", filename="people.csv")
    >>> scaled = datasets.rescale(data, log=["income"], standardize=["age"], weights={"age": 2})
    >>> scaled.X
    array([[ 1., -2.],
           [ 3.,  2.]])
    >>> scaled.feature_names
    ('income (log10)', 'age (standardized, × 2)')
    """
    log, standardize = set(log), set(standardize)
    factors = {
        name: check_positive(factor, f"the weight of {name!r}")
        for name, factor in (weights or {}).items()
    }
    if unknown := sorted({*log, *standardize, *factors} - set(dataset.feature_names)):
        shown = ", ".join(map(repr, dataset.feature_names[:20]))
        raise ValueError(f"there is no feature {unknown[0]!r} to rescale; the features are {shown}")
    columns, names = [], []
    for name, values in zip(dataset.feature_names, dataset.X.T, strict=True):
        done = []
        if name in log:
            values = _logarithm(dataset, name, values)
            done.append("log10")
        if name in standardize:
            values = _standardized(values)
            done.append("standardized")
        if (factor := factors.get(name, 1.0)) != 1:
            if np.abs(values).max() > np.finfo(np.float64).max / max(factor, 1.0):
                raise ValueError(f"the weight of {name!r} is too large, got {factor:g}")
            values = values * factor
            done.append(f"× {factor:g}")
        columns.append(values)
        names.append(f"{name} ({', '.join(done)})" if done else name)
    if tuple(names) == dataset.feature_names:
        return dataset
    return replace(dataset, X=np.stack(columns, axis=1), feature_names=tuple(names), sigma=None)


def _logarithm(dataset, name, values):
    lowest = int(np.argmin(values))
    if values[lowest] <= 0:
        row = lowest if dataset.rows is None else dataset.rows[lowest]
        raise ValueError(
            f"column {name!r} cannot be on a log scale: row {row:,} holds {values[lowest]:g}, "
            "and logarithms need values above 0; leave it on its own scale"
        )
    return np.log10(values)


def _standardized(values):
    if values.min() == values.max():
        return np.zeros_like(values)
    scaled = values / np.abs(values).max()  # sums and squares of huge numbers would overflow
    centered = scaled - scaled.mean()
    return centered / centered.std()
