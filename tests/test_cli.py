"""The command line: what it prints, writes and refuses, and how it ends."""

import io
import os
import signal
import subprocess
import sys
import types

import kdegraph
import numpy as np
import pyarrow.parquet
import pytest
import scipy.sparse
from click.testing import CliRunner
from kdegraph import datasets
from kdegraph.cli import main
from kdegraph.cli._output import replacing
from kdegraph.cli._progress import ProgressLine
from PIL import Image


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in an empty folder; gives the result with `exit_code`, `stdout` and `stderr`."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, **options):
        return CliRunner().invoke(main, [str(a) for a in arguments], **options)

    return invoke


@pytest.fixture
def moons(tmp_path):
    """Two moons as a CSV with labels, in the folder of `run`."""
    data = datasets.make("moons", n=300, seed=0)
    path = tmp_path / "moons.csv"
    np.savetxt(path, np.column_stack([data.X, data.y]), delimiter=",", header="x,y,label", comments="", fmt=["%.9f", "%.9f", "%d"])
    return path


@pytest.fixture
def picture(tmp_path):
    """A picture of two halves."""
    image = np.zeros((20, 30, 3), np.uint8)
    image[:, 15:] = (250, 100, 50)
    path = tmp_path / "halves.png"
    Image.fromarray(image).save(path)
    return path


def column(path, name="label"):
    """A column of a written CSV."""
    lines = path.read_text().splitlines()
    index = lines[0].split(",").index(name)
    return np.array([int(line.split(",")[index]) for line in lines[1:]])


def same_partition(a, b):
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


def assert_refused(result, *words, code=2):
    """One line on standard error, nothing on standard output, no traceback, and the exit code."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("Error: ")
    for word in words:
        assert word in lines[0]


# Clusters


def test_cluster_writes_one_label_per_row(run, moons):
    result = run("cluster", moons, "-k", 2, "--sigma", 0.2, "-o", "labels.csv")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""  # not a terminal: no progress
    labels = column(moons.with_name("labels.csv"))
    assert same_partition(labels, column(moons))
    for title in ("data", "graph", "clusters", "conductance", "eigenvalues", "agreement", "seconds", "written"):
        assert any(line.startswith(title) for line in result.stdout.splitlines()), title
    assert "300 points, 2 columns" in result.stdout
    assert "sigma 0.2 (given)" in result.stdout
    assert "1.000 (adjusted Rand index with column 'label')" in result.stdout


@pytest.mark.parametrize(
    "options",
    [[], ["--method", "knn"], ["--method", "knn", "--sigma", "auto", "--neighbors", 12], ["--kernel", "laplacian", "--sigma", 0.05]],
)
def test_methods_find_the_moons(run, moons, options):
    result = run("cluster", moons, "-k", 2, "-o", "labels.csv", *options)
    assert result.exit_code == 0, result.output
    assert same_partition(column(moons.with_name("labels.csv")), column(moons))


def test_the_number_of_clusters_is_chosen(run, tmp_path):
    assert run("sample", "blobs", "-n", 300, "-o", "blobs.csv").exit_code == 0
    result = run("cluster", "blobs.csv")
    assert result.exit_code == 0, result.output
    assert "clusters     3 (by the eigengap)" in result.stdout
    assert not [path for path in tmp_path.iterdir() if path.name != "blobs.csv"]


def test_isolated_points_are_reported(run, moons):
    result = run("cluster", moons, "-k", 1, "--sigma", 1e-300)
    assert result.exit_code == 0, result.output
    assert "eigenvalues  none" in result.stdout
    assert "300 points without an edge" in result.stdout
    assert_refused(run("cluster", moons, "-k", 2, "--sigma", 1e-300), "n_clusters", "larger sigma")


@pytest.mark.parametrize("extension", ["csv", "parquet", "npy"])
def test_formats_of_labels(run, moons, extension):
    result = run("cluster", moons, "-k", 2, "--quiet", "-o", f"labels.{extension}")
    assert (result.exit_code, result.output) == (0, "")
    path = moons.with_name(f"labels.{extension}")
    if extension == "csv":
        labels = column(path)
    elif extension == "parquet":
        labels = pyarrow.parquet.read_table(path)["label"].to_numpy()
    else:
        labels = np.load(path)
    assert labels.shape == (300,)
    assert set(labels) == {0, 1}


def test_the_seed_decides(run, moons):
    for name in ("a", "b"):
        assert run("graph", moons, "--seed", 5, "-o", f"{name}.csv").exit_code == 0
    assert run("graph", moons, "--seed", 6, "-o", "c.csv").exit_code == 0
    texts = [moons.with_name(f"{name}.csv").read_text() for name in "abc"]
    assert texts[0] == texts[1] != texts[2]


def test_columns_and_label_are_chosen(run, tmp_path):
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 50)
    rows = [f"{rng.normal()},{10 * g + rng.normal()},{'ab'[g]},{g},u" for g in group]
    (tmp_path / "t.csv").write_text("noise,x,kind,other,z,\n".replace(",\n", "\n") + "\n".join(rows))
    result = run("cluster", "t.csv", "-k", 2, "--columns", "x", "--label", "kind", "-o", "l.csv")
    assert result.exit_code == 0, result.output
    assert "100 points, 1 columns" in result.stdout
    assert "1.000 (adjusted Rand index with column 'kind')" in result.stdout
    assert same_partition(column(tmp_path / "l.csv"), group)
    assert "agreement" not in run("cluster", "t.csv", "-k", 2, "--columns", "x,1", "--columns", "noise", "--label", "none").stdout


def test_rows_that_are_left_out_have_the_label_minus_one(run, tmp_path):
    values = [f"{v}" for v in np.random.default_rng(0).random(40)]
    values[7] = ""
    (tmp_path / "t.csv").write_text("a,b\n" + "\n".join(f"{v},1" for v in values))
    assert_refused(run("cluster", "t.csv", "-k", 2), "row 8, column 'a' is missing", "dropna")
    result = run("cluster", "t.csv", "-k", 2, "--dropna", "-o", "l.csv")
    assert result.exit_code == 0, result.output
    assert "39 points, 2 columns, 1 rows left out" in result.stdout
    labels = column(tmp_path / "l.csv")
    assert len(labels) == 40
    assert list(np.flatnonzero(labels < 0)) == [7]


def test_a_picture_is_segmented(run, picture):
    result = run("cluster", picture, "-k", 2, "--blur", 0, "-o", "segments.png")
    assert result.exit_code == 0, result.output
    assert "sigma 0.2 (the usual one for pictures)" in result.stdout
    np.testing.assert_array_equal(np.asarray(Image.open(picture.with_name("segments.png"))), np.asarray(Image.open(picture)))
    assert run("cluster", picture, "-k", 2, "--max-pixels", 150, "-o", "l.npy", "-q").exit_code == 0
    labels = np.load(picture.with_name("l.npy"))
    assert labels.shape == (20, 30)
    assert len(set(labels[:, 20])) == 1
    assert labels[0, 0] != labels[0, 29]
    assert run("cluster", picture, "-k", 2, "--max-pixels", "all", "-o", "l.csv", "-q").exit_code == 0
    lines = picture.with_name("l.csv").read_text().splitlines()
    assert lines[0] == "row,column,label"
    assert len(lines) == 601
    assert lines[-1].startswith("19,29,")


# Graphs


def test_graph_as_npz(run, moons):
    result = run("graph", moons, "--sigma", 0.3, "--rounds", 7, "-o", "g.npz")
    assert result.exit_code == 0, result.output
    assert "sigma 0.3 (given), 7 rounds (given)" in result.stdout
    graph = kdegraph.SimilarityGraph.load(moons.with_name("g.npz"))
    assert graph.n_rounds == 7
    assert graph.sigma == 0.3
    assert graph.adjacency.shape == (300, 300)
    assert run("graph", moons, "--method", "knn", "-o", "k.npz").exit_code == 0
    adjacency = scipy.sparse.load_npz(moons.with_name("k.npz"))
    assert (adjacency != kdegraph.knn_graph(datasets.load(moons).X)).nnz == 0


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_graph_as_edges(run, moons, extension):
    assert run("graph", moons, "--method", "knn", "--sigma", 0.1, "-o", f"e.{extension}").exit_code == 0
    path = moons.with_name(f"e.{extension}")
    if extension == "csv":
        source, target, weight = np.loadtxt(path, delimiter=",", skiprows=1).T
        assert path.read_text().startswith("source,target,weight\n")
    else:
        source, target, weight = (c.to_numpy() for c in pyarrow.parquet.read_table(path).columns)
    assert (source < target).all()
    expected = kdegraph.knn_graph(datasets.load(moons).X, mode="kernel", sigma=0.1).toarray()
    got = np.zeros_like(expected)
    got[source.astype(int), target.astype(int)] = weight
    np.testing.assert_allclose(got + got.T, expected, rtol=1e-12)


def test_one_point_is_a_graph_without_edges(run, tmp_path):
    (tmp_path / "one.csv").write_text("a,b\n1,2\n")
    result = run("graph", "one.csv", "-o", "e.csv")
    assert result.exit_code == 0, result.output
    assert "0 edges" in result.stdout
    assert (tmp_path / "e.csv").read_text() == "source,target,weight\n"


# Samples


def test_sample_lists_and_writes(run, tmp_path):
    listed = run("sample").stdout
    for name in datasets.names():
        assert name in listed
    assert run("sample", "rings", "-n", 50, "--seed", 3, "-o", "r.parquet").exit_code == 0
    data = datasets.load(tmp_path / "r.parquet")
    np.testing.assert_array_equal(data.X, datasets.make("rings", n=50, seed=3).X)
    assert data.y is not None
    assert run("sample", "uniform", "-n", 5, "-o", "u.csv").exit_code == 0
    assert (tmp_path / "u.csv").read_text().startswith("x,y\n")
    assert_refused(run("sample", "moon", "-o", "u.csv"), "'moon' is not one of moons, circles")
    assert_refused(run("sample", "moons"), "-o points.csv")


# What is refused


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cluster"], ["Missing argument 'FILE'", "kdegraph cluster --help"]),
        (["clusters", "moons.csv"], ["No such command 'clusters'", "kdegraph --help"]),
        (["cluster", "nope.csv"], ["'nope.csv' does not exist"]),
        (["cluster", "."], ["is a directory"]),
        (["cluster", "moons.csv", "-k", "0"], ["-k", "0 is not in the range"]),
        (["cluster", "moons.csv", "-k", "two"], ["-k", "'two' is not a valid integer"]),
        (["cluster", "moons.csv", "-k", "301"], ["301"]),
        (["cluster", "moons.csv", "--sigma", "0"], ["--sigma", "0 is not a positive, finite number"]),
        (["cluster", "moons.csv", "--sigma", "-1"], ["--sigma", "positive"]),
        (["cluster", "moons.csv", "--sigma", "nan"], ["--sigma", "positive"]),
        (["cluster", "moons.csv", "--sigma", "inf"], ["--sigma", "positive"]),
        (["cluster", "moons.csv", "--sigma", "wide"], ["--sigma", "'wide' is not a valid float"]),
        (["cluster", "moons.csv", "--rounds", "0"], ["--rounds", "0 is not in the range"]),
        (["cluster", "moons.csv", "--rounds", "2.5"], ["--rounds", "not a valid integer"]),
        (["cluster", "moons.csv", "--seed", "-1"], ["--seed"]),
        (["cluster", "moons.csv", "--kernel", "cosine"], ["--kernel", "gaussian"]),
        (["cluster", "moons.csv", "--method", "full"], ["--method"]),
        (["cluster", "moons.csv", "--method", "knn", "--rounds", "5"], ["--rounds goes with --method kde"]),
        (["cluster", "moons.csv", "--neighbors", "5"], ["--neighbors goes with --method knn"]),
        (["cluster", "moons.csv", "--method", "knn", "--neighbors", "300"], ["n_neighbors must be at most 299"]),
        (["cluster", "moons.csv", "--columns", "x,w"], ["no column 'w'", "'x', 'y', 'label'"]),
        (["cluster", "moons.csv", "--label", "kind"], ["no column 'kind'"]),
        (["cluster", "moons.csv", "-o", "labels.txt"], ["'labels.txt' must end in .csv, .parquet, .npy"]),
        (["cluster", "moons.csv", "-o", "labels.png"], ["must end in .csv, .parquet, .npy"]),
        (["cluster", "moons.csv", "-o", "none/labels.csv"], ["folder", "does not exist"]),
        (["cluster", "moons.csv", "-o", "folder.csv"], ["is a folder"]),
        (["cluster", "halves.png", "--columns", "x"], ["is a picture"]),
        (["cluster", "halves.png", "--label", "x"], ["is a picture"]),
        (["cluster", "halves.png", "--max-pixels", "0"], ["--max-pixels"]),
        (["cluster", "halves.png", "--blur", "-1"], ["--blur"]),
        (["graph", "moons.csv"], ["Missing option", "--output"]),
        (["graph", "moons.csv", "-o", "g.npy"], ["'g.npy' must end in .npz, .csv, .parquet"]),
        (["explore", "nope.csv"], ["'nope.csv' does not exist"]),
        (["explore", "bad.txt"], ["unknown type '.txt'"]),
        (["explore", "--port", "99999"], ["--port"]),
        (["explore", "--port", "http"], ["--port"]),
    ],
)
def test_wrong_usage_is_refused_in_one_line(run, moons, picture, tmp_path, arguments, words):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "bad.txt").write_text("words")
    before = sorted(tmp_path.iterdir())
    assert_refused(run(*arguments), *words)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.csv", b"", ["t.csv is empty"]),
        ("t.csv", b"just some words\nand more of them\n", ["no column of numbers"]),
        ("t.csv", b"a,b\n1,2\n3\n", ["cannot be read as a table"]),
        ("t.csv", b"a,b\n1,2\n3,nan\n", ["row 2, column 'b' is missing"]),
        ("t.csv", b"a,b\n1,2\n3,inf\n", ["row 2, column 'b' is infinite"]),
        ("t.npy", b"a,b\n1,2\n", ["t.npy does not hold what its name says"]),
        ("t.npz", b"PK\x03\x04junk", ["damaged"]),
        ("t.png", b"\x89PNG\r\n\x1a\njunk", ["not a readable PNG"]),
        ("t.jpg", b"\xff\xd8\xffjunk", ["not a readable JPEG"]),
        ("t.parquet", b"PAR1junk", ["cannot be read as Parquet"]),
        ("t.txt", b"1,2\n3,4\n", ["unknown type '.txt'", ".csv"]),
        ("words", b"1,2\n3,4\n", ["without an extension"]),
    ],
)
@pytest.mark.parametrize("command", ["cluster", "graph"])
def test_bad_files_are_refused_in_one_line(run, tmp_path, command, name, content, words):
    (tmp_path / name).write_bytes(content)
    assert_refused(run(command, name, "-o", "out.csv"), *words)
    assert [path.name for path in tmp_path.iterdir()] == [name]


# How commands end when something happens


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "Interrupted."),
        (RuntimeError("two\nlines"), 1, "Error: RuntimeError: two lines (unexpected; set KDEGRAPH_TRACEBACK=1 to see where it comes from)"),
        (TypeError("bug"), 1, "Error: TypeError: bug (unexpected"),
        (MemoryError("1 TiB"), 2, "Error: not enough memory: 1 TiB"),
        (ValueError("X is odd"), 2, "Error: X is odd"),
        (OSError(28, "No space left on device"), 1, "Error: OSError: [Errno 28] No space left on device"),
        (PermissionError(13, "Permission denied", "g.npz"), 2, "Error: g.npz: Permission denied"),
    ],
)
def test_a_failure_while_writing_leaves_nothing_behind(run, moons, monkeypatch, error, code, line):
    moons.with_name("g.npz").write_text("precious")

    def half(self, path):
        path.write_text("half")
        raise error

    monkeypatch.setattr(kdegraph.SimilarityGraph, "save", half)
    result = run("graph", moons, "-o", "g.npz")
    assert result.exit_code == code
    shown = result.stderr.removeprefix("\n")  # after an interrupt a line of its own, because the terminal has shown ^C
    assert shown.startswith(line)
    assert shown.count("\n") == 1
    assert sorted(path.name for path in moons.parent.iterdir()) == ["g.npz", "moons.csv"]
    assert moons.with_name("g.npz").read_text() == "precious"


def test_the_traceback_can_be_asked_for(run, moons, monkeypatch):
    monkeypatch.setenv("KDEGRAPH_TRACEBACK", "1")
    result = run("cluster", moons, "--columns", "w")
    assert isinstance(result.exception, ValueError)


def test_warnings_are_one_line(run, moons, monkeypatch):
    import warnings

    from kdegraph.datasets import read

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


def test_replacing_keeps_the_mode_of_the_file_and_follows_links(run, moons, tmp_path):
    target = tmp_path / "target.csv"
    target.write_text("old")
    target.chmod(0o640)
    (tmp_path / "link.csv").symlink_to(target)
    assert run("cluster", moons, "-k", 2, "-q", "-o", "link.csv").exit_code == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert target.read_text().startswith("label\n")
    assert target.stat().st_mode & 0o777 == 0o640
    mask = os.umask(0o022)
    try:
        with replacing(tmp_path / "new.csv") as temporary:
            temporary.write_text("x")
    finally:
        os.umask(mask)
    assert (tmp_path / "new.csv").stat().st_mode & 0o777 == 0o644


# The explorer is served by its own package


def test_explore_hands_over(run, moons, monkeypatch):
    calls = []
    app = types.ModuleType("kdegraph_explorer.app")
    app.serve = lambda file, **options: calls.append((file, options))
    monkeypatch.setitem(sys.modules, "kdegraph_explorer.app", app)
    monkeypatch.setitem(sys.modules, "kdegraph_explorer", types.ModuleType("kdegraph_explorer"))
    assert run("explore").exit_code == 0
    assert run("explore", moons, "--host", "0.0.0.0", "--port", 0, "--no-browser").exit_code == 0
    assert calls == [
        (None, {"host": "127.0.0.1", "port": 5006, "show": True}),
        (str(moons), {"host": "0.0.0.0", "port": 0, "show": False}),
    ]

    def stopped(*args, **options):
        raise KeyboardInterrupt

    app.serve = stopped
    result = run("explore")
    assert (result.exit_code, result.stderr) == (0, "Stopped.\n")

    def taken(*args, **options):
        raise OSError(98, "Address already in use")

    app.serve = taken
    assert_refused(run("explore"), "cannot listen at 127.0.0.1, port 5006: Address already in use; try --port 0")


def test_explore_without_its_packages_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "kdegraph_explorer.app", None)
    assert_refused(run("explore"), 'pip install "kdegraph[explorer]"', code=1)


# Help and progress


@pytest.mark.parametrize("command", [[], ["cluster"], ["graph"], ["explore"], ["sample"]])
def test_help_teaches_with_examples(run, command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Examples:" in result.stdout
    assert "  kdegraph " in result.stdout
    assert result.stdout == run(*command, "-h").stdout
    assert max(map(len, result.stdout.splitlines())) <= 110


def test_examples_in_the_help_are_valid_commands(run, tmp_path):
    """Every example is parsed (not run) by the command it is shown for."""
    count = 0
    for name, command in main.commands.items():
        for line in command.help.splitlines():
            if line.strip().startswith(f"kdegraph {name}"):
                words = line.strip().split("   ")[0].split()[2:]
                files = [word for word in words if "." in word and not word.replace(".", "").isdigit()]
                for file in files:
                    (tmp_path / file).touch()
                command.make_context(name, words).close()
                count += 1
    assert count >= 12


def test_without_a_command_there_is_help(run):
    result = run()
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == run("--help").stdout


def test_version(run):
    assert run("--version").stdout == f"kdegraph {kdegraph.__version__}\n"


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


def test_progress_line_is_not_drawn_too_often(monkeypatch):
    monkeypatch.setattr("time.monotonic", lambda: 1.0)
    stream = io.StringIO()
    progress = ProgressLine(stream)
    for fraction in np.linspace(0, 1, 100):
        progress("samples", fraction)
    assert stream.getvalue().count("\r") == 1


# In processes of their own


def start(*command, **options):
    return subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def test_python_m_and_a_file_from_end_to_end(moons):
    process = start("-m", "kdegraph", "cluster", str(moons), "-k", "2", "-o", str(moons.with_name("l.parquet")))
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert "agreement    1.000" in out
    assert len(pyarrow.parquet.read_table(moons.with_name("l.parquet"))) == 300
    process = start("-m", "kdegraph", "cluster", str(moons), "-k", "x")
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (2, "")
    assert err.startswith("Error: Invalid value")
    assert "(see kdegraph cluster --help)" in err


def test_ctrl_c_ends_with_130_and_without_a_traceback(moons):
    script = """
import sys, time
from kdegraph import datasets
from kdegraph.cli import main

def read(*args, **options):
    print("ready", flush=True)
    time.sleep(600)

datasets.read = read
main(["graph", sys.argv[1], "-o", sys.argv[1] + ".npz"])
"""
    # What runs in the background of a shell ignores the signal, and so would this process.
    process = start("-c", script, str(moons), preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (130, "", "\nInterrupted.\n")
    assert [path.name for path in moons.parent.iterdir()] == ["moons.csv"]


def test_progress_is_shown_on_a_terminal_only(moons):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "kdegraph", "graph", str(moons), "-o", str(moons.with_name("g.npz"))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True)
    out, _ = process.communicate(timeout=120)
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert process.returncode == 0
    assert "%" in shown
    assert shown.endswith("\r")
    assert "\r" not in out
    assert "edges" in out
