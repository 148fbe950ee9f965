"""The view of what sets clusters apart: what it compares, shows and names."""

import numpy as np
import pytest
from explorer_objects import explorer_of_file, give_file, settle, source, text, view
from files import NOISY, csv_table, picture_bytes
from kdegraph import describe_clusters
from kdegraph.datasets import Column
from kdegraph_explorer.algorithm.contrast import histogram
from kdegraph_explorer.views.base import caption_of
from kdegraph_explorer.views.why import SELECTION

N = 90
RNG = np.random.default_rng(0)
GROUP = np.repeat([0, 1, 2], N // 3)
X = RNG.normal(0, 0.3, size=(N, 2)) + np.array([[0, 0], [0, 6], [30, 0]])[GROUP]
KIND = np.array(["ant", "bee", "cat"])[np.where(np.arange(N) % 10 == 0, 0, GROUP)]
CSV = b"id,x,y,kind,free\n" + b"\n".join(
    b"%d,%.3f,%.3f,%s,%d" % (i + 100, *X[i], KIND[i].encode(), i * i % 37) for i in range(N)
)


@pytest.fixture
def why(explore):
    """The view of the clusters of a file, on the screen; `pick` chooses what is compared."""
    explorer = explorer_of_file(explore, CSV)
    explorer.session.state.choose(n_clusters=3)
    explorer.session.state.view = "why"
    settle(explorer)
    found = view(explorer, "why")
    assert found.choice.value is not None

    def pick(value):
        found.choice.value = value
        settle(explorer)
        return shown(found)

    found.pick, found.explorer = pick, explorer
    return found


def shown(why):
    """The columns that are shown, and what is said of each."""
    return {
        caption_of(card).title: sentence.content
        for card, sentence in zip(why._cards, why._sentences, strict=True)
        if card.visible
    }


def numbers_of(why):
    """The clusters by the group that most of their points are in."""
    colors = why.state.outcome("kde").colors
    return {group: int(np.bincount(colors[group == GROUP]).argmax()) for group in range(3)}


def test_all_columns_are_compared_as_they_are_in_the_file(why):
    number = numbers_of(why)[2]
    members = why.state.outcome("kde").colors == number
    said = why.pick(number)
    assert next(iter(said)) == "x"
    assert set(said) == {"x", "y", "kind", "free"}  # but no identifier
    assert said["x"].startswith("Large effect: higher in 100% of pairs; median ")
    assert "not used" not in said["x"]
    shares = [np.mean(KIND[part] == "cat") for part in (members, ~members)]
    expected = "Large effect: cat: {:.0%} inside, {:.0%} outside; not used for clustering."
    assert said["kind"] == expected.format(*shares)
    titles = list(said)
    left, right, top = source(why.figures()[titles.index("x")], "inside").data.values()
    values = np.round(X[:, 0], 3)
    counts = [
        np.sum(members & (a <= values) & (values < b)) for a, b in zip(left, right, strict=True)
    ]
    np.testing.assert_allclose(top[:-1], np.array(counts[:-1]) / members.sum())
    assert top.sum() == pytest.approx(1)
    kinds = why.figures()[titles.index("kind")]
    names = {i: word.text for i, word in kinds.xaxis[0].major_label_overrides.items()}
    outside = dict(zip(names.values(), source(kinds, "outside").data["top"], strict=True))
    assert outside == {kind: np.mean(KIND[~members] == kind) for kind in ("ant", "bee", "cat")}


def test_typical_and_doubtful_rows_are_those_of_the_library(why):
    outcome, number = why.state.outcome("kde"), numbers_of(why)[1]
    why.pick(number)
    table = csv_table(CSV)
    probabilities = None if outcome.vote is None else outcome.vote.probabilities
    (found,) = describe_clusters(table, outcome.colors == number, probabilities=probabilities)
    content = text(why, "kg-why-rows")
    rows = [int(cell.split("</th>")[0]) for cell in content.split('<th scope="row">')[1:]]
    assert rows == [*found.typical, *found.doubtful]
    assert f"Suggested name: <b>{found.name}</b>" in text(why, "kg-why")


def test_the_selection_is_compared_with_the_rest_while_there_is_one(why):
    assert SELECTION not in why.choice.options.values()
    why.state.selection = np.arange(0, 20)
    settle(why.explorer)
    assert why.choice.options["The selection: 20 rows"] == SELECTION
    why.pick(SELECTION)
    assert text(why, "kg-why").startswith("20 rows against 70 others.")
    assert not why.use.visible
    why.state.selection = np.arange(N)
    settle(why.explorer)
    assert text(why, "kg-why") == (
        "These are all rows. Choose more clusters, or select fewer points, to compare them."
    )
    assert shown(why) == {}
    why.state.selection = np.empty(0, dtype=np.intp)
    settle(why.explorer)
    assert why.choice.value in numbers_of(why).values()
    assert shown(why)


def test_the_suggested_name_is_given_by_a_click_and_taken_back(why):
    number, other = (numbers_of(why)[group] for group in (1, 0))
    why.pick(other)
    why.choice.value = number  # its name is not known yet
    why.use.param.trigger("clicks")
    assert why.state.named == {}
    settle(why.explorer)
    assert why.use.visible
    assert not why.use.disabled
    why.use.param.trigger("clicks")
    name = why.state.named[number]
    assert name in text(why, "kg-why")
    assert why.use.disabled
    assert why.choice.options[f"Cluster {number + 1}: {name}"] == number
    why.explorer.session.history.undo()
    settle(why.explorer)
    assert why.state.named == {}
    assert not why.use.disabled


def test_nothing_is_computed_before_the_view_opens(explore):
    assert "why" not in explore(X, sigma=1.0, n_clusters=2).views.made


def test_a_picture_has_no_columns(explore):
    explorer = explorer_of_file(explore, CSV, view="why")
    found = view(explorer, "why")
    assert shown(found)
    give_file(explorer.session, picture_bytes(NOISY), "noisy.png")
    explorer.session.state.view = "why"
    settle(explorer)
    assert text(found, "kg-why") == "This view is for tables; pixels have no columns."
    assert not any(part.visible for part in (*found._grid, found.choice, found.use))


@pytest.mark.parametrize(
    ("values", "edges"),
    [
        ([7.3] * 6, [6.8, 7.8]),
        ([0, 1, 2, 3, 3, np.nan], [-0.5, 0.5, 1.5, 2.5, 3.5]),
        ([0.0] * 300 + [40.0], np.linspace(0, 40, 21)),
    ],
)
def test_bins_of_odd_columns(values, edges):
    members = np.arange(len(values)) < 3
    column = Column("a", "number", np.array(values, dtype=float))
    (found,) = describe_clusters({"a": column.values}, members)
    left, right, inside, outside, names = histogram(column, members, found.differences[0])
    np.testing.assert_allclose([*left, right[-1]], edges)
    assert (inside.sum(), outside.sum(), names) == (1, 1, None)
