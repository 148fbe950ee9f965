"""The kernels: values, underflow, exp."""

import math
from fractions import Fraction

import numpy as np
import oracle
import pytest
from kdegraph.cli import _options
from kdegraph.geometry.kernel_functions import KERNELS, UNDERFLOW, exp_neg, rough_exp_neg
from kdegraph.geometry.kernels import exponent, row_exponents
from kdegraph.kde import Kernel

pytestmark = pytest.mark.nojit

NAMES = oracle.KERNELS


def test_exp_is_right_to_the_last_place():
    places = [0.0, 1e-300, 1e-17, 0.5 * math.log(2), 707.999999]
    t = np.concatenate([places, np.linspace(0, 708, 3001)[:-1], np.geomspace(1e-12, 700, 500)])
    exact = np.exp(-t.astype(np.longdouble))
    got = np.array([exp_neg(x) for x in t])
    assert np.abs(got / exact - 1).max() < 3e-16
    values = [exp_neg(x) for x in np.linspace(0.34, 0.36, 2001)]
    assert (np.diff(values) <= 1e-16).all()


def test_exp_is_zero_from_underflow_on():
    for t in (UNDERFLOW, np.nextafter(UNDERFLOW, np.inf), 745.0, 746.0, 1e4, 1e18, 1e300, np.inf):
        assert exp_neg(float(t)) == 0.0
    assert exp_neg(np.nextafter(UNDERFLOW, 0.0)) >= np.finfo(float).tiny


def test_the_rough_exp_is_never_too_small_and_hardly_too_large():
    t = np.concatenate([[0.0, 1e-17, np.nextafter(UNDERFLOW, 0.0)], np.linspace(0, 707.9, 20_000)])
    ratios = np.array([rough_exp_neg(x) for x in t]) / np.exp(-t)
    assert ratios.min() > 1 - 1e-12
    assert ratios.max() < 1.0625


def test_every_kernel_is_proven_and_offered_by_the_command_line():
    assert tuple(KERNELS) == NAMES == _options.KERNELS


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("d", [1, 2, 7])
def test_pairwise_values(name, d):
    rng = np.random.default_rng(d)
    X, Y = rng.normal(size=(40, d)), rng.normal(size=(30, d)) * 5
    for sigma in (0.02, 0.7, 1e4):
        exact = oracle.kernel_matrix(Y, X, name, sigma)
        got = Kernel(name, sigma).pairwise(Y, X)
        assert got.shape == (30, 40)
        np.testing.assert_allclose(got, exact.astype(float), rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", NAMES)
def test_compiled_exponents_agree(name):
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(33, 4)), rng.normal(size=(5, 4))
    kernel = Kernel(name, 0.3)
    exact = oracle.exponents(Y, X, name, 0.3).astype(float)
    columns, out = np.ascontiguousarray(X.T), np.empty(20)
    for i in range(5):
        row_exponents(
            kernel.code, kernel.inverse_sigma, Y[i], kernel.local, i, columns, kernel.local,
            10, 30, out,
        )  # fmt: skip
        np.testing.assert_allclose(out, exact[i, 10:30], rtol=1e-14)
        one_by_one = [exponent(kernel.code, kernel.inverse_sigma, Y, i, X, j) for j in range(33)]
        np.testing.assert_allclose(one_by_one, exact[i], rtol=1e-14)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("sigma", "apart"), [(5e-324, 0.0), (1e-300, 0.0), (1e300, 1.0), (1.7e308, 1.0)]
)
def test_extreme_bandwidths(name, sigma, apart):
    X = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 2.0]])
    kernel = Kernel(name, sigma)
    assert math.isfinite(kernel.inverse_sigma)
    assert kernel.inverse_sigma > 0
    assert kernel.pairwise(X, X).tolist() == [[1, apart, apart], [apart, 1, 1], [apart, 1, 1]]


def test_bad_arguments_are_refused():
    for name in ("gauss", "", "Gaussian"):
        with pytest.raises(ValueError, match=r"kernel.*gaussian"):
            Kernel(name, 1.0)
    for sigma in (0, -1.0, math.nan, math.inf, -math.inf, 10**400, Fraction(1, 10**400)):
        with pytest.raises(ValueError, match="sigma must be positive"):
            Kernel("gaussian", sigma)
    for sigma in ("1", None, True, [1.0], 1j):
        with pytest.raises(TypeError, match="sigma must be a positive number"):
            Kernel("gaussian", sigma)
