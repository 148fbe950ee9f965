"""Spectral clustering of many points as others approximate it, written from their papers; but for
dask-ml, which is a library.

Each function takes points and the number of clusters and returns labels; all else is what its paper
says, or what is said here where that leaves it open.
"""

import math

import kdegraph
import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.csgraph import laplacian
from scipy.spatial import KDTree
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import normalize

from benchmarks.graphs import N_NEIGHBORS

N_REPRESENTATIVES = 1_000  # of all points: U-SPEC's p
CANDIDATES = 10  # for each of them, drawn at random
N_NEAREST = 5  # representatives of every point: U-SPEC's K
MANY = 100_000  # points whose embedding is divided by k-means on batches


def by_uspec(X, k):
    """D. Huang et al., "Ultra-scalable spectral clustering and ensemble clustering", IEEE
    Transactions on Knowledge and Data Engineering 32 (2020): a bipartite graph between points and
    representatives, and its transfer cut. The nearest representatives are exact here.
    """
    rng = np.random.default_rng(0)
    candidates = X[rng.permutation(len(X))[: CANDIDATES * N_REPRESENTATIVES]]
    centers = _representatives(candidates).cluster_centers_
    distances, nearest = KDTree(centers).query(X, min(N_NEAREST, len(centers)), workers=-1)
    values = np.exp(-(distances**2) / (2 * distances.mean() ** 2))
    starts = np.arange(0, nearest.size + 1, nearest.shape[1])
    kernel = scipy.sparse.csr_array(
        (values.ravel(), nearest.ravel(), starts), shape=(len(X), len(centers))
    )
    return _divide(transfer_cut(kernel, min(k, len(centers))), k)


def transfer_cut(kernel, k):
    """The first eigenvectors of a bipartite graph between points and representatives, at the
    points, from those of a graph between the representatives.
    """
    steps = scipy.sparse.diags_array(1 / kernel.sum(axis=1)) @ kernel
    weights = (kernel.T @ steps).toarray()
    degrees = weights.sum(axis=1)
    eigenvalues, vectors = scipy.linalg.eigh(
        np.diag(degrees) - weights, np.diag(degrees), subset_by_index=[0, k - 1]
    )
    # The eigenvalue of the bipartite graph is 1 less this root.
    return steps @ (vectors / np.sqrt(np.maximum(1 - eigenvalues, np.finfo(float).eps)))


def by_kasp(X, k):
    """D. Yan, L. Huang and M. Jordan, "Fast approximate spectral clustering", KDD 2009: the
    clusters of representatives by k-means, in the fully connected graph between these. Its sigma,
    which the paper tunes, is the mean distance to the nearest ones here.
    """
    found = _representatives(X)
    centers = found.cluster_centers_
    sigma = KDTree(centers).query(centers, min(1 + N_NEAREST, len(centers)))[0][:, 1:].mean()
    kernel = rbf_kernel(centers, gamma=1 / (2 * sigma**2))
    np.fill_diagonal(kernel, 0)
    return kdegraph.spectral_clustering(kernel, k, seed=0).labels[found.labels_]


def by_nystroem(X, k):
    """C. Fowlkes et al., "Spectral grouping using the Nystroem method", IEEE Transactions on
    Pattern Analysis and Machine Intelligence 26 (2004), in the form that scikit-learn and dask-ml
    have: features of the kernel, here of the same one as kdegraph's with one sigma.
    """
    from sklearn.kernel_approximation import Nystroem

    sigma = kdegraph.estimate_sigma(X, seed=0)
    n_components = min(N_REPRESENTATIVES, len(X))
    model = Nystroem(gamma=sigma**-2, n_components=n_components, random_state=0)
    features = model.fit_transform(X)
    degrees = features @ features.sum(axis=0)
    features /= np.sqrt(np.maximum(degrees, np.finfo(float).eps))[:, None]
    vectors = scipy.linalg.eigh(
        features.T @ features, subset_by_index=[n_components - k, n_components - 1]
    )[1]
    return _divide(normalize(features @ vectors), k)


def by_dask_ml(X, k):
    """The Nystroem method of dask-ml, whose eigenvectors are those among the representatives,
    extended to all points; the kernel, the representatives and k-means are those of `by_nystroem`.
    """
    from dask_ml.cluster import SpectralClustering

    model = SpectralClustering(
        k,
        gamma=kdegraph.estimate_sigma(X, seed=0) ** -2,
        n_components=min(N_REPRESENTATIVES, len(X) - 1),
        assign_labels="sklearn-kmeans",  # Its own takes ten times as long for the same labels.
        random_state=0,
    )
    return np.asarray(model.fit(X).labels_)


def by_power_method(X, k):
    """P. Macgregor, "Fast and simple spectral clustering in theory and practice", NeurIPS 2023:
    random vectors after some steps of the power method in place of eigenvectors: k - 1 of them, on
    a graph of nearest neighbors.
    """
    graph = kdegraph.knn_graph(X, min(N_NEIGHBORS, len(X) - 1))
    normalized, roots = laplacian(graph, normed=True, return_diag=True)
    first = roots / np.linalg.norm(roots)
    vectors = np.random.default_rng(0).normal(size=(len(X), max(1, k - 1)))
    for _ in range(10 * math.ceil(math.log2(max(2, len(X) / k)))):
        vectors -= normalized @ vectors / 2
        vectors -= np.outer(first, first @ vectors)
    return _divide(vectors / roots[:, None], k)


def _representatives(X):
    """The k-means model of the representatives; of few points at most as many as are distinct."""
    if len(X) <= CANDIDATES * N_REPRESENTATIVES:
        model = KMeans(min(N_REPRESENTATIVES, len(np.unique(X, axis=0))), n_init=1, max_iter=20)
    else:
        model = MiniBatchKMeans(N_REPRESENTATIVES, n_init=1, max_iter=20)
    return model.set_params(random_state=0).fit(X)


def _divide(embedding, k):
    """Labels by k-means."""
    kind = KMeans if len(embedding) <= MANY else MiniBatchKMeans
    return kind(k, n_init=3, random_state=0).fit_predict(embedding)


APPROXIMATIONS = {
    "U-SPEC": by_uspec,
    "KASP": by_kasp,
    "Nystroem": by_nystroem,
    "Nystroem, dask-ml": by_dask_ml,
    "power method": by_power_method,
}
