"""`python -m benchmarks`: a run, what fails in it, how it goes on, and the report."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tiny_experiments import FAILING, IN_FOLDER, TINY, WAYS

from benchmarks.__main__ import main
from benchmarks.experiment import EXPERIMENTS
from benchmarks.experiments import load, unseen
from benchmarks.report import losses
from benchmarks.row import FACTS
from benchmarks.table import as_text, read, succeeded

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
STAGES = (
    "seconds",
    "direct sum / seconds",
    "seconds / bare loop",
)  # as in the table of the results


load()


@pytest.fixture(autouse=True)
def tiny_ones(monkeypatch):
    """Three experiments besides the real ones."""
    for experiment in (TINY, FAILING, IN_FOLDER):
        monkeypatch.setitem(EXPERIMENTS, experiment.name, experiment)


@pytest.fixture
def tool(tmp_path):
    """Calls the tool with tables in a folder of its own, and returns what it prints."""

    def call(*arguments, fails=False):
        done = CliRunner().invoke(main, [*arguments, "--results", str(tmp_path)])
        assert bool(done.exit_code) is fails, done.output
        return done.output

    return call


def table(folder, name):
    with (folder / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def test_a_run_measures_each_row_once(tool, tmp_path):
    only = "--only", "n=2"
    tool("run", "tiny", *only)
    rows = table(tmp_path, "tiny")
    assert [(row["method"], row["seconds"]) for row in rows] == [
        ("kdegraph", "0.5"),
        ("another", "0.5"),
    ]
    assert rows[0]["third"] == "0.3333"
    assert list(rows[0]) == ["n", "method", "seconds", "third", *FACTS]
    assert "numpy" in rows[0]["versions"]
    assert rows[0]["failure"] == ""
    assert int(rows[0]["threads"]) >= 1
    assert "cores" in rows[0]["machine"]
    with np.load(tmp_path / "tiny" / "2-another.npz") as arrays:
        assert arrays["labels"].tolist() == [0, 1]

    path = tmp_path / "tiny.csv"
    path.write_text(path.read_text().replace("0.5", "99"))
    assert tool("run", "tiny", *only).count("already there") == 2
    assert [row["seconds"] for row in table(tmp_path, "tiny")] == ["99", "99"]
    tool("run", "tiny", *only, "--again")
    assert [row["seconds"] for row in table(tmp_path, "tiny")] == ["0.5", "0.5"]

    said = tool("run", "tiny", "--most", "1", "--only", "method=another")
    assert "1/1" in said
    assert len(table(tmp_path, "tiny")) == 3


def test_a_failure_costs_its_row_only(tool, tmp_path):
    tool("run", "failing", *[f"--only=way={way}" for way in WAYS])
    reasons = {row["way"]: row["failure"] for row in table(tmp_path, "failing")}
    assert list(reasons) == list(WAYS)
    assert reasons["error"] == "ValueError: file.mat is broken"
    assert reasons["package"] == "a_package_that_is_absent is not installed"
    assert reasons["crash"] == "the process ended with exit code 3"
    assert "MemoryError" in reasons["memory"]
    assert reasons["none"] == ""
    only = "--only", "way=error", "--only", "way=none"
    assert tool("run", "failing", *only).count("already there") == 2
    assert tool("run", "failing", *only, "--retry").count("already there") == 1


def test_a_row_that_takes_too_long_is_given_up(tool, tmp_path):
    tool("run", "failing", "--only", "way=time", "--limit", "1")
    assert table(tmp_path, "failing")[0]["failure"] == "given up after 1 s"


def test_an_experiment_without_its_folder_is_skipped(tool, tmp_path):
    assert "skipped, as it needs --images" in tool("run", "in_folder")
    assert not (tmp_path / "in_folder.csv").exists()
    tool("run", "in_folder", "--images", str(tmp_path))
    assert table(tmp_path, "in_folder")[0]["entries"] == "0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing",), "there is no experiment nothing"),
        (("tiny", "--only", "n"), "COLUMN=VALUE, got 'n'"),
    ],
)
def test_bad_arguments_are_named(tool, arguments, message):
    assert message in tool("run", *arguments, fails=True)


def test_the_list_has_every_experiment_with_a_sentence(tool):
    lines = tool("list").splitlines()
    assert len(lines) == len(EXPERIMENTS) > 15
    for line, (name, experiment) in zip(lines, EXPERIMENTS.items(), strict=True):
        assert line.startswith(name)
        assert line.endswith(experiment.description)


def test_the_list_counts_the_rows_that_are_measured_and_all(tool, tmp_path):
    def listed(name, *options):
        (line,) = [line for line in tool("list", *options).splitlines() if line.startswith(name)]
        return line.split()[1:4]

    assert listed("tiny") == ["0", "of", "4"]
    tool("run", "tiny", "--only", "n=1")
    assert listed("tiny") == ["2", "of", "4"]
    assert listed("in_folder") == ["0", "of", "?"]
    assert listed("in_folder", "--images", str(tmp_path)) == ["0", "of", "1"]


def test_rows_have_the_parameters_that_are_measured():
    real = {TINY.name, FAILING.name, IN_FOLDER.name}.symmetric_difference(EXPERIMENTS)
    for name in real:
        experiment = EXPERIMENTS[name]
        if experiment.options:
            continue
        rows = [tuple(map(as_text, row.values())) for row in experiment.rows()]
        assert len(set(rows)) == len(rows)
        assert all(list(row) == experiment.parameters for row in experiment.rows())
        measured = read(RESULTS / f"{name}.csv")  # a row that changes would be measured besides
        of = {tuple(row[column] for column in experiment.parameters) for row in measured}
        assert of <= set(rows)


def test_the_report_is_written_from_the_tables_alone(tool, tmp_path):
    tool("run", "tiny", "failing", "--only", "n=1", "--only", "way=error")
    tool("report", "--docs", str(tmp_path / "docs"))
    page = (tmp_path / "docs" / "measurements.md").read_text()
    for text in (
        "## tiny\n\nNumbers without a meaning.\n\nThey are made up.",
        "**The source.** Nowhere.",
        "**Why they differ.** They do not.",
        "| 1 | another | 0.125 | 0.3333 |",
        "Failed: ValueError: file.mat is broken (1)",
        "## Where others win",
        "**tiny, seconds** (less is better): others are better in 1 of 1 cases.",
        "| 1 | another | 0.125 | 0.25 |",
        "![Numbers without a meaning.](results/tiny.svg)",
    ):
        assert text in page
    assert "sizes" not in page
    assert (tmp_path / "docs" / "results" / "tiny.svg").read_text().startswith("<?xml")
    assert (tmp_path / "docs" / "results" / "tiny.png").stat().st_size > 1000
    tool("report", "--docs", str(tmp_path / "again"))
    for name in ("measurements.md", "results/tiny.svg", "results/tiny.png"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "docs" / name).read_bytes()


def test_others_win_where_they_are_better_than_the_default():
    found = [("a", "kdegraph", 2.0), ("a", "kdegraph.knn_graph", 1.0), ("a", "other", 1.95),
             ("b", "kdegraph", 2.0), ("b", "other", 1.0), ("b", "third", 4.0),
             ("c", "kdegraph", 1.02), ("c", "other", 1.0), ("d", "other", 1.0)]  # fmt: skip
    rows = [dict(zip(("set", "method", "score"), one, strict=True)) for one in found]
    lost, cases = losses(rows, ["set", "method"], "score", "less")
    assert cases == 3
    assert [(row["set"], row["method"], row["score"]) for row in lost] == [("b", "other", 1.0)]
    lost, _ = losses(rows, ["set", "method"], "score", "more")
    assert [(row["set"], row["method"], row["score"]) for row in lost] == [("b", "third", 4.0)]


def test_the_page_says_what_the_tables_say(tmp_path, monkeypatch):
    """Otherwise, `python -m benchmarks report` writes it anew."""
    monkeypatch.setattr(
        "benchmarks.report.write_picture", lambda figure, docs, name: f"results/{name}.svg"
    )
    done = CliRunner().invoke(main, ["report", "--docs", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "measurements.md").read_text() == (
        ROOT / "docs" / "measurements.md"
    ).read_text()
    for picture in re.findall(
        r"\]\((results/[\w.]+)\)", (tmp_path / "measurements.md").read_text()
    ):
        assert (ROOT / "docs" / picture).is_file()
        assert (ROOT / "docs" / picture).with_suffix(".png").is_file()


def digits(text):
    """A measured value with two digits, without an exponent."""
    return f"{float(f'{float(text):.2g}'):g}"


@pytest.fixture
def results():
    """The page of the results, on one line."""
    return " ".join((ROOT / "docs" / "results.md").read_text().split())


def test_the_results_say_what_the_stages_took(results):
    *moons, photograph = table(RESULTS, "stages")
    for row in moons:
        seconds, faster, limit = map(digits, (row[name] for name in STAGES))
        said = f"| {int(row['n']):,} | {row['L']} | {seconds} | {faster} times faster | {limit} "
        assert said in results
    assert f"L = {photograph['L']}) take {digits(photograph['seconds'])} s" in results


def test_the_results_say_how_good_the_default_is(results):
    rows = table(RESULTS, "reference_sets")

    def score(method, *folders, measure="ARI", n_sets):
        found = [row for row in rows if row["method"] == method and not row["failure"]]
        found = [float(row[measure]) for row in found if row["set"].startswith(folders)]
        assert len(found) == n_sets
        return f"{np.mean(found):.2f}"

    def standard(method):
        return score(method, "fcps/", "graves/", "sipu/", n_sets=35)

    def real(method):
        return score(method, "real/", n_sets=9)

    def information(method):
        return [
            score(method, name, measure="NMI", n_sets=1)
            for name in ("digits_and_letters/pendigits", "text/banking77")
        ]

    umap, nearest = "UMAP and k-means", "k-NN, scikit-learn"
    digits, sentences = information("kdegraph")
    one, _ = information("kdegraph, one sigma")
    others = [" and ".join(information(method)) for method in (umap, "genie", "k-means")]
    for sentence in (
        f"{standard('kdegraph')} on 35 standard sets (one σ for all: "
        f"{standard('kdegraph, one sigma')}) and {real('kdegraph')} on nine real sets",
        f"Genie has {standard('genie')}, graphs of nearest neighbors {standard(nearest)}, UMAP "
        f"with k-means {standard(umap)}, Gaussian mixtures {standard('Gaussian mixture')}, "
        f"HDBSCAN {standard('HDBSCAN')} (",
        f"and k-means {standard('k-means')}. On the nine real ones k-means has "
        f"{real('k-means')}, Ward's method {real('Ward')}, UMAP with k-means {real(umap)}, "
        f"Genie {real('genie')} (",
        f"{digits} on handwritten digits (PenDigits; one σ: {one}) and {sentences} on 13,083",
        "UMAP with k-means has {}, Genie {}, k-means {} (".format(*others),
    ):
        assert sentence in results


def test_the_results_say_how_good_clusters_of_unseen_tables_are(results):
    found = {row["method"]: row for row in unseen.by_method(succeeded(table(RESULTS, "unseen")))}
    score = {method: f"{row['ARI']:.2f}" for method, row in found.items()}
    n_sets, k_means = found["kdegraph"]["sets"], found["k-means"]
    for sentence in (
        f"On {n_sets} tables that nobody had looked at",
        f"kdegraph has {score['kdegraph']} in the mean, k-means {score['k-means']}, Gaussian "
        f"mixtures {score['Gaussian mixture']}, Ward's method {score['Ward']}, UMAP with k-means "
        f"{score['UMAP and k-means']}, graphs of nearest neighbors {score['k-NN, scikit-learn']}, "
        f"one σ for all {score['kdegraph, one sigma']}, Genie {score['genie']} and HDBSCAN "
        f"{score['HDBSCAN']}. k-means is better than kdegraph by at least 0.05 on "
        f"{k_means['worse by .05']} of them, and worse on {k_means['kdegraph better by .05']} (",
    ):
        assert sentence in results


def test_the_results_say_how_much_clusters_depend_on_the_random_state(results):
    rows = [row for row in table(RESULTS, "random_states") if not row["failure"]]

    def mean(name, folder=""):
        found = [row[name] for row in rows if row["set"].startswith(folder)]
        return np.mean([float(value) for value in found if value])

    for sentence in (
        f"Over all {len(rows)} sets",
        f"index of {mean('agreement'):.2f} in the mean: {mean('agreement', 'real/'):.2f} on the "
        f"real ones, {mean('agreement', 'digits_and_letters/letters'):.2f} on letters, "
        f"{mean('agreement', 'text/'):.2f} on sentences",
        f"{mean('sure'):.0%} have a probability above 0.95".replace("%", " %"),
        f"leaves {mean('sure kept'):.1%} of these".replace("%", " %"),
        f"and {mean('sure right'):.0%} are in the right one".replace("%", " %"),
        f"Of the {mean('doubtful'):.1%} below 0.6, {mean('doubtful kept'):.0%} stay and "
        f"{mean('doubtful right'):.0%} are right".replace("%", " %"),
    ):
        assert sentence in results


def test_the_results_say_how_long_clusters_take(results):
    seconds = {(row["n"], row["method"]): row["seconds"] for row in table(RESULTS, "pipelines")}
    million = digits(seconds["1000000", "kdegraph"])
    nearest = digits(seconds["100000", "scikit-learn, nearest neighbors"])
    full = digits(seconds["15000", "scikit-learn, full kernel"])
    assert f"a million points of two moons take {million} s" in results
    assert f"takes {nearest} s for 100,000 with nearest neighbors, and {full} s for" in results


def test_the_results_say_how_near_the_theorem_is(results):
    usual = [
        row
        for row in table(RESULTS, "theorem")
        if row["n"] == "4000" and row["width"] == "1" and row["c"] == "2" and float(row["d"]) <= 10
    ]
    conductances = [float(row["rho / rho of full"]) for row in usual]
    assert 0.8 < min(conductances) < max(conductances) < 1.2
    ratios = [
        float(row["lambda_{k+1} / that of full"])
        for row in usual
        if float(row["lambda_{k+1} of full"]) > 0.05
    ]
    assert f"it is {min(ratios):.2f} to {max(ratios):.2f} of that" in results
    assert (
        f"between {min(ratios):.2f} and {max(ratios):.2f}" in (ROOT / "docs/method.md").read_text()
    )


def test_what_experiments_quote_of_the_results_stands_there(results):
    for name, experiment in EXPERIMENTS.items():
        quoted = experiment.source.partition("Results")[2].partition("The paper")[0]
        for number in re.findall(r"\d+(?:[.,]\d+)*", quoted):
            assert number in results, f"{name} quotes {number}"


def test_the_results_say_how_well_photographs_are_segmented(results):
    rows = table(RESULTS, "photographs")
    small, full = ([row for row in rows if row["n"] == n] for n in ("20000", "154401"))

    def mean(rows, name="rand index"):
        return f"{np.mean([float(row[name]) for row in rows]):.2f}"

    assert f"is {mean(small)} over the {len(small)} training and validation" in results
    assert len(full) == len(small)
    assert f"and {mean(full)} at full resolution" in results
    assert f"humans against humans have {mean(full, 'other humans')}" in results


def tables_about_memory():
    """The cells of the tables of the page, table by table, without their headings."""
    page = (ROOT / "docs" / "larger_than_memory.md").read_text()
    for table in re.findall(r"^\|---.*\n((?:\|.*\n)+)", page, re.MULTILINE):
        yield [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def test_the_page_about_memory_says_what_tiles_took():
    *tables, _ = tables_about_memory()
    of_clusters = ("graph seconds", "cluster seconds", "GiB", "GiB in folder")
    columns = {
        "tiles": ("seconds", "seconds / in memory", "GiB", "GiB in folder"),
        "tiled_clusters": (*of_clusters[:2], "cluster seconds / in memory", *of_clusters[2:]),
        "mosaic": of_clusters,
    }
    for (name, names), lines in zip(columns.items(), tables, strict=True):
        rows = table(RESULTS, name)
        for n, workers, *said in lines:
            workers = "0" if workers == "threads" else workers.split()[0]
            (row,) = [r for r in rows if r["n"] == n.replace(",", "") and r["workers"] == workers]
            assert said == [digits(row[name]) if row[name] else "" for name in names]


def test_the_page_about_memory_says_what_more_workers_would_take():
    *_, lines = tables_about_memory()
    rows = {(row["n"], row["workers"]): row for row in table(RESULTS, "growth")}
    for n, *said, bound in lines:
        for workers, cell in zip(("1", "4", "16", "64"), said, strict=True):
            seconds = float(rows[n.replace(",", ""), workers]["seconds"])
            assert cell == f"{digits(seconds / 60)} min"
        for workers in ("16", "64"):
            row = rows[n.replace(",", ""), workers]
            assert bound == f"the {row['bound by']}"
        of_caller = sum(float(row[s]) for s in ("tree", "kernel degrees", "clusters, the rest"))
        assert of_caller / float(row["seconds"]) == pytest.approx(0.5, abs=0.05)
