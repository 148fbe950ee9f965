"""A graph of few rounds, and edges without clusters, that slow work shows first."""

import threading

import kdegraph
import kdegraph_explorer.pipeline as pipeline
import kdegraph_explorer.session as module
import kdegraph_explorer.stages as stages
import pytest
from explorer_actions import PATIENCE, choose, until
from explorer_objects import source, view
from kdegraph import datasets

MOONS = datasets.make("moons", n=300, seed=1)


@pytest.fixture
def session(sessions, monkeypatch):
    """A session whose number of draws is taken for many."""
    monkeypatch.setattr(pipeline, "MANY_DRAWS", 1000)
    return sessions(MOONS, sigma=0.15, n_rounds=20, n_clusters=2)


def test_many_draws_are_shown_coarsely_first(session):
    seen = []
    session.state.param.watch(
        lambda event: seen.append((event.new.coarse, event.new.outcomes["kde"].graph.n_rounds)),
        "result",
    )
    choose(session, sigma=0.2)
    assert seen[0] == (True, pipeline.FEW_ROUNDS)
    assert seen[-1] == (False, 20)
    graph = kdegraph.similarity_graph(session.state.dataset.X, sigma=0.2, n_rounds=20, seed=0)
    assert (session.state.outcome("kde").adjacency != graph.adjacency).nnz == 0
    seen.clear()
    choose(session, n_clusters=3)  # the graph is there: nothing coarse is needed
    assert {coarse for coarse, _ in seen} == {False}


def test_a_newer_request_stops_the_rest_of_a_coarse_one(session, monkeypatch):
    compute, stopped, started = pipeline.similarity_graph, threading.Event(), threading.Event()

    def slow_when_full(X, *, sigma, n_rounds, progress, **options):
        while n_rounds == 20 and sigma == 0.2:
            started.set()
            try:
                progress("samples", 0.5)
            except kdegraph.Cancelled:
                stopped.set()
                raise
        return compute(X, sigma=sigma, n_rounds=n_rounds, progress=progress, **options)

    monkeypatch.setattr(pipeline, "similarity_graph", slow_when_full)
    session.jobs[0].grace = PATIENCE
    session.state.choose(sigma=0.2)
    assert started.wait(PATIENCE)
    choose(session, sigma=0.25)
    assert stopped.is_set()
    assert session.state.outcome("kde").graph.sigma == 0.25
    assert not session.state.result.coarse


def test_the_rest_waits_for_the_drawing_of_the_first_look(session, monkeypatch):
    monkeypatch.setattr(module, "DRAWING_PATIENCE", 10 * PATIENCE)
    monkeypatch.setattr(module, "PAINTING_TIME", 0.0)
    drawn, rounds = threading.Event(), []
    drawing = session.latest(
        lambda request, progress, publish: drawn.wait(PATIENCE), deliver=lambda *result: None
    )

    def seen(event):
        rounds.append(event.new.outcomes["kde"].graph.n_rounds)
        if event.new.coarse:
            drawing.request("the first look")

    session.state.param.watch(seen, "result")
    session.state.choose(sigma=0.2)
    until(session, lambda: drawing.busy)
    assert session.jobs[0].busy
    assert rounds == [pipeline.FEW_ROUNDS]
    drawn.set()
    session.wait(PATIENCE)
    assert rounds[-1] == 20


def test_edges_of_many_draws_are_shown_before_their_clusters_and_not_drawn_twice(
    explore, monkeypatch, hold
):
    monkeypatch.setattr(pipeline, "SLOW_DRAWS", 1000)
    explorer = explore(datasets.make("moons", n=300, seed=0).X, sigma=0.15, n_clusters=2)
    plot, state = view(explorer, "points").figures()[0], explorer.session.state
    drawn, go_on = [], hold("find_spectrum")
    source(plot, "image").on_change(
        "data",
        lambda attr, old, new: (
            drawn.append((state.early, state.outcome("kde").graph)) or go_on.set()
        ),
    )

    before = state.outcome("kde").graph
    choose(explorer, sigma=0.16)
    ((early, clustered),) = drawn
    assert clustered is before
    assert early is state.outcome("kde").graph
    assert state.early is None


def test_an_early_graph_that_gets_no_clusters_is_taken_back(sessions, monkeypatch):
    monkeypatch.setattr(pipeline, "SLOW_DRAWS", 1000)
    session = sessions(MOONS, sigma=0.15, n_clusters=2)
    seen = []
    session.state.param.watch(lambda event: seen.append(event.new), "early")

    def fail(*args, **options):
        raise ValueError("no spectrum")

    monkeypatch.setattr(stages, "find_spectrum", fail)
    choose(session, sigma=0.16)
    assert session.state.error == "no spectrum"
    assert seen[0].sigma == 0.16
    assert seen[1:] == [None]
