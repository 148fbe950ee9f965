"""Graphs that are sampled tile by tile, on Dask, and kept in a folder."""

import sys


def is_tiled(graph: object) -> bool:
    """Whether this is a `TiledGraph`; Dask need not be installed to find out."""
    module = sys.modules.get("kdegraph.tiles.graph")
    return module is not None and isinstance(graph, module.TiledGraph)
