"""How visible missed eigenvectors are in random probes."""

import math

import numpy as np
import pytest
from kdegraph.spectral.solver.missed import visibility


def relative_visibility(spread, n_given, n_probes, n, rng):
    """The largest share of a missed eigenvector in combinations of the probes, which are damped by
    the factors `spread`, relative to what `visibility` says.
    """
    block = rng.normal(size=(n, n_given + n_probes))
    block[:, n_given:] = rng.random((n, n_probes)) - 0.5
    coefficients = block[0, n_given:].copy()  # of the missed eigenvector, which is (1, 0, 0, ...)
    block[0] = 0
    block[:, n_given:] *= spread
    # Parts of the probes that lie in the span of the given vectors do not count.
    block[:, n_given:] += block[:, :n_given] @ rng.normal(size=(n_given, n_probes))
    given, probes = block[:, :n_given], block[:, n_given:]
    rest = probes - given @ np.linalg.lstsq(given, probes, rcond=None)[0]
    largest = math.sqrt(coefficients @ np.linalg.solve(rest.T @ rest, coefficients))
    return largest / math.exp(visibility(block.T @ block, n_probes))


@pytest.mark.parametrize(("spread", "at_most"), [(np.ones(8), 1.25), (np.geomspace(1, 30, 8), 3.0)])
def test_missed_eigenvectors_are_hardly_ever_much_less_visible_than_said(spread, at_most):
    rng = np.random.default_rng(0)
    ratios = np.array([relative_visibility(spread, 6, 8, 500, rng) for _ in range(400)])
    assert 0.8 < np.median(ratios) < at_most
    assert np.mean(ratios < 0.4) < 0.02
