"""What a spectrum is."""

import warnings
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
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
        Whether the isolated vertices were left out (their rows of `eigenvectors` are zero).
    n_products : int
        Products of the matrix with a block of vectors that it took: the cost. 0 if the components
        and LAPACK were enough.
    smallest_component : int
        Components with fewer vertices were left out.

    Examples
    --------
    >>> import numpy as np
    >>> from kdegraph import spectrum
    >>> found = spectrum(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 2, 0]]), 3)
    >>> found.n_components, found.n_connected_components, found.converged
    (3, 2, True)
    """

    eigenvalues: NDArray[np.float64]
    eigenvectors: NDArray[np.float64] = field(repr=False)
    residuals: NDArray[np.float64] = field(repr=False)
    converged: bool
    n_connected_components: int
    isolated: NDArray[np.int64] = field(repr=False)
    omit_isolated: bool
    n_products: int
    smallest_component: int = 1

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
        "probably very close: change n_components, or raise tol",
        ConvergenceWarning,
        stacklevel=4,
    )
