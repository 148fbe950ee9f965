"""Clusters, graphs and samples as commands print and write them."""

import re

import kdegraph
import networkx
import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
import scipy.sparse
from cli.results import assert_refused, column, same_partition
from kdegraph import datasets
from kdegraph.cli import _options
from kdegraph.validation import LOCAL_WORDS
from PIL import Image

# Clusters


def test_cluster_writes_one_label_per_row(run, moons):
    result = run("cluster", moons, "-k", 2, "--sigma", 0.2, "-o", "labels.csv")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""  # not a terminal: no progress
    labels = column(moons.with_name("labels.csv"), "cluster")
    assert same_partition(labels, column(moons))
    titles = "data graph clusters conductance eigenvalues agreement seconds written"
    assert [line.split()[0] for line in result.stdout.splitlines()] == titles.split()
    assert "300 points, 2 columns" in result.stdout
    assert "sigma 0.2 (given)" in result.stdout
    assert "1.000 (adjusted Rand index with column 'label')" in result.stdout


METHODS = {
    "automatic": (),
    "knn": ("--method", "knn"),
    "weighted knn": ("--method", "knn", "--sigma", "auto", "--neighbors", 12),
    "laplacian": ("--kernel", "laplacian", "--sigma", 0.05),
}


@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
def test_methods_find_the_moons(run, moons, options):
    result = run("cluster", moons, "-k", 2, "-o", "labels.csv", *options)
    assert result.exit_code == 0, result.output
    assert same_partition(column(moons.with_name("labels.csv"), "cluster"), column(moons))


def test_fewer_clusters_than_given_are_not_said_to_be_given(run, tmp_path):
    (tmp_path / "places.csv").write_text("x,y\n" + "1.5,2\n3,4.5\n" * 8)  # two places
    result = run("cluster", "places.csv", "-k", 5)
    assert "clusters     2 (5 given), of 8 8 points\n" in result.stdout


def test_the_number_of_clusters_is_chosen(run, tmp_path):
    assert run("sample", "blobs", "-n", 300, "-o", "blobs.csv").exit_code == 0
    result = run("cluster", "blobs.csv")
    assert result.exit_code == 0, result.output
    assert re.search(r"clusters     3 \(confidence (0\.9\d|1\.00)\), of", result.stdout)
    assert "(the most stable)" in result.stdout
    assert re.search(r"stability +[01.]+ [01.]+ [01.]+; \d+ doubtful points", result.stdout)
    result = run("cluster", "blobs.csv", "--sigma", "auto")
    assert "clusters     3 (by the eigengap)" in result.stdout
    assert "stability" not in result.stdout
    assert not [path for path in tmp_path.iterdir() if path.name != "blobs.csv"]
    assert run("sample", "moons", "-n", 200, "-o", "moons.csv").exit_code == 0
    result = run("cluster", "moons.csv")
    assert re.search(r"clusters     2 \(confidence 0\.[0-4]\d; or 1\), of", result.stdout)


def test_the_command_and_the_estimator_find_the_same_clusters(run, tmp_path):
    """With a given number; without one, see `test_json_says_what_the_estimator_knows`."""
    X = np.random.default_rng(0).normal(size=(200, 3)) + 2.0 * np.eye(3)[np.arange(200) % 3]
    np.save(tmp_path / "x.npy", X)
    assert run("cluster", "x.npy", "-k", 3, "--seed", 7, "-o", "labels.npy").exit_code == 0
    model = kdegraph.KDESpectralClustering(3, random_state=7).fit(X)
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), model.labels_)


@pytest.mark.parametrize("method", ["kde", "knn"])
def test_places_on_the_earth(run, tmp_path, method):
    lines = ["lat,lon,island"]
    for i in range(60):
        side = 1 if i % 3 else -1  # of the date line
        lines.append(f"{-17 - i % 2 + 0.003 * i},{side * (180 - 0.001 * i)},{i % 2}")
    (tmp_path / "islands.csv").write_text("\n".join(lines))
    options = ("--columns", "lat,lon", "--label", "island", "--metric", "haversine")
    result = run("cluster", "islands.csv", "-k", 2, *options, "--method", method)
    assert result.exit_code == 0, result.output
    assert "1.000 (adjusted Rand index with column 'island')" in result.stdout
    assert "very different scales" not in result.stderr
    assert method == "knn" or "haversine metric" in result.stdout


def test_doubtful_points_are_noise_on_request(run, tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 2))
    X[100:, 0] += 2.0
    np.save(tmp_path / "x.npy", X)
    result = run("cluster", "x.npy", "-k", 2, "--noise", 0.8, "-o", "labels.npy")
    assert result.exit_code == 0, result.output
    expected = kdegraph.KDESpectralClustering(2, noise=0.8, random_state=0).fit_predict(X)
    labels = np.load(tmp_path / "labels.npy")
    np.testing.assert_array_equal(labels, expected)
    n_doubtful = (labels == -1).sum()
    assert n_doubtful > 0
    words = "in fewer than 80% of the graphs in their cluster; their label is -1"
    assert f"; {n_doubtful} doubtful points ({words})" in result.stdout


def test_isolated_points_are_reported(run, moons):
    result = run("cluster", moons, "-k", 1, "--sigma", 1e-300)
    assert result.exit_code == 0, result.output
    assert "eigenvalues  none" in result.stdout
    assert "300 points without an edge" in result.stdout
    assert_refused(run("cluster", moons, "-k", 2, "--sigma", 1e-300), "n_clusters", "larger sigma")


def test_the_seed_decides_and_a_sigma_of_auto_is_the_default(run, moons):
    written = []
    for options in (["5"], ["5", "--sigma", "auto"], ["6"]):
        assert run("graph", moons, "-o", "g.csv", "--seed", *options).exit_code == 0
        written.append(moons.with_name("g.csv").read_text())
    assert written[0] == written[1] != written[2]


def test_columns_and_label_are_chosen(run, tmp_path):
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 50)
    rows = [f"{rng.normal()},{10 * g + rng.normal()},{'ab'[g]},{g},u" for g in group]
    (tmp_path / "t.csv").write_text("\n".join(["noise,x,kind,other,z", *rows]))
    result = run("cluster", "t.csv", "-k", 2, "--columns", "x", "--label", "kind", "-o", "l.csv")
    assert result.exit_code == 0, result.output
    assert "100 points, 1 column\n" in result.stdout
    assert "1.000 (adjusted Rand index with column 'kind')" in result.stdout
    assert same_partition(column(tmp_path / "l.csv", "cluster"), group)
    options = ["--columns", "x,1", "--columns", "noise", "--label", "none"]
    result = run("cluster", "t.csv", "-k", 2, *options)
    assert "100 points, 3 columns" in result.stdout
    assert "agreement" not in result.stdout


def test_rows_that_are_left_out_have_the_label_minus_one(run, tmp_path):
    values = [f"{v}" for v in np.random.default_rng(0).random(40)]
    values[7] = ""
    (tmp_path / "t.csv").write_text("a,b\n" + "\n".join(f"{v},1" for v in values))
    place = "row 7 (line 9 of the file), column 'a'"
    assert_refused(run("cluster", "t.csv", "-k", 2), f"{place} is missing", "--dropna")
    result = run("cluster", "t.csv", "-k", 2, "--dropna", "-o", "l.csv")
    assert result.exit_code == 0, result.output
    assert "39 points, 1 column, 1 row left out" in result.stdout
    assert "not used     'b' (always the same)" in result.stdout
    labels = column(tmp_path / "l.csv", "cluster")
    assert len(labels) == 40
    assert list(np.flatnonzero(labels < 0)) == [7]


def test_a_picture_is_segmented(run, picture):
    def written(path, *options):
        result = run("cluster", picture, "-k", 2, "-o", path, *options)
        assert result.exit_code == 0, result.output
        return result, picture.with_name(path)

    result, path = written("segments.png", "--blur", 0)
    assert re.search(r"sigma 0\.\d+ \(estimated for pictures\)", result.stdout)
    np.testing.assert_array_equal(np.asarray(Image.open(path)), np.asarray(Image.open(picture)))
    _, path = written("l.npy", "--max-pixels", 150)
    labels = np.load(path)
    assert labels.shape == (20, 30)
    assert len(set(labels[:, 20])) == 1
    assert labels[0, 0] != labels[0, 29]
    _, path = written("l.csv", "--max-pixels", "all")
    lines = path.read_text().splitlines()
    assert (lines[0], len(lines), lines[-1][:6]) == ("row,column,label", 601, "19,29,")


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


def test_the_words_for_bandwidths_are_those_of_the_library():
    assert _options.LOCAL_WORDS == LOCAL_WORDS


@pytest.mark.parametrize("word", LOCAL_WORDS)
def test_graph_of_local_bandwidths(run, moons, word):
    options = ["--sigma", word, "--perplexity", 12, "--alpha", 0.5]
    result = run("graph", moons, *options, "-o", "g.npz")
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    graph = kdegraph.SimilarityGraph.load(moons.with_name("g.npz"))
    rule = {"local": "perplexity", "moderate": "moderate"}[word]
    sigma = kdegraph.local_bandwidths(datasets.load(moons).X, perplexity=12, rule=rule)
    np.testing.assert_array_equal(graph.sigma, sigma)
    assert graph.alpha == 0.5
    words = f"local bandwidths {sigma.min():.4g} to {sigma.max():.4g} (estimated), alpha 0.5, "
    assert words in result.stdout
    result = run("cluster", moons, "-k", 2, *options)
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    assert words in result.stdout


@pytest.fixture
def unequal(moons):
    """Two moons as a CSV, the second column in another unit."""
    table = np.loadtxt(moons, delimiter=",", skiprows=1) * [1, 1e4, 1]
    np.savetxt(moons, table, delimiter=",", header="x,y,label", comments="")
    return moons


@pytest.mark.parametrize("method", ["kde", "knn"])
def test_problems_of_the_graph_are_printed_with_the_report(run, unequal, method):
    for command in (["cluster", unequal, "-k", 2], ["graph", unequal, "-o", "g.npz"]):
        result = run(*command, "--method", method, "--scale", "none")
        assert result.exit_code == 0
        (line,) = result.stderr.splitlines()
        assert line.startswith("Warning: the columns have very different scales: column y varies")
        assert line.endswith("; take --scale standardize, or the same unit for all")
        assert "edges" in result.stdout
        assert run(*command, "--method", method, "--quiet").output == ""
    result = run("cluster", "moons.csv", "-k", 1, "--sigma", 1e-300)
    assert "300 of 300 have no edge" in result.stderr.splitlines()[1]


# Scales of columns


@pytest.mark.parametrize("method", ["kde", "knn"])
def test_columns_of_different_units_are_standardized(run, unequal, method):
    command = "cluster", unequal, "-k", 2, "-o", "labels.csv", "--method", method
    result = run(*command)
    assert result.exit_code == 0, result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith("Note: the columns have very different scales: column y varies by")
    assert line.endswith("; all are standardized, which --scale none prevents")
    assert "300 points, 2 standardized columns" in result.stdout
    labels, truth = column(unequal.with_name("labels.csv"), "cluster"), datasets.load(unequal).y
    assert same_partition(labels, truth)
    asked_for = run(*command, "--scale", "standardize")
    assert asked_for.stderr == ""
    np.testing.assert_array_equal(column(unequal.with_name("labels.csv"), "cluster"), labels)
    assert run(*command, "--scale", "none").exit_code == 0
    assert not same_partition(column(unequal.with_name("labels.csv"), "cluster"), truth)
    assert run(*command, "--quiet").output == ""


def test_a_given_sigma_is_in_the_units_of_the_columns(run, unequal):
    result = run("cluster", unequal, "-k", 2, "--sigma", 2000, "-o", "labels.npy")
    assert "Warning: the columns have very different scales" in result.stderr
    assert "300 points, 2 columns" in result.stdout
    expected = kdegraph.similarity_graph(datasets.load(unequal).X, sigma=2000.0, seed=0)
    clusters = kdegraph.spectral_clustering(expected, 2, seed=0)
    np.testing.assert_array_equal(np.load(unequal.with_name("labels.npy")), clusters.labels)


def test_what_is_written_of_points_is_in_the_units_of_the_file(run, unequal):
    command = "graph", unequal, "--scale", "standardize", "--sigma", 0.3
    assert run(*command, "-o", "g.npz").exit_code == 0
    graph = kdegraph.SimilarityGraph.load(unequal.with_name("g.npz"))
    np.testing.assert_allclose(graph.points.std(axis=0), 1.0)
    assert graph.sigma == 0.3
    assert run(*command, "-o", "g.graphml").exit_code == 0
    found = networkx.read_graphml(unequal.with_name("g.graphml"), node_type=int)
    assert [found.nodes[i]["y"] for i in range(300)] == datasets.load(unequal).X[:, 1].tolist()
    usual = run("graph", unequal, "-o", "g.npz")
    assert "2 columns" in usual.stdout
    graph = kdegraph.SimilarityGraph.load(unequal.with_name("g.npz"))
    np.testing.assert_array_equal(graph.points, datasets.load(unequal).X)


def test_outliers_are_said_where_standardizing_does_not_help(run, tmp_path):
    X = np.random.default_rng(0).normal(size=(100, 2)) * [1.0, 1e3]
    X[0, 1] = 1e9
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b", comments="")
    note, warning = run("cluster", "x.csv", "-k", 2).stderr.splitlines()
    assert note.startswith("Note: the columns have very different scales: column b varies")
    assert "column b (standardized) by" in warning
    assert warning.endswith("; look for outliers there, or take others with --columns")


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_graph_as_edges(run, moons, extension):
    result = run("graph", moons, "--method", "knn", "--sigma", 0.1, "-o", f"e.{extension}")
    assert result.exit_code == 0, result.output
    read = {"csv": pyarrow.csv.read_csv, "parquet": pyarrow.parquet.read_table}[extension]
    edges = read(moons.with_name(f"e.{extension}"))
    assert edges.column_names == ["source", "target", "weight"]
    source, target, weight = (values.to_numpy() for values in edges.columns)
    assert (source < target).all()
    expected = kdegraph.knn_graph(datasets.load(moons).X, mode="kernel", sigma=0.1).toarray()
    found = np.zeros_like(expected)
    found[source, target] = weight
    np.testing.assert_allclose(found + found.T, expected, rtol=1e-12)


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
    assert_refused(
        run("sample", "moon", "-o", "u.csv"), "unknown name 'moon'; choose one of 'moons'"
    )
    assert_refused(run("sample", "moons"), "-o points.csv")
    assert_refused(run("sample", "-o", "-"), "say which points to write")
