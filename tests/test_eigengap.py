"""Numbers of clusters from eigenvalues, eigenvectors and points, and the confidence in them."""

import pickle
from collections import Counter

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.sparse
from graphs import cycle, cycle_values
from kdegraph import KDESpectralClustering, datasets, graph_layout, similarity_graph, spectrum
from kdegraph.automatic import count_clusters
from kdegraph.eigengap import (
    ALIGNMENT_ROWS,
    MIN_ALIGNMENT,
    NULL_SCORE,
    SuggestedNumber,
    alignment,
    suggest_n_clusters,
)
from kdegraph.principal import reduced
from sklearn.datasets import load_digits, load_iris, make_blobs


def suggest(X, sigma, m=20, seed=0):
    found = spectrum(similarity_graph(X, sigma=sigma, seed=seed), m, smallest_component="auto")
    return suggest_n_clusters(found.eigenvalues, eigenvectors=found.eigenvectors)


def blocks(sizes, columns):
    """Indicator vectors of blocks of vertices, and further orthonormal columns."""
    indicators = np.repeat(np.eye(len(sizes)), sizes, axis=0)
    rest = np.random.default_rng(0).normal(size=(sum(sizes), columns - len(sizes)))
    return scipy.linalg.qr(np.column_stack([indicators, rest]), mode="economic")[0]


@pytest.mark.parametrize(
    ("eigenvalues", "expected"),
    [
        ([0, 4e-8, 0.0024, 0.0024, 0.0097, 0.0097, 0.0217], 2),
        ([0, 4e-8, 0.0024], 2),
        ([0, 0, 0.0024, 0.0024, 0.0097], 2),
        ([0, 1e-9, 1e-7, 1e-6, 1e-5, 0.3, 0.31, 0.35], 5),
        ([0, 0, 0, 0, 0, 0.1], 5),
        ([0] * 19 + [0.2], 19),
        ([0.0], 1),
        ([0, 0.5], 1),
        ([0, 0], 2),
        ([0, 0.02, 0.5, 0.5], 2),
        ([0, *(j * j * 0.0024 for j in range(1, 8))], 1),  # a segment
        ([0, 0.01, 0.01, 0.02, 0.04, 0.04, 0.05, 0.05], 1),  # a square
        ([0, 0.9, 0.92, 0.95], 1),
        ([0, 0, 0.3, 0.4, 0.5], 2),
        (np.linspace(0, 1, 20), 1),
        ((0, 1), 1),
    ],
)
def test_suggested_number_of_clusters(eigenvalues, expected):
    assert suggest_n_clusters(eigenvalues) == expected


def test_the_number_is_an_int_with_a_confidence():
    found = suggest_n_clusters([0.0, 1e-9, 1e-9, 0.5, 0.5, 0.5])
    assert isinstance(found, int)
    assert str(found) == "3"
    again = pickle.loads(pickle.dumps(found))
    assert (again, again.confidence) == (found, found.confidence)
    X = make_blobs(300, centers=3, cluster_std=0.3, random_state=4)[0]
    assert KDESpectralClustering(found, sigma=1.0, random_state=0).fit(X).n_clusters_ == 3


def test_candidates_are_ordered_by_their_weights():
    found = SuggestedNumber.by_weight({1: 1.0, 5: 2.0, 3: 4.0, None: 1.0})
    assert found == 3
    assert found.confidence == pytest.approx(0.5)
    assert found.candidates == ((3, 0.5), (5, 0.25), (1, 0.125))
    assert SuggestedNumber.by_weight({2: 1.0, None: 3.0}).confidence == 0.0
    again = pickle.loads(pickle.dumps(found))
    assert again.candidates == found.candidates


@pytest.mark.parametrize(
    ("least", "most", "expected"), [(1, None, 3), (2, 2, 2), (4, None, 5), (4, 4, 4), (7, 9, 7)]
)
@pytest.mark.parametrize("vectors", [None, blocks([5, 6, 7], 8)])
def test_the_number_is_the_best_within_bounds(least, most, expected, vectors):
    values = [0.0, 1e-3, 2e-3, 0.1, 0.12, 0.8, 0.81, 0.83]
    found = suggest_n_clusters(values, eigenvectors=vectors, min_clusters=least, max_clusters=most)
    if vectors is not None and least > 3:
        expected = least  # further eigenvectors are those of no clusters
    assert found == expected
    assert all(least <= k and (most is None or k <= most) for k, _ in found.candidates)


@pytest.mark.parametrize(
    ("least", "most", "message"),
    [
        (0, None, "min_clusters must be a whole number >= 1, got 0"),
        (1, 0, "max_clusters must be a whole number >= 1, got 0"),
        (3, 2, "max_clusters must be at least min_clusters, 3, got 2"),
    ],
)
def test_bounds_that_allow_no_number_are_refused(least, most, message):
    options = {"min_clusters": least, "max_clusters": most}
    X = np.random.default_rng(0).normal(size=(30, 2))
    for call in (
        lambda: suggest_n_clusters([0.0, 0.5, 1.0], **options),
        lambda: count_clusters(X, **options),
        lambda: KDESpectralClustering(**options).fit(X),
        lambda: KDESpectralClustering(sigma=1.0, **options).fit(X),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("sigma", [None, "auto"])
def test_the_estimator_keeps_to_bounds(sigma):
    X = datasets.make("blobs", n=200, seed=0).X

    def number(**options):
        return KDESpectralClustering(sigma=sigma, random_state=0, **options).fit(X).n_clusters_

    assert number() == 3
    assert number(max_clusters=2) <= 2
    assert number(min_clusters=4, max_clusters=6) in (4, 5, 6)
    assert number(min_clusters=3, max_clusters=3) == 3


def test_confidence_is_the_distance_to_the_second_best_score():
    # The gap of 3 is log(1000), as zeros count as a thousandth of the largest value; the next best
    # score is that of a single component, without or with the eigenvectors of two blocks.
    values = [0.0, 1e-9, 1e-9, 0.5, 0.5, 0.5]
    score = 3**0.1 * np.log(1000)
    found = suggest_n_clusters(values)
    assert found == 3
    assert found.confidence == pytest.approx(1 - 5 * np.exp(-score))
    found = suggest_n_clusters(values, eigenvectors=blocks([5, 6, 7], 6))
    assert found == 3
    assert found.confidence == pytest.approx(1 - np.exp(NULL_SCORE - score))


@pytest.mark.parametrize("last", [0.5, 0.05, 0.005, 5e-6])
def test_confidence_is_lower_where_there_may_be_more_clusters_than_eigenvalues(last):
    # Two clusters, whose gap is 2,000, or four with the gap from the last value to 0.5.
    found = suggest_n_clusters([0.0, last / 2000, last, last])
    score, of_more = 2**0.1 * np.log(1000), 4**0.1 * np.log(0.5 / last)
    assert found == 2
    expected = 1 - np.exp(max(of_more, np.log(5)) - score)
    assert found.confidence == pytest.approx(max(expected, 0.0))


def test_eigenvectors_of_a_cycle_are_no_clusters():
    # The eigenvalues 2, 3 and 4, 5 of a cycle are nearly 1 : 4, a gap that clusters may have.
    n, m = 300, 12
    found = spectrum(cycle(n), m)
    np.testing.assert_allclose(found.eigenvalues, np.sort(cycle_values(n))[:m], atol=1e-6)
    gap = np.log(found.eigenvalues[3] / found.eigenvalues[2])
    assert 3**0.1 * gap > NULL_SCORE
    assert suggest_n_clusters(found.eigenvalues, eigenvectors=found.eigenvectors) == 1


def test_alignment_of_the_halves_of_a_segment():
    # The first eigenvectors are 1 and sqrt(2) cos(pi x); by symmetry the axes are the diagonals.
    def squared_cosine(x):
        second = np.sqrt(2) * abs(np.cos(np.pi * x))
        return (1 + second) ** 2 / (2 * (1 + second**2))

    exact = scipy.integrate.quad(squared_cosine, 0, 1, points=[0.5])[0]
    x = (np.arange(1000) + 0.5) / 1000
    vectors = np.column_stack([np.ones(1000), np.sqrt(2) * np.cos(np.pi * x)])
    assert alignment(vectors) == pytest.approx(exact, abs=1e-3)
    assert exact < MIN_ALIGNMENT


def test_alignment_of_clusters_does_not_depend_on_the_basis():
    vectors = blocks([40, 50, 60], 3)
    rotation = scipy.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    assert alignment(vectors @ rotation) == pytest.approx(1.0)


def test_a_small_gap_is_taken_for_clusters_only_if_the_eigenvectors_align():
    values = [0.0, 0.01, 0.011, 0.03, 0.031, 0.033]
    mixed = scipy.linalg.qr(np.random.default_rng(0).normal(size=(150, 6)), mode="economic")[0]
    assert suggest_n_clusters(values) == 1
    assert suggest_n_clusters(values, eigenvectors=blocks([40, 50, 60], 6)) == 3
    assert suggest_n_clusters(values, eigenvectors=mixed) == 1


@pytest.mark.parametrize("shape", ["segment", "square", "ring", "normal"])
def test_one_cluster_of_any_shape(shape):
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 800)
    X = {
        "segment": rng.random((800, 2)) * [8, 0.5],
        "square": rng.random((800, 2)) * 2,
        "ring": np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0, 0.05, (800, 2)),
        "normal": rng.normal(size=(800, 3)),
    }[shape]
    # Points that are thin in two places by chance may look like two parts, but not clearly.
    found = suggest(X, sigma=0.3 if shape != "normal" else 0.8)
    assert found == 1 or found.confidence < 0.1


def test_order_signs_and_excluded_vertices_do_not_matter():
    X, _ = make_blobs(600, centers=5, cluster_std=0.3, random_state=4)
    found = spectrum(similarity_graph(X, sigma=1.0, seed=0), 20)
    assert suggest_n_clusters(found.eigenvalues) == 5
    expected = suggest_n_clusters(found.eigenvalues, eigenvectors=found.eigenvectors)
    rng = np.random.default_rng(0)
    vectors = found.eigenvectors[rng.permutation(600)] * rng.choice([-1.0, 1.0], 20)
    vectors = np.insert(vectors, [0, 300, 600], 0.0, axis=0)
    again = suggest_n_clusters(found.eigenvalues, eigenvectors=vectors)
    assert again == expected == 5
    assert again.confidence == pytest.approx(expected.confidence)


def test_small_cluster_among_more_vertices_than_alignments_are_computed_from():
    vectors = blocks([2 * ALIGNMENT_ROWS, ALIGNMENT_ROWS, 200], 5)
    assert suggest_n_clusters([0.0, 1e-6, 1e-5, 0.4, 0.5], eigenvectors=vectors) == 3


@pytest.mark.parametrize(
    ("eigenvalues", "error", "message"),
    [
        ([0, 0.3, 0.2], ValueError, r"ascending, but eigenvalues\[1\] = 0.3 > eigenvalues\[2\]"),
        ([], ValueError, "at least one"),
        ([[0, 1]], ValueError, "shape"),
        ([0, np.nan], ValueError, "lie in"),
        ([0, 2.5], ValueError, "lie in"),
        ([-0.5, 1], ValueError, "lie in"),
        (["0", "1"], TypeError, "real numbers"),
        (None, TypeError, "real numbers"),
    ],
)
def test_bad_eigenvalues_are_refused(eigenvalues, error, message):
    with pytest.raises(error, match=message):
        suggest_n_clusters(eigenvalues)


@pytest.mark.parametrize(
    ("eigenvectors", "error", "message"),
    [
        (np.ones((9, 2)), ValueError, r"shape \(n, 3\), one column .* got \(9, 2\)"),
        (np.ones(3), ValueError, r"got \(3,\)"),
        (np.ones((2, 3)), ValueError, "got 2 such rows and 3 columns"),
        (np.zeros((9, 3)), ValueError, "got 0 such rows"),
        (np.full((9, 3), np.nan), ValueError, "finite"),
        (np.ones((9, 3), complex), TypeError, "real numbers"),
    ],
)
def test_bad_eigenvectors_are_refused(eigenvectors, error, message):
    with pytest.raises(error, match=message):
        suggest_n_clusters([0.0, 0.1, 0.2], eigenvectors=eigenvectors)


def test_segments_are_counted_below_a_fifth_of_the_31st_eigenvalue():
    values = np.concatenate([np.zeros(3), [0.19, 0.21], np.ones(26), [1.5, 1.9]])
    assert suggest_n_clusters(values, photograph=True) == 4
    assert suggest_n_clusters(values[:31], photograph=True) == 4
    assert suggest_n_clusters(np.zeros(31), photograph=True) == 1
    with pytest.raises(ValueError, match="at least 31, got 30"):
        suggest_n_clusters(values[:30], photograph=True)


# ---------------------------------------------------------------- from points


@pytest.mark.parametrize(
    ("name", "n_clusters"), [("blobs", 3), ("blobs20d", 5), ("circles", 2), ("uniform", 1)]
)
def test_clusters_of_points_are_counted(name, n_clusters):
    found = count_clusters(datasets.make(name, n=600, seed=0).X, seed=0)
    assert found == n_clusters
    assert 0 <= found.confidence < 1
    assert found.candidates[0][0] == n_clusters


def test_graphs_of_several_scales_weigh_numbers_together():
    """The answer is that of the sums of squared weights, each as a share of those of its graph."""
    X = load_iris().data[:, 1:]
    total = Counter()
    for sigma, perplexity in (("auto", None), ("moderate", 20), ("moderate", 40), ("local", 30)):
        graph = similarity_graph(X, sigma=sigma, perplexity=perplexity, seed=0)
        found = spectrum(graph, 37, seed=0, smallest_component="auto")
        one = suggest_n_clusters(found.eigenvalues, eigenvectors=found.eigenvectors)
        shares = dict(one.candidates)
        shares[None] = 1.0 - sum(shares.values())
        squares = {k: share**2 for k, share in shares.items()}
        total.update({k: square / sum(squares.values()) for k, square in squares.items()})
    found = count_clusters(X, seed=0)
    expected = sorted(((w, k) for k, w in total.items() if k is not None), reverse=True)
    assert [k for k, _ in found.candidates] == [k for _, k in expected]
    np.testing.assert_allclose([w for _, w in found.candidates], [w / 4 for w, _ in expected])
    assert found == 2


def test_points_in_many_dimensions_are_counted_in_layouts_too(monkeypatch):
    """The points and two layouts have the same weight."""
    X = load_digits().data[:250]
    principal = reduced(X)
    graphs = [
        similarity_graph(principal, sigma="moderate", perplexity=perplexity, seed=0)
        for perplexity in (20, 40)
    ]
    found = count_clusters(X, seed=0)
    monkeypatch.setattr("kdegraph.automatic.LAYOUTS", ())
    total = Counter()
    for points in (principal, *(graph_layout(graph, seed=0) for graph in graphs)):
        shares = dict(count_clusters(points, seed=0).candidates)
        total.update({k: share / 3 for k, share in shares.items()})
    assert dict(found.candidates) == pytest.approx(total)
    assert set(count_clusters(X, seed=0).candidates) != set(found.candidates)


def test_noise_in_hundreds_of_dimensions_hides_no_clusters():
    """By the distances in all dimensions, the answer is 1."""
    rng = np.random.default_rng(0)
    centers = 0.3 * rng.normal(size=(4, 1000))
    X = centers[rng.integers(4, size=600)] + rng.normal(size=(600, 1000))
    assert count_clusters(X, seed=0) == 4
    X[np.abs(X) < 1] = 0
    assert count_clusters(scipy.sparse.csr_array(X), seed=0) == 4


@pytest.mark.parametrize("d", [4, 60])
def test_one_group_in_many_dimensions_has_no_clusters(d):
    """By the points alone, there would be two in four dimensions."""
    X = np.random.default_rng(d + 8).standard_t(4, size=(900, d))
    assert count_clusters(X, seed=0) == 1


def test_estimator_counts_in_the_same_way():
    X = datasets.make("blobs", n=300, seed=0).X
    seed = int(np.random.RandomState(3).randint(2**31 - 1))
    model = KDESpectralClustering("auto", random_state=3).fit(X)
    counted = count_clusters(X, seed=seed)
    assert (model.n_clusters_, model.confidence_) == (counted, counted.confidence)
    assert model.candidates_ == counted.candidates
    given = KDESpectralClustering(3, random_state=0).fit(X)
    assert np.isnan(given.confidence_)
    assert given.candidates_ == ()


def test_segments_of_a_picture_have_no_confidence():
    found = count_clusters(datasets.photo("china", max_pixels=1000).X, seed=0)
    assert 1 < found <= 30
    assert found.confidence == 0.0


def test_points_at_up_to_five_places_are_clusters_of_four_or_more():
    found = count_clusters(np.repeat(np.arange(5.0), 4)[:, None], seed=0)
    assert (found, found.confidence, found.candidates) == (5, 1.0, ((5, 1.0),))
    for places in (np.repeat(np.arange(5.0), 4)[1:], np.repeat(np.arange(6.0), 4)):
        assert count_clusters(places[:, None], seed=0).confidence < 1.0


@pytest.mark.parametrize(("n", "d", "seed"), [(20, 64, 1020), (60, 64, 1060), (50, 256, 50)])
def test_a_few_points_of_one_group_in_many_dimensions_are_no_clusters_of_their_own(n, d, seed):
    found = count_clusters(np.random.default_rng(seed).normal(size=(n, d)), seed=0)
    assert found == 1 or (found == 2 and found.confidence < 0.05)


def test_many_points_are_counted_by_a_sample(monkeypatch):
    monkeypatch.setattr("kdegraph.automatic.MAX_COUNTED", 600)
    X = np.random.default_rng(0).normal(size=(3000, 2))
    X[::3] += 10
    assert count_clusters(X, seed=0) == 2


@pytest.mark.parametrize(("X", "seed", "name"), [([[np.nan]], 0, "X"), ([[0.0]], -1, "seed")])
def test_points_and_seeds_that_cannot_be_counted_are_named(X, seed, name):
    with pytest.raises(ValueError, match=name):
        count_clusters(X, seed=seed)
