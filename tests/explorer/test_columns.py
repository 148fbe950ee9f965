"""The columns of a file: what is shown of them, and the roles and scales that they get."""

import json

import numpy as np
import pandas as pd
import pytest
from explorer_actions import (
    PATIENCE,
    TABLE,
    choose,
    csv,
    explorer_of_file,
    give_file,
    put,
    reopened,
    reproduce,
    restored,
    run_script,
    settle,
    undo,
)
from explorer_objects import controls
from files import picture_bytes
from kdegraph import datasets
from kdegraph_explorer.exports import session_file
from kdegraph_explorer.sources import column_facts
from kdegraph_explorer.sources.column_facts import N_BARS, facts
from kdegraph_explorer.views.alerts import advice, left_out
from kdegraph_explorer.views.alerts import standardized as standardized_words
from kdegraph_explorer.views.columns import ColumnTable
from kdegraph_explorer.views.controls import DataControls

RNG = np.random.default_rng(0)
N = 200
GROUP = np.arange(N) % 2


NOISE = csv(a=RNG.normal(size=N), b=RNG.normal(size=N), gid=GROUP)


def table_of(explorer):
    (table,) = controls(explorer, DataControls).__panel__().select(ColumnTable)
    return table


def send(explorer, **message):
    """Choose something in the table, as the browser reports it."""
    table_of(explorer)._handle_msg(message)
    settle(explorer)


# ---- roles


def test_a_label_chosen_by_hand_leaves_the_features(sessions):
    session = sessions(bandwidth="one")
    source = give_file(session, NOISE)
    assert source.columns == ["a", "b", "gid"]
    put(session, "upload", label_column="gid")
    state = session.state
    assert source.columns == ["a", "b"]
    assert state.dataset.feature_names == ("a", "b")
    assert state.outcome("kde").scores["Adjusted Rand index"] < 0.1
    data = source.checked({"columns": ["a", "gid"], "label_column": "gid"})  # as in an address
    assert data["columns"] == ["a"]


def test_roles_are_exclusive(sessions):
    session = sessions(bandwidth="one")
    source = give_file(session, csv(x=RNG.normal(size=N), id=np.arange(N), kind=["u", "v"] * 100))
    roles = lambda: [source.role(found.name) for found in source.facts]  # noqa: E731
    assert roles() == ["feature", "ignore", "label"]
    source.assign(["kind"], "ignore")
    assert roles() == ["feature", "ignore", "ignore"]
    source.assign(["kind"], "label")
    assert roles() == ["feature", "ignore", "label"]
    source.assign(["id"], "label")
    assert roles() == ["feature", "label", "ignore"]
    source.assign(["id"], "feature")
    assert roles() == ["feature", "feature", "ignore"]
    assert source.label_column == "none"
    session.wait(PATIENCE)
    source.assign(["x", "id"], "ignore")
    session.wait(PATIENCE)
    assert "no column of numbers" in session.state.error
    source.assign(["x"], "feature")
    session.wait(PATIENCE)
    assert session.state.dataset.feature_names == ("x",)


# ---- the table


def test_the_table_sets_roles_and_follows_them(explore):
    explorer = explore()
    explorer.session.state.bandwidth = "one"  # what the library would decide takes longer
    source = give_file(explorer.session, NOISE)
    settle(explorer)
    table = table_of(explorer)
    assert [row["name"] for row in table.rows] == ["a", "b", "gid"]
    send(explorer, columns=[2], role="label")
    assert table.roles == ["feature", "feature", "label"]
    undo(explorer)
    assert (table.roles, source.label_column) == (["feature"] * 3, "none")
    # Roles that the table does not offer change nothing.
    source = give_file(explorer.session, csv(a=RNG.normal(size=N), kind=["u", "v"] * 100))
    before = source.recall()
    for message in (
        {},
        {"columns": "a", "role": "label"},
        {"columns": [9, -1, "b", None], "role": "label"},
        {"columns": [0], "role": "owner"},
        {"columns": [1], "role": "feature"},  # text
    ):
        table._handle_msg(message)
        assert source.recall() == before
    # Hundreds of columns can be chosen at once.
    source = give_file(explorer.session, csv(**{f"c{i}": RNG.normal(size=30) for i in range(500)}))
    assert len(table.rows) == len(table.roles) == 500
    send(explorer, columns=list(range(2, 500)), role="ignore")
    assert source.columns == ["c0", "c1"]


# ---- what is shown of a column


def column(values, name="x"):
    return datasets.read(csv(**{name: values, "other": values}), filename="t.csv").columns[0]


@pytest.mark.parametrize(
    ("name", "values", "about"),
    [
        ("x", [0.25, 1.5, 3], "number, 0.25 to 3"),
        ("x", [0.25, "", 3], "number, 0.25 to 3, 1 missing"),
        ("x", [2, 2, 2], "constant, 2"),
        ("x", [True, False, ""], "boolean, False to True, 1 missing"),
        ("x", ["true"] * 3, "constant, True"),
        ("id", [4, 2, 8], "identifier, 2 to 8"),
        ("x", ["2020-01-05", "2019-12-31", ""], "date, 2019-12-31 to 2020-01-05, 1 missing"),
        ("x", ["u", "v", "u"], "text, 2 values: u, v"),
        ("x", ["u", "u", "u"], "text, 1 value: u"),
        ("x", list("abcdd"), "text, 4 values: d, a, b, …"),
        ("x", ["", "", ""], "no readable values"),
    ],
)
def test_a_column_in_words(name, values, about):
    assert facts(column(values, name)).about == about


def test_many_different_texts_are_not_all_counted(monkeypatch):
    monkeypatch.setattr(column_facts, "MAX_ROWS", 4)  # which is the number of rows at a time, too
    monkeypatch.setattr(column_facts, "MAX_COUNTED", 3)
    assert facts(column(list("aabbccddee"))).about.startswith("text, more than 3 values: ")
    assert facts(column(list("aabbccaabb"))).about.startswith("text, 3 values: ")
    assert facts(column(["a", "", "b", "c", "d", "e", ""])).about.endswith(", 2 missing")


def test_spark_line_is_the_histogram():
    values = RNG.normal(size=3000)
    counts, _ = np.histogram(values, bins=N_BARS)
    np.testing.assert_allclose(facts(column(values)).bars, counts / counts.max(), atol=1e-3)
    assert facts(column(list("abcdd"))).bars == (1, 0.5, 0.5, 0.5)
    assert facts(column([-1.7e308, 1.7e308, "inf"])).bars[0] == 1


def test_a_refused_choice_of_columns_is_said_until_another_is_made(sessions):
    session = sessions(bandwidth="one")
    give_file(session, TABLE)
    put(session, "upload", columns=[])
    refused = session.state.error
    assert "column" in refused
    choose(session, sigma=2.5)
    assert session.state.result.request.sigma == 2.5
    assert session.state.error == refused  # the columns are still not those that are chosen
    reproduce(session)  # what is shown can be exported all the same
    put(session, "upload", columns=["width", "height"])
    assert session.state.error == ""
    assert session.state.shown.feature_names == ("width", "height")


# ---- scales: columns in logarithms, standardized, weighted

INCOME = 10 ** (1 + GROUP + RNG.normal(0, 0.05, N))
AGE = RNG.normal(40, 10, N)
SCALED = b"income,age,kind\n" + b"\n".join(
    b"%f,%f,%s" % (income, age, b"uv"[g : g + 1])
    for income, age, g in zip(INCOME, AGE, GROUP, strict=True)
)
SIGNED = b"x,y\n" + b"\n".join(b"%d,%d" % (i % 7 - 3, i % 5 + 1) for i in range(40))


@pytest.fixture
def explorer(explore):
    return explorer_of_file(explore, SCALED)


def standardized(values):
    return (values - values.mean()) / values.std()


def test_the_graph_is_that_of_the_scaled_columns(explorer):
    session, table = explorer.session, table_of(explorer)
    table._handle_msg({"column": 0, "kind": "log", "value": True})
    table._handle_msg({"column": 0, "kind": "standardize", "value": True})
    send(explorer, column=1, kind="weights", value="0.25")
    expected = np.column_stack([standardized(np.log10(INCOME)), 0.25 * AGE])
    np.testing.assert_allclose(session.state.outcome("kde").graph.points, expected, atol=1e-5)
    assert session.state.dataset.feature_names == ("income (log10, standardized)", "age (× 0.25)")
    assert table.scales[:2] == [
        {"log": True, "standardize": True, "weight": 1},
        {"log": False, "standardize": False, "weight": 0.25},
    ]


# Two groups differ in width; price, in another unit, decides alone as it stands.
UNEQUAL = {"width": 4 * GROUP + RNG.normal(size=N), "price": RNG.normal(9000, 1500, N)}


def test_columns_of_different_units_are_standardized_until_one_click(sessions):
    session = sessions(bandwidth="one")
    source = give_file(session, csv(**UNEQUAL, label=GROUP))
    state = session.state
    assert source.standardize == ["width", "price"]
    assert state.outcome("kde").scores["Adjusted Rand index"] > 0.8
    words = standardized_words(state, source)
    assert "column price varies by" in words
    assert "All columns are standardized" in words
    assert not advice(state)
    source.standardize_all(False)
    session.wait(PATIENCE)
    assert standardized_words(state, source) == ""
    assert "very different scales" in advice(state)[0]
    assert state.dataset.X[:, 1].mean() > 8000
    assert reopened(session, sessions(start=False)).sources["upload"].standardize == []


def test_rows_with_missing_cells_are_left_out_and_it_is_said(sessions):
    session = sessions(bandwidth="one")
    source = give_file(session, csv(**UNEQUAL) + b"\n1.0,\n")
    state = session.state
    assert state.dataset.n_points == N
    assert source.incomplete
    assert source.all_standardized
    assert left_out(state, source) == (
        "1 row with missing cells is left out, see “Leave out incomplete rows”."
    )
    give_file(session, picture_bytes(np.zeros((8, 8, 3), np.uint8)), "black.png")
    assert left_out(state, source) == standardized_words(state, source) == ""
    give_file(session, csv(**UNEQUAL), "whole.csv")
    assert not source.incomplete
    assert left_out(state, source) == ""


def test_choices_for_a_file_that_cannot_be_read_do_not_meet_the_next_one(sessions):
    session, other = sessions(bandwidth="one"), sessions(bandwidth="one")
    give_file(session, csv(**UNEQUAL))
    values = json.loads(session_file.write(session))
    values["data"]["file"]["name"] = "t.npy"  # not what it holds
    restored(other, session_file.read(other, json.dumps(values).encode()))
    assert "t.npy" in other.state.error
    source = give_file(other, csv(a=RNG.normal(size=N), b=GROUP) + b"\n1.0,\n", "next.csv")
    assert source.columns == ["a", "b"]
    assert source.incomplete


def test_no_logarithm_of_what_is_not_above_zero(explore):
    explorer = explorer_of_file(explore, SIGNED)
    state, table = explorer.session.state, table_of(explorer)
    before = state.dataset
    send(explorer, column=0, kind="log", value=True)
    assert "needs values above 0, and the smallest is -3" in table.refusal["text"]
    assert table.refusal["column"] == 0
    assert (state.dataset, state.error, table.scales[0]["log"]) == (before, "", False)
    send(explorer, column=1, kind="log", value=True)
    assert table.refusal == {}
    assert state.dataset.feature_names == ("x", "y (log10)")
    # Attributes refuse it, too.
    for name, value, error, message in (
        ("log", ["x"], ValueError, "needs values above 0"),
        ("log", ["z"], ValueError, "no column of numbers 'z'"),
        ("weights", {"y": 0}, ValueError, "the weight of 'y' must be positive"),
        ("standardize", 3, TypeError, "standardize must be"),
        ("weights", 3, TypeError, "weights must be"),
    ):
        with pytest.raises(error, match=message):
            setattr(explorer, name, value)
    assert state.dataset.feature_names == ("x", "y (log10)")


def test_a_weight_is_a_positive_number_and_messages_without_a_scale_change_nothing(explorer):
    table, before = table_of(explorer), explorer.session.state.dataset
    for weight in ("0", "-1", "much", "nan", "1e999"):
        table.refusal = {}
        table._handle_msg({"column": 0, "kind": "weights", "value": weight})
        assert "A weight is a positive number" in table.refusal["text"]
    settle(explorer)
    assert explorer.session.state.dataset is before
    assert table.scales[0]["weight"] == 1
    # Messages without a scale change nothing.
    kept = explorer.session.sources["upload"].recall()
    for message in (
        {"column": 9, "kind": "log", "value": True},
        {"column": 0, "kind": "square", "value": True},
        {"column": 0, "kind": "log", "value": "yes"},
        {"column": 0, "kind": "weights", "value": 2},
        {"standardize": "all"},
    ):
        table._handle_msg(message)
        assert explorer.session.sources["upload"].recall() == kept


def test_another_file_begins_without_scales(explorer):
    session = explorer.session
    put(session, "upload", log=["income"], standardize=["age"], weights={"age": 2})
    session.sources["upload"].set_scale("age", "weights", 3)
    session.wait(PATIENCE)
    source = give_file(session, SIGNED, "other.csv")
    assert (source.log, source.standardize, source.weights) == ([], [], {})
    assert session.state.dataset.feature_names == ("x", "y")


def test_scales_from_outside_are_checked(sessions):
    upload = sessions(start=False).sources["upload"]
    for data, message in (
        ({"log": "income"}, "log must be a list of names"),
        ({"standardize": [1]}, "standardize must be a list of names"),
        ({"weights": [2]}, "weights must be a dict of numbers by name"),
        ({"weights": {"age": -1}}, "the weight of 'age' must be positive"),
        ({"weights": {"age": "2"}}, "the weight of 'age' must be a positive number"),
    ):
        with pytest.raises(ValueError, match=message):
            upload.checked(data)


# ---- attributes


def test_attributes_set_scales_and_follow_them(explorer):
    explorer.log = ["income"]
    explorer.standardize = True
    explorer.weights = {"age": 2}
    scaled = datasets.rescale(
        datasets.load(SCALED, filename="t.csv"),
        log=["income"],
        standardize=["income", "age"],
        weights={"age": 2},
    )
    np.testing.assert_array_equal(explorer.X, scaled.X)
    table_of(explorer)._handle_msg({"standardize": False})
    assert explorer.standardize == []


def test_points_that_are_no_table_have_no_scales(explore):
    explorer = explore([[0.0, 0.0], [1.0, 1.0], [2.0, 3.0]])
    with pytest.raises(ValueError, match="these points have none"):
        explorer.log = ["x1"]


# ---- dates


def test_what_dates_count_as_is_chosen_undone_and_kept(explore, sessions, tmp_path, monkeypatch):
    days = pd.Series(pd.date_range("2023-01-01", periods=90, freq="9D"))
    content = csv(x=RNG.normal(size=90), day=days.dt.strftime("%Y-%m-%d"))
    explorer = explore()
    explorer.session.state.bandwidth = "one"
    source = give_file(explorer.session, content, "days.csv")
    settle(explorer)
    table = table_of(explorer)
    assert table.roles == ["feature", "ignore"]
    assert table.rows[1]["offered"] == ["time", "year", "month", "weekday", "color", "ignore"]
    assert "hour" in facts(column(["2020-01-05 10:30", "", "2020-01-06"])).roles
    send(explorer, columns=[1], role="month")
    dataset = explorer.session.state.dataset
    assert table.roles == ["feature", "month"]
    angle = 2 * np.pi * (days.dt.month - 1) / 12
    found = dataset.X[:, 1:] / np.linalg.norm(dataset.X[0, 1:])
    np.testing.assert_allclose(found, np.stack([np.cos(angle), np.sin(angle)], axis=1), atol=1e-12)
    explorer.session.history.end_step()
    send(explorer, columns=[1], role="year")
    np.testing.assert_array_equal(explorer.session.state.dataset.X[:, 1], days.dt.year)
    undo(explorer)
    assert table.roles == ["feature", "month"]
    send(explorer, column=1, kind="log", value=True)
    assert "dates" in table.refusal["text"]
    send(explorer, column=1, kind="weights", value="2")
    np.testing.assert_allclose(explorer.session.state.dataset.X[:, 1:], 2 * dataset.X[:, 1:])
    X = explorer.session.state.dataset.X
    again = reopened(explorer.session, sessions(start=False))
    assert again.sources["upload"].dates == {"day": "month"}
    np.testing.assert_array_equal(again.state.dataset.X, X)
    (tmp_path / "days.csv").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    np.testing.assert_array_equal(run_script(explorer.session, tmp_path)["data"].X, X)
    with pytest.raises(ValueError, match="dates must be"):
        source.checked({"dates": {"day": "moon"}})
