"""Experiments of a moment, for tests of the tool that runs experiments."""

import os
import time

import numpy as np

from benchmarks.experiment import Experiment, Picture


def tiny_rows():
    return [{"n": n, "method": method} for n in (1, 2) for method in ("kdegraph", "another")]


def tiny(n, method):
    """Numbers without a meaning.

    They are made up.
    """
    seconds = n / 4 if method == "kdegraph" else n**2 / 8
    return {"seconds": seconds, "third": 1 / 3, "labels": np.arange(n)}


def failing(way):
    """Rows that fail, each in a way of its own."""
    if way == "error":
        raise ValueError("/secret/folder/file.mat is broken")
    if way == "package":
        import a_package_that_is_absent  # noqa: F401
    if way == "crash":
        os._exit(3)
    if way == "time":
        time.sleep(30)
    if way == "memory":
        np.ones(2**50)
    return {"fine": way}


def in_folder(n, *, images):
    """Count the entries of a folder."""
    return {"entries": len(list(images.iterdir()))}


TINY = Experiment(
    tiny, tiny_rows, source="Nowhere.", why="They do not.", better={"seconds": "less"},
    picture=Picture("n", "seconds", "method"),
)  # fmt: skip
WAYS = ("error", "package", "crash", "memory", "none")
FAILING = Experiment(failing, lambda: [{"way": way} for way in (*WAYS, "time")], source="")
IN_FOLDER = Experiment(in_folder, lambda: [{"n": 1}], source="")
