"""Points and parameters that are rare, extreme or wrong, as strategies of hypothesis."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse
from hypothesis import strategies as st

KERNELS = ("gaussian", "laplacian", "exponential", "matern-3/2", "matern-5/2")
SPARSE = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")


class Given(NamedTuple):
    """Points as a call gets them, and the numbers that they stand for."""

    argument: object
    values: np.ndarray


def strided(X):
    wide = np.full((2 * len(X), 3 * X.shape[1]), np.nan)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def columns(X):
    return {f"x{i}": column for i, column in enumerate(X.T)}


CONTAINERS = {
    "array": lambda X: X,
    "list": lambda X: X.tolist(),
    "tuple": lambda X: tuple(map(tuple, X.tolist())),
    "Fortran order": np.asfortranarray,
    "strided": strided,
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "big-endian": lambda X: X.astype(">f8"),
    "object": lambda X: X.astype(object),
    "longdouble": lambda X: X.astype(np.longdouble),
    "masked": lambda X: np.ma.array(X, mask=False),
    "pandas": lambda X: pd.DataFrame(columns(X)),
    "pandas, nullable": lambda X: pd.DataFrame(columns(X)).astype("Float64"),
    "Arrow": lambda X: pa.table(columns(X)),
}
try:
    import polars

    CONTAINERS["polars"] = lambda X: polars.DataFrame(columns(X))
except ImportError:
    pass
containers = st.sampled_from(sorted(CONTAINERS))


@st.composite
def tables(draw, n=(1, 40), d=(1, 4), scales=(-300, 300)):
    """Return finite points: scattered, on a grid, in tight groups or nearly all the same, at any
    scale, perhaps far from the origin, and perhaps with constant columns.
    """
    shape = draw(st.integers(*n)), draw(st.integers(*d))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["normal", "grid", "groups", "same", "tails", "line"]))
    X = {
        "normal": lambda: rng.normal(size=shape),
        "grid": lambda: rng.integers(-2, 3, shape).astype(float),
        "groups": lambda: rng.integers(0, 3, shape) + 1e-9 * rng.normal(size=shape),
        "same": lambda: np.where(rng.random(shape) < 0.05, 1.0, 0.0),
        "tails": lambda: rng.normal(size=shape) * 10.0 ** rng.integers(-30, 30, shape),
        "line": lambda: rng.normal(size=(shape[0], 1)) * np.ones(shape),
    }[kind]()
    if draw(st.booleans()):
        X[:, draw(st.integers(0, shape[1] - 1))] = draw(st.sampled_from([0.0, -0.0, 1.0, 1e300]))
    if draw(st.booleans()):
        X = X + 10.0 ** draw(st.integers(0, 12))
    exponent = draw(st.one_of(st.just(0), st.integers(*scales)))
    with np.errstate(over="ignore", under="ignore"):
        X = X * 10.0**exponent
    return np.clip(X, -8e307, 8e307)  # no difference overflows


@st.composite
def given_points(draw, **options):
    """Return points in any container that holds them."""
    X = draw(tables(**options))
    return Given(CONTAINERS[draw(containers)](X), X)


def put(X, value):
    X = X.astype(object)
    X.flat[X.size // 2] = value
    return X


def damaged_sparse(X):
    matrix = scipy.sparse.csr_array(np.eye(14))
    matrix.indices = matrix.indices + 3
    return matrix


# What is no table of finite numbers.
SPOILED = {
    "nan": lambda X: np.where(np.arange(X.size).reshape(X.shape) == X.size // 2, np.nan, X),
    "infinity": lambda X: put(X, -np.inf).astype(float),
    "masked": lambda X: np.ma.array(X, mask=np.arange(X.size).reshape(X.shape) == 0),
    "None": lambda X: put(X, None),
    "text": lambda X: put(X, "many"),
    "huge integer": lambda X: put(X, 10**400),
    "list within": lambda X: put(X, [1.0]),
    "complex": lambda X: X + 0j,
    "dates": lambda X: X.astype("M8[s]") if np.abs(X).max() < 1e6 else X.astype(str),
    "bytes": lambda X: np.full(X.shape, b"1"),
    "records": lambda X: np.zeros(X.shape, [("a", float)]),
    "vector": lambda X: X[:, 0],
    "scalar": lambda X: X[0, 0],
    "cube": lambda X: X[None],
    "no rows": lambda X: X[:0],
    "no columns": lambda X: X[:, :0],
    "ragged": lambda X: [[1.0, 2.0], [1.0]],
    "text alone": lambda X: "points.csv",
    "nothing": lambda X: None,
    "set": lambda X: {1.0, 2.0},
    "generator": lambda X: (row for row in X),
    "pandas with a hole": lambda X: pd.DataFrame(columns(X)).astype("Float64").mask(X[0, 0] == X),
    "categories": lambda X: pd.DataFrame({"a": pd.Categorical(["u"] * len(X))}),
    "damaged sparse": damaged_sparse,
    "sparse vector": lambda X: scipy.sparse.coo_array(X[:, 0]),
}
spoiled = st.builds(
    lambda X, kind: (kind, SPOILED[kind](X)), tables(), st.sampled_from(sorted(SPOILED))
)

# Values for any parameter, most of them wrong for most of them.
values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 60),
    st.sampled_from([-(2**70), -(2**31), 2**62, 2**63 - 1, 2**63, 2**64, 2**70, 10**400]),
    st.floats(),
    st.floats(0, 2),
    st.complex_numbers(),
    st.fractions(0, 1),
    st.decimals(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.sampled_from(["auto", "local", "moderate", "near", "mixture", "recursive", "direct", "fgt"]),
    st.sampled_from([np.float32(0.5), np.int8(3), np.array(0.5), np.array([0.5]), np.array([])]),
    st.sampled_from([np.bool_(True), np.array("a"), np.datetime64("2020"), np.ma.masked]),
    st.lists(st.floats(), max_size=4),
    st.builds(object),
    st.just({}),
    st.just(len),
)
