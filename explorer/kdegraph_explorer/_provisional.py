"""TEMPORARY: stand-ins for parts of kdegraph that are being written."""

import types

import kdegraph
import numpy as np


def install():
    if not hasattr(kdegraph, "estimate_sigma"):

        def estimate_sigma(X, n_neighbors=10, seed=None):
            from sklearn.neighbors import NearestNeighbors

            k = min(n_neighbors, len(X) - 1)
            if k < 1:
                return 1.0
            return float(NearestNeighbors(n_neighbors=k).fit(X).kneighbors()[0][:, -1].mean()) * 2

        def knn_graph(X, n_neighbors=10, mode="connectivity", sigma=None):
            from sklearn.neighbors import kneighbors_graph
            import scipy.sparse as sp

            A = kneighbors_graph(X, n_neighbors)
            return sp.csr_array((A + A.T) > 0).astype(float)

        kdegraph.estimate_sigma, kdegraph.knn_graph = estimate_sigma, knn_graph
    if not hasattr(kdegraph, "spectral_clustering"):

        def _norm(A):
            d = np.asarray(A.sum(1)).ravel()
            s = 1 / np.sqrt(np.maximum(d, 1e-300))
            import scipy.sparse as sp

            return sp.diags_array(s) @ A @ sp.diags_array(s), d

        def spectrum(A, n_components, v0=None, seed=None, tol=0):
            import scipy.sparse.linalg as sl

            M, d = _norm(A)
            k = min(n_components, A.shape[0] - 1)
            w, v = sl.eigsh(M, k, which="LA", v0=np.random.default_rng(0).normal(size=A.shape[0]))
            o = np.argsort(-w)
            return types.SimpleNamespace(eigenvalues=np.maximum(1 - w[o], 0), eigenvectors=v[:, o])

        def conductance(A, labels):
            d = np.asarray(A.sum(1)).ravel()
            out = []
            for c in range(labels.max() + 1):
                S = labels == c
                out.append(1 - A[S][:, S].sum() / max(d[S].sum(), 1e-300))
            return np.array(out)

        def spectral_clustering(graph, n_clusters, *, seed=None, spectrum=None):
            from sklearn.cluster import KMeans

            A = getattr(graph, "adjacency", graph)
            spec = spectrum or kdegraph.spectrum(A, n_clusters)
            E = spec.eigenvectors[:, :n_clusters] / np.sqrt(np.maximum(np.asarray(A.sum(1)).ravel(), 1e-300))[:, None]
            labels = KMeans(n_clusters, n_init=3, random_state=seed).fit_predict(E)
            return types.SimpleNamespace(labels=labels, spectrum=spec, conductances=conductance(A, labels))

        def suggest(ev):
            return int(np.argmax(np.diff(ev)) + 1)

        for name, f in (("spectrum", spectrum), ("conductance", conductance), ("spectral_clustering", spectral_clustering), ("suggest_n_clusters", suggest)):
            if not hasattr(kdegraph, name):
                setattr(kdegraph, name, f)
        from kdegraph.spectra import suggest_n_clusters
        kdegraph.suggest_n_clusters = suggest_n_clusters

install()
