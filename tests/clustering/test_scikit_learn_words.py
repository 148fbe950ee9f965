"""Methods and parameters that scikit-learn's users expect: coordinates, score, threads, messages,
and searches.
"""

import threading
import time
from itertools import count
from types import SimpleNamespace

import kdegraph
import numpy as np
import oracle
import pytest
from kdegraph import KDESpectralClustering, SimilarityGraphTransformer, full_graph, get_num_threads
from kdegraph.local_bandwidth import bandwidths_of_new_points
from kdegraph.runtime.threads import within_n_jobs
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


@pytest.fixture(scope="module")
def moons():
    return kdegraph.datasets.make("moons", n=400, seed=0)


# ---- coordinates


def exact_coordinates(model):
    """``D^-1/2 U``, with columns whose root mean square over the degrees is 1."""
    degrees = model.affinity_matrix_.sum(axis=1)
    U = model.spectrum_.eigenvectors[:, : model.n_clusters_]
    return U / np.sqrt(degrees / degrees.sum())[:, None]


@pytest.mark.parametrize("sigma", [0.2, "local"])
def test_coordinates_of_fitted_points_are_those_of_the_spectrum(moons, sigma):
    model = KDESpectralClustering(3, sigma=sigma, random_state=0).fit(moons.X)
    expected = exact_coordinates(model)
    degrees = model.affinity_matrix_.sum(axis=1)
    ordinary = degrees > 0.1 * degrees.mean()  # others are averaged over their neighbors
    assert ordinary.mean() > 0.8
    found = model.transform(moons.X)
    np.testing.assert_allclose(found[ordinary], expected[ordinary], rtol=1e-9, atol=1e-12)
    assert np.array_equal(model.fit_transform(moons.X), found)
    some = [7, 3, 7, 311]
    assert np.array_equal(model.transform(moons.X[some]), found[some])


@pytest.mark.parametrize(
    "parameters",
    [
        {"sigma": 0.2},
        {"sigma": 0.2, "kernel": "exponential"},
        {"sigma": 0.2, "kernel": "matern-3/2"},
        {"sigma": "local"},
        {"sigma": "local", "alpha": 0.5},
        {"sigma": 0.1, "metric": "cosine"},
    ],
)
def test_memberships_and_coordinates_of_new_points_are_means_over_the_kernel(moons, parameters):
    X, queries = moons.X, moons.X[:50] + np.random.default_rng(0).normal(0, 0.1, (50, 2))
    model = KDESpectralClustering(3, random_state=0, **parameters).fit(X)
    sigma, own = model.sigma_, model.sigma_
    if parameters["sigma"] == "local":
        own = bandwidths_of_new_points(X, queries)[:, None]
    between = cdist(queries, X)
    if "metric" in parameters:
        between = np.sqrt(2 * cdist(queries, X, "cosine"))
    between = between / np.sqrt(own * sigma)
    kernel = np.exp(-oracle.exponent_of(parameters.get("kernel", "gaussian"), between))
    if "alpha" in parameters:
        kernel = kernel * model.graph_.densities**-0.5
    shares = kernel @ np.eye(3)[model.labels_] / kernel.sum(axis=1, keepdims=True)
    within = 1e-9 if parameters["sigma"] == "local" else 1e-4
    np.testing.assert_allclose(model.predict_proba(queries), shares, rtol=within, atol=within)
    rows = model.transform(X)
    expected = kernel @ rows / kernel.sum(axis=1, keepdims=True)
    expected /= 1 - model.spectrum_.eigenvalues[:3]
    found = model.transform(np.vstack([queries, X[:2]]))
    np.testing.assert_allclose(found, np.vstack([expected, rows[:2]]), rtol=1e-4, atol=1e-4)


def test_the_extension_of_an_eigenvector_to_the_points_it_is_of_is_itself(moons):
    weights = full_graph(moons.X, sigma=0.3)
    model = KDESpectralClustering(4, affinity="precomputed", random_state=0)
    found = model.fit_transform(weights)
    np.testing.assert_allclose(model.transform(weights), found, atol=1e-9)
    assert not model.transform(np.zeros((2, 400))).any()
    D = cdist(moons.X, moons.X)
    model = KDESpectralClustering(4, affinity="precomputed_distances", sigma=0.3, random_state=0)
    np.testing.assert_allclose(np.abs(model.fit_transform(D)), np.abs(found), atol=1e-6)
    near = cdist(moons.X + 1e-6, moons.X)
    np.testing.assert_allclose(np.abs(model.transform(near)), np.abs(found), atol=0.02)


def test_points_outside_the_spectrum_get_coordinates_of_points_near_them(moons):
    X = np.vstack([moons.X, [[9.0, 9.0]]])  # isolated
    model = KDESpectralClustering(2, sigma=0.2, random_state=0).fit(X)
    assert model.isolated_.tolist() == [400]
    nearest = np.argmin(cdist([[9.0, 9.0]], moons.X))
    found = model.transform(X)
    assert np.array_equal(found[400], found[nearest])
    assert np.array_equal(model.transform([[10.0, 9.5]])[0], found[nearest])
    alone = KDESpectralClustering(1, sigma=1.0).fit([[1.0, 2.0]])
    assert alone.transform([[1.0, 2.0], [5.0, 5.0]]).tolist() == [[0.0], [0.0]]
    weights = np.zeros((12, 12))
    weights[:10, :10] = 1 - np.eye(10)
    rows = KDESpectralClustering(1, affinity="precomputed").fit_transform(weights)
    assert rows[10:].tolist() == [[0.0], [0.0]]


def test_coordinates_are_named_columns_and_a_step_of_a_pipeline(moons):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(moons.X, columns=["a", "b"], index=np.arange(400) + 5)
    model = KDESpectralClustering(2, sigma=0.2, random_state=0).set_output(transform="pandas")
    found = model.fit_transform(frame)
    assert found.columns.tolist() == ["kdespectralclustering0", "kdespectralclustering1"]
    assert found.index.equals(frame.index)
    few = np.r_[np.flatnonzero(moons.y == 0)[:3], np.flatnonzero(moons.y == 1)[:3]]
    classifier = LogisticRegression().fit(found.iloc[few], moons.y[few])
    assert classifier.score(model.transform(frame.iloc[10:]), moons.y[10:]) == 1.0
    steps = make_pipeline(StandardScaler(), clone(model), LogisticRegression())
    assert steps.fit(frame[::2], moons.y[::2]).score(frame[1::2], moons.y[1::2]) > 0.97


# ---- score


def test_score_compares_predictions_with_what_fitting_anew_finds(moons):
    model = KDESpectralClustering(5, sigma=0.2, random_state=0).fit(moons.X[:250])
    new = moons.X[250:]
    anew = clone(model).fit_predict(new)
    assert model.score(new) == adjusted_rand_score(anew, model.predict(new)) < 1
    for spread, scores in ((0.1, 1.0), (50.0, 0.0)):
        X = np.r_[np.zeros((40, 1)), np.ones((40, 1))] * spread
        X += np.random.default_rng(0).normal(0, 0.01, X.shape)
        model = KDESpectralClustering("auto" if scores else 1, sigma=0.02, random_state=0)
        assert model.fit(X[::2]).score(X[1::2]) == scores
    model = KDESpectralClustering(2, affinity="precomputed").fit(np.ones((9, 9)))
    with pytest.raises(
        ValueError, match=r"score clusters the new points anew.*adjusted_rand_score"
    ):
        model.score(np.ones((9, 9)))


@pytest.mark.filterwarnings("ignore:the graph falls into")  # as one cluster
@pytest.mark.parametrize("name", ["moons", "blobs3d"])
def test_a_search_without_labels_finds_the_number_of_clusters(name):
    data = kdegraph.datasets.make(name, n=600, seed=0)
    steps = make_pipeline(
        StandardScaler(), KDESpectralClustering(sigma="moderate", perplexity=10, random_state=0)
    )
    numbers = {"kdespectralclustering__n_clusters": [1, 2, 3, 4, 5]}
    search = GridSearchCV(steps, numbers, cv=3).fit(data.X)
    assert list(search.best_params_.values()) == [data.n_clusters]
    assert search.best_score_ > 0.95
    assert search.cv_results_["mean_test_score"][0] == 0.0
    assert adjusted_rand_score(data.y, search.predict(data.X)) > 0.98


# ---- threads and messages


class Machine:
    """An object whose method says how many threads it may use."""

    def __init__(self, n_jobs):
        self.n_jobs = n_jobs

    @within_n_jobs
    def threads(self, inside=get_num_threads):
        return inside()


def in_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_n_jobs_limits_the_threads_of_one_call():
    kdegraph.set_num_threads(4)
    try:
        expected = {None: 4, 1: 1, 3: 3, 9: 4, -1: 4, -2: 3, -9: 1}
        assert {n: Machine(n).threads() for n in expected} == expected
        assert get_num_threads() == 4
        assert Machine(1).threads(lambda: in_thread(get_num_threads)) == 4  # of others
        with pytest.raises(ZeroDivisionError):
            Machine(1).threads(lambda: 1 / 0)
        assert get_num_threads() == 4
        for wrong, error in ((0, ValueError), (1.5, ValueError), ("all", TypeError)):
            with pytest.raises(error, match="n_jobs must be"):
                Machine(wrong).threads()
    finally:
        kdegraph.set_num_threads(None)


@pytest.mark.parametrize(
    "model",
    [
        KDESpectralClustering(2, random_state=0),
        SimilarityGraphTransformer(random_state=0),
    ],
)
def test_estimators_keep_to_n_jobs_and_write_their_stages(monkeypatch, capfd, moons, model):
    used = set()
    kdegraph.set_num_threads(3)
    try:
        plain = model.fit(moons.X).transform(moons.X[::2] + 0.01)
        capfd.readouterr()  # what was compiled
        count = "kdegraph.runtime.parallel.get_num_threads"
        monkeypatch.setattr(count, lambda: used.add(get_num_threads()) or get_num_threads())
        limited = clone(model).set_params(n_jobs=2, verbose=True).fit(moons.X)
        assert used == {2}
        again = limited.transform(moons.X[::2] + 0.01)
        assert used == {2}
        assert abs(again - plain).max() == 0
    finally:
        kdegraph.set_num_threads(None)
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == len(set(lines)) >= 1
    assert all(line.startswith("kdegraph: ") and line.endswith(" s") for line in lines)


FITS = {
    "several scales": KDESpectralClustering(2, random_state=0),
    "one scale": KDESpectralClustering(2, sigma=0.2, random_state=0),
    "weights": KDESpectralClustering(2, affinity="precomputed", random_state=0),
    "graph": SimilarityGraphTransformer(random_state=0),
}


@pytest.mark.parametrize("name", FITS)
def test_a_fit_ends_at_the_first_report_after_a_deadline_and_changes_nothing(
    monkeypatch, moons, name
):
    most = 4  # seconds, of a clock that goes on at each report
    data = np.exp(-cdist(moons.X, moons.X)) if name == "weights" else moons.X
    monkeypatch.setattr(
        "kdegraph.runtime.deadline.time", SimpleNamespace(monotonic=count().__next__)
    )
    fresh, fitted = (
        clone(FITS[name]),
        clone(FITS[name]).fit(data[:50, : 50 if name == "weights" else 1]),
    )
    for model in (fresh, fitted):
        reports, before = [], vars(model).copy()
        deadline = kdegraph.Deadline(most, lambda *report, to=reports: to.append(report))
        with pytest.raises(TimeoutError, match=f"the deadline of {most} s passed in the stage '"):
            model.fit(data, progress=deadline)
        assert len(reports) == most
        assert vars(model) == before
    end = time.monotonic() + 60
    while any(thread.name.startswith("kdegraph ") for thread in threading.enumerate()):
        assert time.monotonic() < end, "a thread of a fit that has ended is at work"
        time.sleep(0.01)
    again = fitted.fit_transform(data, progress=kdegraph.Deadline(10**9))
    assert abs(again - fresh.fit_transform(data)).max() == 0


def test_a_pipeline_passes_a_deadline_on(moons):
    pipeline = make_pipeline(StandardScaler(), KDESpectralClustering(2))
    with pytest.raises(TimeoutError, match="deadline"):
        pipeline.fit_predict(moons.X, kdespectralclustering__progress=kdegraph.Deadline(1e-9))
