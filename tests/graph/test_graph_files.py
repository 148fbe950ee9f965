"""Saved graphs: all comes back, nothing is unpickled, and what is no graph is refused."""

import contextlib
import io
import json
import os
import tracemalloc
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


LOCAL = {
    "array": {"sigma": np.linspace(0.3, 2.0, 60)},
    "local": {"sigma": "local"},
    "alpha": {"sigma": 0.5, "alpha": 0.7},
    "local and alpha": {"sigma": "local", "alpha": 0.5},
}


@pytest.mark.parametrize("parameters", LOCAL.values(), ids=LOCAL)
def test_round_trip_of_local_bandwidths_and_densities(parameters, tmp_path):
    graph = similarity_graph(cloud(60), seed=3, **parameters)
    graph.save(tmp_path / "graph.npz")
    loaded = SimilarityGraph.load(tmp_path / "graph.npz")
    assert digest(loaded) == digest(graph)
    assert type(loaded.sigma) is type(graph.sigma)
    np.testing.assert_array_equal(loaded.sigma, graph.sigma)
    assert loaded.alpha == parameters.get("alpha", 0.0)
    if "alpha" in parameters:
        np.testing.assert_array_equal(loaded.densities, graph.densities)
    else:
        assert loaded.densities is None


def rewritten(path, change):
    """The file after `change` of its parameters and its arrays."""
    with np.load(path) as stored:
        arrays = dict(stored)
    parameters = json.loads(str(arrays["parameters"]))
    change(parameters, arrays)
    arrays["parameters"] = np.array(json.dumps(parameters))
    np.savez_compressed(path, **arrays)


def test_a_file_without_alpha_is_one_of_an_earlier_version(tmp_path):
    graph = similarity_graph(cloud(20), sigma=1.0, seed=0)
    graph.save(tmp_path / "graph.npz")
    rewritten(tmp_path / "graph.npz", lambda parameters, arrays: parameters.pop("alpha"))
    loaded = SimilarityGraph.load(tmp_path / "graph.npz")
    assert (loaded.alpha, loaded.densities, loaded.sigma) == (0.0, None, 1.0)
    assert digest(loaded) == digest(graph)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p, a: a.update(sigma=a["sigma"][:5]), "sigma has shape"),
        (lambda p, a: a.update(sigma=a["sigma"][:, None]), "sigma has shape"),
        (lambda p, a: a.update(sigma=np.ones(20, int)), "sigma has shape .* dtype int"),
        (lambda p, a: a.update(sigma=-a["sigma"]), "sigma is not positive"),
        (lambda p, a: a.update(sigma=np.full(20, np.nan)), "sigma is not positive"),
        (lambda p, a: a.pop("sigma"), "sigma"),
        (lambda p, a: a.update(densities=a["densities"][:5]), "densities has shape"),
        (lambda p, a: a.update(densities=0 * a["densities"]), "densities is not positive"),
        (lambda p, a: a.pop("densities"), "densities belong to an alpha"),
        (lambda p, a: p.update(alpha=0.0), "densities belong to an alpha"),
    ],
)
def test_local_bandwidths_and_densities_that_do_not_fit_are_refused(change, message, tmp_path):
    path = tmp_path / "graph.npz"
    similarity_graph(cloud(20), sigma="local", alpha=0.5, seed=0).save(path)
    rewritten(path, change)
    with pytest.raises(ValueError, match=f"not a graph .*{message}"):
        SimilarityGraph.load(path)


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
    if kind == "neighbors out of range":
        arrays["neighbors"] = arrays["neighbors"] + 20
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
        "neighbors out of range",
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


def test_an_archive_that_unpacks_to_far_more_is_refused_before_it_is_read(stored, tmp_path):
    """Zeros compress a thousandfold: 64 MiB stand for the gigabytes of a real attack."""
    path = tmp_path / "bomb.npz"
    with np.load(io.BytesIO(stored)) as arrays:
        arrays = dict(arrays)
    for name, array in {
        "junk": np.zeros(2**23),
        "data": np.zeros(2**23),
        "parameters": np.array("x" * 2**24),
    }.items():
        np.savez_compressed(path, **(arrays | {name: array}))
        tracemalloc.start()
        with contextlib.suppress(ValueError):
            SimilarityGraph.load(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2**22, name


def test_a_graph_that_does_not_fit_into_memory_is_refused_with_the_figure(
    stored, tmp_path, monkeypatch
):
    path = tmp_path / "graph.npz"
    path.write_bytes(stored)
    monkeypatch.setattr("kdegraph.graph_files.available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"needs .* KiB, and 1000 bytes are available"):
        SimilarityGraph.load(path)


def test_an_array_of_another_byte_order_is_read(stored, tmp_path):
    path = tmp_path / "graph.npz"
    path.write_bytes(stored)
    expected = SimilarityGraph.load(path)
    rewritten(path, lambda p, a: a.update({"data": a["data"].astype(">f8")}))
    loaded = SimilarityGraph.load(path)
    assert loaded.adjacency.dtype == np.float64
    assert loaded.adjacency.dtype.isnative
    assert digest(loaded) == digest(expected)
