"""Numbers as people write them: units, thousands separators, decimal commas."""

import numpy as np
import pytest
from files import csv_table, load_csv, parquet_bytes
from kdegraph import datasets

VALUES = np.array([1143.83, -0.5, 1_250.0, 12.0, 9_876_543.21, 0.125])
COMMA = str.maketrans(",.", ".,")


def written(style):
    """The values in one of the usual styles, by Python's own formatting."""
    grouped = [f"{value:,.3f}" for value in VALUES]
    return {
        "$": [f"-${text[1:]}" if text[0] == "-" else f"${text}" for text in grouped],
        "USD": [f"USD {text}" for text in grouped],
        "€": [f"{text} €".translate(COMMA) for text in grouped],
        "%": [f"{value} %" for value in VALUES],
        "comma %": [f"{value}%".translate(COMMA) for value in VALUES],
        "grouped": grouped,
        "comma": [text.translate(COMMA) for text in grouped],
        "Swiss": [text.replace(",", "'") for text in grouped],
        "French": [text.replace(",", "\u202f").replace(".", ",") for text in grouped],
    }[style]


@pytest.mark.parametrize(
    "style", ["$", "USD", "€", "%", "comma %", "grouped", "comma", "Swiss", "French"]
)
def test_numbers_are_read_as_they_are_written(style):
    cells = written(style)
    as_csv = csv_table("\n".join(["size;name", *(f"{cell};a" for cell in cells)]))
    quoted = csv_table("\n".join(["size,name", *(f'"{cell}",a' for cell in cells)]))
    parquet = datasets.read(parquet_bytes({"size": cells}), filename="t.pq")
    for table in (as_csv, quoted, parquet):
        assert table.suggested_features == ("size",)
        np.testing.assert_array_equal(table.column("size").values, VALUES)
    assert as_csv.to_arrow()["size"].to_pylist() == cells  # the table goes back as it came


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a;b\n1,5;1.250 €\n2,5;2.400 €\n", [1250, 2400]),  # as the commas of the file are decimal
        ("a;b\n1.5;1.250 €\n2.5;2.400 €\n", [1.25, 2.4]),
        ("a;b\n1;1,234\n2;5,678\n", [1.234, 5.678]),
        ('a,b\n1,"1,234"\n2,"5,678"\n', [1234, 5678]),
        ('a,b\n1,"0,234"\n2,"5,678"\n', [0.234, 5.678]),  # no thousands begin with a zero
    ],
)
def test_what_a_comma_means_follows_from_the_file(text, values):
    np.testing.assert_array_equal(csv_table(text).column("b").values, values)


@pytest.mark.parametrize(
    "cells",
    [
        ["1,2", "1", "1,2,3"],  # answers of which several are possible
        ["10.0.0.1", "192.168.100.200", "10.1.0.3"],
        ["ABC 123", "DEF 456", "XYZ 7"],
        ["3-4", "5-6", "$"],
    ],
)
def test_other_text_stays_text(cells):
    table = datasets.read(parquet_bytes({"code": cells}), filename="t.pq")
    assert table.column("code").kind == "text"


def test_another_unit_is_a_wrong_cell():
    with pytest.raises(ValueError, match=r"row 1 .*column 'b' is not a number: '5 €'"):
        load_csv("a,b\n1,$5\n2,5 €\n3,$6\n4,7\n")


@pytest.mark.parametrize(
    "name", ["zip", "Zip Code", "postal_code", "home postcode", "PLZ", "phone", "Phone number"]
)
def test_numbers_that_are_names_are_no_features(name):
    table = csv_table(f"{name},zippy\n12345,1\n90210,2\n12345,4\n")
    assert table.suggested_features == ("zippy",)
    assert table.column(name).recognized == "id"
    assert csv_table(f"{name},x\n1,1\n0,2\n1,4\n").column(name).recognized == ""  # yes and no
