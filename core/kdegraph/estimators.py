"""The algorithms as scikit-learn estimators."""

from typing import Literal

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from kdegraph.clustering.bandwidth_choice import is_degenerate, is_pixel_grid, perplexities
from kdegraph.clustering.out_of_sample import assign
from kdegraph.clustering.partition import spectral_clustering
from kdegraph.geometry.kernels import Kernel
from kdegraph.graph import similarity_graph
from kdegraph.validation import check_count


class _GraphEstimator(BaseEstimator):
    """What both estimators share: the parameters of `similarity_graph`, checked when `fit` is
    called.
    """

    def __init__(
        self,
        *,
        sigma,
        perplexity,
        alpha,
        kernel,
        n_rounds,
        sampler,
        draws,
        kde,
        weighting,
        eps,
        random_state,
    ):
        self.sigma = sigma
        self.perplexity = perplexity
        self.alpha = alpha
        self.kernel = kernel
        self.n_rounds = n_rounds
        self.sampler = sampler
        self.draws = draws
        self.kde = kde
        self.weighting = weighting
        self.eps = eps
        self.random_state = random_state

    def _fit_graph(self, X, sigma, perplexity, seed):
        """Set `graph_` and `sigma_` for checked data."""
        self.graph_ = similarity_graph(
            X,
            sigma=sigma,
            perplexity=perplexity,
            alpha=self.alpha,
            kernel=self.kernel,
            n_rounds=self.n_rounds,
            sampler=self.sampler,
            draws=self.draws,
            kde=self.kde,
            weighting=self.weighting,
            eps=self.eps,
            seed=seed,
        )
        self.sigma_ = self.graph_.sigma

    def _seed(self):
        return int(check_random_state(self.random_state).randint(2**31 - 1))


class KDESpectralClustering(ClusterMixin, _GraphEstimator):
    """Spectral clustering of the sampled similarity graph.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        "auto" reads it from the gap in the spectrum (`suggest_n_clusters`).
    sigma : float, "auto", "local", (n,) array_like or None, default=None
        Bandwidth of the kernel, in the units of the data: one for all points ("auto" is
        `estimate_sigma`), or one for each ("local" is `local_bandwidths`). None takes local
        bandwidths, and for the pixels of a picture one for all; see the notes.
    perplexity : float or None, default=None
        Effective number of neighbors for local bandwidths, see `local_bandwidths`.
    alpha : float, default=0.0
        How far densities are divided out of the kernel, see `similarity_graph`.
    kernel : {"gaussian", "laplacian", "exponential"}, default="gaussian"
    n_rounds : int or "auto", default="auto"
        Neighbors that are sampled for every point: the paper's L.
    sampler, draws, kde, weighting, eps
        How they are sampled and weighted: see `similarity_graph`.
    embedding : {"soft", "degree", "row", "plain"}, default="soft"
    assign_labels : {"kmeans", "cluster_qr"}, default="kmeans"
        See `spectral_clustering`.
    n_init : int, default=3
        Starts of k-means.
    smallest_component : int or "auto", default="auto"
        Connected components of the graph with fewer points are no clusters, but outliers: see
        `spectral_clustering`.
    random_state : int, RandomState or None, default=None
        An int gives the same result in every call.

    Attributes
    ----------
    labels_ : (n,) int32 array
        Cluster of each point.
    graph_ : SimilarityGraph
    affinity_matrix_ : (n, n) csr_array
        Its adjacency matrix.
    spectrum_ : Spectrum or None
        Of the graph without isolated points and small components; None if it has no edges.
    conductances_ : (k,) float64 array
        Conductance of every cluster.
    isolated_ : (m,) int64 array
        Points without an edge, labeled by their nearest points.
    sigma_ : float or (n,) float64 array
        Bandwidth that was used, or that of every point.
    n_clusters_ : int
        Clusters found.
    n_features_in_ : int

    Notes
    -----
    *Bandwidths.* Where `sigma` is None, every point gets a bandwidth of its own, of perplexity 5;
    it is doubled, up to 40, as long as the clusters are degenerate: so few points are cut off one
    after the other that the clusters are fewer in effect than six tenths of their number (by the
    entropy of their sizes). For the pixels of a picture one bandwidth is better: points whose last
    two columns are the rows and columns of a grid, each place once, get `estimate_sigma`.

    See Also
    --------
    spectral_clustering : What is done with the graph, and how outliers are treated.

    Examples
    --------
    >>> import kdegraph
    >>> X = kdegraph.datasets.make("moons", n=500, seed=0).X
    >>> kdegraph.KDESpectralClustering(2, sigma=0.1, random_state=0).fit_predict(X).shape
    (500,)
    """

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = 8,
        *,
        sigma: float | Literal["auto", "local"] | ArrayLike | None = None,
        perplexity: float | None = None,
        alpha: float = 0.0,
        kernel: str = "gaussian",
        n_rounds: int | Literal["auto"] = "auto",
        sampler: str = "auto",
        draws: str = "stratified",
        kde: str = "auto",
        weighting: str = "inclusion",
        eps: float | None = None,
        embedding: Literal["soft", "degree", "row", "plain"] = "soft",
        assign_labels: Literal["kmeans", "cluster_qr"] = "kmeans",
        n_init: int = 3,
        smallest_component: int | Literal["auto"] = "auto",
        random_state: int | np.random.RandomState | None = None,
    ):
        super().__init__(
            sigma=sigma,
            perplexity=perplexity,
            alpha=alpha,
            kernel=kernel,
            n_rounds=n_rounds,
            sampler=sampler,
            draws=draws,
            kde=kde,
            weighting=weighting,
            eps=eps,
            random_state=random_state,
        )
        self.n_clusters = n_clusters
        self.embedding = embedding
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.smallest_component = smallest_component

    def fit(self, X: ArrayLike, y: None = None) -> "KDESpectralClustering":
        """Cluster the points.

        Parameters
        ----------
        X : (n, d) array_like
            Points, finite.
        y : None
            Ignored; accepted for the interface of scikit-learn.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            For bad data or parameters, and for more clusters than points (or than points with an
            edge).
        """
        points = validate_data(self, X, dtype=np.float64, order="C")
        if not isinstance(self.n_clusters, str):  # checked before the graph is made
            reason = f"(the number of points), here {len(points)}"
            check_count(self.n_clusters, "n_clusters", maximum=len(points), reason=reason)
        found = self._fit_clusters(points, self._seed())
        self.affinity_matrix_ = self.graph_.adjacency
        self.labels_ = found.labels
        self.n_clusters_ = found.n_clusters
        self.spectrum_ = found.spectrum
        self.conductances_ = found.conductances
        self.isolated_ = found.isolated
        self._points = points.copy()
        return self

    def _fit_clusters(self, points, seed):
        """Fit the graph with the bandwidths asked for, and cluster it."""
        if self.sigma is not None or is_pixel_grid(points):
            sigma = "auto" if self.sigma is None else self.sigma
            self._fit_graph(points, sigma, self.perplexity, seed)
            return self._cluster(seed)
        for perplexity in perplexities(len(points), self.perplexity):
            self._fit_graph(points, "local", perplexity, seed)
            found = self._cluster(seed)
            if not is_degenerate(found.labels, self.n_clusters):
                break
        return found

    def _cluster(self, seed):
        return spectral_clustering(
            self.graph_,
            self.n_clusters,
            seed=seed,
            embedding=self.embedding,
            assign_labels=self.assign_labels,
            n_init=self.n_init,
            smallest_component=self.smallest_component,
        )

    def predict(self, X: ArrayLike) -> NDArray[np.int32]:
        """Find the clusters of new points, without fitting anew.

        Parameters
        ----------
        X : (m, d) array_like
            Points, finite.

        Returns
        -------
        (m,) int32 array
            For each point the cluster with the largest kernel sum ``sum_{j in C} k(x, x_j)`` over
            its members: the Nystroem extension of the clusters' indicators. Out of reach of all
            fitted points, the cluster of the nearest.

        Raises
        ------
        ValueError
            For bad data.

        Notes
        -----
        The cost is one kernel sum for each cluster. For a fitted point the answer may differ from
        `labels_` where clusters touch.
        """
        check_is_fitted(self)
        queries = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return assign(Kernel(self.graph_.kernel, self.sigma_), self._points, self.labels_, queries)


class SimilarityGraphTransformer(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, _GraphEstimator
):
    """Turn points into the adjacency matrix of their sampled similarity graph.

    For estimators that take ``affinity="precomputed"``, such as
    `sklearn.cluster.SpectralClustering`.

    Parameters
    ----------
    sigma : float, "auto", "local" or (n,) array_like, default="auto"
        Bandwidth of the kernel, in the units of the data: one for all points ("auto" is
        `estimate_sigma`), or one for each ("local" is `local_bandwidths`).
    perplexity : float or None, default=None
        Effective number of neighbors for local bandwidths, see `local_bandwidths`.
    alpha : float, default=0.0
        How far densities are divided out of the kernel, see `similarity_graph`.
    kernel : {"gaussian", "laplacian", "exponential"}, default="gaussian"
    n_rounds : int or "auto", default="auto"
        Neighbors that are sampled for every point: the paper's L.
    sampler, draws, kde, weighting, eps
        How they are sampled and weighted: see `similarity_graph`.
    random_state : int, RandomState or None, default=None
        An int gives the same graph in every call.

    Attributes
    ----------
    graph_ : SimilarityGraph
    sigma_ : float or (n,) float64 array
        Bandwidth that was used, or that of every point.
    n_samples_fit_ : int
    n_features_in_ : int

    Notes
    -----
    Whether two points are joined is drawn at random once, for the points given to `fit`, and
    `transform` returns the rows of the graph for these. Other points are no vertices of it: they
    get sampled neighbors among the fitted ones, which suits estimators that take similarities to
    the fitted points, and changes nothing in the graph.

    Examples
    --------
    >>> import kdegraph
    >>> X = kdegraph.datasets.make("moons", n=500, seed=0).X
    >>> transformer = kdegraph.SimilarityGraphTransformer(sigma=0.1, random_state=0)
    >>> transformer.fit_transform(X).shape
    (500, 500)
    """

    def __init__(
        self,
        *,
        sigma: float | Literal["auto", "local"] | ArrayLike = "auto",
        perplexity: float | None = None,
        alpha: float = 0.0,
        kernel: str = "gaussian",
        n_rounds: int | Literal["auto"] = "auto",
        sampler: str = "auto",
        draws: str = "stratified",
        kde: str = "auto",
        weighting: str = "inclusion",
        eps: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        super().__init__(
            sigma=sigma,
            perplexity=perplexity,
            alpha=alpha,
            kernel=kernel,
            n_rounds=n_rounds,
            sampler=sampler,
            draws=draws,
            kde=kde,
            weighting=weighting,
            eps=eps,
            random_state=random_state,
        )

    def fit(self, X: ArrayLike, y: None = None) -> "SimilarityGraphTransformer":
        """Sample the graph of the points.

        Parameters
        ----------
        X : (n, d) array_like
            Points, finite.
        y : None
            Ignored; accepted for the interface of scikit-learn.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            For bad data or parameters.
        """
        points = validate_data(self, X, dtype=np.float64, order="C")
        self._fit_graph(points, self.sigma, self.perplexity, self._seed())
        self._points = points.copy()
        self.n_samples_fit_ = self._n_features_out = len(points)
        return self

    def fit_transform(self, X: ArrayLike, y: None = None) -> scipy.sparse.csr_array:
        """Sample the graph of the points and return its adjacency matrix.

        Parameters
        ----------
        X : (n, d) array_like
            Points, finite.
        y : None
            Ignored; accepted for the interface of scikit-learn.

        Returns
        -------
        (n, n) csr_array of float64
            Symmetric, with zero diagonal.
        """
        return self.fit(X).graph_.adjacency.copy()

    def transform(self, X: ArrayLike) -> scipy.sparse.csr_array:
        """Return similarities to the fitted points.

        Parameters
        ----------
        X : (m, d) array_like
            All fitted points in the same order give the whole adjacency matrix; a fitted point
            gives its row of it (the first such point's, if there are several). A new point draws
            `n_rounds` neighbors among the fitted points with probability ``k(x, x_j) / g(x)``, each
            with weight ``g(x) / n_rounds``, so that the expected row is the kernel's. The draws
            depend on nothing but the point and the seed of the graph.

        Returns
        -------
        (m, n) csr_array of float64
            Row i: weights of the edges from ``X[i]`` to the fitted points.

        Raises
        ------
        ValueError
            For bad data.

        Notes
        -----
        Each new point costs O(n d), as its kernel values are summed directly.
        """
        check_is_fitted(self)
        queries = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        if np.array_equal(queries, self._points):
            return self.graph_.adjacency.copy()
        # Equal points get equal bytes: adding 0 removes negative zeros.
        queries, points = queries + 0.0, self._points + 0.0
        fitted_as = _first_rows(points)
        vertices = np.array([fitted_as.get(row.tobytes(), -1) for row in queries])
        fitted, new = np.flatnonzero(vertices >= 0), np.flatnonzero(vertices < 0)
        shape = len(queries), self.n_samples_fit_
        rows = _place_rows(self.graph_.adjacency[vertices[fitted]], fitted, shape)
        rows = rows + _place_rows(_sample_rows(self.graph_, points, queries[new]), new, shape)
        rows.sort_indices()
        return rows


def _first_rows(points):
    """The number of the first row with each sequence of bytes."""
    return {row.tobytes(): i for i, row in reversed(list(enumerate(points)))}


def _place_rows(part, rows, shape):
    """A matrix of this shape with the given rows, and all others empty."""
    entries = np.ones(len(rows)), (rows, np.arange(len(rows)))
    return scipy.sparse.csr_array(entries, shape=(shape[0], len(rows))) @ part


def _sample_rows(graph, points, queries):
    """A stratified sample of the kernel rows of new points: an (m, n) csr_array whose expectation
    is the kernel values.
    """
    kernel, n_rounds = Kernel(graph.kernel, graph.sigma), graph.n_rounds
    rows, columns, weights = [], [], []
    for i, query in enumerate(queries):
        cumulated = np.cumsum(kernel.pairwise(query[None], points)[0])
        total = cumulated[-1]
        if total == 0:  # out of reach of all fitted points
            continue
        rng = np.random.default_rng([graph.seed, *query.view(np.uint64).tolist()])
        levels = (rng.random() + np.arange(n_rounds)) / n_rounds * total
        last = np.searchsorted(cumulated, total)  # rounding may take a level beyond it
        columns.append(np.minimum(np.searchsorted(cumulated, levels, side="right"), last))
        rows.append(np.full(n_rounds, i))
        weights.append(np.full(n_rounds, total / n_rounds))
    if not rows:
        return scipy.sparse.csr_array((len(queries), len(points)))
    entries = np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))
    return scipy.sparse.csr_array(entries, shape=(len(queries), len(points)))
