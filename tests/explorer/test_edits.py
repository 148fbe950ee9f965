"""Clusters merged and split by hand: against results by hand, in random walks, and in sessions."""

import io
import re

import numpy as np
import pytest
from explorer_actions import (
    choose,
    csv,
    explorer_of_file,
    export,
    redo,
    reopened,
    run_script,
    settle,
    undo,
)
from explorer_objects import alert, press, source, view
from kdegraph_explorer import address
from kdegraph_explorer.edits import (
    MAX_EDITS,
    SPARE_COLORS,
    applied,
    check_edits,
    number_of,
    with_merge,
    with_split,
)
from kdegraph_explorer.exports import label_table, own_table
from kdegraph_explorer.exports.still import legend_of, still_of
from kdegraph_explorer.history import take
from pyarrow import csv as arrow_csv

ROWS = np.arange(12)
COMPUTED = np.repeat([0, 1, 2, 3], 3)  # 0-2, 3-5, 6-8, 9-11
A, B, C = SPARE_COLORS[:3]
SPLIT = ["split", "3", "4", "5"]


def marks(edits, computed=COMPUTED, rows=ROWS):
    """The mark of each point as one word, and the number of edits that do not fit."""
    found = applied(edits, np.asarray(computed), rows)
    return " ".join(found.marks[c] for c in found.colors.tolist()), len(found.misfits)


@pytest.mark.parametrize(
    ("edits", "computed", "expected", "misfits"),
    [
        ([], COMPUTED, "1 1 1 2 2 2 3 3 3 4 4 4", 0),
        # Colors may have gaps, numbers have none: the last ones move, all others stay.
        ([], [0, 0, 3, 3, 5, 5], "1 1 2 2 3 3", 0),
        ([], [0, 0, 1, 1, 3, 3], "1 1 2 2 3 3", 0),
        ([SPLIT], COMPUTED, "1 1 1 2a 2b 2c 3 3 3 4 4 4", 0),
        ([["merge", "0-2,6-8"]], COMPUTED, "1 1 1 2 2 2 1 1 1 3 3 3", 0),
        ([["merge", "3-11"]], COMPUTED, "1 1 1 2 2 2 2 2 2 2 2 2", 0),
        # Parts of a part, and a part of them merged with its neighbor.
        ([["split", "3", "4-5"], ["split", "4", "5"]], COMPUTED, "1 1 1 2a 2b1 2b2 3 3 3 4 4 4", 0),
        ([SPLIT, ["merge", "4-5"]], COMPUTED, "1 1 1 2a 2b 2b 3 3 3 4 4 4", 0),
        ([SPLIT, ["merge", "3-5"]], COMPUTED, "1 1 1 2 2 2 3 3 3 4 4 4", 0),
        # A part joins another cluster: the parts that are left take its letter.
        ([SPLIT, ["merge", "3,6-8"]], COMPUTED, "1 1 1 3 2a 2b 3 3 3 4 4 4", 0),
        ([SPLIT, ["merge", "3,5-8"]], COMPUTED, "1 1 1 3 2 3 3 3 3 4 4 4", 0),
        # Points that came to the cluster join its largest part, or are one of their own.
        ([["split", "3", "4-5"]], [0, 0, 1, 1, 1, 1], "1 1 2b 2a 2b 2b", 0),
        ([["split", "3", "4"]], [1, 1, 1, 1, 1, 1], "1c 1c 1c 1a 1b 1c", 0),
        # What no longer fits is left out: parts that lie apart, clusters that are one.
        ([SPLIT], [0, 0, 0, 1, 2, 3], "1 1 1 2 3 4", 1),
        ([["split", "3-5", "6-8"]], COMPUTED, "1 1 1 2 2 2 3 3 3 4 4 4", 1),
        ([["merge", "0-1,3-4"]], [0, 0, 0, 0, 0, 0], "1 1 1 1 1 1", 0),
        ([["merge", "0,3"]], [0, 0, 0, 1, 1, 1], "1 1 1 2 2 2", 1),
        # Points that fell apart are merged all the same, and those that are not there matter not.
        ([["merge", "0-5,50-99"]], [0, 1, 2, 3, 4, 4], "1 1 1 1 1 1", 0),
        ([["split", "50", "51"]], COMPUTED, "1 1 1 2 2 2 3 3 3 4 4 4", 1),
        ([["merge", "50-60"]], COMPUTED, "1 1 1 2 2 2 3 3 3 4 4 4", 1),
    ],
)
def test_edits_give_the_clusters_that_they_say(edits, computed, expected, misfits):
    assert marks(edits, computed, ROWS[: len(computed)]) == (expected, misfits)


def test_colors_stay_and_parts_have_spare_ones():
    found = applied([SPLIT], COMPUTED, ROWS)
    assert found.colors.tolist() == [0, 0, 0, 1, A, B, 2, 2, 2, 3, 3, 3]
    assert list(found.marks) == [0, 1, A, B, 2, 3]  # in the order that the user reads
    assert found.edited == {1, A, B}
    # A computed cluster keeps its color though a part would take it.
    computed = np.where(COMPUTED == 3, A, COMPUTED)
    assert applied([SPLIT], computed, ROWS).colors.tolist()[3:6] == [1, B, C]
    assert applied([["merge", "3-8"]], COMPUTED, ROWS).colors.tolist()[3:] == [1] * 6 + [3] * 3
    many = applied([["split", *map(str, range(60))]], np.zeros(60, dtype=int), np.arange(60))
    assert list(many.marks.values())[24:29] == ["1y", "1z", "1aa", "1ab", "1ac"]


def test_a_part_that_is_clustered_again_loses_its_former_parts():
    split = with_split([], np.array([0, 1, 1]), ROWS[3:6])
    assert split == [["split", "3", "4-5"]]
    again = with_split(split, np.array([1, 1, 0]), ROWS[3:6])
    assert again == [*split, ["split", "5", "3-4"]]
    assert marks(again) == ("1 1 1 2b 2b 2a 3 3 3 4 4 4", 0)
    assert set(applied(again, COMPUTED, ROWS).colors[3:6].tolist()) == {1, A}
    shown = applied(split, COMPUTED, ROWS).colors
    assert with_merge(split, shown, [A, 2], ROWS) == [*split, ["merge", "4-8"]]
    merge = [["merge", "0-5"]]
    assert marks(with_split(merge, np.arange(6) > 0, ROWS[:6]))[0] == (
        "1a 1b 1b 1b 1b 1b 3 3 3 2 2 2"
    )
    # An edit that no longer fits is not spoken of once another one has replaced it.
    apart = np.array([0, 0, 0, 1, 2, 3])
    assert marks([SPLIT], apart, ROWS[:6])[1] == 1
    assert marks([SPLIT, ["merge", "3-5"]], apart, ROWS[:6]) == ("1 1 1 2 2 2", 0)


def test_what_cannot_be_done_is_said():
    for numbers in ([], [1], [1, 1], [7]):
        with pytest.raises(ValueError, match="Choose two clusters or more"):
            with_merge([], COMPUTED, numbers, ROWS)
    for parts in (np.zeros(3), np.arange(101)):
        with pytest.raises(ValueError, match="split into 2 to 100 parts, not"):
            with_split([], parts, np.arange(len(parts)))
    full = [["merge", f"{i}"] for i in range(100, 100 + MAX_EDITS)]
    with pytest.raises(ValueError, match="100 edits by hand already"):
        with_merge(full, COMPUTED, [0, 1], ROWS)
    check_edits([SPLIT, ["merge", "0-3"]])
    for wrong in (
        *("a", [["merge"]], [["merge", ""]], [["merge", "1", "2"]], [["split", "1"]], [[]]),
        *([["move", "1", "2"]], [["split", "1", 2]], [["split", "1-3", "2"]], [["merge", "x"]]),
        [["merge", "1"]] * 101,
    ):
        with pytest.raises(ValueError, match=r"(edits|points|the parts of a split) must"):
            check_edits(wrong)


@pytest.mark.parametrize("seed", range(6))
def test_random_walks_keep_what_must_hold(seed):
    """Merge, split, compute anew and undo; after each step, look at all clusters."""
    rng, n = np.random.default_rng(seed), 60
    computed, edits, former = rng.integers(0, 4, n), [], []
    for _ in range(40):
        found = applied(edits, computed, np.arange(n))
        present = list(found.marks)
        former.append((edits, computed, found.colors, found.marks))
        step = rng.choice(["merge", "split", "compute", "undo"], p=[0.25, 0.35, 0.3, 0.1])
        if step == "merge" and len(present) > 1:
            chosen = rng.choice(present, 2, replace=False)
            edits = with_merge(edits, found.colors, chosen, np.arange(n))
            after = applied(edits, computed, np.arange(n))
            together = after.colors[np.isin(found.colors, chosen)]
            assert len(set(together.tolist())) == 1
        elif step == "split":
            members = np.flatnonzero(found.colors == rng.choice(present))
            if len(members) > 2:
                parts = np.sort(rng.permutation(np.arange(len(members)) % 3))
                edits = with_split(edits, parts, members)
                after = applied(edits, computed, np.arange(n))
                assert [len(set(after.colors[members[parts == p]])) for p in range(3)] == [1] * 3
                assert len(set(after.colors[members])) == 3
                elsewhere = np.setdiff1d(np.arange(n), members)
                np.testing.assert_array_equal(after.colors[elsewhere], found.colors[elsewhere])
        elif step == "compute":
            computed = np.where(rng.random(n) < 0.1, rng.integers(0, 5, n), computed)
        elif step == "undo" and len(former) > 1:
            former.pop()
            edits, computed, colors, words = former.pop()
            again = applied(edits, computed, np.arange(n))
            np.testing.assert_array_equal(again.colors, colors)
            assert again.marks == words
        check(applied(edits, computed, np.arange(n)), computed, edits)


def check(found, computed, edits):
    """Every point has one cluster, numbers and letters have no gaps, parents contain children."""
    assert set(found.marks) == set(found.colors.tolist())
    words = list(found.marks.values())
    assert len(set(words)) == len(words)
    assert all(re.fullmatch(r"\d+([a-z]+(\d+[a-z]+)*\d*)?", word) for word in words)
    tops = {number_of(word) for word in words}
    assert tops == set(range(1, len(tops) + 1))
    places = {tuple(re.findall(r"\d+|[a-z]+", word)) for word in words}
    for place in places:
        for depth in range(1, len(place)):
            siblings = {p[depth] for p in places if p[:depth] == place[:depth] and len(p) > depth}
            signs = "abcdefghijklmnopqrstuvwxyz" if depth % 2 else list(map(str, range(1, 40)))
            assert siblings == set(signs[: len(siblings)])
            assert len(siblings) > 1
    if not any(edit[0] == "merge" for edit in edits):  # then a number is a computed cluster
        numbers = np.array([number_of(found.marks[c]) for c in found.colors.tolist()])
        for number in tops:
            assert len(set(computed[numbers == number].tolist())) == 1
    for edit in found.misfits:
        assert edit in edits


# ---- in the explorer

RNG = np.random.default_rng(0)
PLACES = np.array([[0, 0], [0, 6], [30, 0], [30, 6]])
GROUP = np.repeat(np.arange(4), 15)
X = RNG.normal(0, 0.4, size=(60, 2)) + PLACES[GROUP]
FILE = csv(x=X[:, 0], y=X[:, 1])


@pytest.fixture
def explorer(explore):
    """Four groups, of which two and two are near each other: two clusters."""
    explorer = explorer_of_file(explore, FILE)
    choose(explorer.session, sigma=3.0, n_clusters=2)
    settle(explorer)
    return explorer


def shown(explorer):
    """The mark of the cluster of each group of points."""
    state, outcome = explorer.session.state, explorer.session.state.outcome("kde")
    words = [{state.mark(c) for c in outcome.colors[group == GROUP]} for group in range(4)]
    assert all(len(word) == 1 for word in words), words
    return [word.pop() for word in words]


def colors(explorer):
    return explorer.session.state.outcome("kde").colors


def tell(explorer, **message):
    """Do in the legend what a user does there."""
    legend = explorer.layout.color.clusters
    legend._handle_msg(message)
    settle(explorer)
    return legend.message


def number(explorer, group):
    return int(colors(explorer)[15 * group])


def test_a_part_that_is_clustered_alone_stays_as_parts(explorer):
    session, state = explorer.session, explorer.session.state
    choose(session, n_clusters=3)
    choose(session, n_clusters=2)
    before, computed = shown(explorer), colors(explorer)
    choose(session, selection=np.flatnonzero(GROUP >= 2))
    press(explorer, "Recluster these")
    choose(session, n_clusters=2, sigma=1.0)
    settle(explorer)
    press(explorer, "All points")
    assert (state.n_clusters, state.sigma) == (2, 3.0)  # those of all points
    first, second = before[0], before[2]
    assert shown(explorer) == [first, first, f"{second}a", f"{second}b"]
    np.testing.assert_array_equal(colors(explorer)[:30], computed[:30])
    assert colors(explorer)[30] == computed[30]
    assert len(state.selection) == 0
    undo(explorer)
    assert state.dataset.n_points == 30
    redo(explorer)
    assert shown(explorer)[2:] == [f"{second}a", f"{second}b"]
    # A part of a part.
    choose(session, selection=np.flatnonzero(GROUP == 3))
    press(explorer, "Recluster these")
    choose(session, n_clusters=2)
    press(explorer, "All points")
    marks = {state.mark(c) for c in colors(explorer).tolist()}
    assert marks == {first, *(f"{second}{sign}" for sign in ("a", "b1", "b2"))}
    choose(session, sigma=4.0)
    assert {state.mark(c) for c in colors(explorer).tolist()} == marks


def test_colors_return_when_clusters_do(explorer):
    choose(explorer, sigma=0.5, n_clusters=2)
    seen = {2: colors(explorer)}
    for n_clusters in (4, 1, 4, 2, 3, 4, 2):
        choose(explorer, n_clusters=n_clusters)
        assert {*shown(explorer)} == {str(i + 1) for i in range(n_clusters)}  # without gaps
        expected = seen.setdefault(n_clusters, colors(explorer))
        np.testing.assert_array_equal(colors(explorer), expected)


def test_edits_are_seen_in_all_views_and_undone(explorer):
    session, state = explorer.session, explorer.session.state
    former = colors(explorer)
    assert tell(explorer, split=number(explorer, 2), parts=2) == ""
    two = shown(explorer)
    assert sorted(two) == ["1", "1", "2a", "2b"] or sorted(two) == ["1a", "1b", "2", "2"]
    entries = explorer.layout.color.clusters.entries
    assert [entry["mark"] for entry in entries] == sorted(set(two))
    figures = view(explorer, "points").figures()
    written = [{*source(figure, "names").data["name"]} for figure in figures]
    assert written == [{*two} - {"1", "2"}, set()]  # parts are of the clusters that were split
    table = own_table(session).to_pydict()
    assert table["cluster"] == [int(word[0]) for word in np.repeat(two, 15)]
    assert table["subcluster"] == np.repeat(two, 15).tolist()
    labels = label_table(session).to_pydict()
    for name in ("cluster", "subcluster"):  # one meaning in all files, also of the k-NN graph
        assert labels[f"kde_{name}"] == table[name]
    knn = state.outcome("knn")
    assert labels["knn_subcluster"] == [knn.marks[c] for c in knn.colors.tolist()]
    assert set(explorer.labels.tolist()) == {0, 1, 2}
    page = export(session, "page").decode()
    assert all(f"cluster {word}" in page for word in two)
    assert [words for _, words in legend_of(still_of(state))] == [
        f"cluster {word}" for word in sorted(set(two))
    ]
    assert tell(explorer, number=number(explorer, 2), name="near") == ""
    assert tell(explorer, merge=[number(explorer, 3), number(explorer, 0)]) == ""
    merged = shown(explorer)
    assert merged[0] == merged[1] == merged[3] != merged[2]
    assert "2 clusters (edited by hand; 2 computed)" in explorer.layout.status.sentence()
    table = arrow_csv.read_csv(io.BytesIO(export(session, "table-csv")))
    assert table["cluster_name"].to_pylist()[30:45] == ["near"] * 15
    for expected in (two, two):
        undo(explorer)
        assert shown(explorer) == expected
    assert state.named == {}
    undo(explorer)
    np.testing.assert_array_equal(colors(explorer), former)
    assert (state.edits, "subcluster" in own_table(session).column_names) == ([], False)
    for _ in range(3):
        redo(explorer)
    assert shown(explorer) == merged


def test_scores_are_of_the_clusters_that_are_shown(explorer):
    state = explorer.session.state
    tell(explorer, split=number(explorer, 2), parts=2)
    outcome, judgement = state.outcome("kde"), state.judgement("kde")
    assert judgement.colors is outcome.colors
    assert np.isfinite(judgement.of(outcome.clusters)).all()
    assert len(outcome.clusters) == outcome.n_shown == 3
    assert outcome.n_clusters == 2  # as many as the eigenvalues show


def test_session_file_address_and_script_keep_edits(explorer, sessions, tmp_path, monkeypatch):
    session = explorer.session
    tell(explorer, split=number(explorer, 2), parts=2)
    tell(explorer, merge=[number(explorer, 0), number(explorer, 3)])
    tell(explorer, number=number(explorer, 2), name="near")
    other = reopened(session, sessions())
    np.testing.assert_array_equal(other.state.outcome("kde").labels, explorer.labels)
    query = address.query(session, take(session))
    assert address.read(session, query).choices["edits"] == session.state.edits
    (tmp_path / "t.csv").write_bytes(FILE)
    monkeypatch.chdir(tmp_path)
    found = run_script(session, tmp_path)
    assert list(found["cluster_names"].values()) == ["near"]
    long = [["split", ",".join(map(str, range(0, 900, 2))), ",".join(map(str, range(1, 900, 2)))]]
    session.state.edits = long
    query = address.query(session, take(session))
    assert address.read(session, query).choices["edits"] == []
    assert "merged or split by hand could not be restored" in address.left_out(query)


def test_what_is_refused_is_said_in_the_legend_and_changes_nothing(explorer):
    state = explorer.session.state
    one, other = number(explorer, 0), number(explorer, 2)
    tell(explorer, number=one, name="a")
    before = take(explorer.session)
    for message, words in (
        ({"number": other, "name": "a"}, "Another cluster is called “a”"),
        ({"number": other, "name": " "}, "Type a name"),
        ({"number": other, "name": "b" * 61}, "at most 60 characters, not 61"),
        ({"merge": [one]}, "Choose two clusters or more"),
        (
            {"split": one, "parts": 31},
            "Choose 2 parts or more, and at most 30, the number of its points",
        ),
        ({"split": one, "parts": 1}, "Choose 2 parts or more"),
    ):
        assert words in tell(explorer, **message)
        assert take(explorer.session) == before
    for message in ({"merge": [one, 99]}, {"split": 99, "parts": 2}, {"split": one}, {"merge": 3}):
        tell(explorer, **message)
        assert take(explorer.session) == before
    assert tell(explorer, number=one, name="") == ""  # is taken back
    assert state.named == {}


def test_edits_that_do_not_fit_are_left_out_with_a_sentence(explorer):
    state = explorer.session.state
    tell(explorer, split=number(explorer, 2), parts=2)
    assert not alert(explorer, "kg-misfits")
    choose(explorer, sigma=0.5, n_clusters=4)
    assert sorted(shown(explorer)) == ["1", "2", "3", "4"]
    assert alert(explorer, "kg-misfits").endswith("rest until they do: the split of 30 points.")
    choose(explorer, sigma=3.0, n_clusters=2)
    assert (alert(explorer, "kg-misfits"), len(set(shown(explorer)))) == ("", 3)
    # In a part of the points, they rest.
    choose(explorer, selection=np.flatnonzero(GROUP >= 2))
    press(explorer, "Recluster these")
    assert state.in_part
    assert explorer.layout.color.clusters.in_part
    assert state.result.misfits == ()
