"""Spectral clustering of points as a scikit-learn estimator."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    clone,
)
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from kdegraph.clustering.out_of_sample import Coordinates, fitted_vertices, memberships
from kdegraph.decision import (
    Settings,
    check_noise,
    cluster_at,
    cluster_graph,
    decide,
    seed_of,
)
from kdegraph.diagnosis import warn_of
from kdegraph.eigengap import Bounds
from kdegraph.graph_parameters import ESTIMATOR_PARAMETERS, Scale
from kdegraph.metrics import points_of
from kdegraph.precomputed import AFFINITIES, rows_of, shares, weights_of
from kdegraph.runtime.progress import StageLines, all_or_nothing
from kdegraph.runtime.threads import within_n_jobs
from kdegraph.sampled_graph.result import SimilarityGraph
from kdegraph.scaled_kernel import new_bandwidths
from kdegraph.spectral.checked_graph import graph_parts
from kdegraph.spectral.spectrum import Spectrum
from kdegraph.validation import (
    check_choice,
    check_count,
    check_estimator_points,
    check_sample_weight,
)

__all__ = ["KDESpectralClustering"]


class KDESpectralClustering(
    ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, BaseEstimator
):
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
    affinity : {"kernel", "precomputed", "precomputed_distances"}, default="kernel"
        "kernel": the data are points. "precomputed": they are the symmetric weights of a graph in
        any form that `spectral_clustering` takes. "precomputed_distances": a symmetric matrix of
        the distances between points; a sparse one stores those to near points, in either row. See
        the notes.
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
        Starts of k-means, at most 1,000.
    smallest_component : int or "auto", default="auto"
        Connected components of the graph with fewer points are outliers, not clusters: see
        `spectral_clustering`.
    noise : float or None, default=None
        Points whose `probabilities_` are below this number, from (0, 1], get the label -1. It is
        refused where there is one graph and thus no probabilities: for a given `sigma`, precomputed
        matrices, the pixels of a picture and Dask arrays.
    random_state : int, RandomState or None, default=None
        An int gives the same result in every call.
    n_jobs : int or None, default=None
        Largest number of threads; None and -1 are those of `get_num_threads`, -2 is one less.
    verbose : bool, default=False
        Write a line on standard error when a stage of the work begins.

    Attributes
    ----------
    labels_ : (n,) int32 array
        Cluster of each point; with `noise`, -1 for doubtful points. These still count for all other
        attributes, and for `predict`.
    graph_ : SimilarityGraph
        What was given as `X` for ``affinity="precomputed"``, and the weights for
        "precomputed_distances".
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
        there is one graph: for a given `sigma`, precomputed matrices, the pixels of a picture and
        Dask arrays.
    stability_ : (k,) float64 array or None
        For each cluster the mean over the replicates of its Jaccard index with the cluster that
        stands for it there: the points in both, as a share of the points in either.
    sigma_ : float or (n,) float64 array
        Bandwidth that was used, or that of every point; None for ``affinity="precomputed"``.
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
    and "layout", so that what one of them always does does not look like structure. Of 1,000 to
    50,000 points, each second replicate has a third vote, by the layout of another graph, in which
    each point is joined to its nearest neighbors, with weights relative to that of the nearest one.
    The index is reduced where the effective number of clusters (by the entropy of their sizes) is
    less than six tenths of their number, because a few points were cut off from the rest.

    *Labels.* Each point is in the cluster in which most replicates see it. Scales that are nearly
    as stable as the best one have a vote, too: those whose stability is less by at most 0.01 and
    what the largest one lacks to 1. With more than 20 clusters the vote starts from a spectral cut
    of the graph of points and of the clusters of all replicates. `graph_` and `spectrum_` are those
    of the first replicate at the most stable scale, and `conductances_` those of `labels_` in it.

    Identical points have the same label; where they are at no more places than there are clusters,
    each place is one. Of a Dask array one graph is made, at the most stable scale: there is no
    vote, and identical points may have different labels.

    Of more than 4,000 points, a random sample of 4,000 decides about the scale, and two to six
    replicates of all points vote about the labels. Of these, labels whose effective number of
    clusters is less than six tenths of that in the sample have no vote, if two others remain: they
    cut off a few outliers that the sample lacks. The cost is that of all these graphs and their
    clusters: twenty for the comparison, then the others.

    *Many dimensions.* Of points in more than 50 dimensions, the first 50 principal components are
    clustered where `sigma` is None, as noise in hundreds of columns makes distances alike;
    `graph_` is the graph of these. Dask arrays and points with the Laplacian kernel keep all their
    columns.

    For the pixels of a picture one bandwidth is better: points whose last two columns are the rows
    and columns of a grid, each place once, get the mean distance within which a pixel has 1/2000 of
    all pixels, as in `kdegraph.datasets.image_points`.

    *Precomputed matrices.* These are clustered once, by `spectral_clustering`, and "auto" is its
    number of clusters. Weights need no other parameter of the graph. Distances become weights by
    the `kernel`, for all pairs that are stored, with the bandwidths that `sigma` and `perplexity`
    stand for; None is "local", and "moderate" is refused, as it needs the dimension of the points.
    Where points are at distance zero they count as one, as for `local_bandwidths`. An isolated
    vertex has the label -1. `predict` takes one row for each new point, with its weights or
    distances to the fitted ones.

    Examples
    --------
    >>> import kdegraph
    >>> X = kdegraph.datasets.make("moons", n=500, seed=0).X
    >>> kdegraph.KDESpectralClustering(2, sigma=0.1, random_state=0).fit_predict(X).shape
    (500,)
    """

    labels_: NDArray[np.int32]
    graph_: SimilarityGraph
    affinity_matrix_: scipy.sparse.csr_array
    spectrum_: Spectrum | None
    conductances_: NDArray[np.float64]
    isolated_: NDArray[np.int64]
    probabilities_: NDArray[np.float64] | None
    stability_: NDArray[np.float64] | None
    sigma_: float | NDArray[np.float64] | None
    n_clusters_: int
    confidence_: float
    candidates_: tuple[tuple[int, float], ...]
    n_features_in_: int

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = "auto",
        *,
        min_clusters: int = 1,
        max_clusters: int | None = None,
        affinity: Literal["kernel", "precomputed", "precomputed_distances"] = "kernel",
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
        n_jobs: int | None = None,
        verbose: bool = False,
    ):
        self.n_clusters = n_clusters
        self.min_clusters = min_clusters
        self.max_clusters = max_clusters
        self.affinity = affinity
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
        self.n_jobs = n_jobs
        self.verbose = verbose

    @within_n_jobs
    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: None = None,
        sample_weight: ArrayLike | None = None,
        *,
        progress: Callable[[str, float], object] | None = None,
    ) -> "KDESpectralClustering":
        """Cluster the points.

        Parameters
        ----------
        X : (n, d) array_like
            Points, finite; for another `affinity` a matrix or a graph. For a Dask array, `graph_`
            is a `TiledGraph`, and `labels_`, `affinity_matrix_` and the eigenvectors are Dask
            arrays. Sparse matrices do not become dense, see `similarity_graph`.
        y : None
            Ignored; accepted for the interface of scikit-learn.
        sample_weight : (n,) array_like, optional
            Weights of the points: one of weight 3 stands for three of weight 1 at its place, see
            `similarity_graph`. They count in the graph, its eigenvectors and k-means. Bandwidths,
            principal components, the sizes of connected components, the layout and the votes are
            those of the points alone. Refused for Dask arrays, the samplers "recursive" and
            "rejection", and weights of a graph that are precomputed.
        progress : callable, optional
            Called as ``progress(stage, fraction)``; raising `Cancelled` there, or a `Deadline`,
            stops the computation, and the estimator is as it was before.

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
            For what `diagnose` finds, except for Dask arrays, and for what look like distances
            where weights are expected.
        """
        progress = StageLines(progress) if self.verbose else progress
        self._lazy = hasattr(X, "__dask_graph__")
        seed = seed_of(self.random_state)
        if self._lazy and sample_weight is not None:
            raise ValueError("sample_weight is for points in memory, not for Dask arrays")
        if check_choice(self.affinity, "affinity", AFFINITIES) == "kernel":
            points = self._check_points(X)
            number = "min_clusters" if isinstance(self.n_clusters, str) else "n_clusters"
            reason = f"(the number of points), here {len(points)}"
            check_count(getattr(self, number), number, maximum=len(points), reason=reason)
            if self.noise is not None:
                check_noise(self.noise, points, one_graph=self._lazy or self.sigma is not None)
            weight = check_sample_weight(sample_weight, len(points))
            found = self._decide(points, seed, weight, progress)
            self._points = points if self._lazy else points.copy()
            self.sigma_, self.affinity_matrix_ = found.graph.sigma, found.graph.adjacency
        else:
            found = self._cluster_precomputed(X, seed, sample_weight, progress)
        self.graph_, self._scale, self._components = found.graph, found.scale, found.components
        if self.affinity == "kernel" and not self._lazy:
            warn_of(
                self.graph_,
                points=self._points,
                n_clusters=None if isinstance(self.n_clusters, str) else self.n_clusters,
                feature_names=getattr(self, "feature_names_in_", None),
            )
        self._clusters = found.clusters.labels
        self.labels_ = found.labels(self.noise)
        self.n_clusters_ = self._n_features_out = found.clusters.n_clusters
        self.confidence_ = found.confidence
        self.candidates_ = found.candidates
        self.spectrum_ = found.clusters.spectrum
        self.conductances_ = found.clusters.conductances
        self.isolated_ = found.clusters.isolated
        self.probabilities_ = found.vote and found.vote.probabilities
        self.stability_ = found.vote and found.vote.stability
        return self

    def __sklearn_tags__(self) -> Tags:
        """Return the tags of scikit-learn: precomputed matrices are split by rows and columns."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.affinity != "kernel"
        return tags

    def _check_points(self, X):
        """Return the points as an array; one mapped into memory for a Dask array."""
        if not self._lazy:
            return check_estimator_points(self, X, dtype=(np.float64, np.float32))
        from kdegraph.tiles.points import mapped_points

        validate_data(self, X, skip_check_array=True)  # the number of features
        return mapped_points(X)

    def _check_column_names(self, X, reset=False):
        """Note the names of the columns of a precomputed matrix, or check those of new rows."""
        validate_data(self, X, reset=reset, skip_check_array=True, ensure_2d=False)

    def _cluster_precomputed(self, X, seed, sample_weight, progress):
        """Return the clusters of a matrix of weights or distances."""
        self._check_column_names(X, reset=True)
        if self.noise is not None:
            check_noise(self.noise, None, one_graph=True)
        scale = Scale(self.sigma, self.perplexity)
        graph, self._distances = weights_of(
            X, self.affinity, scale, self.kernel, self.alpha, sample_weight
        )
        found = cluster_graph(graph, scale, self._settings(), seed, progress)
        self.sigma_ = None if self._distances is None else self._distances.sigma
        self.affinity_matrix_ = scipy.sparse.csr_array(
            graph_parts(graph).adjacency, dtype=np.float64
        )
        self.n_features_in_ = len(found.clusters.labels)
        return found if self._distances is None else found._replace(graph=self.affinity_matrix_)

    def _settings(self):
        """Return the parameters of the clusters and of the graph, without the bandwidths."""
        of_graph = [name for name in ESTIMATOR_PARAMETERS if name not in Scale._fields]
        of_clusters = ("embedding", "assign_labels", "n_init", "smallest_component")
        return Settings(
            self.n_clusters,
            {name: getattr(self, name) for name in of_graph},
            {name: getattr(self, name) for name in of_clusters},
            Bounds.checked(self.min_clusters, self.max_clusters),
        )

    def _decide(self, points, seed, sample_weight, progress):
        """Return the clusters with the given bandwidths, or with the most stable ones."""
        settings = self._settings()
        settings.graph["sample_weight"] = sample_weight
        lazily = None
        if self._lazy:
            from dask.array import from_array as lazily
        if self.sigma is None:
            options = {"perplexity": self.perplexity, "lazily": lazily, "progress": progress}
            return decide(points, settings, seed, **options)
        scale = Scale(self.sigma, self.perplexity)
        return cluster_at(scale, lazily(points) if lazily else points, settings, seed, progress)

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

    @within_n_jobs
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
        labels = np.asarray(self._clusters)
        if self.affinity != "kernel":
            self._check_column_names(X)
            return shares(X, labels, self._distances)
        points, queries, own = self._new_points(X)
        return memberships(self.graph_, points, labels, queries, own)

    def _new_points(self, X, rows=slice(None)):
        """Return fitted points and some new ones in the graph's space; bandwidths of the latter."""
        points = self._in_graph(self._points)
        queries = self._in_graph(self._checked_queries(X)[rows])
        sigma, perplexity = self._scale
        return points, queries, new_bandwidths(self.sigma_, sigma, points, queries, perplexity)

    def _in_graph(self, points):
        """Return points in the Euclidean space of the metric, or their principal components."""
        return self._components.transform(points_of(points, self.metric))

    def _checked_queries(self, X):
        return check_estimator_points(self, X, self._points, dtype=np.float64, reset=False)

    def fit_transform(
        self,
        X: ArrayLike,
        y: None = None,
        sample_weight: ArrayLike | None = None,
        *,
        progress: Callable[[str, float], object] | None = None,
    ) -> NDArray[np.float64]:
        """Cluster the points and return their spectral coordinates.

        Parameters
        ----------
        X : (n, d) array_like
            As for `fit`.
        y : None
            Ignored; accepted for the interface of scikit-learn.
        sample_weight : (n,) array_like, optional
            As for `fit`.
        progress : callable, optional
            As for `fit`.

        Returns
        -------
        (n, k) float64 array
            See `transform`.
        """
        self.fit(X, sample_weight=sample_weight, progress=progress)
        return self.transform(X) if self.affinity == "kernel" else self._coordinates().of_fitted()

    @within_n_jobs
    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Find the spectral coordinates of points, without fitting anew.

        Parameters
        ----------
        X : (m, d) array_like
            Points, finite; for ``affinity="precomputed"`` rows as for `predict`.

        Returns
        -------
        (m, k) float64 array
            With k = `n_clusters_`. For a fitted point its row of ``D^-1/2 U``, where U holds the
            first `n_clusters_` eigenvectors in `spectrum_`, with columns whose root mean square
            over the degrees is 1. For a new point, and for one outside the components that
            `spectrum_` includes, the mean of the rows of all fitted points, weighted by the kernel,
            divided by 1 - eigenvalue: the Nystroem extension. Out of reach of all fitted points,
            the row of the nearest; 0 where the weights are precomputed, and for a graph without
            edges.

        Raises
        ------
        ValueError
            As for `predict`.

        Notes
        -----
        The cost is one kernel sum for each coordinate, and one more. The graph of a Dask array is
        read into memory.
        """
        check_is_fitted(self)
        found = self._coordinates()
        if self.affinity != "kernel":
            self._check_column_names(X)
            rows = rows_of(X, len(self.labels_), self._distances)
            return np.nan_to_num(found.extended(lambda values: rows[:, found.vertices] @ values))
        vertices = fitted_vertices(self._points, self._checked_queries(X))
        new = ~np.isin(vertices, found.vertices)
        coordinates = found.of_fitted()[vertices]
        if new.any():
            coordinates[new] = found.of_points(self.graph_, *self._new_points(X, new))
        return coordinates

    def _coordinates(self):
        return Coordinates.of_graph(self.graph_, self.spectrum_, self._n_features_out)

    def score(self, X: ArrayLike, y: None = None) -> float:
        """Compare predicted clusters of new points with those that fitting anew gives them.

        This is the prediction strength of Tibshirani and Walther (2005), with the adjusted Rand
        index, which does not grow by chance for fewer clusters. A search over `n_clusters`, `sigma`
        or `perplexity` needs no labels with it: with three folds it finds the number of clusters
        of 15 out of 20 sets (with ``sigma="moderate", perplexity=10``), but splits rings and
        spirals of which a fold has too few points.

        Parameters
        ----------
        X : (m, d) array_like
            Points that were not fitted, as many as a graph of their own needs.
        y : None
            Ignored; accepted for the interface of scikit-learn.

        Returns
        -------
        float
            At most 1. It is 0 where either finds a single cluster, which always agrees with itself:
            whether there are clusters at all is for ``n_clusters="auto"`` to say.

        Raises
        ------
        ValueError
            As for `fit` and `predict`, and for precomputed matrices, as these have no rows of their
            own among the new points.

        References
        ----------
        R. Tibshirani, G. Walther, "Cluster validation by prediction strength", Journal of
        Computational and Graphical Statistics 14 (2005), 511-528.
        """
        check_is_fitted(self)
        if self.affinity != "kernel":
            raise ValueError(
                f"score clusters the new points anew, which affinity={self.affinity!r} does not "
                "allow; compare with labels, for instance by scoring='adjusted_rand_score'"
            )
        predicted, anew = self.predict(X), clone(self).fit(X)._clusters
        if min(len(np.unique(predicted)), len(np.unique(anew))) == 1:
            return 0.0
        return float(adjusted_rand_score(anew, predicted))
