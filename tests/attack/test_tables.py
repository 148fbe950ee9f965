"""Attack tables of mixed columns, in all kinds of frames, and the commands that read them."""

import json
import os
from datetime import datetime

import kdegraph
import numpy as np
import pandas as pd
import pyarrow as pa
from attack.contract import REFUSED, attempt
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from kdegraph import datasets
from kdegraph.cli import main

OUTPUT = f"-o={os.devnull}"
FEWER = settings(max_examples=max(1, settings.default.max_examples // 4))
FLOATS = st.one_of(st.none(), st.floats(), st.floats(-1e3, 1e3), st.sampled_from([0.0, 1.0]))
CELLS = {
    "floats": FLOATS,
    "narrow": st.floats(0, 1, width=16),
    "huge": st.sampled_from([1e308, -1e308, 1.0, 5e-324]),
    "whole": st.integers(-(2**63), 2**63 - 1),
    "small": st.one_of(st.none(), st.integers(0, 2)),
    "booleans": st.one_of(st.none(), st.booleans()),
    "text": st.one_of(st.none(), st.text(max_size=4)),
    "words": st.sampled_from(["red", "blue", "", "nan", "1", "None", None]),
    "dates": st.datetimes(min_value=datetime(1700, 1, 1), max_value=datetime(2250, 1, 1)),
    "bytes": st.binary(max_size=3),
    "lists": st.lists(st.integers(0, 3), max_size=2),
    "nothing": st.none(),
    "same": st.just(3.0),
}
NAMES = st.one_of(
    st.text(max_size=6),
    st.sampled_from(
        ["label", "id", "cluster", "x", "a=b", "-1", "0", "y", "Ünïcode", "a,b", "a\nb"]
    ),
)


@st.composite
def frames(draw):
    """Return a dict of columns of one length, some of them with cells of an odd kind."""
    n = draw(st.integers(0, 20))
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    kinds = [draw(st.sampled_from(sorted(CELLS))) for _ in names]
    return {
        name: draw(st.lists(CELLS[kind], min_size=n, max_size=n))
        for name, kind in zip(names, kinds, strict=True)
    }


KINDS = {
    "pandas": pd.DataFrame,
    "objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "categories": lambda columns: pd.DataFrame(columns).apply(categorical),
    "Arrow": pa.table,
    "lists": dict,
}
try:
    import polars

    KINDS["polars"] = lambda columns: polars.DataFrame(columns, strict=False)
except ImportError:
    pass


def categorical(values):
    try:
        return values.astype("category")
    except TypeError:  # lists
        return values


@given(frames(), st.sampled_from(sorted(KINDS)), st.data())
def test_tables_of_any_columns_are_points_or_refused(columns, kind, data):
    try:
        frame = KINDS[kind](columns)
    except (pa.ArrowException, TypeError, OverflowError):
        return  # there is no such frame
    missing = data.draw(st.sampled_from(["error", "drop", "impute"]))
    chosen = st.one_of(st.none(), st.sampled_from([*columns]), st.integers(-1, 5))
    options = {
        "columns": data.draw(st.one_of(chosen, st.lists(st.sampled_from([*columns]), max_size=3))),
        "label": data.draw(st.one_of(st.just("auto"), chosen)),
        "categories": data.draw(st.one_of(st.just("auto"), st.sampled_from([*columns]))),
        "missing": missing,
    }
    words = ("column", "columns", "table", "label", "missing", "categories", "rows", "row")
    found = attempt(lambda: datasets.table_points(frame, **options), *words)
    if found is REFUSED:
        return
    assert np.isfinite(found.X).all()
    assert len(found.X) == len(found.rows) > 0
    assert len(found.feature_names) == found.X.shape[1]
    if (options["columns"], missing) != (None, "impute"):
        return
    transformer = kdegraph.TableTransformer(categories=options["categories"], missing=missing)
    points = attempt(lambda: transformer.fit(frame).transform(frame), *words)
    assert points is REFUSED or np.isfinite(points).all()


@st.composite
def texts(draw):
    """Return a table of text whose cells and names are odd."""
    columns = draw(frames())
    frame = pd.DataFrame(columns)
    separator = draw(st.sampled_from([",", ";", "\t", "|", " "]))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    text = frame.to_csv(index=False, sep=separator, lineterminator=end)
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]))
    return [*columns], text.encode(encoding, "replace")


@FEWER
@given(table=texts(), data=st.data())
def test_commands_read_any_table_or_say_in_a_line_why_not(table, data):
    names, content = table
    name = st.sampled_from([*names, "none", "auto", "0", "9", ""])
    flags = st.sampled_from(["-k=2", "--json", "--dropna", "--scale=standardize", "-o=-", OUTPUT])
    named = st.builds(
        "--{}={}".format, st.sampled_from(["id", "label", "columns", "categories"]), name
    )
    options = data.draw(st.lists(st.one_of(flags, named), max_size=4))
    command = ["cluster", "-", *options]
    result = CliRunner().invoke(main, command, input=content)
    assert result.exit_code in (0, 2), (command, result.output, result.exception)
    if result.exit_code == 2:
        assert result.stderr.startswith("Error: "), result.stderr
        assert "unexpected" not in result.stderr, result.stderr
        assert len(result.stderr) < 2000
    elif "--json" in command:
        assert json.loads(result.stdout)["n_clusters"] >= 1
