"""Algorithm 2: the sampled similarity graph."""

import json
import math
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse

from kdegraph.adjacency import COMPLEMENT, MINIMUM, weighted_adjacency
from kdegraph.bandwidth import estimate_sigma
from kdegraph.geometry.kernels import CODES, Kernel
from kdegraph.geometry.tree import build_tree
from kdegraph.kde.dispatch import kernel_degrees
from kdegraph.kde.solvers import make_solver
from kdegraph.runtime.memory import reuse_freed_memory
from kdegraph.runtime.progress import StageTimer
from kdegraph.runtime.responsive import responsive
from kdegraph.sampling import recursive, rows
from kdegraph.sampling.choice import choose_sampler
from kdegraph.sampling.rejection import sampler as rejection
from kdegraph.sampling.rounds import suggest_n_rounds
from kdegraph.validation import check_choice, check_count, check_eps, check_points, check_seed

SAMPLERS = ("auto", "recursive", "rejection", "rows")
DRAWS = (recursive.STRATIFIED, recursive.INDEPENDENT)
WEIGHTINGS = ("inclusion", "paper")


@dataclass(frozen=True)
class SimilarityGraph:
    """A sampled similarity graph, as `similarity_graph` returns it.

    Attributes
    ----------
    adjacency : csr_array, (n, n) float64
        Symmetric, zero diagonal, sorted, without duplicates.
    kernel_degrees : (n,) float64
        ``g(x_i) - 1``, the degrees in the fully connected graph, to the relative error `eps`.
    neighbors : (n, L) int32
        The sampled neighbors of every vertex, with repetitions; -1 for an isolated vertex.
    sigma : float
        Bandwidth that was used.
    kernel : str
    n_rounds : int
        The paper's L.
    seed : int
        With the other parameters it reproduces `neighbors` bit for bit.
    sampler : {"recursive", "rejection", "rows"}
        The one that ran.
    draws : {"stratified", "independent"}
        How the L neighbors of a vertex were drawn ("rejection" and "rows" draw independently).
    weighting : {"inclusion", "paper"}
    eps : float
        Relative error of the kernel sums.
    timings : dict
        Seconds per stage.
    points : (n, d) float64 or None
        The points, not copied.
    order : (n,) int32 or None
        The points in the order of the tree, neighbors near each other: `spectrum` is faster with
        it.
    """

    adjacency: scipy.sparse.csr_array
    kernel_degrees: np.ndarray
    neighbors: np.ndarray
    sigma: float
    kernel: str
    n_rounds: int
    seed: int
    sampler: str
    draws: str
    weighting: str
    eps: float
    timings: dict = field(default_factory=dict)
    points: np.ndarray | None = None
    order: np.ndarray | None = None

    @property
    def n_edges(self):
        """Number of undirected edges."""
        return self.adjacency.nnz // 2

    def laplacian(self):
        """The normalized Laplacian ``I - D^{-1/2} A D^{-1/2}``, a csr_array; rows of isolated
        vertices are zero.
        """
        degrees = self.adjacency.sum(axis=1)
        with np.errstate(divide="ignore"):
            scale = np.where(degrees > 0, 1.0 / np.sqrt(degrees), 0.0)
        scaled = self.adjacency.copy()
        scaled.data *= scale[scaled.indices] * np.repeat(scale, np.diff(scaled.indptr))
        return scipy.sparse.csr_array(
            scipy.sparse.diags_array((degrees > 0).astype(float)) - scaled
        )

    def save(self, path):
        """Write the graph to `path`, an .npz file without pickled objects."""
        names = (
            "sigma",
            "kernel",
            "n_rounds",
            "seed",
            "sampler",
            "draws",
            "weighting",
            "eps",
            "timings",
        )
        arrays = {
            "data": self.adjacency.data,
            "indices": self.adjacency.indices,
            "indptr": self.adjacency.indptr,
            "kernel_degrees": self.kernel_degrees,
            "neighbors": self.neighbors,
            "parameters": np.array(json.dumps({name: getattr(self, name) for name in names})),
        }
        arrays |= {
            name: getattr(self, name)
            for name in ("points", "order")
            if getattr(self, name) is not None
        }
        with open(path, "wb") as file:
            np.savez_compressed(file, **arrays)

    @classmethod
    def load(cls, path):
        """Read a graph that `save` has written.

        Raises
        ------
        ValueError
            If the file is not such a graph, or damaged.
        FileNotFoundError
        """
        with open(path, "rb") as file:
            try:
                with np.load(file, allow_pickle=False) as arrays:
                    return _from_arrays(dict(arrays))
            except MemoryError:
                raise
            except Exception as error:  # a damaged file surfaces as almost any error
                raise ValueError(
                    f"path: {str(path)!r} is not a graph written by SimilarityGraph.save ({error})"
                ) from None


def _from_arrays(arrays):
    """The graph in the arrays of a file; an exception of any kind where they do not fit together."""
    parameters = json.loads(str(arrays["parameters"]))
    n = arrays["indptr"].size - 1
    adjacency = scipy.sparse.csr_array(
        (arrays["data"], arrays["indices"], arrays["indptr"]), shape=(n, n)
    )
    adjacency.check_format(full_check=True)
    expected = {
        "data": (adjacency.nnz,),
        "kernel_degrees": (n,),
        "neighbors": (n, parameters["n_rounds"]),
    }
    if "points" in arrays:
        expected["points"] = (n, arrays["points"].shape[-1])
    if "order" in arrays:
        expected["order"] = (n,)
    for name, shape in expected.items():
        kind = "i" if name in ("neighbors", "order") else "f"
        if arrays[name].shape != shape or arrays[name].dtype.kind != kind:
            raise ValueError(
                f"{name} has shape {arrays[name].shape} and dtype {arrays[name].dtype}"
            )
    order = arrays.get("order")
    if order is not None and not np.array_equal(np.sort(order), np.arange(n)):
        raise ValueError("order is not a permutation of the points")
    return SimilarityGraph(
        adjacency,
        arrays["kernel_degrees"],
        arrays["neighbors"],
        points=arrays.get("points"),
        order=order,
        **parameters,
    )


@responsive
def similarity_graph(
    X,
    *,
    sigma="auto",
    kernel="gaussian",
    n_rounds="auto",
    sampler="auto",
    draws="stratified",
    kde="auto",
    weighting="inclusion",
    eps=None,
    seed=None,
    progress=None,
):
    """Sample a sparse graph with the cluster structure of the fully connected kernel graph.

    Every vertex draws `n_rounds` neighbors with probability ``k(x_i, x_j) / deg(i)``; the edges
    drawn get weights that make the adjacency matrix an estimate of the kernel matrix (Macgregor and
    Sun, 2023, Algorithm 2).

    Parameters
    ----------
    X : (n, d) array_like
        Points, finite; not copied when C-contiguous float64.
    sigma : float or "auto"
        Bandwidth, in the units of the points; "auto" is `estimate_sigma`.
    kernel : {"gaussian", "laplacian", "exponential"}
        See `Kernel`.
    n_rounds : int or "auto"
        The paper's L, at least 1; "auto" is `suggest_n_rounds`: 10 to 100, for eigenvalues within
        about 10% of the full graph's.
    sampler : {"auto", "recursive", "rejection", "rows"}
        "recursive" is Algorithm 1 through `kde`; "rejection" draws from the exact law by proposals
        from a tree, "rows" from full rows of the kernel matrix, O(n^2 d). "auto" takes "recursive"
        if a `kde` is given, else what is estimated to be faster of the other two.
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
        Relative error of the kernel degrees, in (0, 1), by every sampler (with a `kde` of your own
        it is what that has); by default ``1 / (6 log2 n)``, which the paper's theorem asks for.
        Rounding comes on top: about ``1e-16 (d + 8) (1 + t)`` for a point whose nearest others have
        kernel values of ``exp(-t)``.
    seed : int or numpy Generator, optional
        A seed gives identical neighbors for any number of threads; fresh entropy when None (the
        graph's `seed` tells which).
    progress : callable, optional
        Called as ``progress(stage, fraction)`` in the calling thread; what it raises (`Cancelled`,
        say) stops the work.

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
    ----- Cost: O(n log n) for the tree and, for data that are dense at the scale of sigma, O(n)
    kernel sums and O(n L) samples.
    """
    X = check_points(X)
    sigma, n_rounds = _check_automatic(sigma, "sigma"), _check_automatic(n_rounds, "n_rounds")
    check_choice(sampler, "sampler", SAMPLERS)
    check_choice(draws, "draws", DRAWS)
    check_choice(weighting, "weighting", WEIGHTINGS)
    n = len(X)
    eps = min(0.5, 1 / (6 * math.log2(max(n, 2)))) if eps is None else check_eps(eps)
    solver = make_solver(kde, eps)
    seed = check_seed(seed)
    if n_rounds != "auto":
        n_rounds = check_count(n_rounds, "n_rounds", maximum=2**20)
    if sampler == "auto" and not (isinstance(kde, str) and kde == "auto"):
        sampler = "recursive"
    check_choice(kernel, "kernel", tuple(CODES))
    stages = StageTimer(progress)
    reuse_freed_memory()
    if sigma == "auto":
        stages.enter("bandwidth")
        sigma = estimate_sigma(X, seed=0)
    kernel = Kernel(kernel, sigma)

    stages.enter("tree")
    tree = build_tree(X, recursive.LEAF if sampler == "recursive" else 8, progress=stages.progress)
    if n_rounds == "auto":
        n_rounds = suggest_n_rounds(kernel, tree)
    if sampler == "recursive":
        stages.enter("samples")
        neighbors, degrees = recursive.draw_neighbors(
            kernel, tree, solver, n_rounds, seed, draws, progress=stages.progress
        )
    else:
        draws = recursive.INDEPENDENT
        sampler, method, groups = choose_sampler(kernel, tree, eps, n_rounds, sampler)
        if sampler == "rejection":
            stages.enter("kernel degrees")
            degrees = kernel_degrees(kernel, tree, eps, method=method, progress=stages.progress)
            stages.enter("samples")
            neighbors = rejection.draw_neighbors(
                kernel, tree, degrees, n_rounds, seed, groups=groups, progress=stages.progress
            )
        else:
            stages.enter("samples")
            neighbors, degrees = rows.draw_neighbors(
                kernel, tree, n_rounds, seed, eps, progress=stages.progress
            )
    stages.enter("graph")
    inclusion = (
        COMPLEMENT if weighting == "inclusion" and draws == recursive.INDEPENDENT else MINIMUM
    )
    adjacency = weighted_adjacency(
        kernel, tree, degrees, neighbors, inclusion, progress=stages.progress
    )
    by_vertex = np.empty(n)
    by_vertex[tree.order] = degrees
    stages.leave()
    parameters = (kernel.sigma, kernel.name, n_rounds, seed, sampler, draws, weighting, eps)
    return SimilarityGraph(
        adjacency,
        by_vertex,
        tree.original(neighbors),
        *parameters,
        stages.timings,
        X,
        tree.order.astype(np.int32),
    )


def _check_automatic(value, name):
    if isinstance(value, str) and value != "auto":
        raise ValueError(f"{name} must be a number or 'auto', got {value!r}")
    return value
