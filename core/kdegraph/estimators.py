"""Spectral clustering of points as a scikit-learn estimator."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kdegraph.clustering.out_of_sample import memberships
from kdegraph.decision import Settings, check_noise, cluster_at, decide, seed_of
from kdegraph.diagnosis import warn_of
from kdegraph.eigengap import Bounds
from kdegraph.graph_parameters import ESTIMATOR_PARAMETERS, Scale
from kdegraph.metrics import points_of
from kdegraph.scaled_kernel import new_bandwidths
from kdegraph.validation import check_count, check_estimator_points

__all__ = ["KDESpectralClustering"]

# Parameters of `spectral_clustering` that are those of the estimator, too.
CLUSTER_PARAMETERS = ("embedding", "assign_labels", "n_init", "smallest_component")


def _as_dask(points):
    """Return the points as a Dask array, for a graph that is made tile by tile."""
    import dask.array as da

    return da.from_array(points)


class KDESpectralClustering(ClusterMixin, BaseEstimator):
    """Spectral clustering of the sampled similarity graph.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        "auto" is `count_clusters` of the points where `sigma` is None, and otherwise
        `suggest_n_clusters` of the graph.
    min_clusters : int, default=1
        Smallest automatic number of clusters.
    max_clusters : int or None, default=None
        Largest automatic number of clusters; None is any number.
    sigma : float, "auto", "local", "moderate", (n,) array_like or None, default=None
        Bandwidth of the kernel, in the units of the data: one for all points ("auto" is
        `estimate_sigma`), or one for each ("local" and "moderate" are `local_bandwidths` with the
        rules "perplexity" and "moderate"). None takes moderate ones, and for the pixels of a
        picture one for all; see the notes.
    perplexity : float or None, default=None
        Effective number of neighbors for local and moderate bandwidths, see `local_bandwidths`.
    alpha : float, default=0.0
        How far densities are divided out of the kernel, see `similarity_graph`.
    kernel : str, default="gaussian"
        A kernel function, see `Kernel`.
    metric : {"euclidean", "cosine", "haversine"}, default="euclidean"
        The distance, see `similarity_graph`; for "haversine" the columns are latitude and longitude
        in degrees, and bandwidths are in kilometers.
    n_rounds : int or "auto", default="auto"
        Neighbors that are sampled for every point: the paper's L.
    sampler, draws, kde, weighting : str
        How they are sampled and weighted: see `similarity_graph`.
    eps : float or None, default=None
        Relative error of the kernel degrees: see `similarity_graph`.
    embedding : {"soft", "softer", "degree", "row", "plain", "layout"} or None, default=None
        See `spectral_clustering`. None is "soft", and both "softer" and "layout" where several
        graphs of points in more than three dimensions vote; see the notes.
    assign_labels : {"kmeans", "cluster_qr"} or None, default=None
        None is "cluster_qr" for the pixels of a picture and "kmeans" for other points, see
        `spectral_clustering`.
    n_init : int, default=3
        Starts of k-means.
    smallest_component : int or "auto", default="auto"
        Connected components of the graph with fewer points are outliers, not clusters: see
        `spectral_clustering`.
    noise : float or None, default=None
        Points whose `probabilities_` are below this number, from (0, 1], get the label -1. It is
        refused where there is one graph and thus no probabilities: for a given `sigma`, the pixels
        of a picture and Dask arrays.
    random_state : int, RandomState or None, default=None
        An int gives the same result in every call.

    Attributes
    ----------
    labels_ : (n,) int32 array
        Cluster of each point; with `noise`, -1 for doubtful points. These still count for all other
        attributes, and for `predict`.
    graph_ : SimilarityGraph
    affinity_matrix_ : (n, n) csr_array
        Its adjacency matrix.
    spectrum_ : Spectrum or None
        Of the graph without isolated points and small components; None if it has no edges.
    conductances_ : (k,) float64 array
        Conductance of every cluster.
    isolated_ : (m,) int64 array
        Points without an edge, labeled by their nearest points.
    probabilities_ : (n,) float64 array or None
        The share of replicates in which each point is in its cluster; see the notes. None where
        there is one graph: for a given `sigma`, the pixels of a picture and Dask arrays.
    stability_ : (k,) float64 array or None
        For each cluster the mean over the replicates of its Jaccard index with the cluster that
        stands for it there: the points in both, as a share of the points in either.
    sigma_ : float or (n,) float64 array
        Bandwidth that was used, or that of every point.
    n_clusters_ : int
        Clusters found.
    confidence_ : float
        How clear the automatic number of clusters is, see `count_clusters`; NaN where it was given,
        or read from the graph itself.
    candidates_ : tuple of (int, float)
        Numbers of clusters that come into question, the best first, each with its share of the
        weights of all, see `count_clusters`; empty where `confidence_` is NaN.
    n_features_in_ : int

    See Also
    --------
    spectral_clustering : Partition a graph; says how outliers are treated.

    Notes
    -----
    *Bandwidths.* Where `sigma` is None, several scales are compared: moderate bandwidths of
    perplexity 5, 10, 20 and 40 (or of the given perplexity alone), with which a cut between
    clusters costs the density along it, and one bandwidth for all points ("auto"). At each scale
    four graphs with different seeds, replicates, are clustered. The scale is taken at which the
    clusters of two replicates agree best, by the adjusted Rand index: what changes from one to the
    next is luck. In more than three dimensions each graph is clustered by two embeddings, "softer"
    and "layout", so that what one of them always does does not look like structure. The index is
    reduced where the effective number of clusters (by the entropy of
    their sizes) is less than six tenths of their number, because a few points were cut off from the
    rest.

    *Labels.* Each point is in the cluster in which most replicates see it. Scales that are nearly
    as stable as the best one have a vote, too: those whose stability is less by at most 0.01 and a
    quarter of what the largest one lacks to 1.
    `graph_` and `spectrum_` are those of the first replicate at the most stable scale, and
    `conductances_` those of `labels_` in it.

    Identical points have the same label; where they are at no more places than there are clusters,
    each place is one.

    Of more than 4,000 points, a random sample of 4,000 decides about the scale, and two to six
    replicates of all points vote about the labels. The cost is that of all these graphs and their
    clusters: twenty for the comparison, then the others.

    For the pixels of a picture one bandwidth is better: points whose last two columns are the rows
    and columns of a grid, each place once, get the mean distance within which a pixel has 1/2000 of
    all pixels, as in `kdegraph.datasets.image_points`.

    Examples
    --------
    >>> import kdegraph
    >>> X = kdegraph.datasets.make("moons", n=500, seed=0).X
    >>> kdegraph.KDESpectralClustering(2, sigma=0.1, random_state=0).fit_predict(X).shape
    (500,)
    """

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = "auto",
        *,
        min_clusters: int = 1,
        max_clusters: int | None = None,
        sigma: float | Literal["auto", "local", "moderate"] | ArrayLike | None = None,
        perplexity: float | None = None,
        alpha: float = 0.0,
        kernel: str = "gaussian",
        metric: str = "euclidean",
        n_rounds: int | Literal["auto"] = "auto",
        sampler: str = "auto",
        draws: str = "stratified",
        kde: str = "auto",
        weighting: str = "inclusion",
        eps: float | None = None,
        embedding: Literal["soft", "softer", "degree", "row", "plain", "layout"] | None = None,
        assign_labels: Literal["kmeans", "cluster_qr"] | None = None,
        n_init: int = 3,
        smallest_component: int | Literal["auto"] = "auto",
        noise: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.n_clusters = n_clusters
        self.min_clusters = min_clusters
        self.max_clusters = max_clusters
        self.sigma = sigma
        self.perplexity = perplexity
        self.alpha = alpha
        self.kernel = kernel
        self.metric = metric
        self.n_rounds = n_rounds
        self.sampler = sampler
        self.draws = draws
        self.kde = kde
        self.weighting = weighting
        self.eps = eps
        self.embedding = embedding
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.smallest_component = smallest_component
        self.noise = noise
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: None = None) -> "KDESpectralClustering":
        """Cluster the points.

        Parameters
        ----------
        X : (n, d) array_like
            Points, finite. For a Dask array, `graph_` is a `TiledGraph`, and `labels_`,
            `affinity_matrix_` and the eigenvectors are Dask arrays. Sparse matrices do not become
            dense, see `similarity_graph`.
        y : None
            Ignored; accepted for the interface of scikit-learn.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError, TypeError
            For bad data or parameters, and for more clusters than points (or than points with an
            edge).

        Warns
        -----
        GraphWarning
            For what `diagnose` finds, except for Dask arrays.
        """
        self._lazy = hasattr(X, "__dask_graph__")
        points = self._check_points(X)
        self._check_clusters(points)
        seed = seed_of(self.random_state)
        found = self._decide(points, seed)
        self.graph_, self.sigma_ = found.graph, found.graph.sigma
        self._scale = found.scale
        if not self._lazy:
            wanted = None if isinstance(self.n_clusters, str) else self.n_clusters
            warn_of(self.graph_, wanted, getattr(self, "feature_names_in_", None))
        self.affinity_matrix_ = self.graph_.adjacency
        self._clusters = found.clusters.labels
        self.labels_ = found.labels(self.noise)
        self.n_clusters_ = found.clusters.n_clusters
        self.confidence_ = found.confidence
        self.candidates_ = found.candidates
        self.spectrum_ = found.clusters.spectrum
        self.conductances_ = found.clusters.conductances
        self.isolated_ = found.clusters.isolated
        self.probabilities_ = found.vote and found.vote.probabilities
        self.stability_ = found.vote and found.vote.stability
        self._points = points if self._lazy else points.copy()
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_points(self, X):
        """Return the points as an array; one mapped into memory for a Dask array."""
        if not self._lazy:
            return check_estimator_points(self, X, dtype=(np.float64, np.float32))
        from kdegraph.tiles.points import mapped_points

        validate_data(self, X, skip_check_array=True)  # the number of features
        return mapped_points(X)

    def _check_clusters(self, points):
        """Check the number of clusters and `noise`, before the graph is made."""
        if not isinstance(self.n_clusters, str):
            reason = f"(the number of points), here {len(points)}"
            check_count(self.n_clusters, "n_clusters", maximum=len(points), reason=reason)
        if self.noise is not None:
            check_noise(self.noise, points, one_graph=self._lazy or self.sigma is not None)

    def _decide(self, points, seed):
        """Return the clusters with the given bandwidths, or with the most stable ones."""
        settings = Settings(
            self.n_clusters,
            {
                name: getattr(self, name)
                for name in ESTIMATOR_PARAMETERS
                if name not in Scale._fields
            },
            {name: getattr(self, name) for name in CLUSTER_PARAMETERS},
            Bounds.checked(self.min_clusters, self.max_clusters),
        )
        lazily = _as_dask(points) if self._lazy else None
        if self.sigma is None:
            return decide(points, settings, seed, perplexity=self.perplexity, lazily=lazily)
        scale = Scale(self.sigma, self.perplexity)
        return cluster_at(scale, points if lazily is None else lazily, settings, seed)

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
            its members, the doubtful ones too: that with the largest of `predict_proba`. Out of
            reach of all fitted points, the cluster of the nearest.

        Raises
        ------
        ValueError
            For bad data, and if `sigma` was an array, which does not define bandwidths for new
            points.

        Notes
        -----
        The cost is one kernel sum for each cluster. With local bandwidths, that of a new point is
        what it would be if the point were added to the fitted ones (a moderate one with the
        geometric mean of these, which is computed anew), and all pairs are looked at. For a fitted
        point the answer may differ from `labels_` where clusters touch.
        """
        return np.argmax(self.predict_proba(X), axis=1).astype(np.int32)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Find how far new points belong to each cluster, without fitting anew.

        Parameters
        ----------
        X : (m, d) array_like
            Points, finite.

        Returns
        -------
        (m, k) float64 array
            The kernel sum ``sum_{j in C} k(x, x_j)`` over the members of each cluster, as a share
            of that over all fitted points: the Nystroem extension of the clusters' indicators, or
            the probability that a step of the random walk from the new point leads into the
            cluster. Each row sums to 1. Out of reach of all fitted points, 1 for the cluster of the
            nearest.

        Raises
        ------
        ValueError
            As for `predict`.

        Notes
        -----
        The cost is that of `predict`. The shares say which clusters are near; `probabilities_` says
        how sure the clusters of the fitted points are.
        """
        check_is_fitted(self)
        queries = check_estimator_points(self, X, self._points, dtype=np.float64, reset=False)
        sigma, perplexity = self._scale
        points = points_of(self._points, self.metric)
        queries = points_of(queries, self.metric)
        own = new_bandwidths(self.sigma_, sigma, points, queries, perplexity)
        return memberships(self.graph_, points, np.asarray(self._clusters), queries, own)
