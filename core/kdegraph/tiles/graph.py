"""Sampled graphs in folders, whose arrays are Dask arrays."""

import itertools
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import scipy.sparse
from numpy.typing import DTypeLike, NDArray

from kdegraph.graph_files import write_zarr
from kdegraph.graph_parameters import KeptParameters
from kdegraph.runtime.memory import check_memory
from kdegraph.runtime.replacing import writing
from kdegraph.sampled_graph.result import SimilarityGraph
from kdegraph.tiles import points, scheduler
from kdegraph.tiles.folder import DEGREES, ORDER, RESULT, Folder, read_order
from kdegraph.tiles.from_zarr import unpack_zarr


@dataclass(frozen=True, eq=False, repr=False)
class TiledGraph(KeptParameters):
    """Hold a sampled similarity graph that need not fit into memory.

    `similarity_graph` returns it for a Dask array. It is kept in a folder, and its arrays are Dask
    arrays that read the files there. The processes of the Dask scheduler must be able to reach them
    under the same name. The arrays equal those of the `SimilarityGraph` of the same points,
    parameters and seed, bit for bit.

    Parameters
    ----------
    path : Path
        The folder.
    n_vertices, n_edges : int
        Number of vertices and of undirected edges.
    n_blocks : int
        Number of blocks of each array.
    sigma : float or (n,) float64
        Bandwidth that was used, or that of every point.
    kernel : str
        The kernel function; this and the following are as in `SimilarityGraph`.
    n_rounds, seed : int
        The number of rounds, and the seed of the draws.
    sampler, draws, weighting : str
        How edges are drawn and weighted.
    eps, alpha : float
        The error of the kernel sums, and the exponent of the densities.
    metric : str
        The distance in the kernel.
    timings : dict
        Seconds per stage.

    Examples
    --------
    >>> import dask.array as da, kdegraph, os, tempfile
    >>> moons = kdegraph.datasets.make("moons", n=5000, seed=0)
    >>> X = da.from_array(moons.X, chunks=1000)
    >>> folder = tempfile.TemporaryDirectory()
    >>> store, edges, zarr = (f"{folder.name}/{name}" for name in ("graph", "edges", "graph.zarr"))
    >>> graph = kdegraph.similarity_graph(X, sigma=0.1, n_rounds=10, seed=0, store=store)
    >>> block = graph.adjacency.blocks[0].compute()  # some rows, as a CSR array
    >>> block.shape[1], bool((block.sum(axis=1) > 0).all())
    (5000, True)
    >>> graph.compute().n_edges == kdegraph.TiledGraph.load(store).n_edges == graph.n_edges
    True
    >>> graph.to_parquet(edges)
    >>> sorted(os.listdir(edges))
    ['part-00000.parquet', 'part-00001.parquet']
    >>> graph.to_zarr(zarr)
    >>> kdegraph.TiledGraph.from_zarr(zarr).n_edges == graph.n_edges
    True
    >>> graph.remove()
    >>> folder.cleanup()
    """

    path: Path
    n_vertices: int
    n_edges: int
    n_blocks: int

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "TiledGraph":
        """Open the folder of a graph.

        Parameters
        ----------
        path : path-like
            The `store` that `similarity_graph` was given.

        Returns
        -------
        TiledGraph

        Raises
        ------
        ValueError
            If the folder holds no graph, or one that is not complete.
        """
        folder = Folder(path)
        if not folder.has(RESULT):
            raise ValueError(
                f"path: {str(path)!r} holds no graph that is complete; to complete one that was "
                "interrupted, call similarity_graph as before, with this store"
            )
        return cls(folder.path, sigma=folder.read(ORDER, "bandwidth"), **folder.values(RESULT))

    def _size(self) -> dict[str, int]:
        return {"points": self.n_vertices, "edges": self.n_edges, "blocks": self.n_blocks}

    @property
    def adjacency(self) -> da.Array:
        """The adjacency matrix, (n, n) float64: rows in blocks that are CSR arrays."""
        return array_by_blocks(self, _matrix_rows, scipy.sparse.csr_array((0, self.n_vertices)))

    @property
    def neighbors(self) -> da.Array:
        """The sampled neighbors of every vertex, (n, L) int32."""
        return array_by_blocks(self, _neighbors_of, np.empty((0, self.n_rounds), np.int32))

    @property
    def kernel_degrees(self) -> da.Array:
        """The degrees in the fully connected graph, (n,) float64."""
        return array_by_blocks(self, _degrees_of, np.empty(0))

    @property
    def densities(self) -> da.Array | None:
        """The densities that were divided out, (n,) float64, or None for an `alpha` of 0."""
        return stored_by_blocks(self, Folder(self.path), ORDER, "densities") if self.alpha else None

    @property
    def sample_weight(self) -> None:
        """None: all points have weight 1."""
        return None

    @property
    def points(self) -> da.Array:
        """The points, (n, d) float64."""
        return stored_by_blocks(self, Folder(self.path), points.STEP, points.NAME)

    @property
    def order(self) -> da.Array:
        """The points in the order of a tree, in which neighbors are near each other, (n,) int32."""
        return stored_by_blocks(self, Folder(self.path), ORDER, "order", np.int32)

    def compute(self) -> SimilarityGraph:
        """Read the whole graph into memory.

        Returns
        -------
        SimilarityGraph
            What `similarity_graph` returns for the same points in memory.

        Raises
        ------
        MemoryError
            If it does not fit into memory.
        """
        # An entry takes 12 bytes, and as many again while the blocks are concatenated.
        need = f"a graph of {self.n_edges:,} edges needs"
        check_memory(2 * 12 * 2 * self.n_edges, need, "use parts of its arrays")
        names = ("adjacency", "neighbors", "kernel_degrees", "densities", "points", "order")
        lazy = {name: getattr(self, name) for name in names}
        kept = {one.name: getattr(self, one.name) for one in fields(KeptParameters)}
        (arrays,) = dask.compute(lazy)
        return SimilarityGraph(**arrays, **kept)

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """Write the edges as a folder of Parquet files, one for each block of the matrix.

        They have a row for each edge with the columns source, target (numbers of vertices from 0,
        source < target) and weight, sorted by the first two. pandas, Dask, Polars, DuckDB and Spark
        read such a folder as one table.

        Parameters
        ----------
        path : path-like
            A new folder, or an empty one.

        Raises
        ------
        ValueError
            If the folder is not empty.
        """
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise ValueError(f"path: {str(folder)!r} is not empty; choose a new folder")
        blocks = enumerate(_blocks(self))
        scheduler.run(
            _write_edges,
            [(self.path, *block, folder / f"part-{i:05}.parquet") for i, block in blocks],
        )

    def to_zarr(self, path: str | PathLike[str]) -> None:
        """Write the graph as a Zarr store, block after block: see `SimilarityGraph.to_zarr`.

        `from_zarr` opens it again, and `SimilarityGraph.from_zarr` reads it into memory.

        Parameters
        ----------
        path : path-like
            A new folder.

        Raises
        ------
        FileExistsError
            If there is something at `path`.
        ImportError
            Without zarr, which ``pip install 'kdegraph[dask]'`` brings.
        """

        def blocks(name: str) -> Iterator[Any]:
            array = getattr(self, name)
            if isinstance(array, np.ndarray):
                return iter([array])
            return (block.compute() for block in array.blocks)

        write_zarr(path, self, 2 * self.n_edges, blocks)

    @classmethod
    def from_zarr(
        cls,
        path: str | PathLike[str],
        store: str | PathLike[str] | None = None,
        progress: Callable[[str, float], object] | None = None,
    ) -> "TiledGraph":
        """Unpack a graph that `to_zarr` has written, without reading it into memory.

        That of a `SimilarityGraph` is unpacked, too.

        Parameters
        ----------
        path : path-like
            The Zarr store.
        store : path-like, optional
            A new folder for the graph, or one in which the same was interrupted. By default a
            temporary one, which is deleted when the process ends.
        progress : callable, optional
            Called as ``progress(stage, fraction)``.

        Returns
        -------
        TiledGraph
            With the arrays of the graph that was written, bit for bit; points as float64.

        Raises
        ------
        ValueError
            If `path` is no such store or damaged, if it has no points, or if `store` holds
            something else.
        FileNotFoundError
            If there is nothing at `path`.
        ImportError
            Without zarr, which ``pip install 'kdegraph[dask]'`` brings.

        Notes
        -----
        Edges are written twice: in blocks of the store, and then tile by tile.
        """
        folder = Folder.temporary() if store is None else Folder(store)
        unpack_zarr(path, folder, progress)
        return cls.load(folder.path)

    def remove(self) -> None:
        """Delete the folder, after which the arrays of the graph cannot be read any more."""
        shutil.rmtree(self.path)


def array_by_blocks(
    graph: TiledGraph, read: Callable[[Path, int, int], Any], like: Any
) -> da.Array:
    """Return a Dask array of the results of ``read(graph.path, begin, end)`` for the vertices of
    each block, which have the type of `like`, an array without rows.
    """
    blocks = [
        da.from_delayed(
            dask.delayed(read)(graph.path, begin, end), (end - begin, *like.shape[1:]), meta=like
        )
        for begin, end in _blocks(graph)
    ]
    return da.concatenate(blocks)


def stored_by_blocks(
    graph: TiledGraph, folder: Folder, step: str, name: str, dtype: DTypeLike = np.float64
) -> da.Array:
    """Return an array of a step, with a row for each vertex in order, as a Dask array."""
    like = np.empty((0, *folder.read(step, name).shape[1:]), dtype)
    return array_by_blocks(graph, partial(_stored_rows, folder, step, name, dtype), like)


def in_blocks(graph: TiledGraph, values: NDArray[Any]) -> da.Array:
    """Return values of all vertices that are in memory as a Dask array."""
    return da.from_array(values, chunks=-(-graph.n_vertices // graph.n_blocks))


def _blocks(graph: TiledGraph) -> Iterator[tuple[int, int]]:
    """Yield the first vertex of each block, and the one after its last."""
    ends = np.linspace(0, graph.n_vertices, graph.n_blocks + 1).astype(int)
    return itertools.pairwise(ends.tolist())


# ---------------------------------------------------------------- blocks of the arrays: parts for
# consecutive vertices in their original order


def _from_tiles(path, begin, end, read):
    """Return ``read(folder, order, tile, rows)`` of the tiles with some of the vertices begin ...
    end - 1, concatenated in the order of these; the `rows` are counted from the first of the tile.
    """
    folder = Folder(path)
    order = read_order(folder)
    places = np.array(order.place[begin:end])
    tiles = order.tiles_of(places)
    by_tile = [np.flatnonzero(tiles == tile) for tile in np.unique(tiles)]
    parts = []
    for mine in by_tile:
        tile = tiles[mine[0]]
        parts.append(read(folder, order, tile, places[mine] - order.bounds[tile]))
    concatenate = scipy.sparse.vstack if scipy.sparse.issparse(parts[0]) else np.concatenate
    return concatenate(parts)[np.argsort(np.concatenate(by_tile))]


def _matrix_rows(path, begin, end):
    """Return the rows begin ... end - 1 of the adjacency matrix, (end - begin, n) CSR array."""

    def read(folder, order, tile, rows):
        arrays = folder.read(f"rows-{tile}", "data", "indices", "indptr")
        shape = len(arrays[-1]) - 1, len(order.place)
        return scipy.sparse.csr_array(tuple(arrays), shape=shape)[rows]

    found = _from_tiles(path, begin, end, read)
    found.has_sorted_indices = found.has_canonical_format = True
    return found


def _neighbors_of(path, begin, end):
    """Return the neighbors of the vertices begin ... end - 1, (end - begin, L) int32."""

    def read(folder, order, tile, rows):
        drawn = folder.read(f"draws-{tile}", "neighbors")[rows]
        return np.where(drawn >= 0, order.order[drawn], -1).astype(np.int32)

    return _from_tiles(path, begin, end, read)


def _write_edges(path, begin, end, file):
    """Write the edges from the vertices begin ... end - 1 to those of larger numbers to a Parquet
    file, which gets its name when it is complete.
    """
    import pyarrow as pa
    from pyarrow import parquet

    found = _matrix_rows(path, begin, end)
    source = np.repeat(np.arange(begin, end), np.diff(found.indptr))
    upper = found.indices > source
    columns = {"source": source, "target": found.indices.astype(np.int64), "weight": found.data}
    with writing(file) as temporary:
        parquet.write_table(pa.table({name: c[upper] for name, c in columns.items()}), temporary)


def _degrees_of(path, begin, end):
    """Return the kernel degrees of the vertices begin ... end - 1."""
    folder = Folder(path)
    return folder.read(DEGREES, "degrees")[folder.read(ORDER, "place")[begin:end]]


def _stored_rows(folder, step, name, dtype, _, begin, end):
    """Return the rows begin ... end - 1 of an array of a step."""
    return folder.read(step, name)[begin:end].astype(dtype)
