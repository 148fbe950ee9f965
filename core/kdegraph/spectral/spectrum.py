"""The spectrum of the normalized Laplacian of a graph."""

import warnings
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.memory import available_memory, format_bytes, reuse_freed_memory
from kdegraph.runtime.progress import partial_progress, stage_progress
from kdegraph.runtime.responsive import responsive
from kdegraph.spectral.laplacian import NormalizedAdjacency, check_adjacency
from kdegraph.spectral.null_space import NullSpace
from kdegraph.spectral.products import prefetch
from kdegraph.spectral.solver.blocks import chunk_bounds, n_chunks
from kdegraph.spectral.solver.coarse import coarse_start, groups_in_space
from kdegraph.spectral.solver.iteration import Pairs, solve_block, solve_dense
from kdegraph.spectral.solver.start import Start, block_width, n_places
from kdegraph.validation import check_count, check_positive, check_seed

DENSE_UP_TO = (
    400  # vertices; LAPACK is faster there, and where it takes less time than so many products:
)
USUAL = 50
# Vertices up to which LAPACK is called where the iteration has not converged: some seconds.
DENSE_AT_LAST = 4_000
# Time of its n^3 multiplications, relative to as many in products; 800 to 4,000 vertices, 2 cores.
LAPACK_TIME = 0.6
NEVER = 100_000  # products: more than an iteration takes
SMALL = 2**26  # bytes that are taken without asking the system for what it has
ZERO = 1e-12  # eigenvalues up to here count as connected components
ROWS_AHEAD = 8  # see `_place_rows`, `_take_rows`


@dataclass(frozen=True)
class Spectrum:
    """The smallest eigenvalues of a normalized Laplacian, with eigenvectors.

    Attributes
    ----------
    eigenvalues : (k,) float64 array
        Ascending, with multiplicity, in [0, 2]. The zeros that belong to connected components are
        exact.
    eigenvectors : (n, k) float64 array
        Orthonormal columns. Their signs are such that the entry of largest magnitude is positive.
    residuals : (k,) float64 array
        ``||N v - lambda v||_2``: within this distance of each value there is an eigenvalue.
    converged : bool
        Whether the residuals reached the tolerance and the search for missing eigenvectors came to
        its end; a `ConvergenceWarning` was given where not.
    n_connected_components : int
        Of the graph, isolated vertices included. This is the multiplicity of the eigenvalue 0.
    isolated : (m,) int64 array
        Vertices without an edge to another vertex.
    omit_isolated : bool
        Whether the isolated vertices were left out (their rows of `eigenvectors` are zero).
    smallest_component : int
        Vertices of the smallest components that were not left out.
    n_products : int
        Products of the matrix with a block of vectors that it took: the cost. 0 if the components
        and LAPACK were enough.
    guards : (n, g) float32 array
        Approximate further eigenvectors, which make a `Spectrum` a better starting point `v0` than
        its eigenvectors alone.
    guard_values : (g,) float64 array
        Estimates of further eigenvalues.
    """

    eigenvalues: np.ndarray
    eigenvectors: np.ndarray = field(repr=False)
    residuals: np.ndarray = field(repr=False)
    converged: bool
    n_connected_components: int
    isolated: np.ndarray = field(repr=False)
    omit_isolated: bool
    n_products: int
    guards: np.ndarray = field(repr=False)
    guard_values: np.ndarray = field(repr=False)
    smallest_component: int = 1

    @property
    def n_components(self):
        """Number of eigenvalues."""
        return len(self.eigenvalues)


@responsive
def spectrum(
    adjacency,
    n_components,
    *,
    v0=None,
    seed=None,
    tol=1e-4,
    max_products=None,
    omit_isolated=False,
    smallest_component=1,
    progress=None,
):
    """Compute the smallest eigenvalues of the normalized Laplacian ``I - D^-1/2 A D^-1/2``, with
    multiplicity.

    Repeated eigenvalues, disconnected graphs and isolated vertices are no special cases: every
    eigenvalue is returned as often as it occurs. The connected components give the eigenvalue 0 and
    its eigenvectors without iteration; the rest comes from LAPACK for small graphs (or when a large
    part of the spectrum is wanted), else from a Chebyshev-filtered block iteration with guard
    vectors, which gives up in favor of LAPACK where it has taken as long as that would.

    Parameters
    ----------
    adjacency : SimilarityGraph, sparse matrix or array of any format, or (n, n) array
        Symmetric weights, finite and >= 0. A self-loop on the diagonal counts in the degree of its
        vertex.
    n_components : int
        Number of eigenvalues, 1 to n.
    v0 : Spectrum or (n, m) array, optional
        Where to start: the spectrum of a similar graph (after a slider has moved), or approximate
        eigenvectors. It saves work when it is good and costs little when it is not; what it lacks
        is still found.
    seed : int or numpy Generator, optional
        For the random starting vectors. None uses a fixed seed: the result does not depend on it
        beyond the tolerance. The same seed gives the same result for any number of threads.
    tol : float, default=1e-4
        Largest residual ``||N v - lambda v||_2``; the eigenvalues are then exact to about
        ``tol**2`` over the gap to the rest of the spectrum. Where all wanted eigenvalues are tiny,
        the residual is made small against the part of the spectrum that the block of iterated
        vectors covers: at most ``20 * tol`` times its last eigenvalue (but never below 1e-9 unless
        `tol` itself is).
    max_products : int, optional
        Give up after so many products of the matrix with a block of vectors. By default after some
        thousands.
    omit_isolated : bool, default=False
        Leave the isolated vertices out of the graph. By default each is a component of its own,
        with eigenvalue 0 and its indicator as eigenvector.
    smallest_component : int or "auto", default=1
        Leave out all connected components with fewer vertices. "auto": isolated vertices and what
        is more likely some outliers near each other than a cluster, components with fewer than
        ``min(2 log n, sqrt(m) / 2)`` vertices, where m is the number of vertices in the component
        of a typical vertex.
    progress : callable, optional
        Called as ``progress(stage, fraction)`` between the products; it may raise `Cancelled`.

    Returns
    -------
    Spectrum
        Of eigenvalue 0, the eigenvectors of the components come in the order of their sizes, the
        largest first.

    Raises
    ------
    ValueError, TypeError
        If the matrix is not square, symmetric, finite and non-negative, or another argument is out
        of its range.
    MemoryError
        If so many eigenvectors cannot fit.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If within `max_products` the residuals did not reach the tolerance, or the search for
        missing eigenvectors did not come to its end (`Spectrum.converged` is False then).

    Notes
    ----- A product costs O(nnz * k); there are about 20 to 60 for a graph with cluster structure,
    more the closer the wanted eigenvalues lie to the next ones: hundreds for a k-NN graph of
    100,000 points, thousands for a long path. Memory: about four blocks of n times 1.5 k numbers,
    and a copy of the matrix; 3 n^2 numbers where LAPACK is used (n up to 400, or k more than about
    n / 6, or a dense matrix; up to 4,000 vertices where the iteration does not converge). Where 3
    n^2 numbers fit into memory, the time is at most about twice that of LAPACK, which is some
    seconds for 4,000 vertices.

    References
    ---------- Y. Zhou, Y. Saad, M. L. Tiago, J. R. Chelikowsky, "Self-consistent-field calculations
    using Chebyshev-filtered subspace iteration", J. Comput. Phys. 219 (2006), 172-184.
    """
    reuse_freed_memory()
    graph = check_adjacency(adjacency, progress=stage_progress(progress, "components"))
    n = graph.n
    sizes = graph.sizes
    least = max(graph.smallest_component(smallest_component), 2 if omit_isolated else 1)
    available = graph.n_in_components(least)
    small = "isolated" if least == 2 else f"in components of fewer than {least}"
    reason = (
        ""
        if available == n
        else f"({n} vertices, of which {n - available} are {small} and left out)"
    )
    if available == 0:
        edges = "has no edges" if len(sizes) == n else "has only small components"
        raise ValueError(
            f"adjacency {edges}: all {n} vertices are {small} and to be left out, which leaves none; use a larger sigma"
        )
    k = check_count(
        n_components,
        "n_components",
        maximum=available,
        reason=reason or f"(the number of vertices), here {n}",
    )
    tol = check_positive(tol, "tol")
    max_products = None if max_products is None else check_count(max_products, "max_products")
    v0 = _check_start(v0, n)
    rng = np.random.default_rng(0 if seed is None else check_seed(seed))

    _check_memory(16 * n * k, k, n)
    by_size = np.argsort(-sizes, kind="stable")
    components = by_size[sizes[by_size] >= least]
    eigenvectors = np.zeros((n, k))
    eigenvalues, residuals = np.zeros(k), np.zeros(k)
    squares = np.where(graph.degrees > 0, graph.degrees, 1.0)
    null_vector = np.sqrt(
        squares
        / np.bincount(graph.component, weights=squares, minlength=len(sizes))[graph.component]
    )
    column = np.full(len(sizes), k)
    column[components[:k]] = np.arange(min(k, len(components)))
    parallel.run(_place_components, n, graph.component, column, null_vector, eigenvectors)

    n_zero = min(k, len(components))
    guards, guard_values, converged, n_products = np.empty((n, 0), np.float32), np.empty(0), True, 0
    if k > n_zero:
        vertices, places = _rows(graph, max(least, 2))
        pairs = _beyond_components(
            graph, vertices, places, null_vector, k - n_zero, v0, tol, max_products, rng, progress
        )
        eigenvalues[n_zero:] = np.clip(1.0 - pairs.values, 0.0, 2.0)
        parallel.run(_place_rows, len(vertices), vertices, pairs.vectors, eigenvectors[:, n_zero:])
        residuals[n_zero:] = pairs.residuals
        guards = np.zeros((n, pairs.guards.shape[1]), np.float32)
        if guards.size:
            parallel.run(_place_rows, len(vertices), vertices, pairs.guards, guards)
        guard_values = np.clip(1.0 - pairs.guard_values, 0.0, 2.0)
        converged, n_products = pairs.converged, pairs.n_products
    if not converged:
        warnings.warn(
            f"the eigenvalues did not converge: residual {residuals.max():.1e} after {n_products} products; they may be inaccurate, or one "
            "may be missing. The next eigenvalues are probably very close: change n_components, or raise tol",
            ConvergenceWarning,
            stacklevel=3,
        )
    _fix_signs(eigenvectors)
    found = eigenvalues, eigenvectors, residuals, converged
    return Spectrum(
        *found, len(sizes), graph.isolated, least > 1, n_products, guards, guard_values, least
    )


@jit
def _place_components(start, stop, component, column, null_vector, out):
    """Entries of the eigenvectors of eigenvalue 0, in those columns that there are."""
    for i in range(start, stop):
        if column[component[i]] < out.shape[1]:
            out[i, column[component[i]]] = null_vector[i]


@jit
def _place_rows(start, stop, vertices, rows, out):
    """``out[vertices] = rows``; scattered rows are fetched ahead of their use."""
    stride = out.strides[0] // out.itemsize
    for i in range(start, stop):
        if i + ROWS_AHEAD < len(vertices):
            prefetch(out, np.int64(vertices[i + ROWS_AHEAD]) * stride)
        for c in range(rows.shape[1]):
            out[vertices[i], c] = rows[i, c]


def _rows(graph, least):
    """The vertices of components with at least so many: component after component, each in the
    order that keeps neighbors near each other.

    Also their places in that order.
    """
    component = graph.component[graph.order]
    places = np.flatnonzero(graph.sizes[component] >= least)
    if len(graph.sizes) > 1:
        places = places[np.argsort(component[places], kind="stable")]
    return graph.order[places], places


def _check_start(v0, n):
    """The given start as vectors (n, s), further, less accurate ones (n, g), and all their values,
    or None; None if nothing is given.
    """
    if v0 is None:
        return None
    if isinstance(v0, Spectrum):
        vectors, further, values = (
            v0.eigenvectors,
            v0.guards,
            1.0 - np.r_[v0.eigenvalues, v0.guard_values],
        )
    else:
        vectors, further, values = np.asarray(v0), np.empty((n, 0), np.float32), None
    if vectors.dtype.kind not in "fiu":
        raise TypeError(
            f"v0 must be a Spectrum or an array of real numbers, got dtype {vectors.dtype}"
        )
    if vectors.ndim != 2 or vectors.shape[0] != n:
        raise ValueError(
            f"v0 must have one row for each of the {n} vertices, shape ({n}, m), got {vectors.shape}"
        )
    if not np.isfinite(vectors).all():
        raise ValueError("v0 must be finite, but it has NaN or infinity")
    return np.ascontiguousarray(vectors, np.float64), further, values


def _check_memory(needed, k, n):
    """Refuse what would not fit, before the system kills the process for it."""
    if not _fits(needed):
        raise MemoryError(
            f"{k} eigenvectors of a graph of {n} vertices need about {format_bytes(needed)}, and {format_bytes(available_memory())} are "
            "available; use fewer n_components"
        )


def _fits(needed):
    """Whether there is so much memory, in bytes."""
    return needed <= SMALL or needed <= available_memory()


def _beyond_components(
    graph, vertices, places, null_vector, k, v0, tol, max_products, rng, progress
):
    """The `k` eigenpairs of M that follow the exact ones, on the rows `vertices` (components in one
    piece each).
    """
    report = stage_progress(progress, "eigenvectors")
    beginning = partial_progress(report, 0.0, 0.0)
    operator = NormalizedAdjacency.of_graph(graph, vertices, beginning)
    null = NullSpace(
        np.r_[0, np.flatnonzero(np.diff(graph.component[vertices])) + 1, len(vertices)],
        null_vector[vertices],
    )

    def solve(operator, null, k, tol, start=None, report=beginning):
        n_products = 0
        if not _is_small(operator, null, k):
            most = _products_for_lapack(operator, k)
            pairs = solve_block(
                operator,
                null,
                k,
                tol=tol,
                rng=rng,
                start=start,
                max_products=max_products,
                most=most,
                report=report,
            )
            n_products = pairs.n_products
            if pairs.converged or (operator.n > DENSE_AT_LAST and n_products < most):
                return pairs
        _check_memory(_dense_bytes(operator), k, graph.n)
        return replace(solve_dense(operator, null, k), n_products=n_products)

    start = None
    if not _is_small(operator, null, k):
        if v0 is not None:
            start = _start_from(*v0, vertices, null, k, rng.integers(2**63)).checked(
                operator, k, beginning
            )
        if (
            start is None or start.values is None
        ):  # groups are a better start than vectors of which nothing is known
            coarse = coarse_start(
                operator,
                null,
                k,
                groups_in_space(graph),
                places,
                solve,
                rng.integers(2**63),
                beginning,
            )
            start = coarse or start
    return solve(operator, null, k, tol, start, report)


def _start_from(vectors, further, values, vertices, null, k, seed):
    """A `Start` from as many of the given vectors as can find a place beside those that are null
    now.
    """
    n_given = vectors.shape[1] + further.shape[1]
    if values is not None:
        n_given = min(n_given, int(np.sum(values == 1.0)) + n_places(k))
    rows = np.empty((len(vertices), n_given), np.float32)
    parallel.run(_take_rows, len(vertices), vertices, vectors, further, rows)
    return Start.given(null, k, rows, values, seed)


@jit
def _take_rows(start, stop, vertices, vectors, further, rows):
    """``rows = [vectors, further][vertices]``, as many columns as there are; scattered rows are
    fetched ahead of their use.
    """
    n_first = min(vectors.shape[1], rows.shape[1])
    for i in range(start, stop):
        if i + ROWS_AHEAD < len(vertices):
            prefetch(vectors, np.int64(vertices[i + ROWS_AHEAD]) * vectors.shape[1])
            prefetch(further, np.int64(vertices[i + ROWS_AHEAD]) * further.shape[1])
        for c in range(n_first):
            rows[i, c] = vectors[vertices[i], c]
        for c in range(n_first, rows.shape[1]):
            rows[i, c] = further[vertices[i], c - n_first]


def _is_small(operator, null, k):
    """Whether LAPACK takes less time than a block iteration, or has to do because the block would
    not fit.
    """
    n = operator.n
    return (
        n <= DENSE_UP_TO
        or 4 * block_width(k) > n - len(null)
        or _products_for_lapack(operator, k) < USUAL
    )


def _products_for_lapack(operator, k):
    """How many products with a block, the Rayleigh-Ritz method between them included, take as long
    as LAPACK; `NEVER` if it has no room.
    """
    n, width = operator.n, block_width(k)
    count = LAPACK_TIME * n**3 / (width * (len(operator.indices) + width // 2 * n))
    return int(count) if count < NEVER and _fits(_dense_bytes(operator)) else NEVER


def _dense_bytes(operator):
    """Memory that LAPACK takes."""
    return 24 * operator.n**2


def _fix_signs(eigenvectors):
    """Make the entry of largest magnitude of each column positive, in place."""
    extremes = np.zeros((n_chunks(eigenvectors), 2, eigenvectors.shape[1]))
    parallel.run(_extremes, len(extremes), eigenvectors, extremes)
    negative = -extremes[:, 0].min(axis=0) > extremes[:, 1].max(axis=0)
    if negative.any():
        parallel.run(_scale_columns, len(eigenvectors), eigenvectors, np.where(negative, -1.0, 1.0))


@jit
def _extremes(start, stop, vectors, extremes):
    """The smallest and the largest entry of every column in some chunks of rows, or 0."""
    for chunk in range(start, stop):
        low, high = extremes[chunk]
        first, last = chunk_bounds(chunk, vectors)
        for i in range(first, last):
            for c in range(vectors.shape[1]):
                low[c], high[c] = min(low[c], vectors[i, c]), max(high[c], vectors[i, c])


@jit
def _scale_columns(start, stop, vectors, factors):
    for i in range(start, stop):
        for c in range(vectors.shape[1]):
            vectors[i, c] *= factors[c]
