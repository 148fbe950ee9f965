"""Compute one stage for the explorer: spectra, clusters and scores as its pages show them."""

from dataclasses import replace

import numpy as np
import scipy.sparse
from kdegraph import full_graph
from kdegraph import spectrum as find_spectrum

from .results import matrix_of, with_agreement

N_EIGENVALUES = 10  # enough for the eigengap and for k <= 8 without another run of the eigensolver
MOST_SEGMENTS = 50  # of a photograph, whose eigenvectors serve all numbers up to this
# Tolerance of the eigenvectors. Where a graph has clusters it makes no difference; where it has
# none it saves most of the time.
TOLERANCE = 1e-3
# Eigenvalues remain estimates when the entries of the matrix in all products, which take some ten
# seconds, are more than this, but not before `MIN_PRODUCTS`.
MAX_ENTRIES = 1e9
MIN_PRODUCTS = 80
NEGLIGIBLE = 1e-9  # smaller kernel values are omitted, as they change no digit that is shown


def max_products(adjacency):
    """Return the number of products after which the eigenvalues are shown as they are.

    None leaves it to the library, if the graph is small.
    """
    found = max(MIN_PRODUCTS, int(MAX_ENTRIES / max(adjacency.nnz, 1)))
    return found if found < 1000 else None


def with_metric(graph, dataset):
    """Return a graph of embedded points with the metric for which they were embedded."""
    return graph if graph.metric == dataset.metric else replace(graph, metric=dataset.metric)


def solved(graph, wanted, n_counted, request, progress):
    """Return the spectrum of a graph, with as many eigenvalues as wanted.

    `n_counted` vertices are in components that are large enough to be clusters. Those of a large
    photograph are approximate: the many that it needs would take several times as long.
    """
    progress("eigenvalues", 0.0)
    return find_spectrum(
        graph,
        wanted,
        seed=request.seed,
        tol=TOLERANCE,
        max_products=max_products(matrix_of(graph)),
        smallest_component="auto" if n_counted else 1,
        approximate=request.dataset.image is not None,
        progress=progress,
    )


def cluster_scores(dataset, adjacency, n_counted, clustering):
    """Return the scores of a `Clustering` by name.

    `n_counted` vertices are in components that are large enough.
    """
    scores = {
        "Edges": adjacency.nnz // 2,
        "Mean degree": adjacency.nnz / dataset.n_points,
        "Megabytes": (adjacency.data.nbytes + adjacency.indices.nbytes + adjacency.indptr.nbytes)
        / 1e6,
    }
    if isolated := int(np.count_nonzero(np.diff(adjacency.indptr) == 0)):
        scores["Isolated points"] = isolated
    if small := dataset.n_points - isolated - n_counted:
        scores["Points in small components"] = small
    return with_agreement(scores, dataset.y, clustering.labels)


def sparse_full_graph(X, bandwidth, progress=None):
    """Compute the full graph as a sparse matrix, like the other graphs.

    Kernel values below `NEGLIGIBLE` are omitted. It needs 16 n^2 bytes meanwhile, and can be
    interrupted.
    """
    kernel = full_graph(X, **bandwidth.arguments, progress=progress)
    if scipy.sparse.issparse(kernel):
        return kernel
    return scipy.sparse.csr_array(np.where(kernel < NEGLIGIBLE, 0.0, kernel))
