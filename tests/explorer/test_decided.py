"""Points without a sigma of their own: what the library decides is shown, as its estimator does."""

import functools
import gc
import weakref

import kdegraph
import kdegraph_explorer.pipeline as pipeline
import numpy as np
import pytest
from explorer_actions import (
    TABLE,
    choose,
    export,
    give_file,
    put,
    redo,
    reopened,
    restored,
    run_script,
    settle,
    silent,
    undo,
)
from explorer_objects import controls, view, widget
from kdegraph import datasets
from kdegraph_explorer import address
from kdegraph_explorer.history import take
from kdegraph_explorer.results import DECISION, ROWS, Request
from kdegraph_explorer.views import describe
from kdegraph_explorer.views.alerts import Tour
from kdegraph_explorer.views.controls import ParameterControls, about
from kdegraph_explorer.views.decided import cluster_words, scale_words

THREE = datasets.make("blobs", n=300, seed=0).X


@functools.cache
def fitted(points, d, seed):
    return kdegraph.KDESpectralClustering(random_state=seed).fit(
        np.frombuffer(points).reshape(-1, d)
    )


def estimate(state):
    """What the estimator finds for the points that are explored."""
    X = state.dataset.X
    return fitted(X.tobytes(), X.shape[1], state.seed)


def check_decided(state):
    model, kde = estimate(state), state.outcome("kde")
    np.testing.assert_array_equal(kde.labels, model.labels_)
    np.testing.assert_array_equal(kde.graph.neighbors, model.graph_.neighbors)
    np.testing.assert_array_equal(kde.graph.sigma, model.sigma_)
    assert (state.n_clusters, state.rounds) == (model.n_clusters_, model.graph_.n_rounds)
    assert state.is_local == (np.ndim(model.sigma_) > 0)
    assert state.decides
    return model


def test_arrays_files_and_paintings_begin_with_what_the_estimator_finds(
    sessions, explore, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    explorer = explore(THREE)
    model = check_decided(explorer.session.state)
    assert explorer.sigma == "moderate"
    assert (explorer.n_clusters, explorer.n_rounds) == (3, model.graph_.n_rounds)
    session = sessions()
    put(session, source="painted")
    check_decided(session.state)
    (tmp_path / "t.csv").write_bytes(TABLE)
    source = give_file(session, TABLE)
    source.standardize = ["width", "height"]
    choose(session, seed=5)
    check_decided(session.state)
    run_script(session, tmp_path)
    script = (tmp_path / "again.py").read_text()
    assert "KDESpectralClustering(random_state=5).fit(X)" in script
    assert "similarity_graph" not in script
    choose(session, n_clusters=4)  # one graph, with this number
    run_script(session, tmp_path)
    assert "spectral_clustering(" in (tmp_path / "again.py").read_text()


def test_points_in_many_dimensions_are_shown_by_their_principal_components(
    sessions, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(3, 80)), 40, axis=0) + rng.normal(size=(120, 80))
    session = sessions(datasets.Dataset(X))
    model = check_decided(session.state)
    np.testing.assert_array_equal(session.state.outcome("kde").graph.points, model.graph_.points)
    assert about(session.state.dataset).endswith("50 principal components are clustered.")
    assert "components" not in about(datasets.Dataset(THREE))
    (tmp_path / "points.parquet").write_bytes(export(session, "points"))
    run_script(session, tmp_path)
    choose(session, sigma=9.0, n_clusters=3)
    run_script(session, tmp_path)
    script = (tmp_path / "again.py").read_text()
    assert "X = reduced(X)  # 50 principal components" in script


def test_the_gap_of_many_clusters_is_among_the_eigenvalues(sessions):
    rng = np.random.default_rng(0)
    centers = np.stack(np.meshgrid(range(4), range(3)), axis=-1).reshape(-1, 1, 2)
    X = (10.0 * centers + rng.normal(size=(12, 40, 2))).reshape(-1, 2)
    state = sessions(datasets.Dataset(X)).state
    for method in ("kde", "knn"):
        assert state.outcome(method).n_clusters == 12
        assert np.argmax(np.diff(state.outcome(method).spectrum.eigenvalues)) == 11


def test_what_is_set_gives_one_graph_and_automatic_comes_back(sessions):
    session = sessions(datasets.Dataset(THREE))
    state = session.state
    decided = state.outcome("kde")
    choose(session, n_clusters=5)
    labels = kdegraph.spectral_clustering(decided.graph, 5, seed=0, points=THREE).labels
    assert state.outcome("kde").graph is decided.graph
    np.testing.assert_array_equal(state.outcome("kde").labels, labels)
    assert state.outcome("kde").vote is None
    put(session, clusters_auto=True)
    for changes, kind, expected in (
        ({"n_rounds": 12}, "moderate", {"sigma": "moderate", "perplexity": state.perplexity}),
        ({"perplexity": 7}, "moderate", {"sigma": "moderate", "perplexity": 7, "n_rounds": 20}),
        ({"sigma": 0.7}, "one", {"sigma": 0.7, "n_rounds": 20}),
        ({"sigma_auto": True}, "one", {"sigma": kdegraph.estimate_sigma(THREE, seed=0)}),
        ({"bandwidth": "local"}, "local", {"sigma": "local", "perplexity": state.perplexity}),
    ):
        choose(session, **changes)
        assert (state.bandwidth, state.decides) == (kind, False)
        options = {"n_rounds": state.n_rounds, **expected}
        graph = kdegraph.similarity_graph(THREE, **options, seed=0)
        assert (state.outcome("kde").adjacency != graph.adjacency).nnz == 0
        undo(session)
        check_decided(state)
        redo(session)
        assert state.bandwidth == kind
        choose(session, bandwidth="auto", n_rounds=20)
        check_decided(state)


def test_generated_points_keep_their_sigma_and_others_forget_it(sessions):
    session = sessions()
    state = session.state
    assert (state.kind, state.sigma, state.rounds, state.decides) == ("one", 0.1, 20, False)
    choose(session, sigma=0.3)
    put(session, source="painted")
    check_decided(state)
    graph = weakref.ref(state.outcome("kde").graph)
    put(session, source="generators")
    settle(session)
    gc.collect()
    assert graph() is None
    assert (state.sigma, state.outcome("kde").graph.n_rounds) == (0.1, 20)
    choose(session, bandwidth="one")  # what the user has chosen stays
    put(session, source="painted")
    assert not state.decides


def test_addresses_and_session_files_keep_what_is_automatic(sessions):
    session = sessions(start=False)
    # Earlier versions had one sigma for such points, and their addresses do not say so.
    for query, decides in (
        ("source=painted", False),
        ("source=painted&bandwidth=auto", True),
        ("source=contrast&sigma_preset=false", False),
        ("data.n=100", False),
        ("data.n=100&bandwidth=local", False),
        ("data.n=100&data.part=0-59", False),
    ):
        snapshot = address.read(session, query)
        restored(session, snapshot)
        assert session.state.decides == decides, query
        again = address.read(session, address.query(session, take(session)) or "data.n=2000")
        assert again.choices["bandwidth"] == session.state.bandwidth, query
    session.state.source = "painted"
    choose(session, bandwidth="auto")
    check_decided(reopened(session, sessions(start=False)).state)


def test_what_was_decided_is_said_in_words_and_numbers(explore):
    explorer = explore(THREE)
    state, parameters = explorer.session.state, controls(explorer, ParameterControls)
    kde, model = state.outcome("kde"), estimate(state)
    words = "\n".join(
        getattr(part, "content", "") for part in parameters.__panel__().select() if part.visible
    )
    assert f"perplexity {kde.bandwidth.perplexity:g}; L = {kde.graph.n_rounds}." in words
    stable = ", ".join(f"{value:.2f}" for value in np.sort(model.stability_))
    doubtful = int((model.probabilities_ < 0.9).sum())
    assert f"; {doubtful} doubtful point" in words
    scores = {name: value for name, value, _ in view(explorer, "scores").rows()}
    assert (scores["Least stability"], scores["Doubtful points"]) == (
        min(model.stability_),
        doubtful,
    )
    assert scores["Seconds: decision"] > 0
    told = describe.clusters(state, "kde", True)
    assert f" {doubtful} point" in told.summary
    at = told.columns.index("Stability")
    assert sorted(row[at] for row in told.rows) == stable.split(", ")
    assert "Stability" not in describe.clusters(state, "knn", True).columns


def test_pixels_and_three_points_are_decided_as_by_the_estimator(sessions):
    pixels = datasets.photo(datasets.photo_names()[0], max_pixels=400)
    state = sessions(pixels).state
    model = check_decided(state)
    assert state.sigma == model.sigma_
    assert scale_words(state) == f"Chosen: one σ = {model.sigma_:.3g} for all; L = {state.rounds}."
    assert cluster_words(state) == ""
    check_decided(sessions(datasets.Dataset(THREE[:3])).state)
    state = sessions(datasets.Dataset(datasets.make("moons", n=200, seed=0).X)).state
    assert "which is low: other numbers may suit" in cluster_words(state)


def test_sliders_show_what_was_decided_and_the_choice_of_a_kind_follows_the_data(explore):
    explorer = explore(THREE)
    state = explorer.session.state
    kinds, slider = widget(explorer, "Bandwidth"), widget(explorer, "Perplexity")
    assert list(kinds.options) == ["Auto", "One", "Local", "Moderate"]
    assert (kinds.value, slider.visible, slider.value) == ("auto", True, state.perplexity)
    one_sigma = controls(explorer, ParameterControls)._one  # what is shown for it
    assert not one_sigma.visible
    assert widget(explorer, "Rounds L").value == state.outcome("kde").graph.n_rounds
    assert not widget(explorer, "auto σ").value
    slider.value = 12
    settle(explorer)
    assert (state.bandwidth, kinds.value, state.perplexity) == ("moderate", "moderate", 12)
    tour = Tour(explorer.session)
    state.tour = 1
    assert "Drag “Perplexity”." in tour.words  # the slider that is there
    state.tour = 0
    kinds.value = "auto"
    settle(explorer)
    check_decided(state)
    put(explorer, source="generators")
    assert list(kinds.options) == ["One", "Local", "Moderate"]
    assert (slider.visible, one_sigma.visible) == (False, True)
    assert (state.bandwidth, kinds.value) == ("auto", "one")
    kinds.value = "local"
    kinds.value = "one"
    settle(explorer)
    assert (state.bandwidth, state.outcome("kde").graph.sigma) == ("auto", state.dataset.sigma)


def test_the_decision_reports_its_stages_and_can_be_cancelled(monkeypatch):
    reports = []

    def progress(stage, fraction):
        reports.append(stage)
        if stage == f"{DECISION}: scales" and fraction > 0:
            raise kdegraph.Cancelled

    request = Request(datasets.Dataset(THREE), bandwidth="auto")
    work = pipeline.Pipeline()
    with pytest.raises(kdegraph.Cancelled):
        work.run(request, progress, silent)
    found = work.run(request, lambda *report: reports.append(report[0]), silent)
    model = fitted(THREE.tobytes(), THREE.shape[1], 0)
    np.testing.assert_array_equal(found.outcomes["kde"].labels, model.labels_)
    stages = {tuple(report.split(": ")) for report in reports if report.startswith(DECISION)}
    assert {stage for _, stage in stages} <= set(ROWS[DECISION])
    # Many points are shown by a graph of few rounds before.
    monkeypatch.setattr(pipeline, "MANY_POINTS", 100)
    shown = []
    note = lambda result, enough=False: shown.append((result, enough))  # noqa: E731
    pipeline.Pipeline().run(request, silent, note)
    assert shown[0][1]
    assert shown[0][0].coarse
    assert shown[0][0].outcomes["kde"].graph.n_rounds == pipeline.FEW_ROUNDS
