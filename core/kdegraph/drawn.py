"""Sampled neighbors in both directions: those a vertex drew, and the vertices that drew it."""

from typing import NamedTuple

import numpy as np

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.progress import partial_progress
from kdegraph.runtime.threads import get_num_threads


class Drawn(NamedTuple):
    """Hold the sampled neighbors of a run of vertices, and the vertices that drew these, all in the
    tree's order.
    """

    first: int  # the first vertex of the run
    neighbors: np.ndarray  # (m, L) int32: the neighbors that each vertex drew; -1 for none
    # (m + 1,) int64: the vertex ``first + k`` was drawn by ``incoming[start[k]:start[k + 1]]``
    start: np.ndarray
    incoming: np.ndarray  # int32: in increasing order, with the repetitions of `neighbors`
    row: np.ndarray  # (m,) int64: the row of the matrix that each vertex gets


def transposed(neighbors, n_columns, progress=None):
    """List the rows in which each number below `n_columns` occurs; negative ones are ignored.
    Return `start` and `rows`: the number j occurs in ``rows[start[j]:start[j + 1]]``, ascending.

    This is a counting sort in blocks of rows, each on a thread, which needs 8 `n_columns` bytes per
    block.
    """
    m = len(neighbors)
    blocks = max(1, min(get_num_threads(), 8, m // 4096))
    place = np.zeros((blocks, n_columns), np.int64)
    block_size = -(-m // blocks)
    parallel.run(
        _count_incoming, blocks, block_size, neighbors, place,
        chunk=1, progress=partial_progress(progress, 0.0, 0.3),
    )  # fmt: skip
    start = np.concatenate([[0], np.cumsum(place.sum(axis=0))])
    # Each block writes after the blocks before it.
    np.cumsum(place[:-1], axis=0, out=place[1:])
    place[0] = 0
    place += start[:-1]
    rows = np.empty(start[-1], np.int32)
    parallel.run(
        _list_incoming, blocks, block_size, neighbors, place, rows,
        chunk=1, progress=partial_progress(progress, 0.3, 1.0),
    )  # fmt: skip
    return start, rows


@jit
def _count_incoming(begin, end, block_size, neighbors, place):
    for block in range(begin, end):
        for i in range(block * block_size, min((block + 1) * block_size, neighbors.shape[0])):
            for k in range(neighbors.shape[1]):
                j = neighbors[i, k]
                if j >= 0:
                    place[block, j] += 1


@jit
def _list_incoming(begin, end, block_size, neighbors, place, incoming):
    for block in range(begin, end):
        for i in range(block * block_size, min((block + 1) * block_size, neighbors.shape[0])):
            for k in range(neighbors.shape[1]):
                j = neighbors[i, k]
                if j >= 0:
                    incoming[place[block, j]] = i
                    place[block, j] += 1
