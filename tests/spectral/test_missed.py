"""How random probes reveal missed eigenvectors: how visible these are, and the first filter."""

import math

import numpy as np
import pytest
from kdegraph.spectral.solver.missed import revealing_filter, visibility


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


@pytest.mark.parametrize("n", [10_000, 1_000_000])
def test_first_filter_raises_missed_eigenvectors_above_the_rest(n):
    values = 1 - 0.01 * np.arange(1, 17)
    threshold = math.log(10)
    weak, strong = (
        revealing_filter(values, 8, values[6], level, n, 0.5)
        for level in (threshold, threshold + 2)
    )
    assert weak.degree < strong.degree

    def level(degree):
        """How far a filter of this degree raises the missed eigenvector above the rest."""
        growth = degree * np.array([weak.growth_per_degree(value) for value in values])
        rest = 0.5 + np.arange(8, 0, -1) / n * np.exp(2 * growth[8:])
        return growth[6] + math.log(8 / n) / 2 - np.log(rest).mean() / 2

    assert weak.growth(values[6]) == pytest.approx(weak.degree * weak.growth_per_degree(values[6]))
    assert level(weak.degree) >= threshold
    assert level(weak.degree - 1) < threshold  # no degree is wasted
