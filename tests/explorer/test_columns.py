"""The columns of a file: what is shown of them, and the roles that they get."""

import numpy as np
import pytest
from explorer_objects import PATIENCE, TABLE, choose, controls, give_file, settle
from kdegraph import datasets
from kdegraph_explorer.sources import column_facts
from kdegraph_explorer.sources.column_facts import N_BARS, facts
from kdegraph_explorer.uploads import StoredFile
from kdegraph_explorer.views.columns import ColumnTable
from kdegraph_explorer.views.controls import DataControls
from sklearn.datasets import load_iris

RNG = np.random.default_rng(0)
N = 200
GROUP = np.arange(N) % 2


def csv(**columns):
    rows = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    return "\n".join(rows).encode()


NOISE = csv(a=RNG.normal(size=N), b=RNG.normal(size=N), gid=GROUP)


def table_of(explorer):
    (table,) = controls(explorer, DataControls).__panel__().select(ColumnTable)
    return table


# ---- roles


def test_a_label_chosen_by_hand_leaves_the_features(sessions):
    session = sessions()
    source = give_file(session, NOISE)
    assert source.columns == ["a", "b", "gid"]
    source.label_column = "gid"
    session.wait(PATIENCE)
    state = session.state
    assert source.columns == ["a", "b"]
    assert state.dataset.feature_names == ("a", "b")
    assert state.outcome("kde").scores["Adjusted Rand index"] < 0.1


def test_a_label_in_an_address_is_no_feature(sessions):
    source = give_file(sessions(), NOISE)
    data = source.checked({"columns": ["a", "gid"], "label_column": "gid"})
    assert data["columns"] == ["a"]


def test_iris_with_a_running_number_has_the_clusters_of_iris(sessions):
    iris = load_iris()
    measured = dict(zip("abcd", iris.data.T, strict=True))
    session, plain = sessions(), sessions()
    give_file(session, csv(number=1 + np.arange(150), **measured))
    give_file(plain, csv(**measured))
    with_number, without = (s.state.outcome("kde").labels for s in (session, plain))
    np.testing.assert_array_equal(with_number, without)
    assert with_number.max() >= 1
    assert "Not used: 'number' (an identifier)" in session.state.dataset.description


def test_roles_are_exclusive(sessions):
    session = sessions()
    source = give_file(session, csv(x=RNG.normal(size=N), id=np.arange(N), kind=["u", "v"] * 100))
    roles = lambda: [source.role(found.name) for found in source.facts]  # noqa: E731
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
    source = give_file(explorer.session, NOISE)
    settle(explorer)
    table = table_of(explorer)
    assert table.visible
    assert [row["name"] for row in table.rows] == ["a", "b", "gid"]
    assert table.roles == ["feature"] * 3
    table._handle_msg({"columns": [2], "role": "label"})
    settle(explorer)
    assert table.roles == ["feature", "feature", "label"]
    assert explorer.session.state.dataset.y.tolist() == GROUP.tolist()
    explorer.session.history.undo()
    settle(explorer)
    assert table.roles == ["feature"] * 3
    assert source.label_column == "none"


def test_roles_that_the_table_does_not_offer_change_nothing(explore):
    explorer = explore()
    source = give_file(explorer.session, csv(a=RNG.normal(size=N), kind=["u", "v"] * 100))
    before = source.recall()
    for message in (
        {},
        {"columns": "a", "role": "label"},
        {"columns": [9, -1, "b", None], "role": "label"},
        {"columns": [0], "role": "owner"},
        {"columns": [1], "role": "feature"},  # text
    ):
        table_of(explorer)._handle_msg(message)
        assert source.recall() == before


def test_hundreds_of_columns_can_be_chosen_at_once(explore):
    explorer = explore()
    source = give_file(explorer.session, csv(**{f"c{i}": RNG.normal(size=30) for i in range(500)}))
    table = table_of(explorer)
    assert len(table.rows) == len(table.roles) == 500
    table._handle_msg({"columns": list(range(2, 500)), "role": "ignore"})
    settle(explorer)
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
        ("id", [4, 2, 8], "identifier, 2 to 8"),
        ("x", ["2020-01-05", "2019-12-31", ""], "date, 2019-12-31 to 2020-01-05, 1 missing"),
        ("x", ["u", "v", "u"], "text, 2 values: u, v"),
        ("x", ["u", "u", "u"], "text, 1 value: u"),
        ("x", list("abcdd"), "text, 4 values: d, a, b, …"),
        ("x", ["", "", ""], "no values"),
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
    session = sessions()
    session.state.source = "upload"
    source = session.sources["upload"]
    source.file = StoredFile.of("zoo.csv", TABLE)
    session.wait(PATIENCE)
    source.columns = []
    session.wait(PATIENCE)
    refused = session.state.error
    assert "column" in refused
    choose(session, sigma=2.5)
    assert session.state.result.request.sigma == 2.5
    assert session.state.error == refused  # the columns are still not those that are chosen
    done = []
    session.reproduce(lambda: done.append(True))
    session.wait(PATIENCE)
    assert done  # what is shown can be exported all the same
    source.columns = ["width", "height"]
    session.wait(PATIENCE)
    assert session.state.error == ""
    assert session.state.shown.feature_names == ("width", "height")
