"""The points of a Dask array, in a file that all workers can map into memory."""

import dask.array as da
import numpy as np

from kdegraph.manual import explained
from kdegraph.metrics import METRICS, check_two_columns
from kdegraph.tiles import scheduler
from kdegraph.tiles.folder import Folder
from kdegraph.validation import as_array, check_finite, check_points, refuse_sparse

STEP, NAME = "points", "X"


def as_dask_points(X, metric="euclidean"):
    """Return points as a Dask array with whole rows in each chunk, checked as far as is possible
    without computing it, embedded for the metric.
    """
    if not isinstance(X, da.Array):
        X = da.from_array(check_points(X))
    if X.ndim != 2:
        raise ValueError(f"X must have shape (n, d), got {X.shape}")
    if np.isnan(X.shape).any():
        raise ValueError(
            "X has chunks of unknown sizes; call X.compute_chunk_sizes() first, which reads it once"
        )
    if 0 in X.shape:
        raise ValueError(f"X has no points or no columns (shape {X.shape})")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X must hold numbers, got dtype {X.dtype}")
    X = X.rechunk({1: -1})
    if metric == "euclidean":
        return X
    if metric == "haversine":
        check_two_columns(X)
    embed = METRICS[metric].embed
    width = embed(np.ones((1, X.shape[1]))).shape[1]
    return X.map_blocks(embed, dtype=np.float64, chunks=(X.chunks[0], (width,)))


def gather_points(X, folder, progress=None):
    """Write the points of a Dask array as `as_dask_points` returns it to the folder, or compare
    them with those in it. Return them, (n, d) float64, mapped into memory.

    A ValueError is raised if the points are not finite, or the folder holds other ones.
    """
    if folder.has(STEP):
        folder.check(STEP)
        _for_each_block(X, _compare_rows, folder, progress)
    else:
        with folder.filling(STEP, NAME, X.shape) as rows:
            _for_each_block(X, _put_rows, rows, progress)
    return folder.read(STEP, NAME)


def mapped_points(X):
    """Return the points of a Dask array, (n, d) float64, mapped from a temporary file."""
    return gather_points(as_dask_points(X), Folder.temporary())


def _for_each_block(X, function, target, progress):
    """Call ``function(target, first, block)`` for each block of rows from row `first` on."""
    first = np.cumsum([0, *X.chunks[0][:-1]]).tolist()
    blocks = X.to_delayed().ravel()
    tasks = [(target, begin, block) for begin, block in zip(first, blocks, strict=True)]
    scheduler.run(function, tasks, progress)


def _put_rows(rows, first, block):
    rows.put(first, checked_rows(block, first))


def _compare_rows(folder, first, block):
    """Raise an error if the rows from row `first` on are not those of the block."""
    before = folder.read(STEP, NAME)[first : first + len(block)]
    different = (checked_rows(block, first) != before).any(axis=1)
    if different.any():
        raise explained(
            ValueError,
            "error-store",
            f"store {str(folder.path)!r} holds other points: row "
            f"{first + int(np.argmax(different))} of X is not the one that is there; choose "
            "another folder",
        )


def checked_rows(block, first):
    """Return a block of rows as finite float64 numbers; errors count the rows from `first`."""
    refuse_sparse(block, "a block of X")
    rows = np.ascontiguousarray(as_array(block, "X"), dtype=np.float64)
    check_finite(rows, "X", first)
    return rows
