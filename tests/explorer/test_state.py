"""A session of the explorer as an object: choices in, results out, without a browser."""

import gc
import threading
import weakref
from dataclasses import replace

import kdegraph
import kdegraph_explorer.pipeline as pipeline
import kdegraph_explorer.results as results
import kdegraph_explorer.session as session_module
import kdegraph_explorer.stages as stages
import numpy as np
import pytest
from explorer_actions import PATIENCE, choose, computed, put, settle, silent, undo
from explorer_objects import controls, part
from files import npy_bytes
from kdegraph import datasets, estimate_sigma
from kdegraph.automatic import count_clusters
from kdegraph.eigengap import SuggestedNumber
from kdegraph_explorer.numbering import align
from kdegraph_explorer.pipeline import Pipeline
from kdegraph_explorer.results import Request
from kdegraph_explorer.uploads import StoredFile
from kdegraph_explorer.views.controls import ParameterControls
from sklearn.metrics import adjusted_rand_score

MOONS = datasets.make("moons", n=300, seed=1)
STAGES = {  # and the modules that call them
    "similarity_graph": pipeline,
    "knn_graph": pipeline,
    "find_spectrum": stages,
    "spectral_clustering": pipeline,
}


@pytest.fixture
def counts(monkeypatch):
    """How often each stage has been computed, and the parameters of the last time."""
    counts = dict.fromkeys(STAGES, 0)

    def count(name):
        compute = getattr(STAGES[name], name)

        def counted(*args, **options):
            counts[name] += 1
            return compute(*args, **options)

        monkeypatch.setattr(STAGES[name], name, counted)

    for name in STAGES:
        count(name)
    return counts


def reset(counts):
    counts.update(dict.fromkeys(counts, 0))


def test_result_is_what_the_library_computes(sessions):
    session = sessions(MOONS, sigma=0.15, n_rounds=12, n_clusters=2)
    X = session.state.dataset.X
    kde, knn = session.state.outcome("kde"), session.state.outcome("knn")
    graph = kdegraph.similarity_graph(X, sigma=0.15, n_rounds=12, seed=0)
    assert (kde.adjacency != graph.adjacency).nnz == 0
    assert (knn.adjacency != kdegraph.knn_graph(X, 10)).nnz == 0
    np.testing.assert_allclose(
        kde.spectrum.eigenvalues, kdegraph.spectrum(graph, 10).eigenvalues, atol=1e-4
    )
    assert adjusted_rand_score(kde.labels, session.state.dataset.y) == 1.0
    assert kde.scores["Edges"] == graph.n_edges
    assert kde.scores["Adjusted Rand index"] == 1.0
    assert set(kde.seconds) == set(knn.seconds) == {"graph", "eigenvalues", "clusters"}
    np.testing.assert_array_equal(kde.colors, MOONS.y)
    np.testing.assert_array_equal(knn.colors, kde.colors)
    choose(session, sigma=0.2)
    np.testing.assert_array_equal(session.state.outcome("kde").colors, kde.colors)
    assert session.state.outcome("knn").colors is knn.colors


DEPENDENT = (
    ({"n_clusters": 3}, {"spectral_clustering": 2}),
    ({"sigma": 0.2}, {"similarity_graph": 1, "find_spectrum": 1, "spectral_clustering": 1}),
    ({"n_rounds": 7}, {"similarity_graph": 1, "find_spectrum": 1, "spectral_clustering": 1}),
    ({"n_neighbors": 6}, {"knn_graph": 1, "find_spectrum": 1, "spectral_clustering": 1}),
    ({"show_edges": False}, {}),
    ({"edges": "strongest"}, {}),
    ({"overlay": 0.1}, {}),
    ({"selection": np.array([1, 2])}, {}),
)


def test_a_choice_computes_what_depends_on_it_and_nothing_else(sessions, counts):
    session = sessions(MOONS, sigma=0.15, n_clusters=2)
    for choice, expected in DEPENDENT:
        reset(counts)
        choose(session, **choice)
        assert counts == {**dict.fromkeys(STAGES, 0), **expected}, choice


def test_what_is_known_is_not_computed_again(sessions, counts):
    session = sessions(MOONS, sigma=0.15, n_clusters=2)
    reset(counts)
    choose(session, n_clusters=14)
    assert counts["similarity_graph"] == counts["knn_graph"] == 0
    assert counts["find_spectrum"] == 2
    assert session.state.outcome("kde").labels.max() == 13
    reset(counts)
    choose(session, n_clusters=3)  # the longer spectrum serves fewer clusters
    assert counts["find_spectrum"] == 0
    reset(counts)
    session.retry()
    session.wait(PATIENCE)
    assert sum(counts.values()) == 0


def test_automatic_values_are_shown_and_a_choice_by_hand_ends_them(sessions):
    session = sessions(MOONS)
    state = session.state
    assert state.sigma == state.dataset.sigma == state.result.sigma
    assert state.n_clusters == 2
    state.choose(sigma=0.3)
    assert not state.sigma_auto
    assert state.clusters_auto
    session.wait(PATIENCE)
    assert state.sigma == state.outcome("kde").graph.sigma == 0.3
    put(session, sigma_auto=True)
    assert state.sigma == state.dataset.sigma
    put(session, rounds_auto=True)
    assert state.n_rounds == kdegraph.similarity_graph(MOONS.X, sigma=state.sigma, seed=0).n_rounds


def test_the_same_points_get_the_same_automatic_sigma_wherever_they_come_from(sessions):
    made = datasets.make("clumps", n=300, seed=0)
    rule, preset = estimate_sigma(made.X, seed=0), made.sigma
    assert rule < preset / 10
    session = sessions(given=made)
    state = session.state
    assert (state.sigma_chosen, state.sigma) == ("preset", preset)
    put(session, sigma_preset=False)
    assert (state.sigma_chosen, state.sigma) == ("auto", rule)
    state.sigma_preset = True
    state.source = "upload"
    put(session, "upload", file=StoredFile.of("clumps.npy", npy_bytes(made.X)))
    assert (state.sigma_chosen, state.sigma) == ("auto", rule)
    assert computed(Request(made)).sigma == rule


def test_an_error_keeps_the_last_result_and_the_next_result_ends_it(sessions):
    session = sessions(
        datasets.Dataset(np.random.default_rng(0).normal(size=(9, 2))), sigma=1.0, n_clusters=2
    )
    state, before = session.state, session.state.result
    choose(session, n_clusters=10)
    assert state.result is before
    assert state.error == "n_clusters must be at most 9, the number of points, got 10"
    choose(session, n_clusters=3)
    assert state.error == ""
    assert state.outcome("kde").n_clusters == 3


def test_graphs_without_edges_and_one_point_are_results(sessions):
    session = sessions(MOONS, sigma=1e-300)
    assert session.state.error == ""
    assert session.state.outcome("kde").scores["Edges"] == 0
    assert session.state.outcome("kde").scores["Isolated points"] == 300
    assert session.state.outcome("knn").scores["Edges"] > 0
    choose(session, n_clusters=2)
    assert "use a larger sigma" in session.state.error
    session = sessions(datasets.Dataset(np.zeros((1, 2))))
    assert session.state.error == ""
    assert session.state.outcome("kde").labels.tolist() == [0]
    state = sessions(datasets.Dataset(np.arange(30.0)[:, None]), sigma=1e-9).state
    assert (state.outcome("kde").n_clusters, state.outcome("kde").confidence) == (1, 0.0)


def test_an_unexpected_fault_is_named_keeps_the_last_result_and_can_be_tried_again(
    sessions, monkeypatch
):
    session = sessions(MOONS, sigma=0.15)
    before = session.state.result

    def broken(*args, **options):
        raise ZeroDivisionError("division by zero")

    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "similarity_graph", broken)
        for again in (lambda: session.state.choose(sigma=0.2), session.retry):
            again()
            session.wait(PATIENCE)
            assert session.state.error == "ZeroDivisionError: division by zero"
            assert session.state.result is before
            session.state.error = ""
    session.retry()
    session.wait(PATIENCE)
    assert session.state.error == ""
    assert session.state.outcome("kde").graph.sigma == 0.2


def test_first_method_is_published_before_the_second():
    dataset, published = datasets.make("moons", n=200, seed=0), []
    pipe = Pipeline()
    result = pipe.run(Request(dataset, sigma=0.2, n_clusters=2), silent, published.append)
    assert [list(part.outcomes) for part in published] == [["kde"]]
    assert list(result.outcomes) == ["kde", "knn"]
    published.clear()
    again = Request(dataset, sigma=0.2, n_clusters=2, n_rounds=9)
    pipe.run(again, silent, published.append)
    assert published == []  # the k-NN graph is known: there is nothing to wait for


def test_stages_that_were_finished_before_a_cancel_are_kept(counts):
    dataset, pipe = datasets.make("moons", n=200, seed=0), Pipeline()

    def stop_at_clusters(stage, fraction):
        if "clusters" in stage:
            raise kdegraph.Cancelled

    with pytest.raises(kdegraph.Cancelled):
        pipe.run(Request(dataset, sigma=0.2), stop_at_clusters, silent)
    pipe.run(Request(dataset, sigma=0.2), silent, silent)
    assert counts["similarity_graph"] == 1


def test_colors_follow_the_reference():
    labels, reference = np.array([0, 0, 1, 1, 2, 2]), np.array([2, 2, 0, 0, 1, 0])
    assert align(labels, reference).tolist() == [2, 2, 0, 0, 1, 1]
    assert align(labels, None).tolist() == labels.tolist()
    assert align(np.array([0, 1, 2, 3]), np.array([0, 0, 0, 0])).max() <= 3


def test_fewer_clusters_than_true_ones_have_numbers_without_a_gap():
    moons = datasets.make("moons", n=200, seed=0)
    y = np.where(moons.y == 1, 2, np.arange(200) % 3 == 0)
    request = Request(datasets.Dataset(moons.X, y), sigma=0.2, n_clusters=2)
    colors = Pipeline().run(request, silent, silent).outcomes["kde"].colors
    assert colors.tolist() == moons.y.tolist()


def test_points_of_slow_work_are_shown_before_its_result(sessions, hold):
    session = sessions(MOONS, n_clusters=2)
    state, before = session.state, session.state.dataset
    go_on = hold()
    shown = []
    state.param.watch(
        lambda event: shown.append((event.new.name, state.outcome("kde"))) or go_on.set(), "shown"
    )
    put(session, source="generators")
    assert shown == [("moons", None)]
    assert state.shown is state.dataset is not before
    assert len(state.outcome("kde").labels) == state.dataset.n_points


def test_quick_change_of_data_shows_points_and_clusters_together(sessions, monkeypatch):
    session = sessions(MOONS, n_clusters=2)
    monkeypatch.setattr("kdegraph_explorer.jobs.Latest.REPORT_AFTER", 1e9)
    seen = []
    session.state.param.watch(
        lambda *events: seen.append(session.state.outcome("kde") is not None), ["shown", "result"]
    )
    put(session, source="generators")
    assert seen
    assert all(seen)


def test_full_graph_is_computed_when_it_is_wanted_and_fits(sessions, monkeypatch):
    session = sessions(MOONS, sigma=0.15, n_clusters=2)
    assert session.state.outcome("full") is None
    put(session, extra_methods=("full",))
    for chosen, sigma in (
        ({"sigma": 0.15}, 0.15),
        ({"bandwidth": "local", "perplexity": 5}, kdegraph.local_bandwidths(MOONS.X, perplexity=5)),
        ({"bandwidth": "one", "sigma": 0.2}, 0.2),
    ):
        choose(session, **chosen)
        full = session.state.outcome("full")
        expected = kdegraph.full_graph(MOONS.X, sigma=sigma)
        np.testing.assert_allclose(full.adjacency.toarray(), expected, atol=1e-9)
        np.testing.assert_array_equal(full.colors, session.state.outcome("kde").colors)
    session.state.extra_methods = ()
    choose(session, sigma=0.15)
    assert session.state.outcome("full") is None  # not one of another sigma
    monkeypatch.setattr(results, "FULL_UP_TO", 200)
    put(session, extra_methods=("full",))
    assert session.state.outcome("full") is None


def test_moves_leave_nothing_behind(sessions):
    session = sessions(MOONS, n_clusters=2)
    graphs = []
    session.state.param.watch(
        lambda event: graphs.append(weakref.ref(event.new.outcomes["kde"].graph)), "result"
    )
    for sigma in np.linspace(0.05, 0.4, 15):
        choose(session, sigma=float(sigma))
    assert session.state.outcome("kde").graph.sigma == session.state.sigma == 0.4
    gc.collect()
    assert len(graphs) >= 15
    alive = {id(ref()) for ref in graphs if ref() is not None}
    assert alive == {id(session.state.outcome("kde").graph)}


# ---- the number of clusters


def test_automatic_number_is_that_of_the_plotted_eigenvalues_with_its_confidence(explore):
    explorer = explore(datasets.make("moons", n=300, seed=1).X)
    state = explorer.session.state
    for sigma in (0.15, 0.4):
        choose(explorer, sigma=sigma)
        outcome = state.outcome("kde")
        expected = kdegraph.suggest_n_clusters(outcome.spectrum.eigenvalues)
        assert (outcome.n_clusters, outcome.confidence) == (expected, expected.confidence)
        number = f"{expected} cluster{'s' * (expected != 1)}"
        assert explorer.layout.status.sentence().endswith(
            f", {number} (automatic, confidence {expected.confidence:.2f})"
        )
    # That of a first look at many points says little.
    put(explorer, result=replace(state.result, coarse=True))
    assert ", so far from" in explorer.layout.status.sentence()
    assert "confidence" not in explorer.layout.status.sentence()
    assert state.outcome("knn").n_clusters == expected
    assert state.outcome("knn").confidence is None
    choose(explorer, n_clusters=3)
    assert explorer.layout.status.sentence().endswith(", 3 clusters")


def test_a_count_that_comes_too_late_is_dropped(sessions, monkeypatch):
    go_on = threading.Event()

    def held(X, **options):
        assert go_on.wait(PATIENCE)
        return SuggestedNumber(7, 0.5)

    monkeypatch.setattr(session_module, "count_clusters", held)
    session = sessions(datasets.make("blobs", n=300, seed=0))
    session.count()
    put(session, dataset=MOONS)
    go_on.set()
    settle(session)
    assert session.state.counted is None
    assert session.state.clusters_auto


def test_clusters_are_counted_whatever_graph_is_chosen_and_the_number_is_said(explore):
    X = datasets.make("blobs", n=300, seed=0).X
    explorer = explore(X, sigma=50.0)
    session, state = explorer.session, explorer.session.state
    assert state.n_clusters == 1
    button = part(controls(explorer, ParameterControls), "Count")
    said, _ = next(
        row.objects
        for row in controls(explorer, ParameterControls).__panel__().select()
        if button in getattr(row, "objects", ())
    )
    assert said.content == "Or count them in a separate graph:"
    button.clicks += 1
    settle(explorer)
    assert state.counted == count_clusters(X, seed=0) == 3
    assert said.content == f"Counted: 3, with confidence {state.counted.confidence:.2f}"
    assert explorer.layout.status.sentence().endswith(", 3 clusters")
    session.history.undo()
    assert state.clusters_auto
    put(explorer, dataset=datasets.photo("china", max_pixels=1000))
    assert said.content == "Or count them in a separate graph:"
    button.clicks += 1
    settle(explorer)
    assert said.content == f"Counted: {state.counted} segments"


def test_more_clusters_than_can_be_chosen_are_counted(sessions, monkeypatch):
    many = SuggestedNumber(101, 0.0)
    monkeypatch.setattr(session_module, "count_clusters", lambda X, **options: many)
    session = sessions(MOONS)
    session.count()
    settle(session)
    assert session.state.counted == many
    assert session.state.n_clusters == session.state.outcome("kde").n_clusters == 100
    assert session.state.error == ""


def test_a_counted_number_is_not_carried_to_other_points(sessions):
    session = sessions(sigma=50.0)
    session.count()
    settle(session)
    session.history.end_step()
    counted = session.state.n_clusters
    assert not session.state.clusters_auto
    put(session, source="contrast")
    assert session.state.clusters_auto
    undo(session)
    assert (session.state.n_clusters, session.state.clusters_auto) == (counted, False)
    choose(session, n_clusters=counted + 1)  # one's own number stays
    put(session, source="contrast")
    assert (session.state.n_clusters, session.state.clusters_auto) == (counted + 1, False)
