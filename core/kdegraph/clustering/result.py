"""What a clustering of a graph is."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kdegraph.spectral.result import Spectrum


@dataclass(frozen=True, eq=False)
class Clustering:
    """A partition of the vertices of a graph, as `spectral_clustering` returns it.

    Two objects are equal only if they are the same object.

    Attributes
    ----------
    labels : (n,) int32 array
        Cluster of each vertex, 0 to ``n_clusters - 1`` in the order of the first members; -1 for
        isolated vertices of a graph without points. Of a `TiledGraph` a Dask array.
    n_clusters : int
    conductances : (n_clusters,) float64 array
        See `conductance`.
    isolated : (m,) int64 array
        Vertices without an edge: their labels are those of their nearest points, not of the graph.
    spectrum : Spectrum or None
        Of the graph without its isolated vertices and small components; None if it has no edges.
        Approximate where the graph is large.

    Examples
    --------
    >>> import numpy as np
    >>> from kdegraph import spectral_clustering
    >>> blocks = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    >>> spectral_clustering(blocks + 0.01, 2).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    labels: NDArray[np.int32] = field(repr=False)
    n_clusters: int
    conductances: NDArray[np.float64]
    isolated: NDArray[np.int64] = field(repr=False)
    spectrum: Spectrum | None = field(repr=False)
