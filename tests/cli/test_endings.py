"""The end of commands: errors, warnings, files that exist already, Ctrl+C."""

import contextlib
import io
import os
import re
import time
import warnings

import numpy as np
import pyarrow.parquet
import pytest
import zarr
from cli.results import start
from kdegraph import datasets
from kdegraph.cli._progress import ProgressLine


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "Interrupted."),
        (
            RuntimeError("two\nlines"),
            1,
            "Error: RuntimeError: two lines (unexpected; set ",
        ),
        (TypeError("bug"), 1, "Error: TypeError: bug (unexpected"),
        (MemoryError("1 TiB"), 2, "Error: not enough memory: 1 TiB"),
        (ValueError("X is odd"), 2, "Error: X is odd"),
        (OSError(28, "No space left on device"), 1, "Error: PATH: No space left on device"),
        (OSError("8 requested and 0 written"), 1, "Error: PATH: 8 requested and 0 written"),
        (PermissionError(13, "Permission denied", "x"), 2, "Error: PATH: Permission denied"),
    ],
)
def test_a_failure_while_writing_leaves_nothing_behind(run, moons, monkeypatch, error, code, line):
    path = moons.with_name("g.npz")
    path.write_text("precious")

    def half(file, **arrays):
        file.write(b"half")
        raise error

    monkeypatch.setattr(np, "savez_compressed", half)
    result = run("graph", moons, "-o", "g.npz")
    assert result.exit_code == code
    # After an interrupt the terminal has shown ^C, so the message begins on a new line.
    shown = result.stderr.removeprefix("\n")
    assert shown.startswith(line.replace("PATH", str(path)))
    assert shown.count("\n") == 1
    assert sorted(path.name for path in moons.parent.iterdir()) == ["g.npz", "moons.csv"]
    assert path.read_text() == "precious"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("cluster", "-k", 2), "moons.npy"),
        (("cluster", "-k", 2), "moons.zarr"),  # by tiles
        (("cluster", "-k", 2, "--method", "knn"), "moons.npy"),
        (("graph", "--quiet"), "moons.npy"),
    ],
)
def test_a_deadline_ends_a_command_and_nothing_is_written(run, moons, command, name):
    points = moons.with_name(name)
    save = {".npy": np.save, ".zarr": zarr.save_array}[points.suffix]
    save(points, np.loadtxt(moons, delimiter=",", skiprows=1))
    output = moons.with_name("found.npz" if "graph" in command else "found.npy")
    output.write_text("precious")
    before = sorted(moons.parent.iterdir())
    result = run(*command, points, "-o", output, "--deadline", 1e-6)
    assert result.exit_code == 1
    line = r"Error: the deadline of 1e-06 s passed in the stage '[^']+'\n"
    assert re.fullmatch(line, result.stderr), result.stderr
    assert (sorted(moons.parent.iterdir()), output.read_text()) == (before, "precious")
    assert run(*command, points, "-o", output, "--deadline", 600).exit_code == 0
    assert output.read_bytes()[:8] != b"precious"


def test_a_deadline_ends_a_command_whose_input_does_not_end():
    with start("cluster", "-", "--deadline", 0.5, bufsize=0) as process:
        with contextlib.suppress(BrokenPipeError):
            while process.poll() is None:
                process.stdin.write(b"1.5,2.5\n")
                time.sleep(0.01)
        error = process.stderr.read()
    assert error == b"Error: the deadline of 0.5 s passed in the stage 'reading'\n"
    assert process.returncode == 1


def test_the_traceback_can_be_asked_for(run, moons, monkeypatch):
    monkeypatch.setenv("KDEGRAPH_TRACEBACK", "1")
    result = run("cluster", moons, "--columns", "w")
    assert isinstance(result.exception, ValueError)


def test_warnings_are_one_line(run, moons, monkeypatch):
    read = datasets.read

    def warning_read(*args, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("something\nodd", stacklevel=1)
        return read(*args, **options)

    monkeypatch.setattr(datasets, "read", warning_read)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    result = run("graph", moons, "-o", "g.npz", "--quiet")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "something odd" in " ".join(result.stderr.split())


def test_python_m_and_a_file_from_end_to_end(moons):
    path = moons.with_name("l.parquet")
    process = start("cluster", moons, "-k", 2, "--sigma", 0.2, "-o", path, text=True)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert "agreement    1.000" in out
    assert len(pyarrow.parquet.read_table(path)) == 300


def test_the_progress_line_is_redrawn_and_removed(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    stream = io.StringIO()
    with ProgressLine(stream) as progress:
        progress("kernel degrees", 0.0)
        progress("samples", 0.5)
        progress("samples", 1.7)
    parts = stream.getvalue().split("\r")
    assert parts[1].startswith("kernel degrees")
    assert "50%" in parts[2]
    assert f"[{'#' * 12}{' ' * 12}]" in parts[2]
    assert "[" + "#" * 24 + "]" in parts[3]
    assert parts[-2].strip() == parts[-1] == ""


def test_progress_is_shown_on_a_terminal_only(moons):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = ["graph", moons, "-o", moons.with_name("g.npz")]
    process = start(*command, stderr=theirs, text=True)
    out, _ = process.communicate(timeout=120)
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert process.returncode == 0
    assert "%" in shown
    assert shown.endswith("\r")
    assert "\r" not in out
    assert "edges" in out
