"""The choice of the sampler is near the best on measured times; nothing is timed here."""

import csv
from pathlib import Path

import numpy as np
import pytest
from kdegraph import estimate_sigma
from kdegraph.geometry.kernels import Kernel
from kdegraph.geometry.tree import build_tree
from kdegraph.kde.dispatch import kernel_degrees
from kdegraph.sampling import choice, near
from kdegraph.sampling.choice import choose_sampler

from benchmarks.data import normal_clusters

# Written by `python -m benchmarks run samplers`.
RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "samplers.csv"
SAMPLERS = ("rows", "near", "rejection")
MAX_POINTS = 10_000  # larger sets take long to build
EPS = 0.01  # of the kernel degrees, as in the benchmark


@pytest.fixture(scope="module")
def choices():
    """For each measured case the sampler that is chosen now, and the seconds of all."""
    with RESULTS.open() as file:
        cases = [row for row in csv.DictReader(file) if int(row["n"]) <= MAX_POINTS]
    points, found = {}, []
    for case in cases:
        n, d = int(case["n"]), int(case["d"])
        if (n, d) not in points:
            X = normal_clusters(n, d)
            points[n, d] = build_tree(X), estimate_sigma(X, seed=0)
        tree, sigma = points[n, d]
        kernel = Kernel("gaussian", float(case["sigma"]) * sigma)
        sampler, _, _ = choose_sampler(kernel, tree, EPS, int(case["L"]), "auto")
        seconds = {name: float(case[name]) for name in SAMPLERS}
        found.append((sampler, seconds))
    return found


def ratios(choices):
    return np.array([seconds[name] / np.nanmin([*seconds.values()]) for name, seconds in choices])


def test_choice_is_near_the_best(choices):
    chosen = ratios(choices)
    assert len(chosen) == 84
    assert (chosen <= 1.1).mean() >= 0.95
    assert chosen.max() <= 1.3
    assert chosen.mean() <= 1.02


def test_no_sampler_is_near_the_best_everywhere(choices):
    """The measure can fail: always the same sampler is far from it."""
    for name in SAMPLERS:
        always = np.nan_to_num(ratios([(name, seconds) for _, seconds in choices]), nan=np.inf)
        assert (always <= 1.1).mean() < 0.7
        assert always.max() > 4


def test_few_neighbors_decide_without_an_estimate_for_rejection(monkeypatch):
    X = np.random.default_rng(0).random((6000, 2))
    X[::2] += 10  # so far apart that their extent does not decide
    tree, sigma = build_tree(X), estimate_sigma(X, seed=0)
    compared = []
    monkeypatch.setattr(
        choice, "_compare_with_rejection", lambda *args: compared.append(args) or (None,) * 3
    )
    few, more = Kernel("gaussian", 0.9 * sigma), Kernel("gaussian", 1.1 * sigma)  # 8 and 12
    assert choose_sampler(few, tree, EPS, 10, "auto")[0] == "near"
    assert not compared
    choose_sampler(more, tree, EPS, 10, "auto")
    assert compared


def test_the_degree_that_decides_is_that_of_some_leaves():
    X = np.random.default_rng(0).random((6000, 2))
    kernel, tree = Kernel("gaussian", estimate_sigma(X, seed=0)), build_tree(X)
    _, degree = near.estimate_cost(kernel, tree, 10, EPS)
    assert degree == pytest.approx(kernel_degrees(kernel, tree, EPS).mean(), rel=0.2)
    # With all leaves it is the mean of all degrees.
    n_leaves = tree.start.size - tree.first_leaf
    _, _, degree = near.estimate_work(kernel, tree, EPS, n_leaves)
    assert degree == pytest.approx(kernel_degrees(kernel, tree, EPS).mean(), rel=EPS)
