"""A similarity graph of points that are read block by block, kept in a folder.

Run it again after an interruption, and it goes on; run it once more, and it is there at once.
"""

import dask
import dask.array as da
import kdegraph
import numpy as np
from dask.diagnostics import ProgressBar

BLOCK, BLOCKS = 250_000, 8


@dask.delayed
def block(i):
    """Some of the points; here they are made, elsewhere they would be read."""
    return kdegraph.datasets.make("moons", n=BLOCK, seed=i).X


def main():
    X = da.concatenate(
        [da.from_delayed(block(i), (BLOCK, 2), meta=np.empty((0, 2))) for i in range(BLOCKS)]
    )
    with ProgressBar():
        graph = kdegraph.similarity_graph(X, sigma=0.1, n_rounds=10, seed=0, store="moons.graph")
    print(f"{graph.n_vertices:,} points, {graph.n_edges:,} edges, in {graph.path}")

    # A block of rows is a sparse matrix, and the whole matrix a Dask array of such blocks.
    print(graph.adjacency)
    print(graph.adjacency.blocks[0].compute().sum(axis=1)[:5])

    # So are the labels; the eigenvectors that they come from are in files, too.
    clusters = kdegraph.spectral_clustering(graph, 2, seed=0)
    print(clusters.labels)
    sizes = da.bincount(clusters.labels, minlength=clusters.n_clusters).compute()
    print("points in each cluster:", sizes)


if __name__ == "__main__":
    main()
