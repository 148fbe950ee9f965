"""Promises of all computations: equal bits on any number of threads, and progress."""

import kdegraph
import numpy as np


def check_threads(call, counts=(1, 2, 3)):
    """`call` returns equal arrays, or a tuple of such, on each number of threads."""
    default, results = kdegraph.get_num_threads(), []
    try:
        for count in counts:
            kdegraph.set_num_threads(count)
            results.append(call())
    finally:
        kdegraph.set_num_threads(default)
    first = results[0]
    for result in results[1:]:
        if isinstance(first, tuple):
            for one, other in zip(first, result, strict=True):
                np.testing.assert_array_equal(one, other)
        else:
            np.testing.assert_array_equal(first, result)


def cancel(stage, fraction):
    """A report of progress that cancels the computation."""
    raise kdegraph.Cancelled


def check_fractions(fractions):
    """Reports of one stage: they lie in [0, 1] and never fall."""
    assert fractions
    assert fractions == sorted(fractions)
    assert fractions[0] >= 0
    assert fractions[-1] <= 1


def check_reports(reports):
    """Pairs (stage, fraction) in their order; returns the stages."""
    stages = list(dict.fromkeys(stage for stage, _ in reports))
    for stage in stages:
        check_fractions([fraction for name, fraction in reports if name == stage])
    return stages
