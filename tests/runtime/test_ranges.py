"""How work is cut into ranges."""

import pytest
from kdegraph.runtime.parallel import LONGEST, WorkRanges

N_ITEMS = 20_000
pytestmark = pytest.mark.nojit


def simulate(costs, n_threads):
    """Take ranges of items whose seconds are known: the items of each quarter cost the same.

    Returns the items, the seconds and the seconds of the first item of each range.
    """
    ranges = WorkRanges(N_ITEMS, None, n_threads)
    ranges.shared = True
    taken, expected_start = [], 0
    while found := ranges.take():
        start, stop = found
        assert start == expected_start < stop
        expected_start = stop
        seconds = sum(costs[item * 4 // N_ITEMS] for item in range(start, stop))
        taken.append((stop - start, seconds, costs[start * 4 // N_ITEMS]))
        ranges.finish(start, stop, seconds)
    assert expected_start == ranges.n_done == N_ITEMS
    return taken


COSTS = {
    "nothing": [1e-9] * 4,
    "a microsecond": [1e-6] * 4,
    "a millisecond": [1e-3] * 4,
    "a second": [1.0] * 4,
    "unequal": [1e-7, 1e-5, 1e-3, 1e-6],
}


@pytest.mark.parametrize("n_threads", [1, 2, 4])
@pytest.mark.parametrize("costs", COSTS.values(), ids=COSTS)
def test_ranges_take_as_long_as_they_should(costs, n_threads):
    taken = simulate(costs, n_threads)
    too_long = [r for r in taken if r[1] > max(1.5 * LONGEST, r[2])]
    assert len(too_long) <= 2 * len(set(costs))  # until the size has followed a new cost
    if min(costs) <= LONGEST / 2:  # otherwise each item is a range of its own
        assert len(taken) <= 60 + 2 * sum(costs) * (N_ITEMS / 4) / LONGEST
