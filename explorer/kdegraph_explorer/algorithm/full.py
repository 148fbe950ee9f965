"""The full graph as a sparse matrix: its eigenvalues are found like those of the other graphs, and
the work can be interrupted.
"""

import numpy as np
import scipy.sparse
from kdegraph import full_graph, local_bandwidths
from scipy.spatial.distance import cdist

NEGLIGIBLE = 1e-9  # smaller kernel values are left out: they change no digit that is shown


def sparse_full_graph(X, bandwidth, progress=None):
    """All pairs of points with a kernel value of at least `NEGLIGIBLE`: an (n, n) csr_array. Needs
    16 n^2 bytes meanwhile.
    """
    if bandwidth.is_local:
        kernel = _local_kernel(X, local_bandwidths(X, perplexity=bandwidth.perplexity))
    else:
        kernel = full_graph(X, sigma=bandwidth.sigma, progress=progress)
    return (
        kernel
        if scipy.sparse.issparse(kernel)
        else scipy.sparse.csr_array(np.where(kernel < NEGLIGIBLE, 0.0, kernel))
    )


def _local_kernel(X, sigma):
    """The Gaussian kernel of bandwidth ``sqrt(sigma_i sigma_j)`` between all points; the diagonal
    is 0.
    """
    exponents = cdist(X, X, "sqeuclidean")
    exponents /= sigma[:, None]
    exponents /= sigma
    kernel = np.exp(-exponents)
    np.fill_diagonal(kernel, 0.0)
    return kernel
