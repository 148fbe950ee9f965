"""The multi-indices of an expansion, and how many terms and products expansions take."""

import math
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdegraph.runtime.jit import jit

# The largest order of expansions by exponents, for the numbers of dimensions in which these are
# used: at most 32, 576 and 1728 terms.
TENSOR_ORDERS = {1: 32, 2: 24, 3: 12}

# Bounds for expansions by total degree, so that the table of `sums` takes at most 240 kB.
MAX_SIMPLEX_ORDER = 40
MAX_SIMPLEX_TERMS = 600
MAX_SIMPLEX_PRODUCTS = 60_000

# Points whose monomials are computed side by side: a few vectors of the processor.
TAYLOR_BLOCK = 16


class MultiIndices(NamedTuple):
    """The multi-indices of an expansion; each comes after those below it.

    Attributes
    ----------
    order : int
        Exponents (or the total degree) are below it; 1 means no expansion.
    is_tensor : bool
        Whether every exponent is below the order; otherwise the total degree is.
    exponents : (n_terms, d) int64
        Row i is a multi-index.
    degree : (n_terms,) int64
        Its total degree.
    parent, axis : (n_terms,) int64
        Its monomial is that of ``parent[i]`` times the coordinate ``axis[i]``.
    inverse_factorial : (n_terms,) float64
        One over the product of the factorials of its exponents.
    counts : (order + 1,) int64
        ``counts[q]`` is the number of multi-indices of total degree < q.
    row : (n_terms,) int64, sums : int32
        Without `is_tensor`: ``sums[row[b] + a]`` is the number of the sum of the multi-indices b
        and a.
    """

    order: int
    is_tensor: bool
    exponents: NDArray[np.int64]
    degree: NDArray[np.int64]
    parent: NDArray[np.int64]
    axis: NDArray[np.int64]
    inverse_factorial: NDArray[np.float64]
    counts: NDArray[np.int64]
    row: NDArray[np.int64]
    sums: NDArray[np.int32]


class ExpansionWorkspace(NamedTuple):
    """Arrays in which expansions keep intermediate results, see `expansion_workspace`."""

    derivatives: NDArray[np.float64]
    products: NDArray[np.float64]
    monomials: NDArray[np.float64]


@jit
def expansion_workspace(indices):
    """A workspace for expansions with these multi-indices.

    It has room for derivatives along each axis, for two sets of coefficients, and for the monomials
    of a block of points.
    """
    n_terms = indices.parent.size
    return ExpansionWorkspace(
        np.empty((indices.exponents.shape[1], 2 * indices.order)),
        np.empty((2, n_terms)),
        np.empty((n_terms, TAYLOR_BLOCK)),
    )


def is_tensor(d: int) -> bool:
    """Whether expansions in `d` dimensions keep all exponents below the order (else: total
    degree).
    """
    return d in TENSOR_ORDERS


def count_terms(d: int, order: int) -> int:
    """Number of terms of an expansion of the given order."""
    return order**d if is_tensor(d) else math.comb(order - 1 + d, d)


def count_products(d: int, order: int) -> int:
    """Number of products that a translation of the given order takes."""
    return d * order ** (d + 1) if is_tensor(d) else math.comb(order - 1 + 2 * d, 2 * d)


@lru_cache(maxsize=32)
def max_order(d: int) -> int:
    """The largest order of expansions in `d` dimensions; 1 where there are none."""
    if is_tensor(d):
        return TENSOR_ORDERS[d]
    order = 1
    while (
        order < MAX_SIMPLEX_ORDER
        and count_terms(d, order + 1) <= MAX_SIMPLEX_TERMS
        and count_products(d, order + 1) <= MAX_SIMPLEX_PRODUCTS
    ):
        order += 1
    return order


@lru_cache(maxsize=32)
def multi_indices(d: int, order: int) -> MultiIndices:
    """The `MultiIndices` for `d` dimensions and expansions of at most `order`."""
    if is_tensor(d):
        indices = list(product(range(order), repeat=d))
    else:
        # By degree, so that those of a lower order come first.
        indices = sorted(
            _simplex(d, order - 1), key=lambda index: (sum(index), [-x for x in index])
        )
    number = {index: i for i, index in enumerate(indices)}
    axis = [max((c for c in range(d) if index[c]), default=0) for index in indices]
    parent = [number[_below(index, a)] for index, a in zip(indices, axis, strict=True)]
    factorial = [math.prod(map(math.factorial, index)) for index in indices]
    exponents = np.array(indices, dtype=np.int64).reshape(-1, d)
    degree = exponents.sum(axis=1)
    counts = np.searchsorted(np.sort(degree), np.arange(order + 1))
    rows = [np.zeros(1, np.int32)]
    if not is_tensor(d):
        rows = [
            np.array([number[tuple(x)] for x in exponents[b] + exponents[: counts[order - q]]])
            for b, q in enumerate(degree)
        ]
    return MultiIndices(
        order=order,
        is_tensor=is_tensor(d),
        exponents=exponents,
        degree=degree,
        parent=np.array(parent),
        axis=np.array(axis),
        inverse_factorial=1.0 / np.array(factorial, dtype=float),
        counts=counts,
        row=np.concatenate([[0], np.cumsum([r.size for r in rows])[:-1]]).astype(np.int64),
        sums=np.concatenate(rows).astype(np.int32),
    )


def _simplex(d, total):
    """All multi-indices of `d` exponents whose sum is at most `total`."""
    if d == 0:
        yield ()
        return
    for first in range(total + 1):
        for rest in _simplex(d - 1, total - first):
            yield (first, *rest)


def _below(index, axis):
    """The multi-index with one less along `axis`, or the same where there is nothing to take."""
    return tuple(x - (c == axis and x > 0) for c, x in enumerate(index))
