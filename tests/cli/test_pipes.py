"""Standard input and output, tables that keep their columns, JSON, and columns that are told of."""

import csv
import io
import json
import os
import signal
import time

import kdegraph
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from cli.results import assert_refused, column, same_partition, start
from kdegraph import datasets


@pytest.fixture
def people(tmp_path):
    """40 people in two groups as CSV, with numbers too long for a float64 and commas in cells."""
    rng = np.random.default_rng(0)
    group = np.arange(40) % 2
    rows = [
        [2**53 + i, repr(float(rng.normal() + 9 * k)), ["red, or so", "blue"][k], "2020-01-31"]
        for i, k in enumerate(group)
    ]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([["number", "size, cm", "color", "on"], *rows])
    path = tmp_path / "people.csv"
    path.write_text(text.getvalue())
    return path


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


def test_from_standard_input_to_standard_output(run, people):
    command = ("cluster", "-", "-k", 2, "--id", "number", "-o", "-")
    result = run(*command, input=people.read_bytes())
    assert result.exit_code == 0, result.output
    written, given = rows_of(result.stdout), rows_of(people.read_text())
    assert written[0] == [*given[0], "cluster"]
    assert [row[:-1] for row in written[1:]] == given[1:]
    assert same_partition([row[-1] for row in written[1:]], [row[2] for row in given[1:]])
    assert result.stderr.startswith("data         -: 40 points, 1 column\n")
    assert "written" not in result.stderr
    quiet = run(*command, "-q", input=people.read_bytes())
    assert (quiet.stdout, quiet.stderr) == (result.stdout, "")


def test_the_other_commands_write_to_standard_output(run, moons):
    points = run("sample", "moons", "-n", 50, "-o", "-")
    assert datasets.load(points.stdout_bytes).n_points == 50
    edges = run("graph", moons, "--seed", 3, "-o", "-")
    assert run("graph", "-", "--seed", 3, "-o", "g.csv", input=moons.read_bytes()).exit_code == 0
    assert edges.stdout == moons.with_name("g.csv").read_text()
    assert "edges" in edges.stderr


def test_what_is_no_table_of_text_keeps_its_columns(run, tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 2))
    np.save(tmp_path / "x.npy", X)
    assert run("cluster", "x.npy", "-k", 2, "-o", "out.csv").exit_code == 0
    found = datasets.read(tmp_path / "out.csv")
    np.testing.assert_array_equal(found.to_dataset(["x1", "x2"], None).X, X)
    frame = pa.table({"x": X[:, 0], "cluster": pa.array(["old"] * 30), "y": X[:, 1]})
    pyarrow.parquet.write_table(frame, tmp_path / "in.parquet")
    (tmp_path / "x.txt").write_text("\n".join(f"{x:20.17f}   {y:20.17f}" for x, y in X))
    for source, target in (("in.parquet", "out.parquet"), ("x.txt", "t.parquet")):
        assert run("cluster", source, "-k", 2, "-o", target).exit_code == 0
    found = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert found.column_names == ["x", "cluster", "y", "cluster_"]
    assert found.select([0, 2]).equals(frame.select([0, 2]))
    assert found["cluster"].to_pylist() == ["old"] * 30
    same = pyarrow.parquet.read_table(tmp_path / "t.parquet")["cluster"]
    assert same.to_pylist() == column(tmp_path / "out.csv", "cluster").tolist()


def test_nothing_of_a_table_is_lost(run, tmp_path):
    """Columns of one name, long whole numbers, and lists, which CSV cannot hold."""
    rows = [f"{i},{i % 2},{12345678901234567890 + i}" for i in range(40)]
    (tmp_path / "twice.csv").write_text("\n".join(["v,v,account", *rows]))
    assert run("cluster", "twice.csv", "-k", 2, "-o", "t.csv").exit_code == 0
    written = rows_of((tmp_path / "t.csv").read_text())
    assert written[0] == ["v", "v (2)", "account", "cluster"]
    assert [",".join(row[:3]) for row in written[1:]] == rows
    objects = [
        {"id": 2**53 + 1 + i, "x": i % 2 + i / 99, "tags": ["a", str(i)], "from": {"town": None}}
        for i in range(40)
    ]
    (tmp_path / "lists.json").write_text(json.dumps(objects))
    for name, read in (("l.csv", pa.csv.read_csv), ("l.parquet", pa.parquet.read_table)):
        assert run("cluster", "lists.json", "-k", 2, "-o", name).exit_code == 0
        written = read(tmp_path / name).drop_columns("cluster").to_pylist()
        for row in written:
            row |= {name: json.loads(row[name]) for name in ("tags", "from")}
        assert written == objects


def test_json_says_what_the_estimator_knows(run, people, tmp_path):
    X = np.random.default_rng(1).normal(size=(200, 2)) + 3.0 * np.eye(3, 2)[np.arange(200) % 3]
    np.save(tmp_path / "x.npy", X)
    result = run("cluster", "x.npy", "--json", "--seed", 4)
    found, model = json.loads(result.stdout), kdegraph.KDESpectralClustering(random_state=4).fit(X)
    assert (result.exit_code, result.stderr) == (0, "")
    assert found["labels"] == model.labels_.tolist()
    assert found["n_clusters"] == model.n_clusters_ == len(found["sizes"])
    assert found["sizes"] == np.bincount(model.labels_).tolist()
    assert found["confidence"] == pytest.approx(model.confidence_)
    assert [tuple(pair) for pair in found["candidates"]] == list(model.candidates_)
    assert found["stability"] == pytest.approx(model.stability_.tolist())
    assert found["conductances"] == pytest.approx(model.conductances_.tolist())
    assert set(found["seconds"]) == {"number of clusters", "scales"}
    options = ("-k", 2, "--json", "--id", "number", "-o", "out.npy")
    found = json.loads(run("cluster", people, *options).stdout)
    assert found["ids"] == [2**53 + i for i in range(40)]
    assert (found["written"], found["confidence"], found["columns"]) == (
        "out.npy",
        None,
        ["size, cm"],
    )
    assert "labels" not in found
    assert_refused(run("cluster", people, "--json", "-o", "-"), "both write to standard output")


def test_categories_are_encoded_as_table_points_does(run, people):
    for named, options in (("auto", {}), ("color,number", {"categories": ["color", "number"]})):
        arguments = ("--categories", named, "--columns", 1, "--columns", "color", "-o", "l.npy")
        result = run("cluster", people, "-k", 2, *arguments)
        assert result.exit_code == 0, result.output
        points = datasets.table_points(datasets.read(people), ["size, cm", "color"], **options)
        expected = kdegraph.KDESpectralClustering(2, random_state=0).fit_predict(points)
        np.testing.assert_array_equal(np.load(people.with_name("l.npy")), expected)
        assert f"40 points, {points.X.shape[1]} columns" in result.stdout
    command = ("cluster", people, "--categories", "color")
    assert_refused(run(*command, "--scale", "standardize"), "--categories", "without --scale")
    assert_refused(run(*command, "--metric", "cosine"), "--categories goes with --metric euclidean")
    assert_refused(run("cluster", people, "--categories", "town"), "no column 'town'")


def test_columns_that_are_no_features_are_told(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{i % 2 * 9 + rng.normal()},{i % 2},{7 * i % 150},a{i % 3},{i}" for i in range(200)]
    (tmp_path / "t.csv").write_text("\n".join(["x,species,Target,kind,who", *rows]))
    result = run("cluster", "t.csv", "-k", 2)
    assert "200 points, 1 column\n" in result.stdout
    told = "not used     'Target' (named like a label), 'kind' (text), 'who' (an identifier); "
    told += "numbers are used if --columns names them, text if --categories does\n"
    assert told in result.stdout
    told = "1.000 (adjusted Rand index with column 'species'), which is not a feature"
    assert told in result.stdout
    result = run("cluster", "t.csv", "-k", 2, "--columns", "x,Target,species")
    assert "200 points, 3 columns" in result.stdout
    assert "agreement" not in result.stdout
    result = run("cluster", "t.csv", "-k", 2, "--id", "x", "--label", "none", "--columns", "who")
    assert (
        "not used     'species' (named like a label), 'Target' (named like a label)"
        in result.stdout
    )
    assert "'x'" not in result.stdout


def test_numbers_that_are_stored_as_text_are_told(run, tmp_path):
    numbers = np.random.default_rng(0).normal(size=30)
    frame = pa.table({"x": numbers, "code": [f"{i % 7}" for i in range(30)]})
    pyarrow.parquet.write_table(frame, tmp_path / "t.parquet")
    result = run("cluster", "t.parquet", "-k", 2)
    note = "Note: numbers that are stored as text are used as numbers: 'code'\n"
    assert (result.exit_code, result.stderr) == (0, note)
    assert run("cluster", "t.parquet", "-k", 2, "--categories", "code").stderr == ""


LARGE = ("sample", "moons", "-n", 20_000, "-o", "-")


def test_large_output_is_complete_without_a_buffer():
    with start(*LARGE, env=os.environ | {"PYTHONUNBUFFERED": "1"}) as process:
        out, err = process.communicate(timeout=120)
    assert (len(out.splitlines()), err) == (20_001, b"")


def test_ctrl_c_while_waiting_for_input():
    with start(
        *("cluster", "-", "-k", 2, "-o", "-"),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        process.stdin.write(b"x,y\n1,2\n" * 20_000)  # more than a pipe holds: it is being read
        process.stdin.flush()
        time.sleep(1.0)  # it has read the rest, and waits
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 130
        assert process.stderr.read() == b"\nInterrupted.\n"
