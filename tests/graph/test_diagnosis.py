"""Problems of a graph are reported once, with a remedy, and none for ordinary data."""

import pickle
import re
import warnings
from pathlib import Path

import kdegraph
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from graphs import blocks
from kdegraph import (
    KDESpectralClustering,
    SimilarityGraphTransformer,
    datasets,
    diagnose,
    similarity_graph,
    spectral_clustering,
)
from kdegraph.diagnosis import Finding, GraphWarning, many_parts, unequal_columns
from kdegraph.findings import warn
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import adjusted_rand_score

ROOT = Path(__file__).parents[2]


# Clumps have no edges between them at any sigma that is the distance to a near neighbor.
@pytest.mark.parametrize("name", [name for name in datasets.names() if name != "clumps"])
def test_ordinary_data_have_no_problems(name):
    data = datasets.make(name, n=400, seed=0)
    for sigma in ("auto", "local"):
        graph = similarity_graph(data.X, sigma=sigma, seed=0)
        assert diagnose(graph, n_clusters=data.n_clusters or None) == []


def test_clumps_are_parts():
    data = datasets.make("clumps", n=400, seed=0)
    (sentence,) = diagnose(similarity_graph(data.X, seed=0), n_clusters=data.n_clusters)
    assert sentence.startswith("the graph falls into 16 parts")
    wide = similarity_graph(data.X, sigma=data.sigma, seed=0)
    assert diagnose(wide, n_clusters=data.n_clusters) == []


@pytest.mark.parametrize(
    ("load", "n_clusters"), [(load_digits, 10), (load_iris, 3), (load_iris, "auto")]
)
def test_measured_data_have_no_problems(load, n_clusters):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KDESpectralClustering(n_clusters, random_state=0).fit(load().data[::3])


@pytest.mark.parametrize("sizes", [[100, 3], [500, 2, 1], [40]])
def test_points_that_coincide_do_not_make_a_sigma_large(sizes):
    piles = np.repeat(np.eye(3)[: len(sizes)], sizes, axis=0)
    graph = similarity_graph(piles, sigma=np.sqrt(2), n_rounds=10, seed=0)
    assert not any(finding.problem == "wide" for finding in diagnose(graph))
    if len(sizes) > 1:
        graph = similarity_graph(piles, sigma=20.0, n_rounds=10, seed=0)
        assert any(finding.problem == "wide" for finding in diagnose(graph))


# ---- columns


@pytest.mark.parametrize("factor", [1.0, 1e-300, 1e300])
def test_columns_may_differ_by_a_factor_of_a_hundred(factor):
    steps = np.linspace(-1, 1, 9)  # its quartiles are 1 apart
    assert unequal_columns(np.column_stack([steps, 99.9 * steps]) * factor) is None
    sentence = unequal_columns(np.column_stack([100.1 * steps, steps, steps]) * factor)
    assert f"column 0 varies by {100.1 * factor:.3g}, column 1 by {factor:.3g}" in sentence
    assert "standardize the columns" in sentence
    assert "StandardScaler in a pipeline" in sentence
    assert "haversine" not in sentence


def test_latitudes_and_longitudes_have_a_metric():
    longitude = np.where(np.arange(100) % 2, 179.0, -179.0)
    places = np.column_stack([np.linspace(-18.5, -17.5, 100), longitude])
    assert "metric='haversine'" in unequal_columns(places).remedy
    assert "haversine" not in unequal_columns(places * [1, 2]).remedy


def test_columns_of_outliers_and_constant_columns_do_not_count():
    X = np.random.default_rng(0).normal(size=(200, 2))
    X[0] = 1e9, 0.0
    assert unequal_columns(X) is None
    assert unequal_columns(np.column_stack([X, np.zeros(200), np.full(200, 7.0)])) is None
    assert unequal_columns(X[:, :1]) is None
    assert unequal_columns(X[:1]) is None


def test_a_few_narrow_columns_among_many_are_normal():
    X = np.random.default_rng(0).normal(size=(200, 21))
    X[:, :5] /= 1000  # as pixels at the edge of pictures
    assert unequal_columns(X) is None
    X[:, 5] /= 1000
    assert "very different scales" in unequal_columns(X)


def test_a_picture_of_little_color_is_no_mistake():
    gray = np.random.default_rng(0).random((12, 15, 1))
    points = datasets.image_points(np.clip(gray + np.array([0, 0.001, 0]), 0, 1), blur=0).X
    assert unequal_columns(points) is None
    assert "very different scales" in unequal_columns(points[1:])


def test_spreads_are_judged_by_some_of_many_points():
    X = np.random.default_rng(0).normal(size=(25_000, 2))
    assert unequal_columns(X) is None
    assert "very different scales" in unequal_columns(X * [1, 200])


# ---- sigma


def test_a_sigma_for_which_all_points_are_equally_near():
    def found(mean, **parameters):
        graph = similarity_graph(
            [[0.0], [1.0]], sigma=np.sqrt(-1 / np.log(mean)), seed=0, **parameters
        )
        return diagnose(graph)

    assert found(0.899) == []
    (sentence,) = found(0.901)
    assert sentence.startswith("sigma 3.097 is far above the distances between the points")
    assert "take a smaller sigma, such as 'auto', which is 1, or 'local'" in sentence
    assert found(0.899, alpha=1.0) == []
    assert len(found(0.901, alpha=1.0)) == 1


def test_points_that_are_all_the_same_have_no_sigma_that_is_too_large():
    assert diagnose(similarity_graph(np.ones((20, 3)), seed=0)) == []
    assert diagnose(similarity_graph([[1.0, 2.0]], sigma=5.0, seed=0)) == []


def test_a_sigma_for_which_most_points_are_alone():
    near, far = [[0.0], [0.1]], [[10.0], [20.0], [30.0]]
    assert diagnose(similarity_graph(near + far[:2], sigma=0.1, seed=0)) == []
    (sentence,) = diagnose(similarity_graph(near + far, sigma=0.1, seed=0))
    assert sentence.startswith("sigma 0.1 is far below the distances between the points: 3 of 5")
    assert "take a larger sigma" in sentence


# ---- parts


def test_a_graph_may_fall_into_three_times_as_many_parts_as_clusters():
    assert many_parts(blocks(*[4] * 6), 2) is None
    sentence = many_parts(blocks(*[4] * 7, 1, 1, 1, 1), 2)
    assert sentence.startswith("the graph falls into 7 parts")
    assert "the 2 largest have 25% of the points" in sentence
    assert "take a larger sigma" in sentence
    assert "and the largest have" in many_parts(blocks(*[4] * 4), 1)


def test_parts_may_leave_out_a_tenth_of_the_points():
    assert many_parts(blocks(45, 45, 2, 2, 2, 2, 2), 2) is None
    assert many_parts(blocks(45, 44, 2, 2, 2, 2, 3), 2) is not None


def test_a_matrix_is_judged_by_its_points_and_parts():
    assert diagnose(blocks(3, 3)) == []
    assert len(diagnose(blocks(*[2] * 10), n_clusters=2)) == 1
    steps = np.linspace(-1, 1, 6)
    assert len(diagnose(blocks(3, 3), points=np.column_stack([steps, 1e6 * steps]))) == 1
    with pytest.raises(ValueError, match="n_clusters"):
        diagnose(blocks(3, 3), n_clusters=0)
    with pytest.raises(ValueError, match="points must have shape"):
        diagnose(blocks(3, 3), points=steps)


def texts(n=600, length=100):
    """Sparse rows of 100 of 5,000 words, half of them from the fourth that is of their topic."""
    rng = np.random.default_rng(0)
    of_topic = rng.random((n, length)) < 0.5
    first = np.where(of_topic, 1250 * (np.arange(n) % 4)[:, None], 0)
    words = first + rng.integers(0, np.where(of_topic, 1250, 5000))
    rows = np.repeat(np.arange(n), length)
    return scipy.sparse.coo_array((np.ones(words.size), (rows, words.ravel()))).tocsr()


def test_distances_that_hardly_differ_are_reduced_as_the_sentence_says():
    X = texts()
    found = diagnose(similarity_graph(X, sigma="local", metric="cosine", seed=0))
    assert [finding.problem for finding in found] == ["concentrated"]
    assert "take a larger perplexity or knn_graph, or reduce the points" in found[0]
    assert diagnose(similarity_graph(X, sigma=0.5, metric="cosine", seed=0)) == []
    reduced = TruncatedSVD(20, random_state=0).fit_transform(X)
    graph = similarity_graph(reduced, sigma="local", metric="cosine", seed=0)
    assert diagnose(graph) == []
    labels = spectral_clustering(graph, 4, seed=0).labels
    assert adjusted_rand_score(np.arange(600) % 4, labels) > 0.99


# ---- findings


def test_findings_say_what_they_are_about():
    X = np.arange(12.0)[:, None] * [1, 1000]
    found = diagnose(similarity_graph(X, sigma=1e9, seed=0), feature_names=["width", "price"])
    assert [finding.problem for finding in found] == ["columns", "wide"]
    assert "column price varies by" in found[0]
    assert ", column width by" in found[0]
    found += diagnose(similarity_graph(X, sigma=1e-3, seed=0))[1:]
    found += diagnose(blocks(*[2] * 10), n_clusters=2)
    assert [finding.problem for finding in found[2:]] == ["narrow", "parts"]
    for finding in found:
        assert finding == f"{finding.observation}; {finding.remedy}"
        copied = pickle.loads(pickle.dumps(finding))
        assert (copied, copied.problem) == (finding, finding.problem)
    with pytest.raises(ValueError, match=r"feature_names must be .* 2 columns .* got 1 names"):
        diagnose(blocks(6, 6), points=X, feature_names=["width"])


# ---- warnings


def test_warnings_name_their_place_in_the_manual():
    problems = re.search(r"problem : \{(.+?)\}", Finding.__doc__)[1]
    for problem in re.findall(r"\w+", problems):
        with pytest.warns(GraphWarning, match=r"seen; done \(see (\S+) in the manual") as caught:
            warn(Finding(problem, "seen", "done"))
        page, place = re.search(r"see (\w+)\.html#(\S+)", str(caught[0].message)).groups()
        assert f"({place})=\n### " in (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "estimator", [KDESpectralClustering(2, random_state=0), SimilarityGraphTransformer()]
)
def test_estimators_warn_once_at_the_line_that_calls_them(estimator):
    X = datasets.make("moons", n=200, seed=0).X
    with pytest.warns(GraphWarning) as found:
        estimator.fit(X * [1, 1000])
    assert len(found) == 1
    assert "standardize" in str(found[0].message)
    assert found[0].filename == __file__
    with pytest.warns(GraphWarning, match="column price varies by .*, column width by"):
        estimator.fit(pd.DataFrame(X * [1, 1000], columns=["width", "price"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator.fit(X)


def test_clusters_that_are_only_the_largest_of_many_parts_are_warned_of():
    groups = np.arange(0, 3000, 100.0)
    X = np.add.outer(groups, np.linspace(0, 1, 10)).reshape(-1, 1)
    with pytest.warns(GraphWarning, match="falls into 30 parts"):
        KDESpectralClustering(3, sigma=0.5, random_state=0).fit(X)


def test_functions_of_the_library_do_not_warn():
    X = datasets.make("moons", n=200, seed=0).X
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kdegraph.spectral_clustering(similarity_graph(X, sigma=1e3, seed=0), 2)
