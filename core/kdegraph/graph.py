"""Algorithm 2: the sampled similarity graph."""

from collections.abc import Callable
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from kdegraph.geometry.neighbor_forest import has_many_dimensions
from kdegraph.graph_files import read_graph, write_graph
from kdegraph.runtime.memory import reuse_freed_memory
from kdegraph.runtime.progress import StageTimer
from kdegraph.runtime.responsive import responsive
from kdegraph.sampled_graph.from_lists import sample_from_lists
from kdegraph.sampled_graph.from_tree import sample_on_tree
from kdegraph.sampled_graph.options import check_options
from kdegraph.validation import check_points

# Parameters of `similarity_graph` that estimators have, too.
GRAPH_PARAMETERS = (
    "sigma",
    "perplexity",
    "alpha",
    "kernel",
    "n_rounds",
    "sampler",
    "draws",
    "kde",
    "weighting",
    "eps",
)


@dataclass(frozen=True, eq=False)
class SimilarityGraph:
    """A sampled similarity graph, as `similarity_graph` returns it. Graphs compare by identity.

    Attributes
    ----------
    adjacency : csr_array, (n, n) float64
        Symmetric, zero diagonal, sorted, without duplicates.
    kernel_degrees : (n,) float64
        ``g(x_i) - 1``, the degrees in the fully connected graph, to the relative error `eps`; for
        the sampler "mixture" unbiased estimates.
    neighbors : (n, L) int32
        The sampled neighbors of every vertex, with repetitions; -1 for an isolated vertex, and for
        a draw that is out of reach.
    sigma : float or (n,) float64
        Bandwidth that was used, or that of every point.
    kernel : str
    n_rounds : int
        The paper's L.
    seed : int
        With the other parameters it reproduces `neighbors` bit for bit.
    sampler : {"mixture", "near", "recursive", "rejection", "rows"}
        The one that ran.
    draws : {"stratified", "independent"}
        How the L neighbors of a vertex were drawn (all but "recursive" draw independently).
    weighting : {"inclusion", "paper"}
    eps : float
        Relative error of the kernel sums; NaN for the sampler "mixture".
    timings : dict
        Seconds per stage.
    alpha : float
        How far densities are divided out of the kernel.
    densities : (n,) float64 or None
        The densities that were divided out, ``g(x_i)`` to the relative error `eps`; None for an
        `alpha` of 0.
    points : (n, d) float64 or float32, or None
        The points, not copied.
    order : (n,) int32 or None
        The points in the order of a tree, in which neighbors are near each other. `spectrum` is
        faster with it.

    Examples
    --------
    >>> import kdegraph
    >>> moons = kdegraph.datasets.make("moons", n=500, seed=0)
    >>> graph = kdegraph.similarity_graph(moons.X, sigma=0.1, n_rounds=10, seed=0)
    >>> graph.adjacency.shape
    (500, 500)
    >>> graph.neighbors.shape
    (500, 10)
    >>> graph.n_edges <= 500 * 10
    True
    """

    adjacency: scipy.sparse.csr_array
    kernel_degrees: NDArray[np.float64]
    neighbors: NDArray[np.int32]
    sigma: float | NDArray[np.float64]
    kernel: str
    n_rounds: int
    seed: int
    sampler: str
    draws: str
    weighting: str
    eps: float
    timings: dict[str, float] = field(default_factory=dict)
    alpha: float = 0.0
    densities: NDArray[np.float64] | None = None
    points: NDArray[np.float64] | None = None
    order: NDArray[np.int32] | None = None

    @property
    def n_edges(self) -> int:
        """Number of undirected edges."""
        return self.adjacency.nnz // 2

    def laplacian(self) -> scipy.sparse.csr_array:
        """The normalized Laplacian ``I - D^{-1/2} A D^{-1/2}``.

        Returns
        -------
        (n, n) csr_array
            Rows of isolated vertices are zero.

        Examples
        --------
        >>> import kdegraph
        >>> graph = kdegraph.similarity_graph([[0.0], [1.0]], sigma=1.0, n_rounds=1, seed=0)
        >>> print(graph.laplacian().toarray())
        [[ 1. -1.]
         [-1.  1.]]
        """
        degrees = self.adjacency.sum(axis=1)
        with np.errstate(divide="ignore"):
            scale = np.where(degrees > 0, 1.0 / np.sqrt(degrees), 0.0)
        scaled = self.adjacency.copy()
        scaled.data *= scale[scaled.indices] * np.repeat(scale, np.diff(scaled.indptr))
        return scipy.sparse.csr_array(
            scipy.sparse.diags_array((degrees > 0).astype(float)) - scaled
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the graph to an .npz file without pickled objects.

        Parameters
        ----------
        path : path-like
            The file, which is overwritten if it exists; the name is taken as it is.

        Examples
        --------
        >>> import kdegraph, pathlib, tempfile
        >>> graph = kdegraph.similarity_graph([[0.0], [1.0]], sigma=1.0, seed=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "graph.npz"
        ...     graph.save(path)
        ...     kdegraph.SimilarityGraph.load(path).n_edges
        1
        """
        write_graph(path, self)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "SimilarityGraph":
        """Read a graph that `save` has written.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        SimilarityGraph

        Raises
        ------
        ValueError
            If the file is not such a graph, or damaged.
        FileNotFoundError
            If there is no such file.
        """
        return read_graph(path, cls)


@responsive
def similarity_graph(
    X: ArrayLike,
    *,
    sigma: float | str | ArrayLike = "auto",
    perplexity: float | None = None,
    alpha: float = 0.0,
    kernel: str = "gaussian",
    n_rounds: int | str = "auto",
    sampler: str = "auto",
    draws: str = "stratified",
    kde: Any = "auto",
    weighting: str = "inclusion",
    eps: float | None = None,
    seed: int | np.random.Generator | None = None,
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
    sigma : float, "auto", "local" or (n,) array_like
        Bandwidth, in the units of the points; "auto" is `estimate_sigma`. An array gives every
        point a bandwidth of its own, "local" is `local_bandwidths`; the kernel between two points
        then has the bandwidth ``sqrt(sigma_i sigma_j)`` (Zelnik-Manor and Perona, 2004).
    perplexity : float, optional
        Effective number of neighbors within the bandwidth of a point, for ``sigma="local"``: see
        `local_bandwidths`.
    alpha : float
        From 0 to 1: the kernel is divided by ``(g_i g_j) ** alpha``, with the kernel sum ``g_i`` at
        each point, itself included, so that dense regions do not dominate (Coifman and Lafon,
        2006).
    kernel : {"gaussian", "laplacian", "exponential"}
        See `Kernel`.
    n_rounds : int or "auto"
        The paper's L, at least 1; "auto" is `suggest_n_rounds`: 10 to 100, for eigenvalues within
        about 10% of the full graph's, and 30 for local bandwidths and in many dimensions.
    sampler : {"auto", "mixture", "near", "recursive", "rejection", "rows"}
        "recursive" is Algorithm 1 through `kde`. Three draw from the exact law: "rejection" by
        proposals from a tree, "near" from near sources one by one and far ones by rejection, for
        narrow kernels, and "rows" from full rows of the kernel matrix in O(n^2 d). "mixture" draws
        from lists of near neighbors and, now and then, from all other points: this is another law,
        whose weights make the graph unbiased, too. "auto" takes "recursive" if a `kde` is given,
        "mixture" for many points in many dimensions (18,000 in 20, 2,500 in 784) where nothing else
        asks for exact degrees, otherwise the one of the exact law that is estimated to be fastest.
        Local bandwidths have "mixture", "near" and "rows" only, an `alpha` above 0 "near" and
        "rows", and "mixture" has the weighting "inclusion" only.
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
    seed : int or numpy Generator, optional
        The same seed gives the same neighbors for any number of threads. None takes fresh entropy,
        which the graph's `seed` tells.
    progress : callable, optional
        Called as ``progress(stage, fraction)`` in the calling thread. An exception that it raises,
        for instance `Cancelled`, stops the work.

    Returns
    -------
    SimilarityGraph
        With at most ``n * n_rounds`` edges. A point that no other can reach (every kernel value
        below 1e-307) is an isolated vertex.

    Raises
    ------
    ValueError, TypeError
        For bad points or parameters; the message names the argument.

    Notes
    -----
    Cost: O(n log n) for the tree and, for data that are dense at the scale of sigma, O(n) kernel
    sums and O(n L) samples. In many dimensions, about O(n log n) comparisons of points for the near
    neighbors, and O(n L) kernel values.

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
    X = check_points(X, keep_single=True)
    options = check_options(
        len(X),
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
        seed=seed,
    )
    stages = StageTimer(progress)
    reuse_freed_memory()
    sample = sample_from_lists if _takes_lists(X, options) else sample_on_tree
    sampled = sample(X, options, stages)
    stages.leave()
    return SimilarityGraph(
        **sampled._asdict(),
        kernel=options.kernel,
        seed=options.seed,
        weighting=options.weighting,
        alpha=options.alpha,
        timings=stages.timings,
    )


def _takes_lists(X, options):
    """Whether the graph is sampled from lists of near neighbors."""
    may_take_lists = options.sampler == "auto" and options.allows_estimates
    return options.sampler == "mixture" or (may_take_lists and has_many_dimensions(X))
