"""Points for graphs that are made tile by tile."""

import pkgutil

import dask
import dask.array as da
import numpy as np
import pytest
from kdegraph import datasets

N = 10_000  # points: five tiles


def lazy(X):
    """The points as a Dask array, in blocks that differ from the tiles."""
    return da.from_array(X, chunks=(1_500, 1))


def with_outliers(distance):
    """Two clusters of different sizes, a pair of outliers and two single ones."""
    rng = np.random.default_rng(0)
    large, small = rng.normal(size=(N - 1_004, 2)), rng.normal(size=(1_000, 2)) / 10
    single = [[60, 0], [60.1, 0], [90, 0], [0, -90]]
    return np.concatenate([large, small + np.array([distance, 0]), single])


def rings():
    return datasets.make("circles", n=N, seed=0).X


def touching(n=N, seed=0):
    """Nine clusters that touch."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) + 5 * rng.integers(3, size=(n, 2))


def written(folder):
    """When each file below a folder was written, by its path there."""
    return {
        path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in folder.rglob("*.*")
    }


class Interrupted(Exception):
    """Ends the work half-way."""


def interrupt(place, call):
    """Stop a call at the third tile for which it calls the function at a place."""
    function, calls = pkgutil.resolve_name(place), []

    def stopping(*args):
        calls.append(args)
        if len(calls) == 3:
            raise Interrupted
        return function(*args)

    with pytest.MonkeyPatch.context() as patch, dask.config.set(scheduler="synchronous"):
        patch.setattr(place, stopping)
        with pytest.raises(Interrupted):
            call()
