"""Attack all readers: files that are cut off, changed, mixed, or lie in their headers."""

import functools
import re
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from attack.contract import REFUSED, attempt
from files import npy_bytes, npz_bytes, parquet_bytes, picture_bytes, xlsx_bytes
from hypothesis import example, given
from hypothesis import strategies as st
from kdegraph import datasets

from tests.io.test_formats import GOOD

X = np.random.default_rng(0).normal(size=(30, 3)).round(6)
NOISE = np.random.default_rng(1).integers(0, 255, (12, 9, 3), dtype=np.uint8)
CSV = pd.DataFrame(X).assign(kind=["u", "v"] * 15).to_csv(index=False).encode()


# The content of a file of each type, by a name of this type.
FILES = {
    **GOOD,
    "a.csv": CSV,
    "a.tsv": CSV.replace(b",", b"\t"),
    "utf16.csv": CSV.decode().encode("utf-16"),
    "quoted.csv": b'"a, b","c\nd",label\n"1","2","x""y"\n3,4,z\n',
    "a.npy": npy_bytes(X),
    "old.npy": npy_bytes(X.astype(">f4")[:, ::-1]),
    "a.npz": npz_bytes(X=X, y=np.arange(30)),
    "a.parquet": parquet_bytes({"x": X[:, 0], "s": ["u", "v"] * 15, "d": X[:, 1]}),
    "a.png": picture_bytes(NOISE),
    "p.png": picture_bytes(NOISE, mode="P"),
    "a.jpg": picture_bytes(NOISE, "JPEG"),
}
if find_spec("openpyxl"):
    FILES["a.xlsx"] = xlsx_bytes([["a", "b"], *X[:, :2].tolist()])
NUMBERS = [b"0", b"-1", b"1", b"2", b"1e400", b"nan", b"99999999999", b"18446744073709551616", b""]
WORDS = [b"\0", b"\xff", b"\xff\xff\xff\xff", b"\x80", b"\n", b"\r", b'"', b",", b"{", b"\x1f\x8b"]


@st.composite
def damages(draw, content):
    """Return the content of a file after one to three changes."""
    data = bytearray(content)
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["cut", "flip", "write", "drop", "repeat", "lie", "splice"]))
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        length = draw(st.integers(1, 40))
        if kind == "cut":
            del data[at:]
        elif kind == "flip" and data:
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif kind == "write":
            data[at : at + draw(st.integers(0, 4))] = draw(st.sampled_from(WORDS))
        elif kind == "drop":
            del data[at : at + length]
        elif kind == "repeat":
            data[at:at] = data[at : at + length] * draw(st.sampled_from([1, 2, 50]))
        elif kind == "lie" and (found := list(re.finditer(rb"\d+", bytes(data[:600])))):
            number = found[at % len(found)]
            data[slice(*number.span())] = draw(st.sampled_from(NUMBERS))
        elif kind == "splice":
            data[at:] = draw(st.sampled_from(sorted(FILES.values())))[at:]
    return bytes(data)


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_read_or_refused(name):
    @given(content=damages(FILES[name]), named=st.sampled_from([name, name, name, None]))
    def check(content, named):
        read = functools.partial(datasets.read, content, filename=named, max_bytes=2**24)
        found = attempt(lambda: read().to_dataset(), "file", "column", name, "max_bytes")
        if found is not REFUSED:
            assert np.isfinite(found.X).all()
            assert found.X.ndim == 2
            assert len(found.X)
            attempt(lambda: datasets.table_points(read(), missing="impute"))

    check()


@given(st.sampled_from(sorted(FILES)), st.sampled_from(sorted(FILES)))
def test_a_file_with_the_name_of_another_type(name, other):
    found = attempt(lambda: datasets.load(FILES[name], filename=other), other)
    if found is not REFUSED:
        assert np.isfinite(found.X).all()


@given(st.binary(max_size=300), st.sampled_from([*sorted(FILES), None]))
@example(b"P6 1 1 255\n\0\0\0", None)
def test_any_bytes(content, name):
    attempt(lambda: datasets.load(content, filename=name), name or "file", "column")
