"""Experiments on small data for which the right values are known."""

import functools
import math

import kdegraph
import numpy as np
import pytest
import scipy.io
import scipy.linalg
import scipy.sparse
from kdegraph.datasets import Dataset
from kdegraph_explorer.sources.generators import Generators
from PIL import Image
from sklearn.metrics import adjusted_rand_score

from benchmarks.approximations import APPROXIMATIONS, transfer_cut
from benchmarks.data import ALL, points
from benchmarks.experiment import EXPERIMENTS
from benchmarks.experiments import (
    densities,
    growth,
    large_sets,
    load,
    reference_sets,
    rules,
    segmentation,
    spectrum,
    unseen,
)
from benchmarks.experiments.shapes import SHAPES
from benchmarks.graphs import (
    FULL,
    METHODS,
    N_NEIGHBORS,
    by_full_kernel,
    by_scikit_learn,
    cluster,
)
from benchmarks.measuring import timed
from benchmarks.photographs import names, protocol

load()


def gaps(d=2):
    """Two narrow clusters far apart."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = 0.2 * rng.normal(size=(300, d)) + 3.0 * y[:, None]
    return Dataset(X, y, sigma=0.5, n_clusters=2)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_clear_clusters(method):
    if "FAISS" in method:
        pytest.importorskip("faiss")
    if "PyNNDescent" in method:
        pytest.importorskip("pynndescent")
    labels, values = cluster(gaps(), method)
    assert values["ARI"] == 1.0
    assert len(labels) == 300
    assert 0 < values["edges"] <= 300 * 299 / 2
    assert values["seconds"] == values["graph seconds"] + values["clustering seconds"]


def test_graphs_of_others_are_what_they_are_called():
    X = gaps().X
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    expected = np.exp(-squares / 0.25)
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(by_full_kernel(X, 0.5), expected, atol=1e-12)
    np.fill_diagonal(squares, np.inf)
    nearest = np.argsort(squares, axis=1)[:, :N_NEIGHBORS]
    expected = np.zeros(squares.shape, bool)
    np.put_along_axis(expected, nearest, True, axis=1)
    assert ((by_scikit_learn(X, 0.5).toarray() > 0) == (expected | expected.T)).all()


def test_the_explorer_has_the_points_of_the_experiments():
    for name in {*ALL, *SHAPES} - {"digits"}:
        for n in (60, 3_000):
            data = points(name, n)
            found = Generators(shape=data.name, n=2000).sized(n)()
            np.testing.assert_array_equal(found.X, data.X)
            np.testing.assert_array_equal(found.y, data.y)
            assert (found.sigma, found.n_clusters) == (data.sigma, data.n_clusters)


@pytest.mark.parametrize("method", ["kdegraph", "direct", "random sample", "scikit-learn KDTree"])
def test_densities_know_their_errors(method, monkeypatch):
    monkeypatch.setattr(kdegraph, "set_num_threads", lambda threads: None)
    values = densities.densities("moons", 2_000, 0.1, 1e-2, 1, method)
    assert values["seconds"] > 0
    assert values["error"] <= 1e-2
    assert (values["error"] < 1e-12) == (method in ("direct", "random sample"))


def test_eigenvalues_are_found_by_every_way():
    found = {way: spectrum.spectrum("moons", 6_000, way) for way in (*spectrum.WAYS, "eigsh")}
    assert all(values["residual"] <= 2 * spectrum.TOL for values in found.values())
    assert all(values["missed"] == 0 for way, values in found.items() if way != "eigsh")
    assert found["kdegraph, random start"]["products"] > found["kdegraph"]["products"]


@pytest.fixture
def photographs(tmp_path):
    """A folder with a photograph of two halves, and segmentations with 2, 3 and 2 segments."""
    for part in ("images", "groundTruth"):
        (tmp_path / part / "train").mkdir(parents=True)
    picture = np.zeros((20, 30, 3), np.uint8)
    picture[:, 15:] = 255
    Image.fromarray(picture).save(tmp_path / "images" / "train" / "halves.jpg")
    halves = (picture[:, :, 0] > 0).astype(np.uint16)
    thirds = np.broadcast_to(np.arange(30) // 10, (20, 30)).astype(np.uint16)
    humans = np.empty((1, 3), object)
    for i, segments in enumerate((halves, thirds, halves)):
        humans[0, i] = {"Segmentation": segments}
    scipy.io.savemat(tmp_path / "groundTruth" / "train" / "halves.mat", {"groundTruth": humans})
    return tmp_path


def test_photographs_are_scored_against_the_segmentation_nearest_the_median(photographs):
    assert names(photographs, 12) == ["train/halves"]
    assert protocol([np.arange(5), np.arange(2), np.arange(3)]) == (3, 2)
    rows = list(segmentation.rows(images=photographs, n_images=1))
    assert {row["method"] for row in rows} >= {"kdegraph", segmentation.HUMANS}
    values = segmentation.segmentation("train/halves", 20_000, "kdegraph", images=photographs)
    assert values["k"] == 2
    assert values["rand index"] > 0.95
    of_humans = segmentation.segmentation(
        "train/halves", 20_000, segmentation.HUMANS, images=photographs
    )
    # One of the two others is the same, the other crosses the halves in a table of counts.
    together = 2 * math.comb(200, 2) + 2 * math.comb(100, 2)
    pairs, of_halves, of_thirds = math.comb(600, 2), 2 * math.comb(300, 2), 3 * math.comb(200, 2)
    agreement = 1 + (2 * together - of_halves - of_thirds) / pairs
    assert of_humans["rand index"] == pytest.approx((1 + agreement) / 2)


@pytest.mark.filterwarnings("ignore::kdegraph.diagnosis.GraphWarning")  # it is a very small picture
def test_photographs_are_segmented_by_the_defaults(photographs):
    experiment = EXPERIMENTS["photographs"]
    row, full = experiment.rows(images=photographs, n_images=300)
    assert full == row | {"n": segmentation.LARGE}
    values = experiment.measure(**row, images=photographs)
    assert (values["k"], values["segments"]) == (2, 2)
    assert values["rand index"] > 0.95
    human = segmentation.segmentation(row["image"], 1, segmentation.HUMANS, images=photographs)
    assert values["other humans"] == human["rand index"]
    (mean,) = experiment.summary([row | values, row | values | {"rand index": 0.0}])
    assert mean["n"] == segmentation.SMALL
    assert mean["photographs"] == 2
    assert mean["mean rand index"] == pytest.approx(values["rand index"] / 2)
    assert mean["standard error"] == pytest.approx(values["rand index"] / 2 / math.sqrt(2))
    assert mean["mean other humans"] == pytest.approx(human["rand index"])


def test_means_are_over_the_photographs_that_methods_share():
    ours, exact, approximate = "kdegraph", "k-NN, scikit-learn", "k-NN, FAISS IVF"
    measured = {ours: "abcd", exact: "abcd", FULL: "d", approximate: "bc"}
    scores = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}
    rows = [
        {"image": image, "n": 20_000, "method": method, "rand index": scores[image]}
        for method, images in measured.items()
        for image in images
    ]
    found = [
        (row["photographs"], row["method"], pytest.approx(row["mean rand index"]))
        for row in segmentation.summary(rows)
    ]
    of_all = [(4, ours, 0.25), (4, exact, 0.25)]
    of_two = [(2, ours, 0.25), (2, exact, 0.25), (2, approximate, 0.25)]
    of_one = [(1, ours, 0.4), (1, exact, 0.4), (1, FULL, 0.4)]
    assert found == of_all + of_two + of_one


def test_reference_sets_count_the_best_reference_and_no_noise(tmp_path):
    (tmp_path / "battery").mkdir()
    data = gaps()
    np.savetxt(tmp_path / "battery" / "two.data.gz", data.X)
    noisy = np.where(np.arange(300) < 20, 0, data.y + 1)
    np.savetxt(tmp_path / "battery" / "two.labels0.gz", np.arange(300) % 3 + 1, fmt="%d")
    np.savetxt(tmp_path / "battery" / "two.labels1.gz", noisy, fmt="%d")
    np.savez(tmp_path / "battery" / "other.npz", X=data.X, y=data.y)
    assert len(reference_sets.files(tmp_path)) == 2
    for name, method in (("two", "k-means"), ("other", "Gaussian mixture"), ("other", "Ward")):
        values = reference_sets.reference_sets(f"battery/{name}", method, sets=tmp_path)
        assert (values["points"], values["d"]) == (300, 2)
        assert values["ARI"] == values["NMI"] == 1.0


def test_unseen_tables_are_those_of_numbers(tmp_path):
    data = gaps()
    points = zip(*data.X.T, data.y, strict=True)
    rows = [f"{x}, {1000 * y},{'two ' if of else 'one'}" for x, y, of in points]
    (tmp_path / "gaps.dat").write_text("\n".join(rows) + "\n\n")
    (tmp_path / "words.dat").write_text("1,red,one\n2,blue,two\n")
    (tmp_path / "large.dat").write_text("1,2,one\n" * 10_001)
    (tmp_path / f"{unseen.SEEN[0]}.dat").write_text("1,2,one\n")
    assert list(unseen.names(tmp_path)) == ["gaps"]
    values = unseen.unseen("gaps", "k-means", keel=tmp_path)
    assert values == {"points": 300, "d": 2, "k": 2} | {"ARI": 1.0, "NMI": 1.0}
    scores = {"kdegraph": (0.5, 0.5, 0.5), "k-means": (0.44, 0.46, 0.6)}
    rows = [
        {"set": i, "method": method, "ARI": score, "NMI": 1.0}
        for method, found in scores.items()
        for i, score in enumerate(found)
    ]
    found = next(row for row in unseen.by_method(rows) if row["method"] == "k-means")
    assert (found["sets"], found["ARI"]) == (3, pytest.approx(0.5))
    assert (found["kdegraph better by .05"], found["worse by .05"]) == (1, 1)


def test_rules_are_chosen_by_the_other_batteries(tmp_path, monkeypatch):
    (tmp_path / "battery").mkdir()
    data = gaps()
    np.savez(tmp_path / "battery" / "gaps.npz", X=data.X, y=data.y)
    replaced = [change for changes in rules.RULES.values() for change in changes]
    assert all(hasattr(module, name) for module, name, _ in replaced)
    first, second, *_ = rules.RULES
    few = {rule: rules.RULES[rule] for rule in (first, second)}
    monkeypatch.setattr(rules, "RULES", few)
    values = rules.rules("battery/gaps", sets=tmp_path)
    assert values == {"points": 300, first: 1.0, second: 1.0}
    scores = {"a/1": (0.2, 0.6), "a/2": (0.4, 0.8), "b/1": (0.9, 0.5), "c/1": (0.9, 0.8)}
    rows = [{"set": name, first: one, second: two} for name, (one, two) in scores.items()]
    found = {row.pop("rule"): row for row in rules.by_rule(rows)}
    assert found[first] == pytest.approx({"a": 0.3, "b": 0.9, "c": 0.9, "mean": 0.7})
    # Without a the first has .9 and the second .65, without b .6 and .75, without c .6 and .6.
    assert found["which the others choose"] == {"a": first, "b": second, "c": first}
    left_out = {"a": 0.3, "b": 0.5, "c": 0.9, "mean": 1.7 / 3}
    assert found["chosen by the other batteries"] == pytest.approx(left_out)
    best = {"a": 0.7, "b": 0.9, "c": 0.9, "mean": 2.5 / 3}
    assert found["chosen by the battery itself"] == pytest.approx(best)


# dask-ml hands an array of Dask to scikit-learn's k-means.
@pytest.mark.filterwarnings("ignore:The `numpy.may_share_memory` function:FutureWarning")
@pytest.mark.parametrize("method", APPROXIMATIONS)
def test_approximations_find_clusters_far_apart(method):
    if "dask-ml" in method:
        pytest.importorskip("dask_ml")
    rng = np.random.default_rng(0)
    y = np.arange(600) % 3
    X = 10 * np.eye(4)[y] + rng.normal(size=(600, 4))
    assert adjusted_rand_score(y, APPROXIMATIONS[method](X, 3)) > 0.99


def test_the_transfer_cut_has_the_eigenvectors_of_the_bipartite_graph():
    rng = np.random.default_rng(0)
    kernel = rng.random((40, 6)) * (np.arange(40)[:, None] % 3 == np.arange(6) % 3) + 0.01
    whole = np.block([[np.zeros((40, 40)), kernel], [kernel.T, np.zeros((6, 6))]])
    degrees = np.diag(whole.sum(axis=1))
    expected = scipy.linalg.eigh(degrees - whole, degrees)[1][:40, :4]
    found = transfer_cut(scipy.sparse.csr_array(kernel), 4)
    cosines = (found * expected).sum(axis=0) / np.prod(
        [np.linalg.norm(found, axis=0), np.linalg.norm(expected, axis=0)], axis=0
    )
    np.testing.assert_allclose(np.abs(cosines), 1.0, rtol=1e-9)


def test_large_sets_are_those_that_were_published(monkeypatch):
    monkeypatch.setattr(large_sets, "FEW", 100)
    monkeypatch.setattr(large_sets, "timed", functools.partial(timed, runs=1))
    millions = [one.n / 10**6 for one in large_sets.SETS.values()]
    assert millions == [1, 2, 5, 10, 20]
    cases = [(data, "kdegraph") for data in large_sets.SETS]
    first = next(iter(large_sets.SETS))
    for data, method in (*cases, (first, "kdegraph, one sigma"), (first, "U-SPEC")):
        values = large_sets.large_sets(data, 1_000, method)
        assert values["ARI"] > 0.95
        assert values["NMI"] > 0.95


def test_the_simulation_of_growth_adds_up():
    two = [growth.Stage("tree", 2e-6, 10, False), growth.Stage("graph", 3e-6, 20, True)]
    n = 64 * growth.TILE_POINTS
    alone = growth.simulate(two, n, 1, storage=1e18)
    assert alone["tree"] == (pytest.approx(2e-6 * n), "caller")
    assert alone["graph"] == (pytest.approx(3e-6 * n), "workers")
    together = growth.simulate(two, n, 48, storage=1e18)  # 64 tiles take two turns
    assert together["tree"] == alone["tree"]
    assert together["graph"][0] == pytest.approx(alone["graph"][0] * 2 / 64)
    slow = growth.simulate(two, n, 48, storage=1e6)
    assert slow["graph"] == (pytest.approx(20 * n / 1e6), "storage")
