"""Points and parameters that are rare, extreme or wrong, as strategies of hypothesis."""

import numpy as np
from hypothesis import strategies as st

KERNELS = ("gaussian", "laplacian", "exponential", "matern-3/2", "matern-5/2")
SPARSE = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")


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
