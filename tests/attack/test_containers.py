"""Attack all functions with containers of all kinds, and matrices that are not what they say."""

import dask.array as da
import kdegraph
import numpy as np
import oracle
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
from attack import test_graphs, test_points
from attack.contract import REFUSED, attempt, unchanged
from attack.points import tables
from hypothesis import given, settings
from hypothesis import strategies as st

WORDS = ("X", "sources", "sigma", "points", "n_clusters", "sample", "perplexity")
FEWER = settings(max_examples=max(1, settings.default.max_examples // 5))


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def frame(X):
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])


CONTAINERS = {
    "list": np.ndarray.tolist,
    "objects": lambda X: X.astype(object),
    "long double": lambda X: X.astype(np.longdouble),
    "big-endian": lambda X: X.astype(">f8"),
    "Fortran order": np.asfortranarray,
    "read-only": read_only,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "unaligned": lambda X: np.frombuffer(b"\0" + X.tobytes(), offset=1).reshape(X.shape),
    "unmasked": lambda X: np.ma.array(X, mask=False),
    "pandas": frame,
    "pandas, nullable": lambda X: frame(X).convert_dtypes(),
    "Arrow": lambda X: pa.table(frame(X)),
    "Dask": lambda X: da.from_array(X, chunks=(max(1, len(X) // 2), X.shape[1])),
}
try:
    import polars

    CONTAINERS["polars"] = lambda X: polars.DataFrame(frame(X).to_dict("list"))
except ImportError:
    pass


def numbers(found):
    """Return a result as an array, also that of a graph by tiles."""
    if isinstance(found, kdegraph.TiledGraph):
        found = found.compute().adjacency
    return oracle.dense(getattr(found, "adjacency", found))


@pytest.mark.parametrize("name", test_points.FUNCTIONS)
def test_any_container_has_the_result_of_its_numbers(name):
    function = getattr(kdegraph, name)
    call = test_points.FUNCTIONS[name]
    if name == "similarity_graph":
        call = lambda X: function(X, seed=0)  # noqa: E731

    # Without a bandwidth, several graphs of an array vote, but a Dask array has one graph.
    of_tiles = call
    if name == "KDESpectralClustering":
        of_tiles = test_points.fitted(function, "fit_predict", n_rounds=5, sigma="moderate")

    @FEWER
    @given(X=tables(n=(2, 30), scales=(-100, 100)), container=st.sampled_from(sorted(CONTAINERS)))
    def check(X, container):
        points, compute = CONTAINERS[container](X), of_tiles if container == "Dask" else call
        expected = attempt(lambda: compute(X), *WORDS)
        with unchanged(points):
            found = attempt(lambda: compute(points), *WORDS)
        assert (found is REFUSED) == (expected is REFUSED)
        if found is not REFUSED:
            np.testing.assert_array_equal(numbers(found), numbers(expected))

    check()


PARTS = {
    **dict.fromkeys(("csr", "csc", "bsr"), ("data", "indices", "indptr")),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
    "lil": ("data", "rows"),
}
WRONG = st.sampled_from([-1, 0, 1, 7, 8, 9, 2**31 - 1, -(2**31), 50_000_000])
TYPES = st.sampled_from(["f4", "i1", "u8", "O"])
CHANGES = {
    "cut": lambda part, draw: part[: draw(st.integers(0, len(part)))],
    "repeat": lambda part, draw: np.concatenate([part, part]),
    "reverse": lambda part, draw: part[::-1],
    "sort": lambda part, draw: np.sort(part, axis=0),
    "wrong": lambda part, draw: put(part, draw(st.integers(0, len(part) - 1)), draw(WRONG)),
    "type": lambda part, draw: part.astype(draw(TYPES) if part.dtype != object else object),
    "shape": lambda part, draw: part[..., None],
}


def put(part, place, value):
    part = part.copy()
    if isinstance(part[place], list):  # of LIL
        part[place] = [value] * len(part[place])
    else:
        value = abs(value) if part.dtype.kind == "u" else value
        part[place] = np.array(value).astype(part.dtype)  # 2**31 - 1 is -1 among 8-bit numbers
    return part


@st.composite
def liars(draw):
    """Return a sparse matrix of 8 vertices or points, whose arrays have been exchanged."""
    A = test_graphs.RING[:8, :8] * 0.5
    matrix = scipy.sparse.csr_array(A).asformat(draw(st.sampled_from(sorted(PARTS))))
    for _ in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from(PARTS[matrix.format]))
        part = getattr(matrix, name)
        change = CHANGES[draw(st.sampled_from(sorted(CHANGES)))]
        if len(part):
            setattr(matrix, name, change(part, draw))
    return matrix


USES = {
    **{name: ("adjacency", options) for name, options in test_graphs.FUNCTIONS.items()},
    "full_graph": ("X", {"sigma": 1.0}),
    "knn_graph": ("X", {"n_neighbors": 2}),
    "similarity_graph": ("X", {"sigma": 1.0, "seed": 0}),
    "local_bandwidths": ("X", {}),
    "estimate_sigma": ("X", {}),
}


@pytest.mark.parametrize("name", USES)
def test_a_sparse_matrix_that_is_not_what_it_says_is_used_or_refused(name):
    argument, options = USES[name]
    if "labels" in options:
        options = {"labels": np.arange(8) % 2}

    @given(matrix=liars())
    def check(matrix):
        attempt(lambda: getattr(kdegraph, name)(matrix, **options), argument, "n_clusters")

    check()
