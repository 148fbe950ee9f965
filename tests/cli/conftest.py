"""A command line to run, and files for it."""

import gc

import numpy as np
import pytest
from click.testing import CliRunner
from kdegraph import datasets
from kdegraph.cli import main
from PIL import Image


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in an empty folder; return its exit code, standard output and errors."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, **options):
        return CliRunner().invoke(main, [str(a) for a in arguments], **options)

    yield invoke
    gc.unfreeze()  # `kdegraph explore` spares what its process has made


@pytest.fixture
def moons(tmp_path):
    """Two moons as a CSV with labels, in the folder of `run`."""
    data = datasets.make("moons", n=300, seed=0)
    path = tmp_path / "moons.csv"
    rows = [f"{x:.9f},{y:.9f},{label}" for (x, y), label in zip(data.X, data.y, strict=True)]
    path.write_text("\n".join(["x,y,label", *rows]))
    return path


@pytest.fixture
def picture(tmp_path):
    """A picture of two halves."""
    image = np.zeros((20, 30, 3), np.uint8)
    image[:, 15:] = (250, 100, 50)
    path = tmp_path / "halves.png"
    Image.fromarray(image).save(path)
    return path
