"""The sampler "near": inversion, the bound of far nodes, its estimate."""

import numpy as np
import pytest
from kdegraph.sampling.near import BLOCK_SIZE, MAX_COUNTED_SUMS, n_blocks, running_sums, search
from kdegraph.sampling.near_lists import _rough_difference

COUNTED = BLOCK_SIZE * MAX_COUNTED_SUMS  # with more values, the blocks are searched by bisection


def prepared(values):
    """The sums of the blocks of the values, and the total."""
    sums = np.full(n_blocks(values.size), np.nan)
    return sums, running_sums(values, sums)


@pytest.mark.parametrize(
    "n", [1, 2, BLOCK_SIZE - 1, BLOCK_SIZE, BLOCK_SIZE + 1, 100, COUNTED, COUNTED + 1, 5_000]
)
def test_finds_the_value_at_which_the_running_sum_exceeds_the_number(n):
    rng = np.random.default_rng(n)
    values = rng.integers(0, 4, n).astype(float)  # whole numbers: no sum is rounded
    values[rng.integers(n)] = 3.0
    sums, total = prepared(values)
    cumulative = np.cumsum(values)
    np.testing.assert_array_equal(
        sums, np.append(cumulative[BLOCK_SIZE - 1 :: BLOCK_SIZE], total)[: sums.size]
    )
    numbers = np.concatenate([rng.random(500) * total, np.arange(total)])
    expected = np.searchsorted(cumulative, numbers, side="right")
    assert [search(values, sums, u) for u in numbers] == expected.tolist()


@pytest.mark.parametrize("n", [3, BLOCK_SIZE, 2 * BLOCK_SIZE + 3, COUNTED + 40])
def test_a_number_that_rounding_leaves_above_the_total_finds_the_last_positive_value(n):
    values = np.zeros(n)
    sums, total = prepared(values)
    assert search(values, sums, total) == -1
    values[n // 2] = 1.0
    sums, total = prepared(values)
    assert search(values, sums, total) == n // 2


@pytest.mark.nojit
@pytest.mark.parametrize("spread", [0.0, 1e-300, 1e-9, 0.1, 1.0, 1.999, 2.0, 3.0, 700.0, np.inf])
def test_the_rough_difference_is_never_too_small_and_hardly_too_large(spread):
    for least in (0.0, 0.3, 0.5 * np.log(2), 5.0, 690.0):
        exact = -np.expm1(-(least + spread - least)) * np.exp(-least)
        rough = _rough_difference(least, least + spread)
        assert exact * (1 - 1e-12) <= rough <= 1.23 * exact
