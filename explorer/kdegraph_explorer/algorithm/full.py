"""The full graph as a sparse matrix: its eigenvalues are found like those of the other graphs, and
the work can be interrupted.
"""

import numpy as np
import scipy.sparse
from kdegraph import full_graph

NEGLIGIBLE = 1e-9  # smaller kernel values are left out: they change no digit that is shown


def sparse_full_graph(X, bandwidth, progress=None):
    """All pairs of points with a kernel value of at least `NEGLIGIBLE`: an (n, n) csr_array. Needs
    16 n^2 bytes meanwhile.
    """
    kernel = full_graph(X, **bandwidth.arguments, progress=progress)
    return (
        kernel
        if scipy.sparse.issparse(kernel)
        else scipy.sparse.csr_array(np.where(kernel < NEGLIGIBLE, 0.0, kernel))
    )
