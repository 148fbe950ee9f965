"""Recognize columns that are not features: row numbers, identifiers, constants and dates."""

import datetime
import io

import numpy as np
import pandas as pd
import pytest
from files import csv_table, npy_bytes, parquet_bytes
from kdegraph import datasets

RNG = np.random.default_rng(0)
N = 60
NUMBERS = RNG.permutation(N)
MEASURED = RNG.normal(size=N)


def table(**columns):
    """A CSV file of the given columns, read."""
    rows = [columns, *zip(*columns.values(), strict=True)]
    return csv_table("\n".join(",".join(map(str, row)) for row in rows))


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("id", [7, 9, 7], "id"),
        ("Identifier", [5, 900, 31], "id"),
        ("user_id", [5, 900, 31], "id"),
        ("userId", [5, 900, 31], "id"),
        ("GUID", [5, 900, 31], "id"),
        ("paid", [5, 900, 31], ""),
        ("id", [0.5, 2.5, 1.5], ""),
        ("index", [30, 10, 20], "id"),
        ("row", [3, 3, 4], ""),
        ("Subject", [1, 1, 2, 2, 3, 3], "id"),
        ("patient_no", [12, 12, 57, 903], "id"),
        ("patient", [0, 1, 0, 1], ""),  # patients and others
        ("subjects", [1, 2, 3], ""),  # a count
        ("anything", np.arange(N), "id"),
        ("anything", 1000 + NUMBERS, "id"),
        ("anything", np.arange(N)[::-1], "id"),
        ("anything", 2 * NUMBERS, "id"),  # half of the numbers in the range
        ("anything", 3 * NUMBERS, ""),
        ("anything", np.r_[NUMBERS[:-1], NUMBERS[0]], ""),  # one of them twice
        ("anything", NUMBERS / 2, ""),
        ("anything", np.arange(20), "id"),
        ("anything", np.arange(19), ""),
        ("anything", RNG.integers(0, 2 * N, N), ""),  # counts of something
        ("anything", np.full(N, 2.5), "constant"),
        ("anything", [3, 3], "constant"),
        ("anything", [3], ""),
        ("anything", [3, 3, ""], ""),  # a missing cell is something else
        ("anything", [0.5, 3, "", ""], ""),
        ("anything", [0.5, "", ""], "missing"),
        ("id", [7, "", ""], "id"),
        ("rownames", [61617, 61618, 67560], "id"),
        ("Row names", [61617, 61618, 67560], "id"),
        ("Unnamed: 0", [4, 5, 6], "index"),
        ("Unnamed: 0", [4, 5, 7], "id"),  # rows have gone
        ("Unnamed: 0", [4, 4, 7], ""),
        ("Unnamed: 0", [4, 5, 7.5], ""),
        ("Unnamed: 1", [4, 5, 7], ""),
        ("column 1", [61617, 61618, 67560], "id"),
        ("column width", [61617, 61618, 67560], ""),
        ("__index_level_0__", [5, 900, 31], "id"),
        ("__index_level_1__", [0, 1, 0], "id"),  # of two frames, one below the other
        ("year", [2007, 2008, 2008], "date"),
        ("year", [1, 2, 3], ""),
        ("anything", [2007, 2008, 2008], ""),
        ("anything", [20240131, 20231224, 20240229], "date"),
        ("anything", [20240131, 20231324, 20240229], ""),  # no month 13
        ("timestamp", [1.7e9, 1.71e9, 1.72e9], "date"),
        ("time", [1700 * 10**15, 1710 * 10**15, 1720 * 10**15], "date"),  # in nanoseconds
        ("account", [10**19, 10**19 + 1, 10**19], "id"),  # of more digits than an int64
        ("update_time", [1700000000123, 1700000000456, 1700000000999], "date"),
        ("price", [1.7e9, 1.71e9, 1.72e9], ""),
        ("time", [12.5, 13.5, 14.5], ""),  # seconds of a run
        ("when", ["2020-01-01", "2020-02-01", "2020-03-01"], "date"),
        ("when", ["2020-01-01 12:30", "2020-01-01 13:30", ""], "date"),
        ("when", ["31.12.2019", "1.1.2020", "2.1.2020"], "date"),
        ("when", ["12/31/2019", "1/1/2020 10:30 pm", "1/2/20"], "date"),
        ("when", ["3 Mar 2020", "04-April-2021", "May 5 2022"], "date"),
        ("when", ["2020-01-01", "soon", "2020-03-01"], ""),
        ("when", ["1-2", "3-4", "5-6"], ""),
    ],
)
def test_what_a_column_is_recognized_as(name, values, expected):
    found = table(**{name: values, "measured": MEASURED[: len(values)]})
    assert found.column(name).recognized == expected


def test_counts_are_practically_never_taken_for_running_numbers():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        counts = rng.integers(0, 40, (30, 200))  # all different with a probability of about 1e-9
        found = table(**{f"c{i}": column for i, column in enumerate(counts.T)})
        assert [column.name for column in found.columns if column.recognized] == []


def test_identifiers_and_constants_are_not_used():
    measured = {"length": MEASURED, "width": MEASURED**2}
    kinds = np.array(["a", "b", "c"])[np.arange(N) % 3]
    found = table(specimen=1 + np.arange(N), **measured, site=[3] * N, species=kinds)
    data = found.to_dataset()
    assert data.feature_names == tuple(measured)
    np.testing.assert_array_equal(data.X, np.column_stack(list(measured.values())))
    unused = "Not used: 'specimen' (an identifier), 'site' (always the same)."
    assert data.description.endswith(unused)


def test_the_index_of_some_rows_of_a_frame_is_not_used():
    frame = pd.DataFrame({"x": RNG.normal(size=N), "y": RNG.normal(size=N)}, index=1000 * NUMBERS)
    content = io.BytesIO()
    frame.to_parquet(content)
    for name, data in (("f.parquet", content.getvalue()), ("f.csv", frame.to_csv().encode())):
        assert datasets.load(data, filename=name).feature_names == ("x", "y")


def test_a_column_that_is_mostly_missing_takes_no_rows_along():
    found = csv_table("x,often,seldom\n1,5,6\n2,5.5,\n3,,\n4,5,7\n5,6,\n")
    assert found.suggested_features == ("x", "often")
    data = found.to_dataset(dropna=True)
    np.testing.assert_array_equal(data.rows, [0, 1, 3, 4])
    assert data.description.endswith("Not used: 'seldom' (mostly missing).")
    assert found.to_dataset(["x", "seldom"], dropna=True).n_points == 2


def test_what_is_recognized_can_be_asked_for():
    group = np.arange(N) % 2
    data = table(a=MEASURED, b=MEASURED**2, gid=group).to_dataset(label="gid")
    assert data.feature_names == ("a", "b")
    np.testing.assert_array_equal(data.y, group)
    found = csv_table("id,x\n7,1\n9,2\n")
    data = found.to_dataset(["id", "x"])
    np.testing.assert_array_equal(data.X, [[7, 1], [9, 2]])
    assert "Not used" not in data.description
    assert found.to_dataset(label="x").feature_names == ("id",)


@pytest.mark.parametrize(
    ("text", "features"),
    [
        ("id\n3\n5\n", ("id",)),
        ("id,flat\n3,1\n5,1\n", ("id", "flat")),
        ("flat,label\n1,a\n1,b\n", ("flat",)),
        ("column 1,word\n0,a\n1,b\n", ()),
    ],
)
def test_where_nothing_else_is_there_what_is_recognized_is_a_feature(text, features):
    assert csv_table(text).suggested_features == features


def test_dates_of_parquet_keep_their_values():
    moments = [datetime.datetime(2020, 1, 1, 12), None]
    columns = {"day": [datetime.date(2020, 1, 2), None], "moment": moments, "x": [1.0, 2.0]}
    found = datasets.read(parquet_bytes(columns), filename="t.pq")
    assert [column.kind for column in found.columns] == ["date", "date", "number"]
    assert str(found.column("day").values[0]) == "2020-01-02T00:00:00.000"
    assert str(found.column("moment").values[0]) == "2020-01-01T12:00:00.000"
    assert np.isnat(found.column("day").values[1])
    with pytest.raises(ValueError, match="label: column 'day' holds neither text nor numbers"):
        found.to_dataset(label="day")
    assert found.suggested_features == ("x",)


def test_columns_that_are_not_read_are_not_said_to_be_empty():
    waits = [datetime.timedelta(hours=1), datetime.timedelta(hours=2)]
    found = datasets.read(parquet_bytes({"wait": waits, "x": [1.0, 2.0]}), filename="t.pq")
    with pytest.raises(ValueError, match="column 'wait' holds no readable values"):
        found.to_dataset(columns="wait")


def test_one_row_and_one_column_are_in_the_singular():
    assert csv_table("x\n1.5\n").to_dataset().description.startswith("1 row and 1 column of ")
    found = csv_table("x,y\n1.5,2\n3,4\n").to_dataset().description
    assert found.startswith("2 rows and 2 columns of ")


def test_columns_of_an_array_are_all_features():
    X = np.column_stack([np.arange(N), np.ones(N), MEASURED])
    np.testing.assert_array_equal(datasets.load(npy_bytes(X), filename="X.npy").X, X)
