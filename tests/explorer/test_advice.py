"""Advice on graphs that may not show what is in the data."""

import numpy as np
import pytest
from explorer_actions import PATIENCE, choose, computed, put, settle
from explorer_objects import alert, explorer_of_file
from kdegraph import datasets
from kdegraph.datasets import Dataset
from kdegraph_explorer import pipeline
from kdegraph_explorer.results import Request
from kdegraph_explorer.sources.generators import tight_beside_wide
from kdegraph_explorer.views.alerts import advice

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


CLUMPS = datasets.make("clumps", n=1000, seed=0)
ABOVE, PARTS = "is far above the distances between the points: ", "The graph falls into "
AUTO_OR_LOCAL = "Tick “auto σ” or choose “Local” under “Bandwidth”."
# The points, the choices, what is said of them, the remedy, and a choice that it names.
MENDED = {
    "wide": (MOONS, {"sigma": 50.0}, ABOVE, AUTO_OR_LOCAL, {"sigma_auto": True}),
    "narrow": (MOONS, {"sigma": 1e-5}, "is far below", AUTO_OR_LOCAL, {"sigma_auto": True}),
    "wide by the data": (
        Dataset(MOONS.X, sigma=50.0),
        {},
        ABOVE,
        "Choose a smaller “Kernel width σ” or choose “Local” under “Bandwidth”.",
        {"bandwidth": "local"},
    ),
    "parts": (
        CLUMPS,
        {"bandwidth": "local", "n_clusters": 2},
        PARTS,
        "Choose a larger “Perplexity” or choose more “Clusters k”.",
        {"n_clusters": 40},
    ),
    # In more pieces than there are eigenvalues, so that there is no automatic number of clusters.
    "many parts": (
        datasets.make("moons", n=600, seed=0),
        {"sigma": 0.01},
        PARTS,
        "Tick “auto σ” or choose more “Clusters k”.",
        {"sigma_auto": True},
    ),
    "units": (
        UNEQUAL,
        {},
        "column <i>price</i> varies by",
        "Standardize the columns or take the same unit for all.",
        None,
    ),
}


@pytest.mark.parametrize(("data", "choices", "says", "remedy", "mend"), MENDED.values(), ids=MENDED)
def test_what_is_said_is_mended_by_the_controls_that_are_named(
    sessions, data, choices, says, remedy, mend
):
    session = sessions(data, **choices)
    (sentence,) = advice(session.state)
    assert says in sentence
    assert sentence.endswith(remedy)
    if mend is not None:
        session.state.param.update(**mend)
        session.wait(PATIENCE)
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
    assert alert(explorer, "kg-advice")
    assert not button(explorer, "kg-standardize").visible


def test_a_button_takes_bandwidths_that_suit(explore):
    for dataset in (MOONS, Dataset(MOONS.X)):  # with a preset sigma, and without
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
    assert alert(explorer, "kg-advice")
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
    # A file that is not there would be refused again.
    table.file = ValueError("t.csv is empty")
    settle(explorer)
    assert alert(explorer, "kg-error") == "t.csv is empty"
    assert not button(explorer, "kg-retry").visible
    # What is only said is no error that another attempt might avoid.
    state.param.update(error="", notice="a file is not kept any more")
    assert alert(explorer, "kg-error") == state.notice
    assert not button(explorer, "kg-retry").visible
