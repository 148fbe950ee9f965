"""The table of rows: search, filter, order, pages, summary, and its link to the selection."""

import numpy as np
import pytest
from explorer_actions import explorer_of_file, settle
from explorer_objects import view
from files import csv_table
from kdegraph_explorer.coloring import coloring_of
from kdegraph_explorer.point_columns import TableDataset, cell, row_in_words
from kdegraph_explorer.views.rows import PAGE, Query, RowList, RowTable

TEXT = """id,size,kind,day
7,2.5,ant,2020-01-03
3,,bee,2020-01-01
9,10.25,Ant hill,2020-01-02
5,-1,,
"""
CLUSTERS = np.array([1, 0, 1, 1])
NOTHING = np.empty(0, dtype=int)


@pytest.fixture
def table():
    read = csv_table(TEXT)
    return RowTable.of(TableDataset.of(read.to_dataset(["id"], None), read), CLUSTERS)


def test_columns_cells_and_summary(table):
    assert table.names == ["Row", "Cluster", "id", "size", "kind", "day"]
    assert table.cells(np.array([3, 0])) == [
        ["3", "2", "5", "-1", "–", "–"],
        ["0", "2", "7", "2.5", "ant", "2020-01-03"],
    ]
    heads, cells = table.summary(np.array([0, 1]))
    assert heads == ["Cluster", "Points", "Selected", "Mean size"]
    assert cells == {0: ["1", "1", "–"], 1: ["3", "1", "3.9167"]}


def test_texts_that_hardly_repeat_are_in_no_summary():
    read = csv_table("x,customer,kind\n1,Ann,ant\n2,Bo,bee\n3,Bo,ant\n4,Cy,bee\n5,Di,ant\n")
    table = RowTable.of(TableDataset.of(read.to_dataset(["x"], None), read), np.r_[CLUSTERS, 0])
    heads, cells = table.summary(NOTHING)
    assert heads == ["Cluster", "Points", "Selected", "Mean x", "Most kind"]
    assert [cells[0][-1], cells[1][-1]] == ["ant", "ant"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (126_443.87, "126,444"),
        (-34_727.4, "-34,727"),
        (3_000_000.0, "3,000,000"),
        (1234.567, "1,234.6"),
        (0.000123456, "0.00012346"),
        (2e15, "2e+15"),
        (np.inf, "inf"),
        (np.nan, "–"),
    ],
)
def test_numbers_have_five_digits_or_all_those_before_the_point(value, text):
    assert cell(np.float64(value)) == text


def test_booleans_are_text():
    read = csv_table("x,ok\n1,True\n2,false\n3,\n4,true\n")
    dataset = TableDataset.of(read.to_dataset(["x", "ok"], None, dropna=True), read)
    table = RowTable.of(dataset, np.array([0, 0, 1]))
    assert [row[-1] for row in table.cells(np.arange(3))] == ["True", "False", "True"]
    assert table.found(Query(search="true"), NOTHING).tolist() == [0, 2]
    assert table.found(Query(sort=3), NOTHING).tolist() == [1, 0, 2]
    assert "ok: True" in row_in_words(dataset, 0)
    assert [name for name, _ in coloring_of(dataset, "column:ok").entries] == ["False", "True"]
    everything = TableDataset.of(read.to_dataset(["x"], None), read)
    assert [row[-1] for row in RowTable.of(everything, None).cells(np.array([2]))] == ["–"]


def test_search_and_filter(table):
    for query, expected in (
        (Query(search=""), [0, 1, 2, 3]),
        (Query(search="ANT"), [0, 2]),
        (Query(search=" hill "), [2]),
        (Query(search="2020-01-0"), [0, 1, 2]),
        (Query(search="10.25"), [2]),
        (Query(search="<b>"), []),
        (Query(rows="all"), [0, 1, 2, 3]),
        (Query(rows="selected"), [1, 3]),
        (Query(rows="1"), [1]),
        (Query(rows="2"), [0, 2, 3]),
    ):
        assert table.found(query, np.array([1, 3])).tolist() == expected


def test_order(table):
    for name, ascending, descending in (
        ("Row", [0, 1, 2, 3], [3, 2, 1, 0]),
        ("Cluster", [1, 0, 2, 3], [0, 2, 3, 1]),  # ties as they are
        ("id", [1, 3, 0, 2], [2, 0, 3, 1]),
        ("size", [3, 0, 2, 1], [2, 0, 3, 1]),  # what is missing comes last
        ("kind", [2, 0, 1, 3], [1, 0, 2, 3]),
        ("day", [1, 2, 0, 3], [0, 2, 1, 3]),
    ):
        sort = table.names.index(name)
        assert table.found(Query(sort=sort), NOTHING).tolist() == ascending
        assert table.found(Query(sort=sort, descending=True), NOTHING).tolist() == descending


# ---- in the explorer

N = 250
X = np.random.default_rng(0).normal(size=N)
CSV = ("x,kind\n" + "\n".join(f"{x},{'uv'[i % 2]}" for i, x in enumerate(X))).encode()


@pytest.fixture
def rows(explore):
    """The view of the rows of a file, on the screen."""
    explorer = explorer_of_file(explore, CSV, view="rows")
    found = view(explorer, "rows")

    def ask(**query):
        found.list.query = {**found.list.query, **query}
        settle(explorer)
        return [row["point"] for row in found.list.page]

    def click(**message):
        found.list._handle_msg(message)
        settle(explorer)
        return found.state.selection.tolist()

    found.ask, found.click = ask, click
    return found


def test_pages_and_the_selection_of_all_rows_that_are_found(rows):
    assert isinstance(rows.list, RowList)
    assert rows.ask() == list(range(PAGE))
    assert rows.ask(first=2 * PAGE) == list(range(2 * PAGE, N))
    order = np.argsort(X, kind="stable").tolist()
    assert rows.ask(first=0, sort=rows.list.names.index("x")) == order[:PAGE]
    assert rows.list.found == N
    # A page beyond the rows that are found is empty.
    assert rows.ask(first=10_000) == []
    assert rows.ask(first=0, sort=0, search="v")[:2] == [1, 3]
    # All rows that are found are selected.
    assert rows.list.found == N // 2
    assert rows.click(select="found") == list(range(1, N, 2))
    assert rows.summary.heads == ["Cluster", "Points", "Selected", "Mean x", "Most kind"]


def test_clicks_select_points_and_selected_rows_are_marked(rows):
    assert rows.click(point=7) == [7]
    assert rows.click(point=3, add=True) == [3, 7]
    assert rows.click(point=7, add=True) == [3]
    assert rows.list.selected == 1
    assert [row["point"] for row in rows.list.page if row["selected"]] == [3]
    rows.state.selection = np.array([1, 2, 3])
    assert rows.ask(rows="selected") == [1, 2, 3]
    assert rows.click(select="none") == []
    assert rows.list.found == 0


def test_an_older_result_does_not_take_back_a_newer_query(rows):
    rows.state.selection = np.array([1, 2, 3])  # which lists all rows anew
    rows.list.query = {**rows.list.query, "rows": "selected"}
    older = (rows._table, Query(), rows.state.selection, rows.state.shown)
    rows._show(older, rows._find(older, None, None))
    assert rows.ask() == [1, 2, 3]


def test_invalid_messages_select_nothing_and_show_the_first_page(rows):
    for message in ({}, {"point": N}, {"point": "1"}, {"select": "everything"}):
        assert rows.click(**message) == []
    for query in (
        {"sort": 99},
        {"sort": "x"},
        {"rows": "99"},
        {"rows": "²"},
        {"first": -5},
        {"search": None},
        {"descending": 1},
    ):
        assert rows.ask(**query) == list(range(PAGE))
        assert rows.list.query == vars(Query())


def test_clusters_are_edited_in_their_table_as_in_the_legend(rows):
    state, split = rows.state, {"split": rows.summary.entries[0]["number"], "parts": 2}
    rows.summary._handle_msg(split)
    rows.ask()
    assert [entry["mark"] for entry in rows.summary.entries][:2] == ["1a", "1b"]
    sizes = [int(entry["cells"][0]) for entry in rows.summary.entries]
    colors = state.outcome("kde").colors
    numbers = [entry["number"] for entry in rows.summary.entries]
    assert sizes == [np.count_nonzero(colors == number) for number in numbers]
    rows.summary._handle_msg({"merge": numbers[:2]})
    rows.ask()
    assert rows.summary.entries[0]["cells"][0] == f"{sum(sizes[:2])}"
    rows.session.history.undo()
    rows.ask()
    assert [entry["mark"] for entry in rows.summary.entries][:2] == ["1a", "1b"]
