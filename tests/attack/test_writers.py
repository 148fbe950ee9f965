"""Attack all writers: disks that fill up after any number of bytes, and readers that end early."""

import errno
import os
import tempfile
from pathlib import Path

import dask.array as da
import kdegraph
import numpy as np
import pytest
from cli.results import start
from click.testing import CliRunner
from files import full_disk
from hypothesis import given, settings
from hypothesis import strategies as st
from kdegraph.cli import main

FEWER = settings(max_examples=max(1, settings.default.max_examples // 10))
X = np.random.default_rng(0).normal(size=(400, 2))
GRAPH = kdegraph.similarity_graph(X, sigma=0.3, n_rounds=5, seed=0)
POINTS = b"x,y\n" + b"\n".join(b"%d.%d,%d" % (i % 5, i, 9 * (i % 2)) for i in range(3000))


def command(*arguments):
    """Return a function that writes to a path by a command, and raises its error."""

    def write(path):
        result = CliRunner().invoke(main, [*arguments, "-o", str(path)], input=POINTS)
        if result.exit_code:
            assert result.stderr == f"Error: {path}: File too large\n", result.output
            assert result.exit_code == 1
            raise OSError(errno.EFBIG, "File too large", str(path))

    return write


CLUSTER = command("cluster", "-", "-k", "2", "--sigma", "0.3", "-q")
WRITERS = {
    "graph.npz": GRAPH.save,
    "graph.graphml": lambda path: kdegraph.export_graph(path, GRAPH),
    "graph.gexf": lambda path: kdegraph.export_graph(path, GRAPH),
    "graph.zarr": GRAPH.to_zarr,
    **{f"labels.{ending}": CLUSTER for ending in ("csv", "parquet", "npy")},
    **{
        f"edges.{ending}": command("graph", "-", "--sigma", "0.3", "-q")
        for ending in ("csv", "parquet", "npz", "graphml", "gexf")
    },
    **{f"points.{ending}": command("sample", "moons") for ending in ("csv", "parquet")},
}


def size(path):
    """The bytes of the largest file of a path, which may be a folder."""
    return max(p.stat().st_size for p in (path, *path.rglob("*")) if p.is_file())


@pytest.mark.parametrize("name", WRITERS)
def test_a_disk_that_fills_up_leaves_the_earlier_file_or_none(name, tmp_path):
    write, path = WRITERS[name], tmp_path / name
    write(path)
    largest, folder = size(path), path.is_dir()
    earlier = None if folder else path.read_bytes()

    @FEWER
    @given(share=st.floats(0, 0.99))  # compressed, the times in a graph have not always equal sizes
    def check(share):
        target = tmp_path / "new" if folder else path
        with full_disk(int(share * largest)), pytest.raises(OSError, match="too large") as caught:
            write(target)
        assert caught.value.filename == str(target)
        assert list(tmp_path.iterdir()) == [path]
        assert folder or path.read_bytes() == earlier

    check()


@FEWER
@given(share=st.floats(0, 1, exclude_max=True))
def test_a_store_of_tiles_goes_on_after_a_full_disk(share):
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder)
        make = lambda name: kdegraph.similarity_graph(  # noqa: E731
            da.from_array(X, chunks=(200, 2)), sigma=0.3, n_rounds=5, seed=0, store=store / name
        )
        expected = make("whole").compute()
        limit = int(share * size(store / "whole"))
        with full_disk(limit), pytest.raises(OSError, match="too large") as caught:
            make("full")
        assert Path(caught.value.filename).is_relative_to(store / "full")
        assert (make("full").compute().adjacency != expected.adjacency).nnz == 0


COMMANDS = {
    "points": ["sample", "moons", "-n", "3000", "-o", "-"],
    "edges": ["graph", "-", "--sigma", "0.3", "-o", "-"],
    "facts": ["cluster", "-", "-k", "2", "--sigma", "0.3", "--json"],
    "report": ["cluster", "-", "-k", "2", "--sigma", "0.3"],
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [("points", "full"), ("edges", "closed"), ("facts", "full"), ("report", "ended")],
)
def test_an_output_that_takes_nothing_ends_a_command_in_a_line(name, kind):
    if kind == "full" and not os.path.exists("/dev/full"):
        pytest.skip("no device that is full")
    reader, writer = os.pipe()
    os.close(reader)
    if kind == "full":
        os.close(writer)
        writer = os.open("/dev/full", os.O_WRONLY)
    closing = (lambda: os.close(1)) if kind == "closed" else None
    with start(*COMMANDS[name], stdout=writer, preexec_fn=closing) as process:
        os.close(writer)
        _, said = process.communicate(POINTS, timeout=120)
    errors = [line for line in said.decode().splitlines() if not line.startswith("Warning: ")]
    assert process.returncode == 1, said
    assert [line.split(":")[0] for line in errors] == ["Error"] * (kind != "ended")
    assert b"unexpected" not in said, said
