"""Files that would unpack to far more than their size are refused or read with little memory."""

import gzip
import json

import numpy as np
import programs
import pyarrow as pa
import pytest
from files import npy_bytes, npz_bytes, parquet_bytes, picture_bytes
from kdegraph import datasets
from kdegraph.io.limits import MAX_COLUMNS, MAX_LINE
from peak_memory import MEASURE, skip_unless_reported

SPARE = 48 * 2**20  # bytes that reading may take besides twice the size of the file
READ = """
import json, sys
from kdegraph import datasets

for path in sys.argv[1:]:
    before, said = begin(), ""
    try:
        datasets.read(path).to_dataset()
    except ValueError as error:
        said = str(error)
    print(json.dumps([taken(before), said]))
"""
MILLION = 10**6


def wide(n_columns, cell=b"1", delimiter=b","):
    """A line of a table of text."""
    return delimiter.join([cell] * n_columns) + b"\n"


def with_texts(cell):
    """A Parquet table with a column that refers to one long cell, row by row."""
    rows = pa.array(np.zeros(50_000, np.int32))
    texts = pa.DictionaryArray.from_arrays(rows, pa.array([cell * 20_000]))
    return parquet_bytes({"x": np.zeros(len(rows)), "s": texts})


def zeros(*shape):
    """Zeros of a byte each."""
    return np.zeros(shape, np.uint8)


TWO = b"a,b\n" + b"1,2\n" * 1000
LABELS = np.array(["u"] * 2999 + ["x" * 1000])
SMALL = {  # one of each type first, so that importing their readers is not measured
    "a.csv": TWO,
    "a.npy": npy_bytes(np.zeros((3, 2))),
    "a.npz": npz_bytes(X=np.zeros((3, 2))),
    "a.parquet": parquet_bytes({"x": [1.0, 2.0], "s": ["u", "v"]}),
    "a.png": picture_bytes(zeros(5, 5, 3)),
}
PIXELS = "is too large: 7,000 x 7,000 pixels, the limit is 44,739,242 pixels; scale it down first"
LONG = (
    "is longer than 1.0 MiB, which is enough for 4,096 columns; keep the columns that matter, or "
    "pass an array"
)
MANY = "columns, the limit is 4,096; keep the columns that matter"
BYTES = "the limit is 1.0 GiB; keep the columns that matter"
# The content of each file, and the message if it is refused.
FILES = {
    "later.csv": (lambda: TWO + wide(MILLION), f"line 1,002 {LONG}"),
    "all.csv": (lambda: wide(MILLION, b"c") + wide(MILLION) * 4, f"line 1 {LONG}"),
    "all.tsv": (lambda: wide(MILLION, b"c", b"\t") * 2, f"line 1 {LONG}"),
    "mac.csv": (lambda: TWO.replace(b"\n", b"\r") + wide(MILLION), f"line 1,002 {LONG}"),
    "utf16.csv": (
        lambda: (TWO + wide(MILLION)).decode().encode("utf-16"),
        f"line 1,002 {LONG}",
    ),
    "shorter.csv": (
        lambda: TWO + wide(200_000),
        "line 1,002 has 200000 columns, and 2 are expected: '1,1,",
    ),
    "half.csv": (lambda: wide(200_000) * 20, f"has 200,000 {MANY}"),
    "cell.csv": (lambda: b"a,label\n" + b"1,u\n" * 3000 + b"2," + b"x" * 500_000 + b"\n", ""),
    "cell.npz": (lambda: npz_bytes(X=np.zeros((3000, 1)), label=LABELS), ""),
    "columns.parquet": (
        lambda: parquet_bytes({f"c{i}": pa.array([0]) for i in range(20_000)}),
        "has more than 10,000 columns or row groups; a table may have 4,096",
    ),
    "footer.parquet": (
        lambda: b"PAR1" + bytes(2**25 + 2**20) + (2**25 + 2**20).to_bytes(4, "little") + b"PAR1",
        "has a footer of 33.0 MiB, the limit is 32.0 MiB; write it with fewer columns",
    ),
    "text.parquet": (lambda: with_texts("x"), ""),
    "bytes.parquet": (lambda: with_texts(b"x"), ""),
    "wide.npy": (lambda: npy_bytes(zeros(2, MILLION)), f"has 1,000,000 {MANY}"),
    "wide.npz": (lambda: npz_bytes(X=zeros(2, 20 * MILLION)), f"has 20,000,000 {MANY}"),
    "bytes.npz": (lambda: npz_bytes(X=zeros(150 * MILLION, 1)), f"unpacks to 1.1 GiB, {BYTES}"),
    "beside.npz": (lambda: npz_bytes(X=np.zeros((3, 2)), other=zeros(160 * MILLION)), ""),
    "flat.npz": (
        lambda: npz_bytes(**{f"x{i}": zeros(40 * MILLION) for i in range(4)}),
        f"unpacks to 1.2 GiB, {BYTES}",
    ),
    "picture.npz": (lambda: npz_bytes(X=zeros(7000, 7000, 3)), PIXELS),
    "packed.csv.gz": (
        lambda: gzip.compress(b"1,2\n" * 2**22) * 70,
        "unpacks to more than the limit of 1.0 GiB; keep the columns that matter",
    ),
    "picture.png": (lambda: picture_bytes(zeros(7000, 7000) > 0), PIXELS),
    "picture.jpg": (lambda: picture_bytes(zeros(7000, 7000), "JPEG"), PIXELS),
}


def test_little_memory_is_taken_and_the_message_says_what_the_limit_is(tmp_path):
    skip_unless_reported()
    for name, content in SMALL.items():
        (tmp_path / name).write_bytes(content)
    for name, (make, _) in FILES.items():
        (tmp_path / name).write_bytes(make())
    answers = programs.run(MEASURE + READ, *SMALL, *FILES, cwd=tmp_path).stdout.splitlines()
    for (name, (_, expected)), answer in zip(FILES.items(), answers[len(SMALL) :], strict=True):
        taken, said = json.loads(answer)
        assert taken < 2 * (tmp_path / name).stat().st_size + SPARE
        assert said.startswith(name) == bool(said) == bool(expected)
        assert expected in said


def test_a_line_may_be_as_long_as_the_limit():
    row = b"1," + b"2".rjust(MAX_LINE - 2)
    assert datasets.load(b"a,b\n" + row + b"\n" + row, filename="t.csv").n_points == 2
    with pytest.raises(ValueError, match=r"t\.csv: line 2 is longer than 1\.0 MiB"):
        datasets.load(b"a,b\n " + row + b"\n", filename="t.csv")


@pytest.mark.parametrize("name", ["t.csv", "t.npy", "t.parquet"])
def test_a_table_may_have_as_many_columns_as_the_limit(name):
    make = {
        "t.csv": lambda n: wide(n, b"c") + wide(n) * 2,
        "t.npy": lambda n: npy_bytes(zeros(2, n)),
        "t.parquet": lambda n: parquet_bytes({f"c{i}": [0, 0] for i in range(n)}),
    }[name]
    assert datasets.load(make(MAX_COLUMNS), filename=name).X.shape == (2, MAX_COLUMNS)
    with pytest.raises(ValueError, match="4,097 columns, the limit is 4,096"):
        datasets.load(make(MAX_COLUMNS + 1), filename=name)


@pytest.mark.parametrize(
    ("name", "content", "limit", "message"),
    [
        ("t.npy", npy_bytes(zeros(100, 2)), 1600, r"unpacks to 1\.6 KiB, the limit is 1\.6 KiB"),
        ("t.npz", npz_bytes(X=zeros(100, 2)), 1600, r"unpacks to 1\.6 KiB, the limit is 1\.6"),
        ("t.csv", b"1,2\n" * 99 + b"1,2", 1600, r"unpacks to 1\.6 KiB, the limit is 1\.6 KiB"),
        ("t.png", picture_bytes(zeros(10, 10, 3)), 2400, "10 x 10 pixels, the limit is 99 pixels"),
    ],
)
def test_numbers_may_take_as_much_as_the_limit(name, content, limit, message):
    assert datasets.load(content, filename=name, max_bytes=limit).n_points == 100
    with pytest.raises(ValueError, match=message):
        datasets.load(content, filename=name, max_bytes=limit - 1)


def test_an_archive_may_have_as_many_files_as_the_limit():
    arrays = {f"x{i}": np.zeros(3) for i in range(1000)}
    assert datasets.load(npz_bytes(**arrays), filename="t.npz").X.shape == (3, 1000)
    with pytest.raises(ValueError, match="holds 1,001 files, the limit is 1,000"):
        datasets.load(npz_bytes(**arrays, y=np.zeros(3)), filename="t.npz")


def test_a_parquet_file_that_says_it_has_few_rows_is_not_believed():
    def number(value, length):
        """A number as Thrift writes it, seven bits to a byte."""
        parts = [2 * value >> 7 * i & 127 for i in range(length)]
        return bytes([part | 128 for part in parts[:-1]] + parts[-1:])

    content = parquet_bytes({"x": np.zeros(123_457)})
    size = int.from_bytes(content[-8:-4], "little")
    data, footer = content[: -8 - size], content[-8 - size :]
    # The number of rows of the file, and not those of its row groups.
    few = footer.replace(number(123_457, 3), number(5, 3), 1)
    assert pa.parquet.ParquetFile(pa.BufferReader(data + few)).metadata.num_rows == 5
    with pytest.raises(ValueError, match=r"unpacks to 964\.5 KiB, the limit is 97\.7 KiB"):
        datasets.load(data + few, filename="t.parquet", max_bytes=100_000)
