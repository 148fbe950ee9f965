"""Checks of arguments: every error names the argument, says what arrived and what to do.

The names in `__all__` are public, so that other programs refuse bad input with the same messages.
"""

import math
import numbers
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from kdegraph.manual import explained
from kdegraph.sparse_checks import check_sparse

# Values of `sigma` for bandwidths that are taken from the neighbors of each point.
LOCAL_WORDS = ("local", "moderate")

Points = NDArray[np.float64]

__all__ = [
    "LOCAL_WORDS",
    "SparsePoints",
    "as_array",
    "check_bandwidths",
    "check_choice",
    "check_count",
    "check_eps",
    "check_fraction",
    "check_points",
    "check_positive",
    "check_seed",
    "check_weights",
]


class SparsePoints(scipy.sparse.csr_array):
    """Hold sparse points as a canonical CSR array of float64: columns ascend in each row, and no
    zeros are stored. `check_points` makes it.

    Unlike other sparse arrays it has a length, the number of points, as a table has. It does not
    become dense unless ``toarray()`` says so.
    """

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, *args: Any, **options: Any) -> Any:
        raise TypeError("these points are sparse; points.toarray() is dense and may be huge")


def check_points(
    X: Any,
    name: str = "X",
    *,
    n_features: int | None = None,
    keep_single: bool = False,
    keep_sparse: bool = False,
) -> Points:
    """Return `X` as a C-contiguous (n, d) float64 array of finite numbers; with `keep_single`,
    float32 numbers are kept.

    With `keep_sparse`, sparse points of any format are returned as `SparsePoints`, or as a dense
    array if they have few columns; they are refused otherwise. The array is copied only if
    necessary. Some messages have the words that scikit-learn's checks of estimators look for.
    """
    if keep_sparse and scipy.sparse.issparse(X):
        array = _as_sparse_points(X, name)
    else:
        array = _as_table(X, name)
    if array.shape[0] == 0:
        raise ValueError(
            f"{name} has no points: found array with 0 sample(s) (shape={array.shape}) while a "
            "minimum of 1 is required."
        )
    if array.shape[1] == 0:
        raise ValueError(
            f"{name} has no columns: 0 feature(s) (shape={array.shape}) while a minimum of 1 is "
            "required."
        )
    if n_features is not None and array.shape[1] != n_features:
        raise ValueError(
            f"{name} must have {n_features} columns like the sources, got {array.shape[1]}"
        )
    if isinstance(array, SparsePoints):
        return array
    kind = np.float32 if keep_single and array.dtype == np.float32 else np.float64
    if array.dtype != kind or not array.flags.c_contiguous:
        # Numbers beyond the range of doubles become infinite, which the next check reports.
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(array, dtype=kind)
    check_finite(array, name)
    return array


def check_estimator_points(estimator: Any, X: Any, fitted: Any = None, **options: Any) -> Points:
    """Return the points that an estimator of scikit-learn is given, and note or check the number of
    features; `options` are those of `validate_data`. New points are sparse if the `fitted` ones
    are, and dense if they are not.
    """
    from sklearn.utils.validation import validate_data  # slow to import

    refuse_masked(X, "X")
    check_sparse(X, "X")
    kinds = [getattr(kind, "kind", "") for kind in getattr(X, "dtypes", [getattr(X, "dtype", "")])]
    if {"m", "M"} & {*kinds}:  # scikit-learn would take times as numbers
        check_points(X)
    try:
        found = validate_data(estimator, X, accept_sparse="csr", order="C", **options)
    except (ValueError, OverflowError, np.exceptions.DTypePromotionError):
        check_points(X, keep_sparse=True)  # its errors say what to do
        raise
    points = check_points(found, keep_single=True, keep_sparse=True)
    if fitted is None or isinstance(points, SparsePoints) == isinstance(fitted, SparsePoints):
        return points
    return points.toarray() if isinstance(points, SparsePoints) else SparsePoints(points)


def check_finite(array: NDArray[np.floating], name: str, first_row: int = 0) -> None:
    """Refuse NaN and infinity in a table; `first_row` is the number of its first row."""
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        _refuse_value(array[row, column], first_row + row, column, name)


def _refuse_value(value, row, column, name):
    raise explained(
        ValueError,
        "error-finite",
        f"{name} must be finite, but {name}[{row}, {column}] is {value} (NaN or infinity); drop "
        "such rows or impute them first",
    ) from None


def _as_sparse_points(X, name):
    """Return a sparse matrix of any format as `SparsePoints`, or with few columns as a dense array,
    which is hardly larger and for which everything else works, too.
    """
    check_sparse(X, name)
    if X.dtype.kind == "O":
        raise ValueError(f"{name} must hold numbers, got a sparse matrix of Python objects")
    if len(X.shape) != 2 or X.shape[1] <= 12:
        return _as_table(X.toarray(), name)
    if X.dtype.kind not in "fiub":
        _as_table(np.zeros((0, X.shape[1]), X.dtype), name)  # the error for these numbers
    points = X if isinstance(X, SparsePoints) else SparsePoints(X)
    check_sparse(points, name)
    with np.errstate(over="ignore"):  # such numbers become infinite, which is reported below
        points = points.astype(np.float64, copy=False)
    if not (points.has_canonical_format and points.data.all()):
        points = points.copy()
        points.sum_duplicates()
        points.eliminate_zeros()
    if not (finite := np.isfinite(points.data)).all():
        place = int(np.argmin(finite))
        row = int(np.searchsorted(points.indptr, place, side="right")) - 1
        _refuse_value(points.data[place], row, points.indices[place], name)
    return points


def _as_table(X, name):
    """Return `X` as an array of real numbers with two dimensions."""
    refuse_sparse(X, name)
    array = as_array(X, name, "a table of numbers of shape (n, d)")
    if array.dtype.kind == "c":
        raise ValueError(
            f"{name} has complex numbers. Complex data not supported: pass real coordinates, "
            "e.g. real and imaginary parts as columns"
        )
    if array.ndim != 2:
        one_feature, one_point = f"{name}.reshape(-1, 1)", f"{name}.reshape(1, -1)"
        hint = f". Reshape your data: for one feature {one_feature}, for one point {one_point}"
        raise explained(
            ValueError,
            "error-shape",
            f"{name} must have shape (n, d), got {array.shape}. "
            f"Expected 2D array{hint if array.ndim == 1 else ''}",
        )
    if array.dtype.kind in "fiub":
        return array
    try:
        if array.dtype.kind != "O":
            raise ValueError("text, dates or records")
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        if "NAType" in str(error):  # that of missing cells in a frame of pandas
            cells = np.ndenumerate(array)
            place = next(place for place, cell in cells if type(cell).__name__ == "NAType")
            _refuse_value(array[place], *place, name)
        raise explained(
            ValueError,
            "error-words",
            f"{name} must hold numbers, got dtype {array.dtype} ({error}); drop or encode such "
            "columns",
        ) from None
    except OverflowError as error:
        raise ValueError(f"{name} has a number beyond the range of float64: {error}") from None


def refuse_sparse(X: Any, name: str) -> None:
    """Raise a TypeError for a sparse matrix."""
    if scipy.sparse.issparse(X):
        raise TypeError(
            f"{name} is a sparse {type(X).__name__}; pass a dense array, e.g. {name}.toarray()"
        )


def as_array(value: Any, name: str, kind: str = "an array") -> NDArray[Any]:
    """Return `value`, which messages call `name` and require to be `kind`, as a NumPy array.

    A ValueError is raised if an entry is masked, or if the rows differ in length.
    """
    refuse_masked(value, name)
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be {kind}; its rows differ in length: {error}") from None


def refuse_masked(value: Any, name: str) -> None:
    """Raise a ValueError if an entry of a masked array is masked."""
    if np.ma.is_masked(value):
        raise ValueError(
            f"{name} has masked (missing) values; drop such entries or impute them first"
        )


def check_positive(value: Any, name: str) -> float:
    """Return `value`, a number or an array of shape (), as a finite float greater than 0."""
    value = check_real(value, name, "a positive number")
    try:
        number = float(value)
    except OverflowError:  # an integer of more than 308 digits
        number = math.inf
    if not (math.isfinite(number) and number > 0):
        raise ValueError(
            f"{name} must be positive and finite, got {value if number != math.inf else number!r}"
        )
    return number


def check_fraction(value: Any, name: str) -> float:
    """Return `value`, a number or an array of shape (), as a float from 0 to 1, both included."""
    value = check_real(value, name, "a number from 0 to 1")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {value!r}")
    return float(value)


def check_real(value: Any, name: str, kind: str) -> Any:
    """Return a real number, or the one in an array of shape (); messages require `kind`."""
    if isinstance(value, np.ndarray) and value.shape == ():
        value = as_array(value, name).item()
    if isinstance(value, (str, bytes, bool)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be {kind}, got {value!r}")
    return value


def check_count(
    value: Any, name: str, *, minimum: int = 1, maximum: int | None = None, reason: str = ""
) -> int:
    """Return `value` as an int from `minimum` to `maximum`; `reason` explains the maximum."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        value = int(value)
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        count = operator.index(value)
    except TypeError:
        is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        kind = ValueError if is_number else TypeError
        raise kind(f"{name} must be a whole number >= {minimum}, got {value!r}") from None
    if count < minimum:
        raise ValueError(f"{name} must be a whole number >= {minimum}, got {value!r}")
    if maximum is not None and count > maximum:
        raise ValueError(
            f"{name} must be at most {maximum}{reason and ' ' + reason}, got {value!r}"
        )
    return count


def check_choice(value: Any, name: str, choices: Sequence[str]) -> str:
    """Return `value`, which must be one of the strings `choices`."""
    shown = ", ".join(map(repr, choices))
    if not isinstance(value, str):
        raise TypeError(f"{name} must be one of {shown}, got {value!r}")
    if value not in choices:
        raise ValueError(f"unknown {name} {value!r}; choose one of {shown}")
    return value


def check_bandwidths(sigma: Any, n: int, name: str = "sigma") -> NDArray[np.float64]:
    """Return `sigma` as an (n,) float64 array of finite positive numbers of similar magnitude."""
    array = _vector(sigma, name, n, "for each point", kinds="fiu")
    bad = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if bad.size:
        raise ValueError(
            f"{name} must be positive and finite, but {name}[{bad[0]}] is {array[bad[0]]}"
        )
    largest_ratio = 1e100  # beyond it exponents would leave the range of doubles
    if array.min() < array.max() / largest_ratio:
        raise ValueError(
            f"the bandwidths in {name} differ by a factor of more than {largest_ratio:g} "
            f"({array.min():g} to {array.max():g}); clip the extremes"
        )
    return array


def check_sample_weight(sample_weight: Any, n: int) -> NDArray[np.float64] | None:
    """Return weights of points as an (n,) float64 array, or None if all are 1."""
    if sample_weight is None:
        return None
    array = _vector(sample_weight, "sample_weight", n, "for each point", kinds="fiub")
    bad = np.flatnonzero(~((array >= 1e-12) & (array <= 1e12)))
    if bad.size:
        raise ValueError(
            f"sample_weight must lie between 1e-12 and 1e12, but sample_weight[{bad[0]}] is "
            f"{array[bad[0]]:g}; leave out points whose weight is zero"
        )
    return None if (array == 1).all() else array


def check_weights(weights: Any, n: int) -> NDArray[np.float64]:
    """Return `weights` as an (n,) float64 array of finite numbers; None stands for ones."""
    if weights is None:
        return np.ones(n)
    array = _vector(weights, "weights", n, "per source", kinds="fiub")
    if not np.isfinite(array).all():
        index = np.flatnonzero(~np.isfinite(array))[0]
        raise ValueError(
            f"weights must be finite, but weights[{index}] is {array[index]} (NaN or infinity)"
        )
    return array


def _vector(values, name, n, each, kinds):
    """Return one number `each` as an (n,) float64 array, given numbers of these kinds of dtype."""
    array = as_array(values, name)
    if array.dtype.kind not in kinds:
        raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")
    if array.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), one {each}, got {array.shape}")
    return np.array(array, dtype=np.float64, order="C")


def check_eps(eps: Any) -> float:
    """Return the relative error `eps` as a float between 0 and 1, both excluded."""
    eps = check_positive(eps, "eps")
    if eps >= 1:
        raise ValueError(f"eps is a relative error and must lie in (0, 1), got {eps!r}")
    return eps


def check_seed(seed: Any) -> int:
    """Return a seed of 64 bits: the number, one from the generator, or a new one for None."""
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    if isinstance(seed, np.random.RandomState):
        return int(seed.randint(2**31 - 1))
    try:
        if isinstance(seed, (bool, np.bool_)):
            raise TypeError
        number = operator.index(seed)
    except TypeError:
        raise TypeError(
            f"seed must be None, a whole number or a numpy Generator, got {seed!r}"
        ) from None
    if not 0 <= number < 2**64:
        raise ValueError(f"seed must lie in [0, 2**64), got {number}")
    return number
