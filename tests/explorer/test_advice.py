"""Advice on graphs that may not show what is in the data."""

import numpy as np
import pytest
from explorer_actions import PATIENCE, choose, computed, give_file, put, settle
from explorer_objects import alert, explorer_of_file, widget
from kdegraph import datasets
from kdegraph.datasets import Dataset
from kdegraph_explorer import pipeline
from kdegraph_explorer.results import Request
from kdegraph_explorer.sources.generators import tight_beside_wide
from kdegraph_explorer.views.alerts import advice
from markupsafe import Markup

MOONS = datasets.make("moons", n=300, seed=0)
UNEQUAL = Dataset(MOONS.X * [1, 1000], feature_names=("width", "<i>price</i>"))


# ---- what is said


def test_nothing_is_said_of_the_data_to_begin_with():
    for dataset in (
        *(datasets.make(name, n=1000, seed=0) for name in datasets.names()),
        tight_beside_wide(1000, 12, 0),
        *(datasets.photo(name, max_pixels=1000) for name in datasets.photo_names()),
    ):
        request = Request(dataset, sigma="preset" if dataset.sigma else "auto", n_rounds=20)
        outcomes = computed(request).outcomes.values()
        assert [found.findings for found in outcomes] == [(), ()], dataset.name


def test_a_symmetric_matrix_is_no_table_of_points(sessions):
    distances = np.abs(np.subtract.outer(MOONS.X[:60, 0], MOONS.X[:60, 0]))
    (sentence,) = advice(sessions(Dataset(distances)).state)
    assert sentence.startswith("The points are a symmetric matrix of shape (60, 60), ")
    assert sentence.endswith("or cluster it in Python (kdegraph.spectral_clustering).")


def test_a_wide_and_a_narrow_sigma_are_mended_by_the_controls_that_are_named(sessions):
    session = sessions(MOONS, sigma=50.0)
    (sentence,) = advice(session.state)
    assert sentence.startswith("Sigma 50 is far above the distances between the points: ")
    assert sentence.endswith("Tick “auto σ” or choose “Local” under “Bandwidth”.")
    put(session, sigma_auto=True)
    assert advice(session.state) == []
    choose(session, sigma=50.0)
    assert len(advice(session.state)) == 1
    choose(session, bandwidth="local")
    assert advice(session.state) == []
    choose(session, bandwidth="one", sigma=1e-5)
    (sentence,) = advice(session.state)
    assert "is far below the distances" in sentence
    assert sentence.endswith(" have no edge. Tick “auto σ” or choose “Local” under “Bandwidth”.")
    put(session, sigma_auto=True)
    assert advice(session.state) == []
    # A sigma that the data bring along is mended by hand.
    (sentence,) = advice(sessions(Dataset(MOONS.X, sigma=50.0)).state)
    assert sentence.endswith(
        "Choose a smaller “Kernel width σ” or choose “Local” under “Bandwidth”."
    )


def test_parts_are_mended_by_the_controls_that_are_named(sessions):
    clumps = datasets.make("clumps", n=1000, seed=0)
    session = sessions(clumps, bandwidth="local", n_clusters=2)
    (sentence,) = advice(session.state)
    assert sentence.startswith("The graph falls into ")
    assert sentence.endswith("Choose a larger “Perplexity” or choose more “Clusters k”.")
    choose(session, n_clusters=40)
    assert advice(session.state) == []
    choose(session, bandwidth="one", sigma=clumps.sigma / 20, n_clusters=2)
    (sentence,) = advice(session.state)
    assert sentence.endswith("Tick “auto σ” or choose more “Clusters k”.")
    # In more pieces than there are eigenvalues, it has no automatic number of clusters.
    session = sessions(datasets.make("moons", n=600, seed=0), sigma=0.01)
    outcome = session.state.outcome("kde")
    assert len(outcome.spectrum.eigenvalues) == 10
    assert not outcome.spectrum.eigenvalues.any()
    assert (outcome.n_clusters, outcome.confidence) == (1, 0.0)
    (sentence,) = advice(session.state)
    assert sentence.startswith("The graph falls into ")
    assert sentence.endswith("Tick “auto σ” or choose more “Clusters k”.")


def test_columns_have_their_names(sessions):
    (sentence,) = advice(sessions(UNEQUAL).state)
    assert "column <i>price</i> varies by" in sentence
    assert ", column width by" in sentence
    assert sentence.endswith("Standardize the columns or take the same unit for all.")
    # Columns of a file can be left out.
    session = sessions()
    rows = "\n".join(f"{x},{1000 * y},{x + y}" for x, y in MOONS.X)
    give_file(session, f"a,b,c\n{rows}".encode()).standardize_all(False)
    session.wait(PATIENCE)
    (sentence,) = advice(session.state)
    assert sentence.endswith("for all, or choose others under “Columns”.")
    put(session, "upload", columns=["a", "c"])
    assert advice(session.state) == []


# ---- when it is said


def test_a_first_look_keeps_what_was_said_of_the_data(sessions, monkeypatch):
    session = sessions(MOONS, sigma=50.0, n_rounds=20, n_clusters=2)
    monkeypatch.setattr(pipeline, "MANY_DRAWS", 1000)
    seen = []
    session.state.param.watch(
        lambda event: seen.append((event.new.coarse, len(advice(session.state)))), "result"
    )
    choose(session, sigma=40.0)
    assert seen[0] == (True, 1)
    assert seen[-1] == (False, 1)
    seen.clear()
    put(session, dataset=datasets.make("moons", n=300, seed=2))
    assert seen[0] == (True, 0)
    assert seen[-1] == (False, 1)


# ---- where it is said


def test_alert_is_there_only_while_there_is_advice(explore):
    explorer = explore(MOONS.X)
    frame, message = alert(explorer, "kg-advice")
    assert not frame.visible
    widget(explorer, "σ typed").value = "50"
    settle(explorer)
    assert frame.visible
    assert "Tick “auto σ”" in message.content
    assert alert(explorer, "kg-error")[1].content == ""
    widget(explorer, "auto σ").value = True
    settle(explorer)
    assert not frame.visible
    assert message.content == ""
    # Each sentence has a line, and names stay text.
    explorer.session.state.choose(sigma=1e9)
    put(explorer, dataset=UNEQUAL)
    assert [line.split()[0] for line in message.content.splitlines()] == ["The", "Sigma"]
    assert not isinstance(message.content, Markup)
    assert "<i>price</i>" in message.content


# ---- what mends it


def press(explorer, css_class):
    """Press a button of the alerts, which must be seen, and wait."""
    repair = button(explorer, css_class)
    assert repair.visible
    explorer.session.history.end_step()
    repair.param.trigger("clicks")
    settle(explorer)


def button(explorer, css_class):
    """A button of the alerts."""
    (found,) = explorer.sections()[2].select(
        lambda part: css_class in getattr(part, "css_classes", ())
    )
    return found


def test_a_button_standardizes_the_columns_and_undo_takes_it_back(explore):
    rows = "\n".join(f"{x},{1000 * y}" for x, y in MOONS.X)
    explorer = explorer_of_file(explore, f"a,b\n{rows}".encode())
    table, state = explorer.session.sources["upload"], explorer.session.state
    press(explorer, "kg-as-in-file")
    assert advice(state)
    press(explorer, "kg-standardize")
    assert table.standardize == ["a", "b"]
    assert not advice(state)
    explorer.session.history.undo()
    settle(explorer)
    assert table.standardize == []
    assert button(explorer, "kg-standardize").visible
    # Points that are given have no columns to standardize.
    explorer = explore(UNEQUAL)
    assert alert(explorer, "kg-advice")[0].visible
    assert not button(explorer, "kg-standardize").visible


@pytest.mark.parametrize("dataset", [MOONS, Dataset(MOONS.X)], ids=["preset", "automatic"])
def test_a_button_takes_bandwidths_that_suit(explore, dataset):
    explorer = explore(dataset)
    state = explorer.session.state
    sigma = state.outcome("kde").bandwidth
    for choice in ({"sigma": 50.0}, {"bandwidth": "one", "sigma": 1e-5}):
        state.choose(**choice)
        settle(explorer)
        assert advice(state)
        press(explorer, "kg-automatic-scale")
        assert not advice(state)
        assert state.outcome("kde").bandwidth == sigma
        explorer.session.history.undo()
        settle(explorer)
        assert state.sigma == choice["sigma"]
    # Where the scale is the one that comes with the points, there is nothing else to take.
    explorer = explore(Dataset(MOONS.X, sigma=50.0))
    assert alert(explorer, "kg-advice")[0].visible
    assert not button(explorer, "kg-automatic-scale").visible


def test_a_button_leaves_out_incomplete_rows(explore):
    explorer = explorer_of_file(explore, b"a,b\n" + b"1,2\n3,5\n4,\n" * 20)
    table, state = explorer.session.sources["upload"], explorer.session.state
    table.incomplete = False
    settle(explorer)
    assert "is missing" in state.error
    press(explorer, "kg-complete")
    assert (state.error, table.incomplete) == ("", True)
    assert state.shown.n_points == 40
    # Other errors are not mended by that.
    state.error = "something else"
    assert button(explorer, "kg-retry").visible
    assert not button(explorer, "kg-complete").visible
