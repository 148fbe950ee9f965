"""Algorithm 2: the sampled similarity graph."""

from collections.abc import Callable
from os import PathLike
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from kdegraph.graph_parameters import GraphParameters
from kdegraph.manual import explained
from kdegraph.metrics import check_metric, points_of
from kdegraph.runtime.memory import reuse_freed_memory
from kdegraph.runtime.progress import StageTimer, responsive
from kdegraph.sampled_graph.result import SimilarityGraph
from kdegraph.sampled_graph.sample import sample_graph
from kdegraph.sampling.choice import draws_from_lists
from kdegraph.validation import SparsePoints, check_sample_weight


@responsive
def similarity_graph(
    X: ArrayLike,
    *,
    sigma: float | str | ArrayLike = "auto",
    perplexity: float | None = None,
    alpha: float = 0.0,
    kernel: str = "gaussian",
    metric: str = "euclidean",
    n_rounds: int | str = "auto",
    sampler: str = "auto",
    draws: str = "stratified",
    kde: Any = "auto",
    weighting: str = "inclusion",
    eps: float | None = None,
    sample_weight: ArrayLike | None = None,
    seed: int | np.random.Generator | None = None,
    store: str | PathLike[str] | None = None,
    progress: Callable[[str, float], object] | None = None,
) -> SimilarityGraph:
    """Sample a sparse graph with the cluster structure of the fully connected kernel graph.

    Every vertex draws `n_rounds` neighbors with probability ``k(x_i, x_j) / deg(i)``; the edges
    drawn get weights that make the adjacency matrix an estimate of the kernel matrix (Macgregor and
    Sun, 2023, Algorithm 2).

    Parameters
    ----------
    X : (n, d) array_like
        Points, finite; not copied when C-contiguous float64, or float32 for the sampler "mixture".
        For a Dask array, the graph is a `TiledGraph`. Sparse arrays and matrices of SciPy do not
        become dense unless they have at most 12 columns.
    sigma : float, "auto", "local", "moderate" or (n,) array_like
        Bandwidth, in the units of the points; "auto" is `estimate_sigma`. An array gives every
        point a bandwidth of its own, "local" and "moderate" are `local_bandwidths` with the rules
        "perplexity" and "moderate"; the kernel between two points then has the bandwidth
        ``sqrt(sigma_i sigma_j)`` (Zelnik-Manor and Perona, 2004).
    perplexity : float, optional
        Effective number of neighbors within the bandwidth of a point, for ``sigma="local"`` and
        "moderate": see `local_bandwidths`.
    alpha : float
        From 0 to 1: the kernel is divided by ``(g_i g_j) ** alpha``, with the kernel sum ``g_i`` at
        each point, itself included, so that dense regions do not dominate (Coifman and Lafon,
        2006).
    kernel : str
        The kernel function, see `Kernel`.
    metric : {"euclidean", "cosine", "haversine"}
        The distance in the kernel. "cosine": that between the points divided by their lengths,
        ``sqrt(2 - 2 cos)`` of the angle. "haversine": kilometers between latitudes and longitudes
        in degrees, see the notes. The Laplacian kernel has the L1 distance and takes "euclidean".
    n_rounds : int or "auto"
        The paper's L, at least 1; "auto" is `suggest_n_rounds`: 10 to 100, for eigenvalues within
        about 10% of the full graph's, and 30 for local bandwidths and in many dimensions.
    sampler : {"auto", "mixture", "near", "recursive", "rejection"}
        "recursive" is Algorithm 1 with the kernel sums of `kde`. "near" and "rejection" draw from
        the exact law. "near", for narrow kernels and a bandwidth per point, computes the kernel
        values of near points one by one; "rejection" draws by proposals from a tree. "mixture"
        draws from lists of near neighbors and, occasionally, from all other points: this is another
        law, whose weights also make the graph unbiased.

        "auto" is "recursive" if a `kde` is given, "mixture" for many points in many dimensions
        (18,000 in 20, 2,500 in 784) unless exact degrees are needed, "near" for a bandwidth per
        point and for narrow kernels, and "rejection" otherwise. A bandwidth per point needs
        "mixture" or "near", an `alpha` above 0 needs "near", and "mixture" needs the weighting
        "inclusion". Sparse points need "mixture", and another kernel than "laplacian".
    draws : {"stratified", "independent"}
        For the recursive sampler: one uniform per vertex shifted by multiples of 1/L (less
        variance, exactly unbiased with ``min(L p, 1)``), or L independent ones.
    kde : {"auto", "direct", "fgt"} or object
        For the recursive sampler: the KDE solver, or any object with ``fit(sources, kernel) ->
        self`` and ``sums(targets) -> (m,)``.
    weighting : {"inclusion", "paper"}
        Weight of an edge, ``k / (p_i + p_j - p_i p_j)``, with ``p_i`` the probability that i has
        drawn j (unbiased: ``E[A] = K`` up to `eps`), or with Algorithm 2's ``p_i = min(L k / g,
        1)`` for any draws, ``g`` being the sum over the other points, as there are no self-loops.
        Both are the same for stratified draws.
    eps : float, optional
        Relative error of the kernel degrees, in (0, 1), for every sampler; a `kde` of your own has
        its own error. The default is ``1 / (6 log2 n)``, which the paper's theorem asks for.
        Rounding errors are added: about ``1e-16 (d + 8) (1 + t)`` for a point whose nearest others
        have kernel values of ``exp(-t)``.
    sample_weight : (n,) array_like, optional
        Weights of the points: one of weight 3 stands for three of weight 1 at its place. An edge
        weighs ``w_i w_j`` times as much, i draws j in proportion to ``w_j k(x_i, x_j)``, and a
        point of a weight w above 1 has a self-loop of weight ``w (w - 1)``, for the edges between
        its copies. Bandwidths do not depend on weights. Not for the samplers "recursive" and
        "rejection", and for points in memory only.
    seed : int or numpy Generator, optional
        The same seed gives the same neighbors for any number of threads. If None, a random seed is
        drawn and stored in the `seed` of the graph.
    store : path-like, optional
        A folder in which the graph is kept, for a `TiledGraph`: a new one, an empty one, or one
        with the same graph, which is completed if it was interrupted and read if it was not. By
        default a Dask array gets a temporary folder, which is deleted when the process ends; see
        Dask's setting ``temporary-directory``.
    progress : callable, optional
        Called as ``progress(stage, fraction)`` in the calling thread. An exception that it raises,
        for instance `Cancelled`, stops the work.

    Returns
    -------
    SimilarityGraph
        With at most ``n * n_rounds`` edges. A point that no other can reach (every kernel value
        below 1e-307) is an isolated vertex. If `X` is a Dask array, or there is a `store`, a
        `TiledGraph`, whose arrays are the same, bit for bit.

    Raises
    ------
    ValueError, TypeError
        For bad points or parameters; the message names the argument. In a `TiledGraph`, the
        samplers "recursive" and "mixture" are refused, and with the latter many points in many
        dimensions.
    MemoryError
        If the graph would need more memory than is available; the message has the figure.
    OSError
        If the `store` cannot be written, for instance because the disk is full.
    RuntimeError
        If the scheduler of Dask is lost.

    Notes
    -----
    Cost: O(n log n) for the tree and, for data that are dense at the scale of sigma, O(n) kernel
    sums and O(n L) samples. In many dimensions, about O(n log n) comparisons of points for the near
    neighbors, and O(n L) kernel values. Of sparse points, the nearest neighbors are found exactly,
    by as many additions as there are pairs of points with an entry in the same column, counted for
    each column: about 30 s on two cores for 100,000 documents of 70 different words.

    With the metric "haversine" the points of the graph are on a sphere with the Earth's mean
    radius, 6371.0088 km. Distances are straight, through the sphere: they are shorter than along
    its surface by 0.001 % at 100 km and by 0.1 % at 1,000 km.

    References
    ----------
    P. Macgregor and H. Sun, "Fast approximation of similarity graphs with kernel density
    estimation", NeurIPS 2023.

    L. Zelnik-Manor and P. Perona, "Self-tuning spectral clustering", NIPS 2004.

    R. R. Coifman and S. Lafon, "Diffusion maps", Applied and Computational Harmonic Analysis 21
    (2006).

    Examples
    --------
    >>> import kdegraph, numpy as np
    >>> moons = kdegraph.datasets.make("moons", n=1000, seed=0)
    >>> graph = kdegraph.similarity_graph(moons.X, sigma=0.1, n_rounds=10, seed=0)
    >>> graph.sampler, graph.draws
    ('near', 'independent')
    >>> bool((graph.neighbors != np.arange(1000)[:, None]).all())
    True
    """
    by_tiles = store is not None or hasattr(X, "__dask_graph__")
    if by_tiles:
        try:
            from kdegraph.tiles.points import as_dask_points
        except ImportError as error:
            raise ImportError(
                f"a store needs Dask ({error}): pip install 'kdegraph[dask]'"
            ) from error
        points = as_dask_points(X, check_metric(metric, kernel))
    else:
        points = points_of(X, metric, kernel=kernel, keep_single=True)
    parameters = GraphParameters(
        sigma=sigma,
        perplexity=perplexity,
        alpha=alpha,
        kernel=kernel,
        metric=metric,
        n_rounds=n_rounds,
        sampler=sampler,
        draws=draws,
        kde=kde,
        weighting=weighting,
        eps=eps,
        seed=seed,
    ).checked(len(points))
    if isinstance(points, SparsePoints):
        parameters = parameters.for_sparse_points()
    sample_weight = check_sample_weight(sample_weight, len(points))
    if sample_weight is not None:
        _check_weighted(parameters, by_tiles)
    reuse_freed_memory()
    if by_tiles:
        from kdegraph.tiles.build import sample_by_tiles
        from kdegraph.tiles.graph import TiledGraph

        _check_sampler_of_tiles(points, parameters)
        path = sample_by_tiles(points, parameters, store, progress, any_seed=seed is None)
        return cast(SimilarityGraph, TiledGraph.load(path))
    stages = StageTimer(progress)
    sampled = sample_graph(points, parameters, stages, sample_weight)
    stages.leave()
    return SimilarityGraph(
        **sampled,
        kernel=parameters.kernel,
        seed=parameters.seed,
        weighting=parameters.weighting,
        alpha=parameters.alpha,
        metric=parameters.metric,
        timings=stages.timings,
    )


def _check_weighted(parameters, by_tiles):
    """Raise a `ValueError` where points cannot have weights."""
    if by_tiles:
        raise ValueError(
            "sample_weight is for points in memory, not for Dask arrays and graphs with a store"
        )
    if parameters.sampler in ("recursive", "rejection"):
        raise ValueError(
            f"the sampler {parameters.sampler!r} (which a `kde` needs) draws points of equal "
            "weight; with sample_weight take sampler='auto' and kde='auto'"
        )


def _check_sampler_of_tiles(X, parameters):
    """Raise a `ValueError` for the samplers that need all points at once."""
    from_lists = draws_from_lists(X, parameters.sampler, parameters.allows_estimates)
    sampler = "mixture" if from_lists else parameters.sampler
    if sampler in ("recursive", "mixture"):
        raise explained(
            ValueError,
            "error-blocks",
            f"the sampler {sampler!r} needs all points at once; for a Dask array, or with a "
            "store, take the sampler 'near' or 'rejection'",
        )
