"""Read tables of text and Parquet, and refuse bad tables with a reason."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from files import NOISY, csv_table, load_csv, parquet_bytes, picture_bytes
from kdegraph import datasets


def test_csv_with_a_header_and_labels():
    data = load_csv("a,b,label\n1,2.5,cat\n3,4,dog\n5,6,cat\n")
    np.testing.assert_array_equal(data.X, [[1, 2.5], [3, 4], [5, 6]])
    np.testing.assert_array_equal(data.y, [0, 1, 0])
    assert (data.label_names, data.feature_names) == (("cat", "dog"), ("a", "b"))
    assert (data.n_clusters, data.name) == (2, "t.csv")
    np.testing.assert_array_equal(data.rows, [0, 1, 2])


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1.5,-2\n3,4e2\n",
        "a;b\n1.5;-2\n3;4e2\n",
        "a;b\n1,5;-2\n3;4e2\n",
        "a\tb\n1.5\t-2\n3\t4e2\n",
        "a|b\n1.5|-2\n3|4e2\n",
        "a b\n1.5 -2\n3 4e2\n",
        "a,b\r\n1.5,-2\r\n3,4e2\r\n",
        "a,b\n\n1.5,-2\n3,4e2",
        '"a","b"\n"1.5","-2"\n"3","4e2"\n',
        "# a,b\n1.5,-2\n3,4e2\n",
        "\ufeffa,b\n1.5,-2\n3,4e2\n",
        "a , b\n 1.5 , -2\n 3 , 4e2\n",
    ],
)
def test_separators_quotes_and_marks(text):
    data = load_csv(text)
    assert data.feature_names == ("a", "b")
    np.testing.assert_array_equal(data.X, [[1.5, -2], [3, 400]])


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["text", *(f"This is sentence {i} of all" for i in range(9))], ["text"]),
        (["full name", "Ada Byron", "Alan Hill"], ["full name"]),
        (["place", "Room 1", "Room 2"], ["place"]),
        (["name mass", "Io 8.9", "Europa 4.8"], ["name", "mass"]),
        (["x   y", "1   2", "13  4"], ["x", "y"]),
    ],
)
def test_blanks_separate_columns_where_there_are_numbers_between_them(lines, names):
    table = csv_table("\n".join(lines))
    assert [column.name for column in table.columns] == names
    assert table.n_rows == len(lines) - 1


def test_unusual_cells():
    tabs = datasets.load(b"x\ttown\n1\tBonn, West\n2\tBonn\n", filename="t.tsv")
    np.testing.assert_array_equal(tabs.X, [[1], [2]])
    long = load_csv("a;note;b\n1;" + "x" * 200_000 + ";2\n3;y;4\n")
    np.testing.assert_array_equal(long.X, [[1, 2], [3, 4]])
    formulas = csv_table("a,b\n1,=cmd|' /C calc'!A0\n2,=1+1\n")
    assert [c.kind for c in formulas.columns] == ["number", "text"]
    # Types are not guessed from the first megabyte.
    late = load_csv("a,b\n" + "1,2\n" * 400_000 + "1.5,2\n")
    assert late.n_points == 400_001
    assert late.X[-1, 0] == 1.5


@pytest.mark.parametrize(
    ("text", "names", "n"),
    [
        ("1,2\n3,4\n", ("x1", "x2"), 2),
        ("1\n2\n3\n", ("x1",), 3),
        ("value\n1\n2\n", ("value",), 2),
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n6.0,2.0,other\n", ("x1", "x2"), 3),
        ("0,1\n0.5,1.5\n2.5,3.5\n", ("0", "1"), 2),  # names as a table without names is saved
        ("0,1\n1,0\n2,5\n", ("x1", "x2"), 3),
        (",a,b\n0,5,6\n1,7,8\n", ("a", "b"), 2),  # with the index
        ("1.5,2\n", ("x1", "x2"), 1),
        ("a,a\n1,2\n", ("a", "a (2)"), 1),
        ("x,y\n1,0\n2,1\n3,1\n", ("x", "y"), 3),  # y is a coordinate here
    ],
)
def test_headers(text, names, n):
    data = load_csv(text)
    assert data.feature_names == names
    assert data.n_points == n


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("a,LABEL\n1,2\n3,4\n", "LABEL"),
        ("a,Class\n1,u\n3,v\n", "Class"),
        ("a,b,y\n1,2,0\n3,4,1\n", "y"),
        ("a,target\n1,0.5\n3,0.25\n", None),  # a measurement
        ("label\n1\n2\n", None),  # nothing else to cluster
        ("a,b\n1,2\n", None),
        ("y,cluster\n1,2\n3,4\n", "cluster"),
        ("a,variety\n1,u\n2,v\n3,u\n4,v\n", "variety"),  # the only text with few values
        ("a,variety,note\n1,u,k\n2,v,l\n3,u,m\n4,v,n\n", "variety"),
        ("a,variety,site\n1,u,k\n2,v,l\n3,u,k\n4,v,l\n", None),  # either might be
        ("a,name\n1,u\n2,v\n3,w\n4,u\n", None),
        ("variety\nu\nv\nu\nv\n", None),  # nothing to cluster
    ],
)
def test_which_label_is_suggested(text, label):
    assert csv_table(text).suggested_label == label


def test_codes_keep_their_zeros_and_are_no_features():
    table = csv_table("zip,month,x\n01234,01,1.5\n90210,12,2.5\n00501,07,0.5\n")
    assert table.suggested_features == ("month", "x")
    assert table.column("zip").recognized == "id"
    assert table.to_arrow()["zip"].to_pylist() == ["01234", "90210", "00501"]
    assert table.to_dataset(["zip"]).X.ravel().tolist() == [1234, 90210, 501]


def test_a_user_interface_can_ask_first():
    table = csv_table("id,when,x,note,label\n7,2020-01-01,1.5,hello,0\n9,2020-01-02,2.5,world,1\n")
    assert table.kind == "table"
    assert table.n_rows == 2
    assert [(c.name, c.kind, c.numeric) for c in table.columns] == [
        ("id", "number", True),
        ("when", "date", False),
        ("x", "number", True),
        ("note", "text", False),
        ("label", "number", True),
    ]
    assert table.suggested_features == ("x",)
    assert table.suggested_label == "label"
    data = table.to_dataset(["x", 0], label="note")
    np.testing.assert_array_equal(data.X, [[1.5, 7], [2.5, 9]])
    assert data.label_names == ("hello", "world")
    assert table.to_dataset("x", label=None).y is None
    assert table.to_dataset(["x", "label"]).y is None  # a feature now
    for key in ("x", 2, "2", ["x"], ["2"], [2]):
        data = table.to_dataset(key)
        np.testing.assert_array_equal(data.X, [[1.5], [2.5]])
        assert (data.feature_names, data.label_names) == (("x",), ("0", "1"))


@pytest.mark.parametrize(
    ("columns", "label", "message"),
    [
        (["z"], "auto", r"columns: there is no column 'z'; the columns are 'id'"),
        ([9], "auto", "there is no column 9"),
        ([-1], "auto", "there is no column -1"),
        (["note"], "auto", "column 'note' holds text"),
        (["when"], "auto", "column 'when' holds dates"),
        ([], "auto", "no column of numbers"),
        (None, "z", "label: there is no column 'z'"),
        (None, "when", "label: column 'when'"),
        (["id"], "id", "label: column 'id' is also one of the features"),
    ],
)
def test_columns_that_cannot_be_chosen(columns, label, message):
    table = csv_table("id,when,note\n7,2020-01-01,hello\n9,2020-01-02,world\n")
    with pytest.raises(ValueError, match=message):
        table.to_dataset(columns, label)


@pytest.mark.parametrize("cell", ["", "NaN", "NA", "null", "?"])
def test_missing_cells_are_named_or_left_out(cell):
    text = f"a,b,label\n1,2,u\n3,{cell},v\n5,6,v\n"
    place = r"row 1 \(line 3 of the file\), column 'b'"
    with pytest.raises(ValueError, match=f"{place} is missing .*--dropna"):
        load_csv(text)
    data = load_csv(text, dropna=True)
    np.testing.assert_array_equal(data.X, [[1, 2], [5, 6]])
    np.testing.assert_array_equal(data.rows, [0, 2])
    np.testing.assert_array_equal(data.y, [0, 1])
    np.testing.assert_array_equal(load_csv(text, columns=["a"]).X, [[1], [3], [5]])
    with pytest.raises(ValueError, match="no row in which"):
        load_csv(f"a,b\n1,{cell}\n{cell},2\n", dropna=True)


def test_a_missing_label_is_a_class_of_its_own():
    data = load_csv("a,label\n1,u\n2,\n3,v\n")
    np.testing.assert_array_equal(data.y, [0, 2, 1])
    assert data.label_names == ("u", "v", "(missing)")
    data = load_csv("a,label\n1,7\n2,\n3,5\n")
    np.testing.assert_array_equal(data.y, [1, 2, 0])
    assert data.label_names == ("5", "7", "(missing)")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_encodings(encoding):
    data = load_csv("größe,label\n1,Zürich\n2,Genève\n".encode(encoding))
    assert data.feature_names == ("größe",)
    assert data.label_names == ("Genève", "Zürich")


# Rows are counted from 0, and lines from 1 unless some are empty or a cell has line breaks.
REFUSED = [
    ("a\n1\n2\n3\n4\n5\n6\n7\n8\n" + "x" * 9999, r"column 'a' is not a number: 'x{80}'; "),
    ("a,b\n1,2\n3,4\n5,l2\n", r"^row 2 \(line 4 of the file\), column 'b' is not a number: 'l2'"),
    ("a,b\ninf,2\n3,4\n", r"^row 0 \(line 2 of the file\), column 'a' is infinite"),
    ("a,b\nNaN,NaN\nNaN,1\n", r"^row 0 \(line 2 of the file\), column 'b' is missing"),
    ("1,2\n3,\n", r"^row 1 \(line 2 of the file\), column 'x2' is missing"),
    ("a,b\r\n1,2\r\n3,\r\n", r"^row 1 \(line 3 of the file\), column 'b' is missing"),
    ("a,b\n1,2\n\n3,\n", "^row 1, column 'b' is missing"),
    ('a,b,c\n1,2,"x\ny"\n3,,z\n', "^row 1, column 'b' is missing"),
    ("a,b\n" + "1,2\n" * 4998 + "3,\n", r"^row 4,998 \(line 5,000 of the file\), column 'b'"),
    ("a,b\n1,2\n\n13,4\n3,4,5\n", "line 5 has 3 columns, and 2 are expected: '3,4,5'"),
    ("a,b\n1,21\n1\n", "cannot be read as a table: line 3 has 1 column, and 2 are expected: '1'"),
    ("a,b\n1,2\n" + "3," * 99, r"line 3 has 100 columns, .*: '(3,){40}\.\.\.'"),
    ("", "empty"),
    (" \n \n", "empty"),
    ("\ufeff", "empty"),
    ("a,b\n", "no rows, only the names of 2 columns"),
    ("value\n", "no rows, only the name of a column"),
    ("hello world\nthis is prose, is it not\n", "no column of numbers|cannot be read"),
    ("a,b\nu,v\n", "no column of numbers"),
    ("a,b\n1,2\n\0\0,3\n", "zero bytes"),
    (b"\xff\xfea\x00,\x00b", "UTF-16"),
    (b"PAR1" + b"x" * 40, "does not hold what its name says: by its content it is a Parquet"),
    (b"%PDF-1.4 ...", "a PDF document"),
    (picture_bytes(NOISY), "a PNG picture"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_bad_csv_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        load_csv(text)


# Parquet


def test_parquet():
    columns = {
        "x": np.array([1.5, 2.5, 3.5], np.float32),
        "n": [1, 2, None],
        "flag": [True, False, True],
        "name": pa.array(["u", "v", "u"]).dictionary_encode(),
        "code": pa.array(["7", None, "8"]).dictionary_encode(),  # a category, not a number
        "list": [[1], [2], [3]],
        "__index_level_0__": [0, 1, 2],
    }
    table = datasets.read(parquet_bytes(columns), filename="t.parquet")
    assert [c.name for c in table.columns] == [*columns]
    assert table.column("list").kind == "other"  # it is not read
    found = table.to_dataset(["x"], categories="auto").description
    assert "'list' (neither numbers nor text)" in found
    assert table.column("code").values.tolist() == ["7", None, "8"]
    assert table.suggested_features == ("x", "n", "flag")
    data = table.to_dataset(["x", "flag"], "name")
    np.testing.assert_array_equal(data.X, [[1.5, 1], [2.5, 0], [3.5, 1]])
    np.testing.assert_array_equal(data.y, [0, 1, 0])
    with pytest.raises(ValueError, match="row 2, column 'n' is missing"):
        table.to_dataset()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PAR1junkjunkPAR1", "cannot be read as Parquet"),
        (parquet_bytes({"x": [1.0]})[:-6], "cannot be read as Parquet"),
        (parquet_bytes({"x": np.zeros(0)}), "no rows"),
        (parquet_bytes({"x": np.zeros(1_000_000)}), "unpacks to 7.6 MiB, the limit is 4.0 MiB"),
        (b"a,b\n1,2\n", "text or something unknown"),
    ],
)
def test_bad_parquet_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        datasets.load(data, filename="t.parquet", max_bytes=2**22)
