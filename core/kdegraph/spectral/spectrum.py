"""The smallest eigenvalues of the normalized Laplacian of a graph in memory."""

import math
import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kdegraph.manual import see
from kdegraph.runtime.memory import check_memory, reuse_freed_memory
from kdegraph.runtime.progress import partial_progress, stage_progress
from kdegraph.spectral.blocks import NullSpace
from kdegraph.spectral.checked_graph import check_adjacency
from kdegraph.spectral.laplacian import NormalizedAdjacency
from kdegraph.spectral.solver.coarse import coarse_vectors, refine, runs_in_space
from kdegraph.spectral.solver.iteration import block_width, is_small, solve
from kdegraph.summary import eigenvalue_picture, in_html
from kdegraph.validation import check_count


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum:
    """The smallest eigenvalues of a normalized Laplacian, with eigenvectors.

    Two objects are equal only if they are the same object.

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
        Whether the residuals reached the tolerance and no eigenvector was missed, as far as that
        can be detected; if not, a `ConvergenceWarning` was given. For ``approximate=True``: whether
        the eigenvalues settled.
    n_connected_components : int
        Of the graph, isolated vertices included. This is the multiplicity of the eigenvalue 0.
    isolated : (m,) int64 array
        Vertices without an edge to another vertex.
    omit_isolated : bool
        Whether isolated vertices were excluded (their rows of `eigenvectors` are zero).
    n_products : int
        Cost: the number of products of the matrix with a block of vectors. 0 if the components and
        LAPACK were enough.
    smallest_component : int
        Components with fewer vertices were excluded.

    Examples
    --------
    >>> import numpy as np
    >>> from kdegraph import spectrum
    >>> found = spectrum(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 2, 0]]), 3)
    >>> found.n_components, found.n_connected_components, found.converged
    (3, 2, True)
    """

    eigenvalues: NDArray[np.float64]
    eigenvectors: NDArray[np.float64]
    residuals: NDArray[np.float64]
    converged: bool
    n_connected_components: int
    isolated: NDArray[np.int64]
    omit_isolated: bool
    n_products: int
    smallest_component: int = 1

    def __repr__(self) -> str:
        """Return a line without the arrays."""
        return f"<Spectrum with {', '.join(f'{name}: {value}' for name, value in self._rows())}>"

    def _repr_html_(self) -> str:
        """Return a table and a plot of the eigenvalues for notebooks."""
        return in_html("Spectrum", self._rows(), eigenvalue_picture(self.eigenvalues))

    def _rows(self):
        """Return what a description has: pairs of a name and a value."""
        rows = {
            "eigenvalues": f"{len(self.eigenvalues)}, from {self.eigenvalues[0]:.3g} to "
            f"{self.eigenvalues[-1]:.3g}",
            "connected components": f"{self.n_connected_components:,}",
            "isolated vertices": f"{len(self.isolated):,}",
            "converged": "yes" if self.converged else "no",
        }
        return rows.items()

    @property
    def n_components(self) -> int:
        """Number of eigenvalues."""
        return len(self.eigenvalues)


def warn_of_residuals(residuals, n_products):
    """Warn that eigenvalues did not converge."""
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        f"the eigenvalues did not converge: residual {residuals.max():.1e} after {n_products} "
        "products; they may be inaccurate, or one may be missing. The next eigenvalues are "
        f"probably very close: change n_components, or raise tol {see('warning-convergence')}",
        ConvergenceWarning,
        stacklevel=4,
    )


def compute_spectrum(
    adjacency,
    n_components,
    seed=0,
    smallest_component=1,
    approximate=False,
    progress=None,
    **limits,
):
    """Compute the `Spectrum` of a graph in memory.

    The parameters are those of `kdegraph.spectrum`, which have been checked there; the `limits` are
    `tol` and `max_products`. The connected components give the eigenvectors of eigenvalue 0, and
    `_nonzero_eigenpairs` finds the others.
    """
    reuse_freed_memory()
    graph = check_adjacency(adjacency, progress=stage_progress(progress, "components"))
    min_size = graph.smallest_component(smallest_component)
    k = check_n_components(n_components, graph, min_size)
    need = f"{k} eigenvectors of a graph of {graph.n} vertices need"
    check_memory(spectrum_bytes(graph.n, k), need, "use fewer n_components")

    eigenvalues, residuals = np.zeros(k), np.zeros(k)
    eigenvectors = np.zeros((graph.n, k))
    null_vector, n_zero = _write_null_vectors(graph, min_size, eigenvectors)
    converged, n_products = True, 0
    if k > n_zero:
        vertices, pairs = _nonzero_eigenpairs(
            graph,
            null_vector,
            max(min_size, 2),
            k - n_zero,
            partial(solve, **limits),
            approximate,
            np.random.default_rng(seed),
            stage_progress(progress, "eigenvectors"),
        )
        eigenvalues[n_zero:] = np.clip(1.0 - pairs.values, 0.0, 2.0)
        eigenvectors[vertices, n_zero:] = pairs.vectors
        residuals[n_zero:] = pairs.residuals
        converged, n_products = pairs.converged, pairs.n_products
        if not converged:
            warn_of_residuals(residuals, n_products)
    return Spectrum(
        eigenvalues,
        _oriented(eigenvectors),
        residuals,
        converged,
        n_connected_components=len(graph.sizes),
        isolated=graph.isolated,
        omit_isolated=min_size > 1,
        n_products=n_products,
        smallest_component=min_size,
    )


def _oriented(vectors):
    """Return the columns with the sign for which the entry of largest magnitude is positive."""
    negative = -vectors.min(axis=0) > vectors.max(axis=0)
    if negative.any():
        vectors *= np.where(negative, -1.0, 1.0)
    return vectors


def spectrum_bytes(n, k):
    """Return the memory for k eigenvectors of a graph with n vertices, and for finding them."""
    return 8 * n * (k + 2 * block_width(k))


def check_n_components(n_components, graph, min_size):
    """Return the number of eigenvalues, at most the number of vertices that are not excluded."""
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


def _write_null_vectors(graph, min_size, out):
    """Write the eigenvectors of eigenvalue 0, which have disjoint supports, into the first columns,
    those of the largest components first. Return the sum of all of them, and how many are written.
    """
    squares = np.where(graph.degrees > 0, graph.degrees, 1.0)
    volumes = np.bincount(graph.component, weights=squares, minlength=len(graph.sizes))
    null_vector = np.sqrt(squares / volumes[graph.component])
    by_size = np.argsort(-graph.sizes, kind="stable")
    chosen = by_size[graph.sizes[by_size] >= min_size][: out.shape[1]]
    column = np.full(len(graph.sizes), -1)
    column[chosen] = np.arange(len(chosen))
    column = column[graph.component]
    rows = np.flatnonzero(column >= 0)
    out[rows, column[rows]] = null_vector[rows]
    return null_vector, len(chosen)


def _nonzero_eigenpairs(graph, null_vector, min_size, k, solve, approximate, rng, report):
    """Find the `k` largest eigenpairs of M beyond the null space, on the vertices of components of
    at least `min_size`; `solve` is that of `kdegraph.spectral.solver.iteration` with its options.
    Return the vertex of each row of the eigenvectors, and the `Eigenpairs`.
    """
    # The rows lie component after component, each in the order of the graph.
    component = graph.component[graph.order]
    places = np.flatnonzero(graph.sizes[component] >= min_size)
    if len(graph.sizes) > 1:
        places = places[np.argsort(component[places], kind="stable")]
    vertices, component = graph.order[places], component[places]
    bounds = np.r_[0, np.flatnonzero(np.diff(component)) + 1, len(vertices)]
    null = NullSpace(bounds, null_vector[vertices])
    beginning = partial_progress(report, 0.0, 0.0)  # the iteration begins after it
    operator = NormalizedAdjacency.of_graph(graph, vertices, beginning)
    start = None
    if not is_small(operator, null, k):
        runs = np.searchsorted(runs_in_space(graph.order, graph.points), places, side="right")
        found = coarse_vectors(operator, null, k, rng, runs=runs, progress=beginning)
        if found is not None and approximate:
            # There are at least five guard vectors. Products with a block of 8 vectors take two
            # thirds of the time of those with 16.
            width = 8 * math.ceil((k + 5) / 8)
            start = found.start(null, width, rng, progress=beginning)
            pairs = refine(operator, null, k, start, report)
            if pairs.converged:
                return vertices, pairs
        if found is not None:
            n_probes = min(8, block_width(k) - k)  # random vectors, if there is room for them
            start = found.start(null, block_width(k) - n_probes, rng, n_probes, beginning)
    return vertices, solve(operator, null, k, rng=rng, start=start, report=report)
