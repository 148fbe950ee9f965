"""Features on a log scale, standardized, weighted."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from kdegraph.io.dataset import Dataset
from kdegraph.validation import check_positive


def rescale(
    dataset: Dataset,
    *,
    log: Iterable[str] = (),
    standardize: Iterable[str] = (),
    weights: Mapping[str, float] | None = None,
) -> Dataset:
    """Put features on other scales, as distances depend on them.

    Parameters
    ----------
    dataset : Dataset
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
        With names of features that say what was done, such as "income (log10, standardized, × 2)".
        A known `sigma` is left out, as it belongs to the former scales. Without any change, it is
        `dataset` itself.

    Raises
    ------
    ValueError
        If there is no such feature, if a logarithm is taken of a value that is not above 0, if a
        weight is not positive, or if a value becomes too large.

    Notes
    -----
    O(n) for each feature that is changed, and a copy of the points.

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
    _check_names(dataset, [*log, *standardize, *factors])
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
            values = _weighted(name, values, factor)
            done.append(f"× {factor:g}")
        columns.append(values)
        names.append(f"{name} ({', '.join(done)})" if done else name)
    if tuple(names) == dataset.feature_names:
        return dataset
    return replace(dataset, X=np.stack(columns, axis=1), feature_names=tuple(names), sigma=None)


def _check_names(dataset, names):
    unknown = sorted(set(names) - set(dataset.feature_names))
    if unknown:
        shown = ", ".join(map(repr, dataset.feature_names[:20]))
        raise ValueError(f"there is no feature {unknown[0]!r} to rescale; the features are {shown}")


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


def _weighted(name, values, factor):
    largest = np.finfo(np.float64).max
    if np.abs(values).max() > largest / max(factor, 1.0):
        raise ValueError(f"the weight of {name!r} is too large, got {factor:g}")
    return values * factor
