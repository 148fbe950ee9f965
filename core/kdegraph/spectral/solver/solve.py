"""The largest eigenpairs of M beyond its null space: by LAPACK or by iteration, whichever is
faster.
"""

import sys
from dataclasses import replace

from kdegraph.costs import LAPACK_COSTS
from kdegraph.spectral.memory import check_memory, fits
from kdegraph.spectral.solver.dense import dense_bytes, solve_dense
from kdegraph.spectral.solver.iteration import default_limit, solve_block
from kdegraph.spectral.solver.start import block_width


def solve(operator, null, k, tol, *, rng, start=None, max_products=None, report=None):
    """The `k` largest eigenpairs beyond the null space.

    Small graphs and large parts of the spectrum are solved by LAPACK, all others by iteration,
    which gives up in favor of LAPACK once it has taken as long as that would take.

    Parameters
    ----------
    operator : NormalizedAdjacency
    null : NullSpace
    k : int
    tol : float
        See `iteration.target_residual`.
    rng : numpy.random.Generator
        For random starting vectors.
    start : Start, optional
        Where the iteration starts.
    max_products : int, optional
        The iteration gives up after so many products; by default after some thousands.
    report : callable, optional
        Called with the estimated fraction done.

    Returns
    -------
    Eigenpairs
    """
    n_products = 0
    if not is_small(operator, null, k):
        lapack_products = products_in_time_of_lapack(operator, k)
        limit = min(lapack_products, max_products or default_limit(operator, block_width(k)))
        pairs = solve_block(
            operator, null, k, tol=tol, rng=rng, limit=limit, start=start, report=report
        )
        n_products = pairs.n_products
        if pairs.converged or (
            operator.n > LAPACK_COSTS.max_instead and n_products < lapack_products
        ):
            return pairs
    check_memory(dense_bytes(operator.n), k, operator.n)
    return replace(solve_dense(operator, null, k), n_products=n_products)


def is_small(operator, null, k):
    """Whether LAPACK is faster than an iteration from the beginning, or the block of the iteration
    would not fit beside the null space.
    """
    return (
        operator.n <= LAPACK_COSTS.max_small
        or 4 * block_width(k) > operator.n - len(null)
        or products_in_time_of_lapack(operator, k) < LAPACK_COSTS.typical_products
    )


def products_in_time_of_lapack(operator, k):
    """How many products with a block, and the Rayleigh-Ritz steps between them, take as long as
    LAPACK; more than there can be if there is no memory for it.
    """
    n, width = operator.n, block_width(k)
    if not fits(dense_bytes(n)):
        return sys.maxsize
    multiplications = width * (len(operator.indices) + width // 2 * n)  # of one product
    n_products = LAPACK_COSTS.multiplication * n**3 / multiplications
    return int(min(n_products, sys.maxsize))
