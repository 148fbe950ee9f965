"""Saved graphs: all comes back, nothing is unpickled, and what is no graph is refused."""

import io
import json
import os
import zipfile

import numpy as np
import pytest
import scipy.sparse
from kdegraph import SimilarityGraph, similarity_graph
from sampled import WAYS, cloud, digest, ways


@ways
def test_round_trip(name, tmp_path):
    graph = similarity_graph(
        np.concatenate([cloud(60), [[1e7, 0.0]]]), sigma=0.5, seed=2**64 - 1, **WAYS[name]
    )
    for path in (tmp_path / "a.npz", str(tmp_path / "no suffix")):
        graph.save(path)
        assert os.path.exists(path)
        loaded = SimilarityGraph.load(path)
        assert isinstance(loaded.adjacency, scipy.sparse.csr_array)
        assert digest(loaded) == digest(graph)
        assert loaded.neighbors.dtype == np.int32
        assert np.array_equal(loaded.points, graph.points)
        assert np.array_equal(loaded.kernel_degrees, graph.kernel_degrees)
        for attribute in (
            "sigma",
            "kernel",
            "n_rounds",
            "seed",
            "sampler",
            "draws",
            "weighting",
            "eps",
            "timings",
            "n_edges",
        ):
            assert getattr(loaded, attribute) == getattr(graph, attribute), attribute
        assert np.array_equal(loaded.laplacian().toarray(), graph.laplacian().toarray())


def test_file_holds_no_pickle(tmp_path):
    similarity_graph(cloud(20), sigma=1.0, seed=0).save(tmp_path / "graph.npz")
    with zipfile.ZipFile(tmp_path / "graph.npz") as archive:
        for member in archive.namelist():
            assert b"'|O'" not in archive.read(member)[:200]


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "graph.npz"
    similarity_graph(cloud(20), sigma=1.0, seed=0).save(path)
    return path.read_bytes()


def garbage(kind, stored):
    with np.load(io.BytesIO(stored)) as arrays:
        arrays = dict(arrays)
    buffer = io.BytesIO()
    if kind == "empty":
        return b""
    if kind == "text":
        return b"x,y\n1,2\n"
    if kind == "zip of nothing":
        zipfile.ZipFile(buffer, "w").close()
        return buffer.getvalue()
    if kind == "truncated":
        return stored[: len(stored) // 2]
    if kind == "pickle":
        np.save(buffer, np.array([{"a": 1}], dtype=object), allow_pickle=True)
        return buffer.getvalue()
    if kind == "npy":
        np.save(buffer, np.zeros((3, 3)))
        return buffer.getvalue()
    if kind == "other npz":
        np.savez(buffer, x=np.zeros(3))
        return buffer.getvalue()
    if kind == "pickled parameters":
        arrays["parameters"] = np.array([{"sigma": 1}], dtype=object)
    if kind == "parameters no json":
        arrays["parameters"] = np.array("{sigma")
    if kind == "parameters a list":
        arrays["parameters"] = np.array("[1, 2]")
    if kind == "missing parameter":
        parameters = json.loads(str(arrays["parameters"]))
        del parameters["sigma"]
        arrays["parameters"] = np.array(json.dumps(parameters))
    if kind == "unknown parameter":
        arrays["parameters"] = np.array(
            json.dumps(json.loads(str(arrays["parameters"])) | {"import os": 1})
        )
    if kind == "indices out of range":
        arrays["indices"] = arrays["indices"] + 1000
    if kind == "negative indices":
        arrays["indices"] = arrays["indices"] - 1000
    if kind == "indptr decreasing":
        arrays["indptr"] = arrays["indptr"][::-1].copy()
    if kind == "indptr scalar":
        arrays["indptr"] = np.array(3)
    if kind == "text data":
        arrays["data"] = arrays["data"].astype(str)
    if kind == "too few neighbors":
        arrays["neighbors"] = arrays["neighbors"][:5]
    if kind == "too few degrees":
        arrays["kernel_degrees"] = arrays["kernel_degrees"][:5]
    if kind == "too few points":
        arrays["points"] = arrays["points"][:5]
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "kind",
    [
        "empty",
        "text",
        "zip of nothing",
        "truncated",
        "pickle",
        "npy",
        "other npz",
        "pickled parameters",
        "parameters no json",
        "parameters a list",
        "missing parameter",
        "unknown parameter",
        "indices out of range",
        "negative indices",
        "indptr decreasing",
        "indptr scalar",
        "text data",
        "too few neighbors",
        "too few degrees",
        "too few points",
    ],
)
def test_files_that_are_no_graphs(kind, stored, tmp_path):
    path = tmp_path / "garbage.npz"
    path.write_bytes(garbage(kind, stored))
    with pytest.raises(ValueError, match=r"garbage\.npz.*not a graph"):
        SimilarityGraph.load(path)


def test_damaged_bytes_never_pass_unnoticed(stored, tmp_path):
    rng = np.random.default_rng(0)
    path, expected = tmp_path / "damaged.npz", None
    path.write_bytes(stored)
    expected = digest(SimilarityGraph.load(path))
    for _ in range(150):
        data = bytearray(stored)
        data[rng.integers(len(data))] ^= int(rng.integers(1, 256))
        path.write_bytes(data)
        try:
            loaded = SimilarityGraph.load(path)
        except ValueError as error:
            assert "not a graph" in str(error)  # noqa: PT017
        else:
            assert digest(loaded) == expected


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        SimilarityGraph.load(tmp_path / "nothing.npz")
