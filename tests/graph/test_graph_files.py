"""Saved graphs: they are read as they were, nothing is unpickled, and other files are refused."""

import contextlib
import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest
import scipy.sparse
from files import npy_bytes, npz_bytes
from kdegraph import SimilarityGraph, similarity_graph
from sampled import WAYS, assert_same_graph, cloud, digest

PARAMETERS = {
    **WAYS,
    "array": {"sigma": np.linspace(0.3, 2.0, 61)},
    "local": {"sigma": "local"},
    "alpha": {"sigma": 0.5, "alpha": 0.7},
    "local and alpha": {"sigma": "local", "alpha": 0.5},
}


@pytest.mark.parametrize("parameters", PARAMETERS.values(), ids=PARAMETERS)
def test_round_trip(parameters, tmp_path):
    X = np.concatenate([cloud(60), [[1e7, 0.0]]])
    graph = similarity_graph(X, **({"sigma": 0.5, "seed": 2**64 - 1} | parameters))
    for path in (tmp_path / "a.npz", str(tmp_path / "no suffix")):
        graph.save(path)
        loaded = SimilarityGraph.load(path)
        assert isinstance(loaded.adjacency, scipy.sparse.csr_array)
        assert_same_graph(loaded, graph)
        assert loaded.timings == graph.timings
        assert type(loaded.sigma) is type(graph.sigma)
        assert np.array_equal(loaded.laplacian().toarray(), graph.laplacian().toarray())


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


BAD_BANDWIDTHS_AND_DENSITIES = [
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
]


def test_local_bandwidths_and_densities_that_do_not_fit_are_refused(tmp_path):
    path = tmp_path / "graph.npz"
    for change, message in BAD_BANDWIDTHS_AND_DENSITIES:
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


def other_files(stored):
    """Return the contents of files that hold something else than a graph."""
    yield from (b"", b"x,y\n1,2\n", stored[: len(stored) // 2])
    yield npz_bytes()
    yield npz_bytes(x=np.zeros(3))
    yield npy_bytes(np.zeros((3, 3)))
    yield npy_bytes(np.array([{"a": 1}], dtype=object), allow_pickle=True)


BAD_ARRAYS = [
    lambda a: a.update(parameters=np.array([{"sigma": 1}], dtype=object)),
    lambda a: a.update(parameters=np.array("{sigma")),
    lambda a: a.update(parameters=np.array("[1, 2]")),
    lambda a: a.update(parameters=np.array(str(a["parameters"]).replace('"sigma"', '"other"'))),
    lambda a: a.update(parameters=np.array(str(a["parameters"]).replace("{", '{"os": 1, ', 1))),
    lambda a: a.update(indices=a["indices"] + 1000),
    lambda a: a.update(indices=a["indices"] - 1000),
    lambda a: a.update(indptr=a["indptr"][::-1].copy()),
    lambda a: a.update(indptr=np.array(3)),
    lambda a: a.update(data=a["data"].astype(str)),
    lambda a: a.update(neighbors=a["neighbors"] + 20),
    lambda a: a.update(neighbors=a["neighbors"][:5]),
    lambda a: a.update(kernel_degrees=a["kernel_degrees"][:5]),
    lambda a: a.update(points=a["points"][:5]),
]


def changed(stored, change):
    with np.load(io.BytesIO(stored)) as arrays:
        arrays = dict(arrays)
    change(arrays)
    return npz_bytes(**arrays)


def test_files_that_are_no_graphs(stored, tmp_path):
    path = tmp_path / "garbage.npz"
    for content in (*other_files(stored), *(changed(stored, change) for change in BAD_ARRAYS)):
        path.write_bytes(content)
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
