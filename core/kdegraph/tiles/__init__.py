"""Graphs that are sampled and clustered tile by tile, on Dask, and kept in a folder.

This package imports the rest of the library and is imported where a public function chooses between
memory and tiles: `kdegraph.graph`, `kdegraph.dispatch` and `kdegraph.estimators`.
"""

import sys


def is_tiled(graph: object) -> bool:
    """Return whether this is a `TiledGraph`; Dask need not be installed to find out."""
    module = sys.modules.get("kdegraph.tiles.graph")
    return module is not None and isinstance(graph, module.TiledGraph)
