"""Read files of further programs: what they hold, and what is refused."""

import gzip
import json
import struct

import numpy as np
import pytest
from files import parquet_bytes
from kdegraph import datasets

X = np.array([[1.5, -2.0], [3.0, 40.0], [0.25, 7.0]])
PLY = b"""ply
format %s 1.0
comment made by hand
element vertex 3
property float x
property double y
property uchar red
element face 1
property list uchar int vertex_indices
end_header
"""
PCD = b"""# .PCD v0.7
FIELDS x y normal
SIZE 4 8 4
TYPE F F F
COUNT 1 1 2
WIDTH 3
HEIGHT 1
POINTS 3
DATA %s
"""
ARFF = b"""% a comment
@RELATION flowers
@ATTRIBUTE x NUMERIC
@ATTRIBUTE y REAL
@ATTRIBUTE class {rose,tulip}
@DATA
1.5,-2,rose
3,40,tulip
0.25,7,rose
"""


def fcs(order="<", kind="F"):
    """An FCS 3.1 file with two channels."""
    code = {"F": "f", "D": "d", "I": "I"}[kind]
    events = X if kind != "I" else np.abs(X).astype(int)
    body = b"".join(struct.pack(f"{order}2{code}", *row) for row in events.tolist())
    words = {
        "$TOT": 3,
        "$PAR": 2,
        "$MODE": "L",
        "$DATATYPE": kind,
        "$BYTEORD": "1,2,3,4" if order == "<" else "4,3,2,1",
        "$P1N": "FSC-A",
        "$P1B": struct.calcsize(code) * 8,
        "$P2N": "FL1",
        "$P2S": "CD4",
        "$P2B": struct.calcsize(code) * 8,
    }
    text = "/" + "".join(f"{key}/{value}/" for key, value in words.items())
    start = 58 + len(text)
    places = (58, start - 1, start, start + len(body) - 1, 0, 0)
    return b"FCS3.1    " + b"".join(b"%8d" % place for place in places) + text.encode() + body


def vertices(order):
    return b"".join(struct.pack(f"{order}fdB", *row, i) for i, row in enumerate(X.tolist()))


LINES = "\n".join(json.dumps({"x": x, "y": y}) for x, y in X.tolist()).encode()
ARRAY = b" [\n" + LINES.replace(b"\n", b",\n\n") + b"]\n"
ALIGNED = b"    x      y\n  1.50   -2.0\n  3.00   40.0\n  0.25    7.0 \n"
ASCII_VERTICES = b"1.5 -2 0\n3 40 1\n0.25 7 2\n3 0 1 2\n"
NORMALS = b"".join(struct.pack("<fdff", *row, 0.0, 1.0) for row in X.tolist())
GOOD = {
    "t.csv.gz": gzip.compress(b"x,y\n1.5,-2\n") + gzip.compress(b"3,40\n0.25,7\n"),
    "t.parquet.gz": gzip.compress(parquet_bytes({"x": X[:, 0], "y": X[:, 1]})),
    "t.txt": ALIGNED,
    "t.data": b"1.5,-2\n3,40\n0.25,7\n",
    "t.xyz": b"1.5\t-2\n3\t40\n0.25\t7\n",
    "t.jsonl": LINES,
    "t.json": ARRAY,
    "t.arff": ARFF,
    "a.ply": PLY % b"ascii" + ASCII_VERTICES,
    "l.ply": PLY % b"binary_little_endian" + vertices("<") + b"\x03" + struct.pack("<3i", 0, 1, 2),
    "b.ply": (PLY % b"binary_big_endian").replace(b"\n", b"\r\n") + vertices(">"),
    "a.pcd": PCD % b"ascii" + b"1.5 -2 0 1\n \n3 40 0 1\n0.25 7 0 1\n",
    "b.pcd": PCD % b"binary" + NORMALS,
    "f.fcs": fcs(),
    "d.fcs": fcs(">", "D"),
}


@pytest.mark.parametrize("name", GOOD)
def test_the_same_points_from_all_kinds_of_files(name):
    table = datasets.read(GOOD[name], filename=name)
    columns = [column.name for column in table.columns]
    np.testing.assert_array_equal(table.to_dataset(columns[:2], label=None).X, X)
    expected = {"pcd": ["x", "y", "normal_0", "normal_1"], "ply": ["x", "y", "red"]}
    expected |= {"arff": ["x", "y", "class"], "fcs": ["FSC-A", "CD4"], "data": ["x1", "x2"]}
    assert columns == expected.get(name.split(".")[1], columns)


def test_without_a_name_the_content_is_recognized():
    texts = LINES, ARRAY, ALIGNED, b"x,y\n1.5,-2\n3,40\n0.25,7\n"
    for content in (*texts, gzip.compress(LINES), fcs()):
        np.testing.assert_array_equal(datasets.read(content).to_dataset().X, X)
    assert datasets.read(fcs(kind="I")).to_dataset().X[1, 1] == 40


def test_labels_and_missing_cells():
    assert datasets.load(ARFF, filename="t.arff").label_names == ("rose", "tulip")
    holes = ARFF.replace(b"40", b"?").replace(b"7,rose", b"7,?")
    table = datasets.read(holes, filename="t.arff")
    assert table.column("class").values.tolist() == ["rose", "tulip", None]
    np.testing.assert_array_equal(table.to_dataset(dropna=True).rows, [0, 2])
    # A column with whole numbers at first, and with others later, is one of numbers.
    late = (
        b'{"x": 1, "kind": "a", "ok": true}\n' * 40_000 + b'{"x": 1.5, "kind": null, "ok": false}'
    )
    data = datasets.load(late, filename="t.jsonl", columns=["x", "ok"], label="kind")
    np.testing.assert_array_equal(data.X[-1], [1.5, 0])
    assert data.label_names == ("a", "(missing)")


def binary_pcd(counts):
    return (PCD % b"binary").replace(b"COUNT 1 1 2", b"COUNT " + counts) + NORMALS


KEYS = json.dumps(dict.fromkeys(map(str, range(5000)), 0)).encode()
BAD = {
    "bomb.csv.gz": (gzip.compress(b"1,2\n" * 10**7), "unpacks to more than the limit of 10.0 MiB"),
    "cut.csv.gz": (gzip.compress(b"1,2\n" * 99)[:-9], "is a damaged gzip archive"),
    "text.csv.gz": (gzip.compress(b"PAR1"), "by its content it is a Parquet table"),
    "plain.csv": (gzip.compress(b"1,2\n"), "by its content it is a gzip archive"),
    "list.jsonl": (b"[1, 2]\n[3, 4]\n", "cannot be read as JSON lines: each line must be"),
    "late.jsonl": (b'{"x": 1}\n' * 200_000 + b'{"y": 2}\n', "JSON lines: .* unexpected field"),
    "wide.jsonl": (KEYS, "has 5,000 columns, the limit is 4,096"),
    "text.arff": (ARFF.replace(b"REAL", b"STRING"), "cannot be read as ARFF: "),
    "cut.arff": (ARFF[:60], "cannot be read as ARFF: "),
    "none.ply": (b"ply\nformat ascii 1.0\n", "has no complete header"),
    "faces.ply": (
        (PLY % b"ascii").replace(b"vertex 3", b"edge 3") + ASCII_VERTICES,
        "cannot be read as PLY: ",
    ),
    "list.ply": (
        (PLY % b"ascii").replace(b"property double y", b"property list uchar int y"),
        "cannot be read as PLY: KeyError",
    ),
    "cut.ply": (PLY % b"binary_little_endian" + vertices("<")[:-1], "promises 3 points, which can"),
    "long.arff": (b"@RELATION r\n" + b"@ATTRIBUTE x " * 999 + b"\n@DATA\n", r"ARFF: .{,200}$"),
    "none_left.ply": (PLY % b"ascii", "promises 3 points, .* 0 rows are there"),
    "records.pcd": (
        (PCD % b"binary").replace(b"SIZE 4", b"SIZE ,") + NORMALS,
        "promises 3 points, .* their types are f,, f8",
    ),
    "few.ply": (PLY % b"ascii" + b"1 2 3\n", "promises 3 points, .* 1 rows are there"),
    "many.ply": (
        (PLY % b"binary_little_endian").replace(b"vertex 3", b"vertex 9999999999"),
        "unpacks to .*, the limit is 10.0 MiB",
    ),
    "packed.pcd": (
        PCD % b"binary_compressed",
        "cannot be read as PCD: KeyError.'binary_compressed'",
    ),
    "counts.pcd": (binary_pcd(b"1 1 9999999"), "has 10,000,001 columns, the limit is 4,096"),
    "none.pcd": (binary_pcd(b"1 1"), "cannot be read as PCD: "),
    "cut.fcs": (fcs()[:-3], "promises 3 points"),
    "bad.fcs": (fcs().replace(b"$TOT", b"$TOO"), r"cannot be read as FCS: KeyError.'\$TOT'"),
    "t.xls": (b"\xd0\xcf\x11\xe0", "unknown type '.xls'; save the sheet as CSV; files can be .csv"),
    "none.json": (b"[]", "cannot be read as JSON: it must be an array of objects"),
    "one.json": (b'{"x": [1, 2]}', "cannot be read as JSON: .* it is of type dict"),
    "lists.json": (b"[[1, 2], [3, 4]]", "cannot be read as JSON: "),
    "cut.json": (b'[{"x": 1}, {"x":', "cannot be read as JSON: "),
    "deep.json": (b"[" * 10**5, "cannot be read as JSON: "),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused(name):
    content, message = BAD[name]
    with pytest.raises(ValueError, match=rf"^{name}.*{message}"):
        datasets.load(content, filename=name, max_bytes=10 * 2**20)


def test_json_in_one_piece_has_a_limit_of_its_own(monkeypatch):
    monkeypatch.setattr("kdegraph.io.formats.MAX_JSON", len(ARRAY) - 1)
    with pytest.raises(ValueError, match=r"^t.json unpacks to .*, the limit is "):
        datasets.read(ARRAY, filename="t.json")
