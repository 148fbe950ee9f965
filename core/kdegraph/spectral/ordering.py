"""An order of the vertices of a graph in which neighbors are near each other."""

import numpy as np

from kdegraph.runtime.jit import jit

VERTICES_PER_REPORT = 20_000  # visited between two calls of `progress`


def breadth_first_order(indptr, indices, progress=None):
    """The vertices in breadth-first order, component after component.

    It serves graphs without points: consecutive vertices become the nodes of a coarse graph. The
    spectrum of a k-NN graph of 20,000 points takes 0.46 s then, and 0.72 s in the order given.
    `scipy.sparse.csgraph.breadth_first_order` is as fast, but visits one component only and cannot
    be cancelled; `reverse_cuthill_mckee` takes quadratic time at vertices with many neighbors.

    Parameters
    ----------
    indptr, indices : arrays
        Of the CSR form of a symmetric matrix.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    (n,) int32 array
    """
    n = len(indptr) - 1
    order = np.empty(n, np.int32)
    seen = np.zeros(n, np.bool_)
    n_visited = n_found = unseen = 0
    while n_visited < n:
        stop = min(n_visited + VERTICES_PER_REPORT, n)
        n_found, unseen = _visit(n_visited, stop, n_found, unseen, indptr, indices, order, seen)
        n_visited = stop
        if progress is not None:
            progress(n_visited / n)
    return order


@jit
def _visit(n_visited, stop, n_found, unseen, indptr, indices, order, seen):
    """Visit vertices until there are `stop` of them.

    Returns how many vertices were found by then (``order[:n_found]``), and a number below which all
    vertices were found.
    """
    for place in range(n_visited, stop):
        if place == n_found:  # the component is complete: start another one
            while seen[unseen]:
                unseen += 1
            seen[unseen] = True
            order[n_found] = unseen
            n_found += 1
        i = order[place]
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if not seen[j]:
                seen[j] = True
                order[n_found] = j
                n_found += 1
    return n_found, unseen
