"""Sampled graphs as a step of scikit-learn's pipelines, also as rows of distances."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from kdegraph.clustering.out_of_sample import fitted_vertices
from kdegraph.diagnosis import warn_of
from kdegraph.distance_rows import distance_rows
from kdegraph.geometry.neighbors import keys_of_rows
from kdegraph.graph import similarity_graph
from kdegraph.graph_parameters import ESTIMATOR_PARAMETERS
from kdegraph.metrics import METRICS, points_of
from kdegraph.runtime.progress import StageLines, all_or_nothing
from kdegraph.runtime.threads import within_n_jobs
from kdegraph.sampled_graph.result import SimilarityGraph
from kdegraph.scaled_kernel import kernel_blocks, kernel_row, new_bandwidths
from kdegraph.validation import SparsePoints, check_choice, check_count, check_estimator_points


class SimilarityGraphTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Turn points into the sampled similarity graph between them.

    With ``mode="affinity"`` for estimators that take ``affinity="precomputed"``, such as
    `sklearn.cluster.SpectralClustering`. With `n_neighbors` it stands where a
    `sklearn.neighbors.KNeighborsTransformer` does: before estimators that take
    ``metric="precomputed"``, such as `sklearn.manifold.Isomap`, and as the `transformer` of
    scanpy's ``pp.neighbors``.

    Parameters
    ----------
    mode : {"affinity", "distance"} or None, default=None
        What is stored for an edge: its weight, or the distance between its ends: Euclidean, 1 minus
        the cosine of the angle, or in kilometers along the surface of the Earth. None is "distance"
        where `n_neighbors` is given, and "affinity" otherwise.
    n_neighbors : int or None, default=None
        For distances. None stores all edges, so that rows have different lengths. An int
        stores as many entries in all rows: the point itself and its `n_neighbors` neighbors in the
        graph that are nearest; where it has fewer, the nearest other points make up for them.
    sigma : float, "auto", "local", "moderate" or (n,) array_like, default="auto"
        Bandwidth of the kernel, in the units of the data; "auto" is `estimate_sigma`, "local" and
        "moderate" give every point one of its own (`local_bandwidths` with the rules "perplexity"
        and "moderate"), and so does an array.
    perplexity : float or None, default=None
        Effective number of neighbors of a point, for ``sigma="local"`` and "moderate".
    alpha : float, default=0.0
        How far densities are divided out of the kernel, from 0 to 1.
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
    random_state : int, RandomState or None, default=None
        An int gives the same graph in every call.
    n_jobs : int or None, default=None
        Largest number of threads; None and -1 are those of `get_num_threads`, -2 is one less.
    verbose : bool, default=False
        Write a line on standard error when a stage of the work begins.

    Attributes
    ----------
    graph_ : SimilarityGraph
    sigma_ : float or (n,) float64 array
        Bandwidth that was used, or that of every point.
    n_samples_fit_ : int
    n_features_in_ : int

    Notes
    -----
    The edges are drawn once, between the points given to `fit`, and `transform` returns the rows of
    the graph for these. Other points do not become vertices: they get sampled neighbors among the
    fitted ones, which suits estimators that take similarities or distances to the fitted points,
    and the graph does not change.

    An estimator that looks for k neighbors needs an `n_neighbors` of at least k: `Isomap` and
    `KNeighborsClassifier` their own `n_neighbors`, `TSNE` three times its perplexity and 1. Those
    that look at all neighbors, such as `DBSCAN`, need none. scanpy takes `n_neighbors` from here,
    in place of its own, and needs it; the `metric` must be set here, too. With ``rows =
    SimilarityGraphTransformer(n_neighbors=15).fit_transform(X)``, umap-learn takes
    ``UMAP(n_neighbors=16, precomputed_knn=(rows.indices.reshape(-1, 16),
    rows.data.reshape(-1, 16)))``, as it counts the point itself.

    Examples
    --------
    >>> import kdegraph
    >>> X = kdegraph.datasets.make("moons", n=500, seed=0).X
    >>> transformer = kdegraph.SimilarityGraphTransformer(sigma=0.1, random_state=0)
    >>> transformer.fit_transform(X).shape
    (500, 500)

    The moons found by the distances along the edges of the graph:

    >>> from sklearn.cluster import DBSCAN
    >>> from sklearn.pipeline import make_pipeline
    >>> transformer = transformer.set_params(mode="distance")
    >>> moons = make_pipeline(transformer, DBSCAN(eps=0.2, metric="precomputed"))
    >>> int(moons.fit_predict(X).max())
    1
    """

    graph_: SimilarityGraph
    sigma_: float | NDArray[np.float64]
    n_samples_fit_: int
    n_features_in_: int

    def __init__(
        self,
        *,
        mode: Literal["affinity", "distance"] | None = None,
        n_neighbors: int | None = None,
        sigma: float | Literal["auto", "local", "moderate"] | ArrayLike = "auto",
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
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ):
        self.mode = mode
        self.n_neighbors = n_neighbors
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
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @within_n_jobs
    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: None = None,
        *,
        progress: Callable[[str, float], object] | None = None,
    ) -> "SimilarityGraphTransformer":
        """Sample the graph of the points.

        Parameters
        ----------
        X : (n, d) array_like
            Points, finite.
        y : None
            Ignored; accepted for the interface of scikit-learn.
        progress : callable, optional
            Called as ``progress(stage, fraction)``; raising `Cancelled` there, or a `Deadline`,
            stops the computation, and the estimator is as it was before.

        Returns
        -------
        self
            The fitted transformer.

        Raises
        ------
        ValueError, TypeError
            For bad data or parameters.

        Warns
        -----
        GraphWarning
            For what `diagnose` finds.
        """
        points = check_estimator_points(self, X, dtype=np.float64)
        self._check_rows(len(points))
        self.graph_ = similarity_graph(
            points,
            **{name: getattr(self, name) for name in ESTIMATOR_PARAMETERS},
            seed=check_random_state(self.random_state).randint(2**31 - 1),
            progress=StageLines(progress) if self.verbose else progress,
        )
        warn_of(self.graph_, feature_names=getattr(self, "feature_names_in_", None))
        self.sigma_ = self.graph_.sigma
        self._points = points.copy()
        self.n_samples_fit_ = self._n_features_out = len(points)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_rows(self, n):
        """Refuse a mode or a number of neighbors that graphs of n points do not have."""
        check_choice(self._mode(), "mode", ("affinity", "distance"))
        if self.n_neighbors is None:
            return
        if self._mode() != "distance":
            raise ValueError(
                f"n_neighbors is for mode='distance', got {self.n_neighbors!r} with "
                f"mode={self.mode!r}; n_rounds is the number of neighbors that are sampled"
            )
        reason = (
            f"with n = {n} points, since a point is not its own neighbor: "
            "take fewer neighbors or more points"
        )
        check_count(self.n_neighbors, "n_neighbors", maximum=n - 1, reason=reason)

    def _mode(self):
        default = "affinity" if self.n_neighbors is None else "distance"
        return default if self.mode is None else self.mode

    def fit_transform(
        self,
        X: ArrayLike,
        y: None = None,
        *,
        progress: Callable[[str, float], object] | None = None,
    ) -> scipy.sparse.csr_array | scipy.sparse.csr_matrix:
        """Sample the graph of the points and return its matrix.

        Parameters
        ----------
        X : (n, d) array_like
            Points, finite.
        y : None
            Ignored; accepted for the interface of scikit-learn.
        progress : callable, optional
            As for `fit`.

        Returns
        -------
        (n, n) csr_array or csr_matrix of float64
            The adjacency matrix: symmetric, with zero diagonal. For ``mode="distance"`` see
            `transform`.
        """
        return self.fit(X, progress=progress)._fitted_rows()

    @within_n_jobs
    def transform(self, X: ArrayLike) -> scipy.sparse.csr_array | scipy.sparse.csr_matrix:
        """Return similarities or distances to the fitted points.

        Parameters
        ----------
        X : (m, d) array_like
            All fitted points in the same order give the whole matrix; a fitted point gives its row
            of it (the first such point's, if there are several). A new point draws `n_rounds`
            neighbors among the fitted points with probability ``k(x, x_j) / g(x)``, each with
            weight ``g(x) / n_rounds``, so that the expected row is the kernel's. The draws depend
            on nothing but the point and the seed of the graph.

        Returns
        -------
        (m, n) csr_array or csr_matrix of float64
            For ``mode="affinity"`` an array; row i has the weights of the edges from ``X[i]`` to
            the fitted points. For ``mode="distance"`` a matrix, as scikit-learn's transformers
            return; row i has the lengths of these edges, ascending, and the first is the stored
            zero between a fitted point and itself.

        Raises
        ------
        ValueError
            For bad data, and for new points if `sigma` was an array, which does not define their
            bandwidths.

        Notes
        -----
        For ``sigma="local"`` and "moderate" the bandwidth of a new point is the one that
        `local_bandwidths` would give it if it were added to the fitted points (for "moderate" with
        the geometric mean of the fitted points); its density is its kernel sum over these, and 1
        for itself. Each new point costs O(n d), as its kernel values are summed directly.
        """
        check_is_fitted(self)
        queries = check_estimator_points(self, X, self._points, dtype=np.float64, reset=False)
        vertices = fitted_vertices(self._points, queries)
        if np.array_equal(vertices, np.arange(self.n_samples_fit_)):
            return self._fitted_rows()
        fitted, new = np.flatnonzero(vertices >= 0), np.flatnonzero(vertices < 0)
        parts = [self.graph_.adjacency[vertices[fitted]]]
        points, queries = (points_of(one, self.metric) for one in (self._points, queries))
        if new.size:
            own = new_bandwidths(self.sigma_, self.sigma, points, queries[new], self.perplexity)
            own = np.broadcast_to(own, len(new))
            parts.append(_sample_rows(self.graph_, points, queries[new], own))
        rows = scipy.sparse.vstack(parts, format="csr")[np.argsort(np.append(fitted, new))]
        rows.sort_indices()
        return self._rows(rows, points, queries, vertices)

    def _fitted_rows(self):
        """Return the rows of the fitted points."""
        points = points_of(self._points, self.metric)
        edges = self.graph_.adjacency.copy()
        return self._rows(edges, points, points, np.arange(self.n_samples_fit_))

    def _rows(self, edges, points, queries, vertices):
        """Return edges with their weights, or with their lengths in the mode "distance"."""
        if self._mode() == "affinity":
            return edges
        rows = distance_rows(
            edges, points, queries, vertices, self.n_neighbors and int(self.n_neighbors)
        )
        rows.data = METRICS[self.metric].distance(rows.data)
        return rows


def _kernel_rows(graph, points, queries, bandwidths):
    """Yield the kernel values between each new point and all points."""
    if isinstance(points, SparsePoints):
        for block in kernel_blocks(graph.kernel, graph.sigma, points, queries, bandwidths):
            yield from block
        return
    n = len(points)
    points = np.append(points, points[:1], axis=0)  # and one place for the new point
    sigma = np.append(np.broadcast_to(graph.sigma, n), np.nan)
    densities = None if graph.densities is None else np.append(graph.densities, np.nan)
    for query, bandwidth in zip(queries, bandwidths, strict=True):
        points[n], sigma[n] = query, bandwidth
        row = kernel_row(graph.kernel, sigma, points, n)
        if densities is not None:
            densities[n] = row.sum()
            row /= (densities * densities[n]) ** graph.alpha
        yield row[:n]


def _sample_rows(graph, points, queries, bandwidths):
    """Return a stratified sample of the kernel rows of new points: an (m, n) csr_array whose
    expectation is the kernel values.
    """
    m, n_rounds = len(queries), graph.n_rounds
    columns, weights = np.zeros((m, n_rounds), np.intp), np.zeros((m, n_rounds))
    kernel_rows = _kernel_rows(graph, points, queries, bandwidths)
    for i, (key, values) in enumerate(zip(keys_of_rows(queries), kernel_rows, strict=True)):
        cumulated = np.cumsum(values)
        total = cumulated[-1]
        rng = np.random.default_rng([graph.seed, *np.frombuffer(key, np.uint64).tolist()])
        levels = (rng.random() + np.arange(n_rounds)) / n_rounds * total
        last = np.searchsorted(cumulated, total)  # rounding may take a level beyond it
        columns[i] = np.minimum(np.searchsorted(cumulated, levels, side="right"), last)
        weights[i] = total / n_rounds
    entries = weights.ravel(), (np.repeat(np.arange(m), n_rounds), columns.ravel())
    rows = scipy.sparse.csr_array(entries, shape=(m, len(points)))
    rows.eliminate_zeros()  # of points out of reach of all fitted ones
    return rows
