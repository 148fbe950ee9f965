"""The spectrum of the normalized Laplacian of a graph."""

from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.memory import reuse_freed_memory
from kdegraph.runtime.progress import partial_progress, responsive, stage_progress
from kdegraph.spectral.checked_graph import (
    AdjacencyLike,
    check_adjacency,
    check_smallest_component,
)
from kdegraph.spectral.laplacian import NormalizedAdjacency
from kdegraph.spectral.memory import check_memory
from kdegraph.spectral.null_space import NullSpace
from kdegraph.spectral.products import prefetch
from kdegraph.spectral.result import Spectrum, warn_of_residuals
from kdegraph.spectral.solver.blocks import chunk_bounds, n_chunks
from kdegraph.spectral.solver.coarse import coarse_vectors, refine
from kdegraph.spectral.solver.runs import runs_in_space
from kdegraph.spectral.solver.solve import is_small, solve
from kdegraph.spectral.solver.start import N_PROBES, block_width, narrow_width
from kdegraph.tiles import is_tiled
from kdegraph.validation import as_array, check_count, check_positive, check_seed

# How many rows ahead of the one that is written the memory of a row is requested.
WRITE_PREFETCH_ROWS = 8


@responsive
def spectrum(
    adjacency: AdjacencyLike,
    n_components: int,
    *,
    v0: "Spectrum | ArrayLike | None" = None,
    seed: "int | np.random.RandomState | np.random.Generator | None" = None,
    tol: float = 1e-4,
    max_products: int | None = None,
    omit_isolated: bool = False,
    smallest_component: int | Literal["auto"] = 1,
    approximate: bool = False,
    progress: Callable[[str, float], object] | None = None,
) -> Spectrum:
    """Compute the smallest eigenvalues of the normalized Laplacian ``I - D^-1/2 A D^-1/2``, with
    multiplicity.

    Repeated eigenvalues, disconnected graphs and isolated vertices are no special cases: every
    eigenvalue is returned as often as it occurs. The connected components give the eigenvalue 0 and
    its eigenvectors without iteration. The rest comes from LAPACK for small graphs (or if a large
    part of the spectrum is wanted), else from Chebyshev-filtered subspace iteration on a block of
    vectors, which gives up in favor of LAPACK once it has taken as long as that would.

    Parameters
    ----------
    adjacency : SimilarityGraph, sparse matrix or array of any format, or (n, n) array
        Symmetric weights, finite and >= 0. A self-loop on the diagonal counts in the degree of its
        vertex. A `TiledGraph` is read into memory, but see `approximate`.
    n_components : int
        Number of eigenvalues, 1 to n.
    v0 : Spectrum or (n, m) array, optional
        Checked and then ignored; accepted for compatibility. Starting from known vectors saved no
        more than a tenth of the time: the search for eigenvectors that they lack takes as many
        products as a start from the coarse graph that is used instead.
    seed : int, RandomState or numpy Generator, optional
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
    approximate : bool, default=False
        For large graphs (5,000 vertices and more) end as soon as the eigenvectors that coarse
        graphs show separate clusters: when the wanted eigenvalues have settled to about a tenth or
        two, or are so small beside the others that their vectors have. `tol` is not used, and there
        is no search for eigenvectors that coarse graphs do not show. It takes 5 to 30 products
        where the others take hundreds, as for photographs. What does not settle in these is
        computed as without it. For a `TiledGraph` it is done tile by tile, the eigenvectors are a
        Dask array, and what does not settle in 30 products is left as it is, with a warning.
    progress : callable, optional
        Called as ``progress(stage, fraction)`` between the products; it may raise `Cancelled`.

    Returns
    -------
    Spectrum
        The eigenvectors of eigenvalue 0 belong to one component each and come in the order of the
        sizes of the components, the largest first.

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
        If within `max_products` the residuals did not reach the tolerance, or eigenvectors may have
        been missed (`Spectrum.converged` is False then).

    Notes
    -----
    A product costs O(nnz * k); there are about 20 to 60 for a graph with cluster structure, and
    more the closer the wanted eigenvalues lie to the next ones: hundreds for a k-NN graph of
    100,000 points, thousands for a long path. Memory: about four blocks of n times 1.5 k numbers
    and a copy of the matrix; 3 n^2 numbers where LAPACK is used (n up to 400, or k more than about
    n / 6, or a dense matrix; up to 4,000 vertices if the iteration does not converge). Where 3 n^2
    numbers fit into memory, the time is at most about twice that of LAPACK, which is some seconds
    for 4,000 vertices.

    References
    ----------
    Y. Zhou, Y. Saad, M. L. Tiago, J. R. Chelikowsky, "Self-consistent-field calculations using
    Chebyshev-filtered subspace iteration", J. Comput. Phys. 219 (2006), 172-184.

    Examples
    --------
    The eigenvalues of a cycle of 6 vertices are ``1 - cos(2 pi j / 6)``, most of them twice:

    >>> import numpy as np
    >>> from kdegraph import spectrum
    >>> cycle = np.roll(np.eye(6), 1, axis=0)
    >>> spectrum(cycle + cycle.T, 5).eigenvalues.round(6).tolist()
    [0.0, 0.5, 0.5, 1.5, 1.5]
    """
    tol = check_positive(tol, "tol")
    max_products = None if max_products is None else check_count(max_products, "max_products")
    seed = 0 if seed is None else check_seed(seed)
    smallest_component = check_smallest_component(smallest_component)
    if omit_isolated and smallest_component == 1:
        smallest_component = 2
    if approximate and is_tiled(adjacency):
        from kdegraph.spectral.by_tiles.spectrum import spectrum_by_tiles

        found = spectrum_by_tiles(adjacency, n_components, seed, smallest_component, progress)
        if found is not None:
            return found
    reuse_freed_memory()
    graph = check_adjacency(adjacency, progress=stage_progress(progress, "components"))
    min_size = graph.smallest_component(smallest_component)
    k = check_n_components(n_components, graph, min_size)
    _check_starting_vectors(v0, graph.n)
    rng = np.random.default_rng(seed)
    check_memory(16 * graph.n * k, k, graph.n)

    eigenvalues, residuals = np.zeros(k), np.zeros(k)
    eigenvectors = np.zeros((graph.n, k))
    null_vector = _null_vector(graph)
    n_zero = _write_null_vectors(graph, null_vector, min_size, eigenvectors)
    converged, n_products = True, 0
    if k > n_zero:
        report = stage_progress(progress, "eigenvectors")
        how = _Effort(tol, max_products, approximate)
        vertices, pairs = _nonzero_eigenpairs(
            graph, null_vector, max(min_size, 2), k - n_zero, how, rng, report
        )
        eigenvalues[n_zero:] = np.clip(1.0 - pairs.values, 0.0, 2.0)
        rows = vertices, pairs.vectors, eigenvectors[:, n_zero:]
        parallel.run(_scatter_rows, len(vertices), *rows)
        residuals[n_zero:] = pairs.residuals
        converged, n_products = pairs.converged, pairs.n_products
    if not converged:
        warn_of_residuals(residuals, n_products)
    _fix_signs(eigenvectors)
    return Spectrum(
        eigenvalues,
        eigenvectors,
        residuals,
        converged,
        n_connected_components=len(graph.sizes),
        isolated=graph.isolated,
        omit_isolated=min_size > 1,
        n_products=n_products,
        smallest_component=min_size,
    )


def check_n_components(n_components, graph, min_size):
    """Return the number of eigenvalues, at most the number of vertices that are not left out."""
    n, available = graph.n, graph.n_in_components(min_size)
    small = "isolated" if min_size == 2 else f"in components of fewer than {min_size}"
    if available == 0:
        edges = "has no edges" if len(graph.sizes) == n else "has only small components"
        raise ValueError(
            f"adjacency {edges}: all {n} vertices are {small} and to be left out, which leaves "
            "none; use a larger sigma"
        )
    reason = f"(the number of vertices), here {n}"
    if available < n:
        reason = f"({n} vertices, of which {n - available} are {small} and left out)"
    return check_count(n_components, "n_components", maximum=available, reason=reason)


def _check_starting_vectors(v0, n):
    """Refuse starting vectors that are not real, finite and (n, m)."""
    if v0 is None:
        return
    vectors = as_array(v0.eigenvectors if isinstance(v0, Spectrum) else v0, "v0")
    if vectors.dtype.kind not in "fiu":
        raise TypeError(
            f"v0 must be a Spectrum or an array of real numbers, got dtype {vectors.dtype}"
        )
    if vectors.ndim != 2 or vectors.shape[0] != n:
        raise ValueError(
            f"v0 must have one row for each of the {n} vertices, shape ({n}, m), got "
            f"{vectors.shape}"
        )
    if not np.isfinite(vectors).all():
        raise ValueError("v0 must be finite, but it has NaN or infinity")


def _null_vector(graph):
    """The sum of the eigenvectors of eigenvalue 0, which have disjoint supports."""
    squares = np.where(graph.degrees > 0, graph.degrees, 1.0)
    volumes = np.bincount(graph.component, weights=squares, minlength=len(graph.sizes))
    return np.sqrt(squares / volumes[graph.component])


def _write_null_vectors(graph, null_vector, min_size, out):
    """Write the eigenvectors of eigenvalue 0 into the first columns, those of the largest
    components first; return how many there are.
    """
    by_size = np.argsort(-graph.sizes, kind="stable")
    chosen = by_size[graph.sizes[by_size] >= min_size][: out.shape[1]]
    column = np.full(len(graph.sizes), -1)
    column[chosen] = np.arange(len(chosen))
    parallel.run(_scatter_entries, graph.n, graph.component, column, null_vector, out)
    return len(chosen)


class _Effort(NamedTuple):
    """The options of `spectrum` that say how much to do."""

    tol: float
    max_products: int | None
    approximate: bool


def _nonzero_eigenpairs(graph, null_vector, min_size, k, effort, rng, report):
    """The `k` largest eigenpairs of M beyond the null space, on the vertices of components of at
    least `min_size`.

    Returns
    -------
    vertices : (m,) int array
        The vertex of each row of the eigenvectors.
    pairs : Eigenpairs
    """
    vertices, places = _rows_by_component(graph, min_size)
    component = graph.component[vertices]
    bounds = np.r_[0, np.flatnonzero(np.diff(component)) + 1, len(vertices)]
    null = NullSpace(bounds, null_vector[vertices])
    beginning = partial_progress(report, 0.0, 0.0)  # the iteration begins after it
    operator = NormalizedAdjacency.of_graph(graph, vertices, beginning)
    start = None
    if not is_small(operator, null, k):
        find_runs = partial(_find_runs, graph, places)
        found = coarse_vectors(operator, null, k, rng, find_runs=find_runs, progress=beginning)
        if found is not None and effort.approximate:
            start = found.start(null, narrow_width(k), rng, progress=beginning)
            pairs = refine(operator, null, k, start, report)
            if pairs.converged:
                return vertices, pairs
        if found is not None:
            n_probes = min(N_PROBES, block_width(k) - k)
            start = found.start(null, block_width(k) - n_probes, rng, n_probes, beginning)
    limit = effort.max_products
    pairs = solve(
        operator, null, k, effort.tol, rng=rng, start=start, max_products=limit, report=report
    )
    return vertices, pairs


def _rows_by_component(graph, min_size):
    """The vertices of the components of at least `min_size`, component after component, and their
    places in the order of the graph, which is kept within each component.
    """
    component = graph.component[graph.order]
    places = np.flatnonzero(graph.sizes[component] >= min_size)
    if len(graph.sizes) > 1:
        places = places[np.argsort(component[places], kind="stable")]
    return graph.order[places], places


def _find_runs(graph, places):
    """The run of each row in space; `places` are their places in the order of the graph."""
    return np.searchsorted(runs_in_space(graph.order, graph.points), places, side="right")


@jit
def _scatter_entries(start, stop, component, column, vector, out):
    """Write each entry of the vector into the column of its component, if that has one."""
    for i in range(start, stop):
        if column[component[i]] >= 0:
            out[i, column[component[i]]] = vector[i]


@jit
def _scatter_rows(start, stop, vertices, rows, out):
    """Set ``out[vertices] = rows``; memory of the rows is requested ahead of its use."""
    stride = out.strides[0] // out.itemsize
    for i in range(start, stop):
        if i + WRITE_PREFETCH_ROWS < len(vertices):
            prefetch(out, np.int64(vertices[i + WRITE_PREFETCH_ROWS]) * stride)
        for c in range(rows.shape[1]):
            out[vertices[i], c] = rows[i, c]


def _fix_signs(eigenvectors):
    """Make the entry of largest magnitude of each column positive, in place."""
    extremes = np.zeros((n_chunks(eigenvectors), 2, eigenvectors.shape[1]))
    parallel.run(_find_extremes, len(extremes), eigenvectors, extremes)
    negative = -extremes[:, 0].min(axis=0) > extremes[:, 1].max(axis=0)
    if negative.any():
        parallel.run(_scale_columns, len(eigenvectors), eigenvectors, np.where(negative, -1.0, 1.0))


@jit
def _find_extremes(start, stop, vectors, extremes):
    """The smallest and the largest entry, or 0, of every column in each chunk of rows."""
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
