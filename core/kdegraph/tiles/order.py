"""The order of the vertices of a graph in a folder, and its division into tiles.

A tile is a run of points in the tree's order.
"""

from typing import NamedTuple

import numpy as np

from kdegraph.scaled_kernel import Bandwidth

# The steps of a folder with the order of the vertices, their kernel degrees, and the values of the
# finished graph.
ORDER, DEGREES, RESULT = "order", "degrees", "result"


class Order(NamedTuple):
    """The order of the points, which are the vertices of the graph, and its division into tiles."""

    order: np.ndarray  # (n,) int64: the vertices in the tree's order
    place: np.ndarray  # (n,) int64: the place of each vertex in it
    # (n_tiles + 1,) int64: tile t has the places bounds[t] ... bounds[t + 1] - 1
    bounds: np.ndarray
    bandwidth: Bandwidth  # float or (n,) float64: by vertex
    densities: np.ndarray | None  # (n,) float64 or None: divided out of the kernel, by vertex

    @classmethod
    def of(cls, order, bounds, bandwidth, densities):
        """Return an order with the place of each vertex."""
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return cls(order, place, bounds, bandwidth, densities)

    @property
    def n_tiles(self):
        """The number of tiles."""
        return len(self.bounds) - 1

    def tiles_of(self, places):
        """Return the tiles of places; -1 for the place -1."""
        tiles = np.searchsorted(self.bounds, places, side="right") - 1
        return tiles.astype(np.int32)


def read_order(folder):
    """Return the `Order` of a folder, whose arrays are mapped into memory."""
    return Order(*folder.read(ORDER, *Order._fields))


def number_of_tiles(n, n_rounds):
    """Return the number of tiles for `n` points with `n_rounds` draws each.

    There are at most 2^22 draws in a tile, each of which takes about 64 bytes while its rows are
    made, and at least 16 tiles, so that workers end at about the same time. But with fewer than
    2,048 points, the overhead of a tile would exceed its work.
    """
    size = max(2048, min(2**22 // n_rounds, n // 16))
    return max(1, round(n / size))


def n_tiles(folder):
    """Return the number of tiles of a graph in a folder."""
    return len(folder.read(ORDER, "bounds")) - 1


def span(folder, tile):
    """Return the places of a tile, a slice."""
    return slice(*folder.read(ORDER, "bounds")[tile : tile + 2].tolist())
