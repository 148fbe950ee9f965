"""Undo and redo: what is a step, and what it brings back."""

import numpy as np
from explorer_actions import PATIENCE, choose, put, settle, undo
from kdegraph import datasets, local_bandwidths
from kdegraph_explorer import history
from kdegraph_explorer.exports import session_file
from kdegraph_explorer.uploads import StoredFile


def test_undo_and_redo_of_parameters_and_selection(sessions):
    session = sessions()
    state, history = session.state, session.history
    assert not history.can_undo
    sigma = state.sigma
    choose(session, sigma=0.3)
    choose(session, n_clusters=5)
    choose(session, bandwidth="local", perplexity=9)
    choose(session, color="column:x", point_size=0.5)
    choose(session, selection=np.array([1, 4]))
    history.undo()
    assert state.selection.tolist() == []
    assert (state.color, state.point_size) == ("column:x", 0.5)
    history.undo()
    assert (state.color, state.point_size) == ("cluster", 1.0)
    history.undo()
    assert (state.bandwidth, state.perplexity, state.n_clusters) == ("auto", 5, 5)
    history.undo()
    undo(session)
    assert (state.sigma, state.sigma_auto, state.clusters_auto) == (sigma, True, True)
    assert not history.can_undo
    assert history.can_redo
    for _ in range(5):
        history.redo()
    session.wait(PATIENCE)
    assert (state.sigma, state.n_clusters, state.selection.tolist()) == (0.3, 5, [1, 4])
    assert (state.color, state.point_size) == ("column:x", 0.5)
    np.testing.assert_array_equal(
        state.outcome("kde").graph.sigma, local_bandwidths(state.dataset.X, perplexity=9)
    )
    assert not history.can_redo


def test_a_drag_is_one_step_and_a_new_choice_forgets_what_was_taken_back(sessions):
    session = sessions()
    for sigma in np.linspace(0.1, 0.3, 10):
        session.state.choose(sigma=float(sigma))
    session.wait(PATIENCE)
    session.history.undo()
    assert session.state.sigma_auto
    assert not session.history.can_undo
    # A new choice forgets what was taken back.
    choose(session, sigma=0.3)
    session.history.undo()
    choose(session, n_rounds=7)
    assert not session.history.can_redo
    undo(session)
    assert session.state.n_rounds == 20


def test_undo_brings_back_other_data_with_axes_and_selection(sessions):
    session = sessions()
    state = session.state
    put(session, "generators", shape="rings")
    state.vertical = "z"
    choose(session, selection=np.array([3]))
    state.source = "photographs"
    put(session, "photographs", pixels=1000)
    for _ in range(3):
        undo(session)
        if state.dataset.name == "rings":
            break
    assert state.source == "generators"
    assert state.vertical == "z"
    assert state.selection.tolist() == [3]
    session.history.undo()
    assert state.selection.tolist() == []


def test_opening_a_session_is_a_step_that_can_be_undone(explore):
    explorer = explore(datasets.make("moons", n=200, seed=0).X)
    session = explorer.session
    choose(session, n_clusters=4)
    content = session_file.write(session)
    choose(session, n_clusters=3)
    explorer.layout.toolbar.take(StoredFile.of("s.json", content))
    settle(explorer)
    assert session.state.n_clusters == 4
    undo(explorer)
    assert session.state.n_clusters == 3
    undo(explorer)
    assert session.state.n_clusters == 4
    assert session.history.can_undo


def test_opening_a_file_from_anywhere_is_a_step_that_can_be_undone(explore):
    explorer = explore(datasets.make("moons", n=200, seed=0).X)
    state = explorer.session.state
    before = state.source, state.dataset
    rows = "".join(f"{i % 7},{i % 5}\n" for i in range(30))
    explorer.layout.toolbar.take(StoredFile.of("few.csv", b"x,y\n" + rows.encode()))
    settle(explorer)
    assert (state.source, state.dataset.n_points) == ("upload", 30)
    undo(explorer)
    assert (state.source, state.dataset) == before
    assert not explorer.session.history.can_undo


def test_steps_keep_their_numbers_when_the_oldest_are_forgotten(sessions, monkeypatch):
    monkeypatch.setattr(history, "MAX_STEPS", 3)
    session = sessions()
    for n_rounds in (5, 6, 7, 8):
        choose(session, n_rounds=n_rounds)
    assert session.history.position == 4
    session.history.go_to(3)
    session.wait(PATIENCE)
    assert session.state.n_rounds == 7
    session.history.go_to(0)  # forgotten: the nearest that is left
    session.wait(PATIENCE)
    assert session.state.n_rounds == 6
