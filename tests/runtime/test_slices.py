"""Large contents are gone through in parts, so that other threads run in between."""

import numpy as np
import pytest
from kdegraph import datasets
from kdegraph.runtime import slices

ROWS = b"x,y,label\n" + b"".join(b"%d,%d,k%d\n" % (i, i * i % 7, i % 3) for i in range(200))


@pytest.fixture(autouse=True)
def part(monkeypatch):
    """The size of the parts, which is small here."""
    monkeypatch.setattr(slices, "SLICE", 64)
    return 64


def test_parts_give_what_the_whole_gives():
    objects = np.array(["a", "b", None], dtype=object)
    for size in (0, 1, 63, 64, 65, 128, 1000):
        indices = np.random.default_rng(size).integers(0, 3, size)
        assert slices.take(objects, indices).tolist() == objects[indices].tolist()
        for found in (b"a", b"PK\x01\x02"):
            signs = [found, found[:1], b"-"]
            data = b"".join(signs[i] for i in indices)
            for start, stop in ((0, len(data)), (len(data) // 3, len(data) // 2), (5, 5)):
                count = slices.count(data, found, start, stop)
                assert count == data.count(found, start, stop)


def test_files_are_read_as_before(tmp_path):
    """Every kind of file is longer than many parts."""
    X = np.random.default_rng(0).normal(size=(100, 3))
    y = np.array(["u", "v"])[np.arange(100) % 2]
    for name, save in (
        ("x.npy", lambda path: np.save(path, X)),
        ("f.npy", lambda path: np.save(path, np.asfortranarray(X))),
        ("x.npz", lambda path: np.savez(path, X=X, label=y)),
        ("c.npz", lambda path: np.savez_compressed(path, X=X, label=y)),
    ):
        save(tmp_path / name)
        found = datasets.load(tmp_path / name)
        np.testing.assert_array_equal(found.X, X)
        if name.endswith("npz"):
            assert found.label_names == ("u", "v")
            assert found.y.tolist() == [0, 1] * 50
    table = datasets.read(b"\xef\xbb\xbf" + ROWS, filename="t.csv")
    assert [column.name for column in table.columns] == ["x", "y", "label"]
    label = table.column("label")
    assert label.values.tolist() == [f"k{i % 3}" for i in range(200)]
    names, codes = label.classes()
    assert (names, codes.tolist()) == (("k0", "k1", "k2"), [i % 3 for i in range(200)])
    assert table.suggested_label == "label"


def test_blank_contents_are_empty_and_others_are_not(part):
    with pytest.raises(ValueError, match=r"t\.csv is empty"):
        datasets.read(b" \n" * part, filename="t.csv")
    table = datasets.read(b"\n" * (2 * part) + b"a,b\n1,2\n", filename="t.csv")
    assert len(table.columns) == 2
