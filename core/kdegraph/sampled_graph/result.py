"""The result of `kdegraph.similarity_graph`."""

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from kdegraph.foreign_graphs import igraph_of, networkx_of
from kdegraph.graph_files import read_graph, read_zarr, write_graph, write_zarr
from kdegraph.graph_parameters import KeptParameters


@dataclass(frozen=True, eq=False, repr=False)
class SimilarityGraph(KeptParameters):
    """A sampled similarity graph, as returned by `similarity_graph`. Graphs compare by identity.

    Parameters
    ----------
    adjacency : csr_array, (n, n) float64
        Symmetric, sorted, without duplicates. The diagonal is zero but for points of a weight w
        above 1, which have ``w (w - 1)``: the edges between the copies that they stand for.
    kernel_degrees : (n,) float64
        ``g(x_i) - 1``, the degrees in the fully connected graph, to the relative error `eps`; for
        the sampler "mixture" unbiased estimates. Without self-loops.
    neighbors : (n, L) int32
        The sampled neighbors of every vertex, with repetitions; -1 for an isolated vertex, and for
        a draw whose kernel value underflows.
    densities : (n,) float64 or None
        The densities that divide the kernel, ``g(x_i)`` to the relative error `eps`; None for an
        `alpha` of 0.
    points : (n, d) float64 or float32 array, csr_array or None
        The points, not copied; None after reading a file if they were sparse. For other metrics
        than "euclidean" those between which the Euclidean distance is that of the metric: of length
        1, or on a sphere, in kilometers.
    order : (n,) int32 or None
        The points in the order of a tree, in which points near each other have near positions.
        `spectrum` is faster with it. None for sparse points.
    sample_weight : (n,) float64 array or None
        The weights of the points; None if all are 1.
    sigma : float or (n,) float64
        The bandwidth, or the bandwidth of each point.
    kernel : str
        The kernel function, see `Kernel`.
    n_rounds : int
        The paper's L.
    seed : int
        Together with the other parameters, it reproduces `neighbors` bit for bit.
    sampler : {"mixture", "near", "recursive", "rejection"}
        The sampler that was used. Graphs in files of earlier versions may have the sampler "rows",
        which drew from the same law as "near".
    draws : {"stratified", "independent"}
        How the L neighbors of a vertex were drawn; only "recursive" has stratified draws.
    weighting : {"inclusion", "paper"}
        How the sampled edges are weighted, see `similarity_graph`.
    eps : float
        Relative error of the kernel sums; NaN for the sampler "mixture".
    alpha : float
        The exponent of the densities.
    metric : {"euclidean", "cosine", "haversine"}
        The distance in the kernel.
    timings : dict
        Seconds per stage.

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
    densities: NDArray[np.float64] | None = None
    points: NDArray[np.float64] | None = None
    order: NDArray[np.int32] | None = None
    sample_weight: NDArray[np.float64] | None = None

    @property
    def n_edges(self) -> int:
        """Number of undirected edges between different points."""
        if self.sample_weight is None:
            return self.adjacency.nnz // 2
        return (self.adjacency.nnz - np.count_nonzero(self.adjacency.diagonal())) // 2

    def _size(self) -> dict[str, int]:
        return {"points": self.adjacency.shape[0], "edges": self.n_edges}

    def laplacian(self) -> scipy.sparse.csr_array:
        """Return the normalized Laplacian ``I - D^{-1/2} A D^{-1/2}``.

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

    def to_networkx(self) -> Any:
        """Return the graph as a `networkx.Graph`.

        Returns
        -------
        networkx.Graph
            With the vertices 0 to n - 1, and the weights as the attribute "weight" of the edges.

        Raises
        ------
        ImportError
            Without NetworkX, which ``pip install networkx`` installs.

        Examples
        --------
        >>> import kdegraph
        >>> graph = kdegraph.similarity_graph([[0.0], [1.0]], sigma=1.0, n_rounds=1, seed=0)
        >>> print(graph.to_networkx())
        Graph with 2 nodes and 1 edges
        """
        return networkx_of(self.adjacency)

    def to_igraph(self) -> Any:
        """Return the graph as an `igraph.Graph`.

        Returns
        -------
        igraph.Graph
            As for `to_networkx`. ``graph.to_igraph().community_leiden(weights="weight",
            objective_function="modularity")`` finds its communities.

        Raises
        ------
        ImportError
            Without igraph, which ``pip install igraph`` installs.
        """
        return igraph_of(self.adjacency)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the graph to an .npz file without pickled objects, and without sparse points.

        Parameters
        ----------
        path : path-like
            The file, which is replaced if it exists. The name is used as given.

        Raises
        ------
        OSError
            If the file cannot be written; an existing file at `path` is not changed.

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
        """Read a graph written by `save`.

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
            If the file is not such a graph, or is damaged.
        FileNotFoundError
            If the file does not exist.
        MemoryError
            If the graph needs more memory than is available. Nothing is read in this case.
        """
        return read_graph(path, cls)

    def to_zarr(self, path: str | PathLike[str]) -> None:
        """Write the graph as a Zarr store that programs for AnnData can read.

        Sparse points are left out. The group "adjacency" is a sparse matrix in the layout of
        AnnData, which ``anndata.io.read_elem(zarr.open(path)["adjacency"])`` reads.

        Parameters
        ----------
        path : path-like
            A new folder.

        Raises
        ------
        FileExistsError
            If `path` exists.
        ImportError
            Without zarr, which ``pip install 'kdegraph[dask]'`` installs.
        """
        write_zarr(path, self, self.adjacency.nnz, lambda name: [getattr(self, name)])

    @classmethod
    def from_zarr(cls, path: str | PathLike[str]) -> "SimilarityGraph":
        """Read a graph written by `to_zarr`, also by that of a `TiledGraph`.

        Parameters
        ----------
        path : path-like
            The folder.

        Returns
        -------
        SimilarityGraph

        Raises
        ------
        ValueError
            If the folder is not such a graph, or is damaged.
        FileNotFoundError
            If the folder does not exist.
        MemoryError
            If the graph needs more memory than is available. Nothing is read in this case.
        """
        return read_zarr(path, cls)
