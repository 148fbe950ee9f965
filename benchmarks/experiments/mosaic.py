"""Photographs side by side, as an example of pictures that do not fit into memory."""

import math

import dask
import dask.array as da
import numpy as np
from kdegraph.datasets import image_points

from benchmarks import photographs
from benchmarks.experiment import experiment
from benchmarks.experiments.tiled_clusters import cluster

# Rows and columns of a photograph, and the distance of neighbors among the pixels.
SHAPE = 321, 481
PIXELS = math.prod(SHAPE)
STEP = 1 / (2 * max(SHAPE))
# About the mean distance within which a pixel has 1/2000 of a photograph.
PARAMETERS = {"sigma": 0.014, "n_rounds": 10, "seed": 0}
SEGMENTS = 6


@experiment(
    lambda: [
        {"n": photographs * PIXELS, "workers": workers}
        for photographs, workers in ((7, 0), (65, 0), (648, 2))
    ],
    source="docs/larger_than_memory.md: pixels in five dimensions.",
    limit=14400.0,
)
def mosaic(n, workers, *, images):
    """Seconds, memory and disk of photographs side by side that are clustered tile by tile.

    A photograph has 154,401 pixels, which are points by `image_points`, with the distances that
    they have in one photograph. Where there are too few photographs they are repeated, mirrored.
    They are read when they are needed. Otherwise as `tiled_clusters`, with six clusters.
    """
    X = pixels(images, n // PIXELS)
    found, labels, values = cluster(X, PARAMETERS, SEGMENTS, workers)
    return values | {
        "least pixels": int(np.bincount(labels).min()),
        "largest conductance": float(found.conductances.max()),
    }


def pixels(folder, n_photographs):
    """The pixels of photographs in rows, a Dask array with a block for each photograph."""
    names = photographs.names(folder, n_photographs)
    if not names:
        raise FileNotFoundError(f"there are no photographs in {folder}")
    rows = next(r for r in range(math.isqrt(n_photographs), 0, -1) if n_photographs % r == 0)
    columns = n_photographs // rows
    read = dask.delayed(_pixels_of)
    blocks = []
    for i in range(n_photographs):
        mirrored = i // len(names) % 2 == 1
        block = read(folder, names[i % len(names)], mirrored, divmod(i, columns))
        blocks.append(da.from_delayed(block, (PIXELS, 5), float))
    return da.concatenate(blocks)


def _pixels_of(folder, name, mirrored, place):
    """The pixels of a photograph, which is laid across, at its place among the others."""
    picture = photographs.picture(folder, name)
    if picture.shape[0] > picture.shape[1]:
        picture = np.rot90(picture)
    X = image_points(picture[:, ::-1] if mirrored else picture, max_pixels=None).X
    X[:, -2:] += np.array(place) * SHAPE * STEP
    return X
