"""Columns on a log scale, standardized, weighted: what is computed, refused, undone and kept."""

import numpy as np
import pytest
from explorer_objects import PATIENCE, controls, explorer_of_file, give_file, settle
from kdegraph import datasets
from kdegraph_explorer import address
from kdegraph_explorer.exports import session_file
from kdegraph_explorer.history import take
from kdegraph_explorer.views.columns import ColumnTable
from kdegraph_explorer.views.controls import DataControls

RNG = np.random.default_rng(0)
N = 60
GROUP = np.arange(N) % 2
INCOME = 10 ** (3 + GROUP + RNG.normal(0, 0.05, N))
AGE = RNG.normal(40, 10, N)
CSV = b"income,age,kind\n" + b"\n".join(
    b"%f,%f,%s" % (income, age, b"uv"[g : g + 1])
    for income, age, g in zip(INCOME, AGE, GROUP, strict=True)
)
SIGNED = b"x,y\n" + b"\n".join(b"%d,%d" % (i % 7 - 3, i % 5 + 1) for i in range(40))


@pytest.fixture
def explorer(explore):
    return explorer_of_file(explore, CSV)


def table_of(explorer):
    (table,) = controls(explorer, DataControls).__panel__().select(ColumnTable)
    return table


def standardized(values):
    return (values - values.mean()) / values.std()


def test_the_graph_is_that_of_the_scaled_columns(explorer):
    session, table = explorer.session, table_of(explorer)
    table._handle_msg({"column": 0, "kind": "log", "value": True})
    table._handle_msg({"column": 0, "kind": "standardize", "value": True})
    table._handle_msg({"column": 1, "kind": "weights", "value": "0.25"})
    settle(explorer)
    expected = np.column_stack([standardized(np.log10(INCOME)), 0.25 * AGE])
    np.testing.assert_allclose(session.state.outcome("kde").graph.points, expected, atol=1e-5)
    assert session.state.dataset.feature_names == ("income (log10, standardized)", "age (× 0.25)")
    assert table.scales[:2] == [
        {"log": True, "standardize": True, "weight": 1},
        {"log": False, "standardize": False, "weight": 0.25},
    ]


def test_all_features_are_standardized_at_once_and_undone(explorer):
    session, table = explorer.session, table_of(explorer)
    before = session.state.dataset.X
    table._handle_msg({"standardize": True})
    settle(explorer)
    assert table.all_standardized
    X = session.state.dataset.X
    np.testing.assert_allclose([X.mean(axis=0), X.std(axis=0)], [[0, 0], [1, 1]], atol=1e-12)
    session.history.undo()
    settle(explorer)
    assert not table.all_standardized
    np.testing.assert_array_equal(session.state.dataset.X, before)
    session.history.redo()
    table._handle_msg({"standardize": False})
    settle(explorer)
    assert session.sources["upload"].standardize == []


def test_no_logarithm_of_what_is_not_above_zero(explore):
    explorer = explorer_of_file(explore, SIGNED)
    state, table = explorer.session.state, table_of(explorer)
    before = state.dataset
    table._handle_msg({"column": 0, "kind": "log", "value": True})
    settle(explorer)
    assert "needs values above 0, and the smallest is -3" in table.refusal["text"]
    assert table.refusal["column"] == 0
    assert (state.dataset, state.error, table.scales[0]["log"]) == (before, "", False)
    table._handle_msg({"column": 1, "kind": "log", "value": True})
    settle(explorer)
    assert table.refusal == {}
    assert state.dataset.feature_names == ("x", "y (log10)")


def test_a_weight_is_a_positive_number(explorer):
    table, before = table_of(explorer), explorer.session.state.dataset
    for weight in ("0", "-1", "much", "nan", "1e999"):
        table.refusal = {}
        table._handle_msg({"column": 0, "kind": "weights", "value": weight})
        assert "A weight is a positive number" in table.refusal["text"]
    settle(explorer)
    assert explorer.session.state.dataset is before
    assert table.scales[0]["weight"] == 1


def test_messages_without_a_scale_change_nothing(explorer):
    before = explorer.session.sources["upload"].recall()
    for message in (
        {"column": 9, "kind": "log", "value": True},
        {"column": 0, "kind": "square", "value": True},
        {"column": 0, "kind": "log", "value": "yes"},
        {"column": 0, "kind": "weights", "value": 2},
        {"standardize": "all"},
    ):
        table_of(explorer)._handle_msg(message)
        assert explorer.session.sources["upload"].recall() == before


def test_another_file_begins_without_scales(explorer):
    session = explorer.session
    session.sources["upload"].set_scale("age", "weights", 3)
    session.wait(PATIENCE)
    source = give_file(session, SIGNED, "other.csv")
    assert (source.log, source.standardize, source.weights) == ([], [], {})
    assert session.state.dataset.feature_names == ("x", "y")


def test_a_session_file_has_the_scales(explorer, sessions):
    session = explorer.session
    session.sources["upload"].param.update(log=["income"], standardize=["age"], weights={"age": 2})
    session.wait(PATIENCE)
    other = sessions()
    other.restore(session_file.read(other, session_file.write(session)))
    other.wait(PATIENCE)
    assert other.state.error == ""
    np.testing.assert_array_equal(other.state.dataset.X, session.state.dataset.X)
    assert take(other).data == take(session).data


def test_an_address_has_the_scales(sessions, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(CSV)

    def begin():
        session = sessions(start=False)
        session.open(path)
        return session

    session = begin()
    session.start()
    session.wait(PATIENCE)
    session.sources["upload"].param.update(log=["income"], weights={"age": 0.5})
    session.wait(PATIENCE)
    query = address.query(session, take(session))
    other = begin()
    other.restore(address.read(other, query))
    other.wait(PATIENCE)
    assert other.state.dataset.feature_names == ("income (log10)", "age (× 0.5)")


def test_scales_from_outside_are_checked(sessions):
    upload = sessions(start=False).sources["upload"]
    for data, message in (
        ({"log": "income"}, "log must be a list of names"),
        ({"standardize": [1]}, "standardize must be a list of names"),
        ({"weights": [2]}, "weights must be a number for each name"),
        ({"weights": {"age": -1}}, "a weight must be positive"),
        ({"weights": {"age": "2"}}, "a weight must be a positive number"),
    ):
        with pytest.raises(ValueError, match=message):
            upload.checked(data)


# ---- attributes


def test_attributes_set_scales_and_follow_them(explorer):
    explorer.log = ["income"]
    explorer.standardize = True
    explorer.weights = {"age": 2}
    scaled = datasets.rescale(
        datasets.load(CSV, filename="t.csv"),
        log=["income"],
        standardize=["income", "age"],
        weights={"age": 2},
    )
    np.testing.assert_array_equal(explorer.X, scaled.X)
    table_of(explorer)._handle_msg({"standardize": False})
    assert explorer.standardize == []


def test_invalid_scales_are_refused(explore):
    explorer = explorer_of_file(explore, SIGNED)
    for name, value, error, message in (
        ("log", ["x"], ValueError, "needs values above 0"),
        ("log", ["z"], ValueError, "no column of numbers 'z'"),
        ("weights", {"y": 0}, ValueError, "the weight of 'y' must be positive"),
        ("standardize", 3, TypeError, "standardize must be"),
        ("weights", 3, TypeError, "weights must be"),
    ):
        with pytest.raises(error, match=message):
            setattr(explorer, name, value)
    assert explorer.session.state.dataset.feature_names == ("x", "y")


def test_points_that_are_no_table_have_no_scales(explore):
    explorer = explore([[0.0, 0.0], [1.0, 1.0], [2.0, 3.0]])
    with pytest.raises(ValueError, match="these points have none"):
        explorer.log = ["x1"]
