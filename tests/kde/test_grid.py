"""Grids of boxes: the bounds on which their guarantee rests, and grids along principal axes."""

import numpy as np
import oracle
import pytest
from kdegraph.costs import GRID_COSTS
from kdegraph.kde import Kernel
from kdegraph.kde.grid import chebyshev
from kdegraph.kde.grid.plan import choose_grid
from kdegraph.kde.grid.transform import grid_sums
from numpy.polynomial.chebyshev import chebgrid2d

# Of the angles on which the bounds are computed, only the ends.
FINE = np.cos(np.linspace(0, np.pi, 351))


def gaussian(width, apart):
    """Its values between two boxes, at all pairs of places of `FINE`."""
    return np.exp(-((apart * width + (FINE - FINE[:, None]) * (width / 2)) ** 2))


@pytest.mark.parametrize("width", chebyshev.BOX_WIDTHS)
def test_no_error_exceeds_its_bound(width):
    table = chebyshev.translations(width, 4)
    for apart in (0, 1, -4):
        exact = gaussian(width, apart)
        for order in (1, 2, 5, 13, 18):
            kept = chebgrid2d(FINE, FINE, table.matrices[apart + 4, :order, :order])
            error, bound = np.abs(kept - exact).max(), table.errors(order)[apart + 4]
            assert error <= bound
            assert bound <= 1.5 * error + 2e-13


@pytest.mark.parametrize("width", chebyshev.BOX_WIDTHS)
def test_majorants_lie_above_the_gaussian(width):
    table = chebyshev.translations(width, 6)
    for apart in (0, 1, -3, 6):
        above = chebgrid2d(FINE, FINE, table.majorants[apart + 6])
        exact = gaussian(width, apart)
        assert (above >= exact).all()
        # They touch somewhere, but for the allowance for places between those that were compared.
        assert (above - exact).min() <= (width / 64) ** 2


@pytest.mark.parametrize(("d", "far"), [(3, 0.0), (3, 1e3), (5, 0.0)])
def test_a_thin_cloud_across_the_axes_gets_a_grid_along_it(d, far):
    rng = np.random.default_rng(d)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    X = (rng.normal(size=(20_000, d)) * np.array([3.0, *[0.2 / d] * (d - 1)])) @ turn + far
    kernel, bounds = Kernel("gaussian", 0.3), (X.min(axis=0), X.max(axis=0))
    plain, turned = (
        choose_grid(kernel, X, bounds, len(X), 1e-3, turn=turn) for turn in (False, True)
    )
    assert plain is None or (
        plain.axes is None and turned.cost < plain.cost and plain.cost > GRID_COSTS.least_for_axes
    )
    np.testing.assert_allclose(turned.axes.T @ turned.axes, np.eye(d), atol=1e-12)
    got, left = grid_sums(turned, X, None, np.ones(len(X)), 1e-3)
    assert left.size < 20
    pick = np.setdiff1d(np.arange(0, len(X), 100), left)
    exact, mass = oracle.sums_and_masses(X, X[pick], "gaussian", 0.3, np.ones(len(X)))
    assert (np.abs(got[pick] - exact) <= 1e-3 * mass).all()


def test_axes_are_not_turned_for_errors_near_rounding():
    rng = np.random.default_rng(0)
    thin = rng.normal(size=(20_000, 3)) * [3.0, 0.1, 0.1]
    X = thin @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    bounds = X.min(axis=0), X.max(axis=0)
    grid = choose_grid(Kernel("gaussian", 0.3), X, bounds, len(X), 1e-11, turn=True)
    assert grid is None or grid.axes is None
