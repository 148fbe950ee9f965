"""Saved graphs are read completely and without pickles, and other files are refused."""

import contextlib
import io
import json
import os
import tracemalloc

import numpy as np
import pytest
import scipy.sparse
from files import npy_bytes, npz_bytes
from kdegraph import SimilarityGraph, similarity_graph
from sampled import WAYS, assert_same_graph, cloud, digest

SAVED = {
    "independent": {"sigma": 0.5} | WAYS["independent"],
    "array": {"sigma": np.linspace(0.3, 2.0, 61)},
    "alpha": {"sigma": 0.5, "alpha": 0.7},
    "local and alpha": {"sigma": "local", "alpha": 0.5},
}


@pytest.mark.parametrize("parameters", SAVED.values(), ids=SAVED)
def test_round_trip(parameters, tmp_path):
    X = np.concatenate([cloud(60), [[1e7, 0.0]]])
    graph = similarity_graph(X, seed=2**64 - 1, **parameters)
    assert graph.alpha == parameters.get("alpha", 0.0)
    assert (graph.densities is None) == (graph.alpha == 0)
    for path in (tmp_path / "a.npz", str(tmp_path / "no suffix")):
        graph.save(path)
        assert os.path.exists(path)
        loaded = SimilarityGraph.load(path)
        assert isinstance(loaded.adjacency, scipy.sparse.csr_array)
        assert_same_graph(loaded, graph)
        assert type(loaded.sigma) is type(graph.sigma)
        assert loaded.timings == graph.timings
        assert np.array_equal(loaded.laplacian().toarray(), graph.laplacian().toarray())


def rewritten(path, change):
    """Write the file anew after a `change` of its parameters and its arrays, which NumPy reads
    without pickles.
    """
    with np.load(path) as stored:
        arrays = dict(stored)
    parameters = json.loads(str(arrays.pop("parameters")))
    change(parameters, arrays)
    np.savez_compressed(path, **{"parameters": np.array(json.dumps(parameters))} | arrays)


def test_a_file_without_alpha_is_one_of_an_earlier_version(tmp_path):
    graph = similarity_graph(cloud(20), sigma=1.0, seed=0)
    graph.save(tmp_path / "graph.npz")
    rewritten(tmp_path / "graph.npz", lambda parameters, arrays: parameters.pop("alpha"))
    loaded = SimilarityGraph.load(tmp_path / "graph.npz")
    assert (loaded.alpha, loaded.densities, loaded.sigma) == (0.0, None, 1.0)
    assert digest(loaded) == digest(graph)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "graph.npz"
    similarity_graph(cloud(20), sigma=1.0, seed=0).save(path)
    return path.read_bytes()


PICKLED = np.array([{"sigma": 1}], dtype=object)
FILES = {
    "empty": b"",
    "text": b"x,y\n1,2\n",
    "zip of nothing": b"PK\x05\x06" + bytes(18),
    "pickle": npy_bytes(PICKLED, allow_pickle=True),
    "npy": npy_bytes(np.zeros((3, 3))),
    "other npz": npz_bytes(x=np.zeros(3)),
}


def test_other_files_and_half_a_graph_are_refused(stored, tmp_path):
    path = tmp_path / "other.npz"
    for content in (*FILES.values(), stored[: len(stored) // 2]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"other\.npz.*not a graph"):
            SimilarityGraph.load(path)
    with pytest.raises(FileNotFoundError):
        SimilarityGraph.load(tmp_path / "nothing.npz")


# Changes of the parameters and the arrays of a graph with local bandwidths and an alpha.
CHANGES = [
    (lambda p, a: a.update(parameters=PICKLED), ""),
    (lambda p, a: a.update(parameters=np.array("{sigma")), ""),
    (lambda p, a: a.update(parameters=np.array("[1, 2]")), ""),
    (lambda p, a: p.pop("seed"), "seed"),
    (lambda p, a: p.update({"import os": 1}), "import os"),
    (lambda p, a: p.update(alpha=0.0), "densities belong to an alpha"),
    (lambda p, a: a.update(indices=a["indices"] + 1000), "indices must be from 0 to 19"),
    (lambda p, a: a.update(indices=a["indices"] - 1000), "indices must be from 0 to 19"),
    (lambda p, a: a.update(indptr=a["indptr"][::-1].copy()), "index pointer should start with 0"),
    (lambda p, a: a.update(indptr=np.array(3)), "has shape"),
    (lambda p, a: a.update(data=a["data"].astype(str)), "data has shape .* dtype <U"),
    (lambda p, a: a.update(neighbors=a["neighbors"] + 20), "neighbors are not numbers"),
    (lambda p, a: a.update(neighbors=a["neighbors"][:5]), "neighbors has shape"),
    (lambda p, a: a.update(kernel_degrees=a["kernel_degrees"][:5]), "kernel_degrees has shape"),
    (lambda p, a: a.update(points=a["points"][:5]), "points has shape"),
    (lambda p, a: a.update(sigma=a["sigma"][:5]), "sigma has shape"),
    (lambda p, a: a.update(sigma=a["sigma"][:, None]), "sigma has shape"),
    (lambda p, a: a.update(sigma=np.ones(20, int)), "sigma has shape .* dtype int"),
    (lambda p, a: a.update(sigma=-a["sigma"]), "sigma is not positive"),
    (lambda p, a: a.update(sigma=np.full(20, np.nan)), "sigma is not positive"),
    (lambda p, a: a.pop("sigma"), "sigma"),
    (lambda p, a: a.update(densities=a["densities"][:5]), "densities has shape"),
    (lambda p, a: a.update(densities=0 * a["densities"]), "densities is not positive"),
    (lambda p, a: a.pop("densities"), "densities belong to an alpha"),
]


def test_a_damaged_graph_is_refused(tmp_path):
    path = tmp_path / "damaged.npz"
    graph = similarity_graph(cloud(20), sigma="local", alpha=0.5, seed=0)
    for change, message in CHANGES:
        graph.save(path)
        rewritten(path, change)
        with pytest.raises(ValueError, match=rf"damaged\.npz.*not a graph .*{message}"):
            SimilarityGraph.load(path)


def test_damaged_bytes_never_pass_unnoticed(stored, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "damaged.npz"
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


def test_an_archive_that_unpacks_to_far_more_is_refused_before_it_is_read(stored, tmp_path):
    """Zeros compress a thousandfold: 64 MiB stand for the gigabytes of a real attack."""
    path = tmp_path / "bomb.npz"
    with np.load(io.BytesIO(stored)) as arrays:
        arrays = dict(arrays)
    zeros, text = np.zeros(2**23), np.array("x" * 2**24)
    for name, array in {"junk": zeros, "data": zeros, "parameters": text}.items():
        path.write_bytes(npz_bytes(**(arrays | {name: array})))
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
    monkeypatch.setattr("kdegraph.runtime.memory.ALWAYS_AVAILABLE", 0)
    monkeypatch.setattr("kdegraph.runtime.memory.available_memory", lambda: 1000)
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
