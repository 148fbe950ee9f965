"""Names of clusters: what they follow, where they are shown, and what keeps them."""

import numpy as np
import pytest
from bokeh.events import MouseMove
from explorer_actions import (
    PATIENCE,
    choose,
    explorer_of_file,
    put,
    settle,
    undo,
)
from explorer_objects import controls, happen, source, view
from kdegraph.datasets import Dataset
from kdegraph_explorer.checks import as_text, count, holds
from kdegraph_explorer.cluster_names import ADDRESSED, abridged, assigned, check_names, renamed
from kdegraph_explorer.exports import html_page, label_table
from kdegraph_explorer.views.selection_controls import SelectionControls

RNG = np.random.default_rng(0)
N = 60
GROUP = np.repeat([0, 1, 2], N // 3)
X = RNG.normal(0, 0.3, size=(N, 2)) + np.array([[0, 0], [0, 6], [30, 0]])[GROUP]
CSV = b"x,y\n" + b"\n".join(b"%f,%f" % (x, y) for x, y in X)
PLAIN = Dataset(np.zeros((N, 2)))
NAMES = [["a", as_text(range(20))], ["b", as_text(range(20, 40))]]


# ---- what a name follows


def test_a_name_goes_to_the_cluster_that_shares_most_points():
    clusters = np.r_[np.full(15, 2), np.full(20, 0), np.full(25, 1)]
    assert assigned(NAMES, clusters, PLAIN) == {2: 0, 0: 1}
    # Of two names in one cluster, one waits.
    assert assigned(NAMES, np.zeros(N, dtype=int), PLAIN) in ({0: 0}, {0: 1})
    assert assigned(NAMES, GROUP, PLAIN) == {0: 0, 1: 1}
    assert assigned(NAMES, None, PLAIN) == assigned([], GROUP, PLAIN) == {}
    clusters = np.r_[np.zeros(20), np.zeros(12), np.ones(8), np.ones(20)].astype(int)
    assert assigned(NAMES, clusters, PLAIN) == {0: 0, 1: 1}


def test_rows_hold_on_to_points_of_a_part():
    part = PLAIN.subset(np.arange(18, 60))
    assert assigned(NAMES, np.r_[1, 1, np.zeros(40, dtype=int)], part) == {1: 0, 0: 1}
    names = renamed([], 1, "new", np.r_[1, 1, np.zeros(40, dtype=int)], part)
    assert names == [["new", "18-19"]]


def test_renaming():
    assert renamed(NAMES, 0, "  new\n name ", GROUP, PLAIN)[-1] == ["new name", "0-19"]
    assert [name for name, _ in renamed(NAMES, 0, "new", GROUP, PLAIN)] == ["b", "new"]
    assert renamed(NAMES, 1, " ", GROUP, PLAIN) == NAMES[:1]
    names = [["a", as_text(range(0, 3000, 2))], ["b", "4"]]
    (_, found), last = abridged(names)
    assert count(found) == ADDRESSED
    assert not holds(found, np.arange(1, 3000, 2)).any()
    assert last == names[1]


# ---- in the explorer


@pytest.fixture
def explorer(explore):
    explorer = explorer_of_file(explore, CSV)
    choose(explorer.session, sigma=2.0, n_clusters=3)
    settle(explorer)
    return explorer


def name(explorer, point, words):
    """Name the cluster of a point by the legend."""
    number = int(explorer.session.state.outcome("kde").colors[point])
    explorer.layout.color.clusters._handle_msg({"number": number, "name": words})
    settle(explorer)
    return number


def test_a_name_is_seen_wherever_the_cluster_is(explorer):
    state = explorer.session.state
    number = name(explorer, 45, "far <away>")
    entries = {entry["number"]: entry["name"] for entry in explorer.layout.color.clusters.entries}
    assert [entries[c] for c in sorted(entries) if c != number] == ["", ""]
    assert entries[number] == "far <away>"
    for figure in view(explorer, "points").figures():
        labels = source(figure, "names").data
        assert list(labels["name"]) == ["far <away>"]
        assert (labels["x"][0], labels["y"][0]) in {tuple(p) for p in state.dataset.X[40:]}
    for point, expected in (
        (45, "far <away>"),
        (0, f"cluster {state.outcome('kde').colors[0] + 1}"),
    ):
        x, y = state.dataset.X[point]
        happen(figure, MouseMove, x=x, y=y)
        settle(explorer)
        assert expected in figure.select_one({"name": "note"}).text.text
    put(explorer, view="rows")
    rows = view(explorer, "rows")
    assert [row["cells"][1] for row in rows.list.page[40:]] == ["far <away>"] * 20
    assert [f"{number + 1}", "far <away>"] in rows.list.choices
    assert "far <away>" in [entry["name"] for entry in rows.summary.entries]
    state.selection = np.arange(30, 60)
    assert "20 in far <away>" in controls(explorer, SelectionControls).sentence.content


def test_a_long_name_is_short_on_the_plot_alone(explorer):
    words = "a name that is as long as a name can be, 60 characters of it"
    name(explorer, 45, words)
    figure, _ = view(explorer, "points").figures()
    assert list(source(figure, "names").data["name"]) == ["a name that is as l…"]
    assert words in [entry["name"] for entry in explorer.layout.color.clusters.entries]
    assert words in label_table(explorer.session)["kde_cluster_name"].to_pylist()


def test_a_name_survives_other_clusters_and_is_undone(explorer):
    session, state = explorer.session, explorer.session.state
    name(explorer, 45, "far")
    session.history.end_step()
    name(explorer, 5, "near")
    seen = lambda: {state.cluster_name(c) for c in state.outcome("kde").colors}  # noqa: E731
    assert {"far", "near"} < seen()
    choose(session, n_clusters=1)
    assert len(state.named) == 1
    choose(session, n_clusters=2)
    assert state.cluster_name(state.outcome("kde").colors[45]) == "far"
    assert state.cluster_name(state.outcome("kde").colors[5]) == "near"
    choose(session, n_clusters=5, seed=3)
    assert {"far", "near"} < seen()
    for _ in range(4):
        undo(session)
    assert set(state.named.values()) == {"far"}
    session.history.undo()
    assert state.named == {}


def test_names_are_in_the_labels_that_are_exported(explorer):
    assert "kde_cluster_name" not in label_table(explorer.session).column_names
    for message in ({}, {"number": 9, "name": "x"}, {"number": 0, "name": 5}):  # of no cluster
        explorer.layout.color.clusters._handle_msg(message)
        assert explorer.session.state.cluster_names == []
    name(explorer, 45, "far")
    table = label_table(explorer.session).to_pydict()
    assert table["kde_cluster_name"] == [None] * 40 + ["far"] * 20
    assert b'"far"' in html_page.write(explorer.session)


def test_other_data_have_no_names_and_a_part_keeps_them(explorer):
    session, state = explorer.session, explorer.session.state
    name(explorer, 45, "far")
    session.sources["upload"].choose_part(np.arange(10, 60))
    session.wait(PATIENCE)
    settle(explorer)
    assert state.cluster_name(state.outcome("kde").colors[35]) == "far"
    session.history.end_step()
    put(session, source="generators")
    settle(explorer)
    assert (state.cluster_names, state.named) == ([], {})
    undo(session)
    settle(explorer)
    assert list(state.named.values()) == ["far"]


def test_names_from_outside_are_checked():
    for names in (
        *("a", [["a"]], [["a", "x"]], [["", "1"]], [["a" * 61, "1"]], [["a\nb", "1"]]),
        *([[1, "1"]], [["a", "1"]] * 101),
    ):
        with pytest.raises(ValueError, match=r"(cluster_names|points) must be"):
            check_names(names)
