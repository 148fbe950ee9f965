"""Algorithm 2: the sampled similarity graph."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from kdegraph.adjacency import weighted_adjacency
from kdegraph.geometry.kernels import CODES
from kdegraph.geometry.neighbor_forest import has_many_dimensions
from kdegraph.geometry.tree import build_tree
from kdegraph.graph_files import read_graph, write_graph
from kdegraph.kde.dispatch import kernel_degrees
from kdegraph.kde.solvers import make_solver
from kdegraph.many_dimensions import sample_from_lists
from kdegraph.runtime.memory import reuse_freed_memory
from kdegraph.runtime.progress import StageTimer
from kdegraph.runtime.responsive import responsive
from kdegraph.sampling import near, recursive, rows
from kdegraph.sampling.choice import choose_sampler
from kdegraph.sampling.rejection import sampler as rejection
from kdegraph.sampling.rounds import suggest_n_rounds
from kdegraph.scaled_kernel import check_sigma, resolve_bandwidth, tree_kernel
from kdegraph.validation import (
    check_choice,
    check_count,
    check_eps,
    check_fraction,
    check_points,
    check_seed,
)

SAMPLERS = ("auto", "mixture", "near", "recursive", "rejection", "rows")
DRAWS = ("stratified", "independent")
WEIGHTINGS = ("inclusion", "paper")
MAX_ROUNDS_ALLOWED = 2**20
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
# Points in a leaf of the tree of the exact samplers.
LEAF_SIZE = 8
# The default of `eps` for few points, where the theorem asks for less.
MAX_DEFAULT_EPS = 0.5


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
    sigma, n_rounds = check_sigma(sigma, len(X)), _check_automatic(n_rounds, "n_rounds")
    alpha = check_fraction(alpha, "alpha")
    check_choice(sampler, "sampler", SAMPLERS)
    check_choice(draws, "draws", DRAWS)
    check_choice(weighting, "weighting", WEIGHTINGS)
    eps = _default_eps(len(X)) if eps is None else check_eps(eps)
    solver = make_solver(kde, eps)
    seed = check_seed(seed)
    if n_rounds != "auto":
        n_rounds = check_count(n_rounds, "n_rounds", maximum=MAX_ROUNDS_ALLOWED)
    if sampler == "auto" and not (isinstance(kde, str) and kde == "auto"):
        sampler = "recursive"
    check_choice(kernel, "kernel", tuple(CODES))
    is_local = isinstance(sigma, np.ndarray) or sigma == "local"
    if sampler in ("recursive", "rejection") and (is_local or alpha > 0):
        raise ValueError(
            f"the sampler {sampler!r} needs kernel sums with one bandwidth; take one sigma and "
            "alpha=0, or sampler='auto'"
        )
    is_plain = alpha == 0 and weighting == "inclusion"
    if sampler == "mixture" and not is_plain:
        raise ValueError(
            "the sampler 'mixture' estimates the kernel degrees; take alpha=0 and "
            "weighting='inclusion', or sampler='auto'"
        )
    stages = StageTimer(progress)
    reuse_freed_memory()
    if sampler == "mixture" or (sampler == "auto" and is_plain and has_many_dimensions(X)):
        sampled = sample_from_lists(X, sigma, perplexity, kernel, n_rounds, seed, stages)
        stages.leave()
        return SimilarityGraph(
            **sampled._asdict(),
            kernel=kernel,
            seed=seed,
            sampler="mixture",
            draws="independent",
            weighting=weighting,
            eps=math.nan,
            timings=stages.timings,
            points=X,
        )
    X = np.asarray(X, dtype=np.float64)
    if isinstance(sigma, str):
        stages.enter("bandwidth")
    bandwidth = resolve_bandwidth(X, sigma, perplexity)

    stages.enter("tree")
    leaf_size = recursive.LEAF if sampler == "recursive" else LEAF_SIZE
    tree = build_tree(X, leaf_size, progress=stages.progress)
    scaled, densities = tree_kernel(kernel, bandwidth, tree), None
    if alpha > 0:
        stages.enter("densities")
        densities = _by_vertex(_densities(scaled, tree, eps, stages.progress), tree)
        scaled = tree_kernel(kernel, bandwidth, tree, density=densities, alpha=alpha)
    L = suggest_n_rounds(scaled, tree) if isinstance(n_rounds, str) else n_rounds

    if sampler == "recursive":
        stages.enter("samples")
        neighbors, degrees = recursive.draw_neighbors(
            scaled, tree, solver, L, seed, draws, progress=stages.progress
        )
    else:
        draws = "independent"
        sampler, neighbors, degrees = _draw_exactly(scaled, tree, eps, L, seed, sampler, stages)

    stages.enter("graph")
    independent = weighting == "inclusion" and draws == "independent"
    adjacency = weighted_adjacency(
        scaled, tree, degrees, neighbors, independent, progress=stages.progress
    )
    stages.leave()
    return SimilarityGraph(
        adjacency=adjacency,
        kernel_degrees=_by_vertex(degrees, tree),
        neighbors=tree.original(neighbors),
        sigma=bandwidth,
        kernel=kernel,
        n_rounds=L,
        seed=seed,
        sampler=sampler,
        draws=draws,
        weighting=weighting,
        eps=eps,
        timings=stages.timings,
        alpha=alpha,
        densities=densities,
        points=X,
        order=tree.order.astype(np.int32),
    )


def _densities(kernel, tree, eps, progress):
    """The kernel sums at all points of the tree, themselves included."""
    if not kernel.local.is_local:
        return 1.0 + kernel_degrees(kernel, tree, eps, progress=progress)
    sampler, _, _ = choose_sampler(kernel, tree, eps, 0, "auto")
    draw = rows.draw_neighbors if sampler == "rows" else near.draw_neighbors
    return 1.0 + draw(kernel, tree, 0, 0, eps, progress=progress)[1]


def _draw_exactly(kernel, tree, eps, n_rounds, seed, sampler, stages):
    """Draw independent neighbors from the exact law: the sampler that was taken, the neighbors and
    the kernel degrees in the tree's order.
    """
    sampler, method, groups = choose_sampler(kernel, tree, eps, n_rounds, sampler)
    if sampler != "rejection":
        stages.enter("samples")
        draw = rows.draw_neighbors if sampler == "rows" else near.draw_neighbors
        neighbors, degrees = draw(kernel, tree, n_rounds, seed, eps, progress=stages.progress)
    else:
        stages.enter("kernel degrees")
        degrees = kernel_degrees(kernel, tree, eps, method=method, progress=stages.progress)
        stages.enter("samples")
        neighbors = rejection.draw_neighbors(
            kernel, tree, degrees, n_rounds, seed, groups=groups, progress=stages.progress
        )
    return sampler, neighbors, degrees


def _by_vertex(values, tree):
    """Values in the order of the tree, in that of the original points."""
    out = np.empty(values.size)
    out[tree.order] = values
    return out


def _default_eps(n):
    """The relative error of kernel degrees that the paper's theorem asks for."""
    return min(MAX_DEFAULT_EPS, 1 / (6 * math.log2(max(n, 2))))


def _check_automatic(value, name):
    if isinstance(value, str) and value != "auto":
        raise ValueError(f"{name} must be a number or 'auto', got {value!r}")
    return value
