"""Columns of dates as coordinates, compared with the accessors of pandas."""

import numpy as np
import pandas as pd
import pytest
from kdegraph import datasets

ODD = ["1969-12-31 23:59", "1970-01-01", "2000-02-29 12:30", "2024-12-31", "1890-05-04"]
SECONDS = np.random.default_rng(0).integers(-(10**9), 4 * 10**9, 40).astype("M8[s]")
NUMBERS = np.random.default_rng(1).normal(size=45)
MOMENTS = pd.Series(np.r_[np.array(ODD, "M8[s]"), SECONDS])


def load(moments=MOMENTS, **options):
    rows = [f"{moment},{x}" for moment, x in zip(moments, NUMBERS, strict=False)]
    content = "\n".join(["when,x", *rows]).replace("NaT", "").encode()
    return datasets.load(content, filename="visits.csv", **options)


@pytest.mark.parametrize("part", datasets.DATE_PARTS)
def test_dates_count_as_pandas_reads_them(part):
    data = load(columns=["x", "when"], dates={"when": part})
    found = data.X[:, 1:]
    assert data.feature_names == ("x", *datasets.date_coordinates("when", part))
    if part == "time":
        expected = (MOMENTS - pd.Timestamp("1970")) / pd.Timedelta(days=1)
    elif part == "year":
        expected = MOMENTS.dt.year
    else:
        steps = getattr(MOMENTS.dt, {"weekday": "day_of_week"}.get(part, part)) - (part == "month")
        turn = np.exp(2j * np.pi * steps / {"month": 12, "weekday": 7, "hour": 24}[part])
        np.testing.assert_allclose(found @ [1, 1j] / np.abs(found[0] @ [1, 1j]), turn, atol=1e-12)
        return
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-12)


@pytest.mark.parametrize(("part", "unit"), [("month", "MS"), ("weekday", "D"), ("hour", "h")])
def test_neighbors_on_the_circle_are_equally_far_also_across_its_end(part, unit):
    moments = pd.Series(pd.date_range("2024-01-01", periods=30, freq=unit))
    X = load(moments.dt.strftime("%Y-%m-%d %H:%M"), columns="when", dates={"when": part}).X
    np.testing.assert_allclose(np.linalg.norm(np.diff(X, axis=0), axis=1), 1, atol=0.035)


def test_dates_beside_other_choices():
    some = MOMENTS.astype(str).tolist()
    some[3] = "NaT"
    with pytest.raises(ValueError, match=r"row 3 .* 'when \(year\)' is missing"):
        load(some, dates={"when": "year"})
    data = load(some, dates={"when": "year"}, dropna=True)
    assert data.feature_names == ("when (year)", "x")
    assert data.n_points == len(MOMENTS) - 1
    rows = b"2024-01-31,a,1\n2023-01-31,b,2\n2023-02-28,a,3.5\n2022-01-31,b,2\n"
    table = datasets.read(b"d,kind,x\n" + rows, filename="t.csv")
    mixed = table.to_dataset(categories="auto", dates={0: "year"})
    assert mixed.feature_names == ("d (year)", "kind=a", "kind=b", "x")
    assert "Not used" not in table.to_dataset("d", dates={"d": "month"}, label=None).description


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": "when"}, r"holds dates.*dates=\{'when': 'month'\}"),
        (
            {"dates": {"when": "moon"}},
            "unknown part of dates 'moon'; choose one of 'time', 'year'",
        ),
        ({"dates": {"x": "year"}}, "column 'x' holds no dates"),
        ({"dates": {"day": "year"}}, "no column 'day'"),
    ],
)
def test_dates_that_cannot_be_used_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        load(**options)


def test_dates_without_names_of_columns_are_refused():
    with pytest.raises(TypeError, match=r"dates must name the columns.*got 'month'"):
        load(dates="month")
