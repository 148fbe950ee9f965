"""The price of local bandwidths."""

import kdegraph
import numpy as np

from benchmarks.data import points
from benchmarks.experiment import experiment
from benchmarks.measuring import timed

CASES = ((3_000, 2), (15_000, 2), (100_000, 2), (1_000_000, 2), (15_000, 3), (100_000, 3),
         (15_000, 5), (100_000, 5))  # fmt: skip
L = 10


def wide_and_narrow(n, d):
    """Five normal clusters of very different widths."""
    rng = np.random.default_rng(d)
    cluster = rng.integers(0, 5, n)
    widths = np.array([0.1, 0.2, 0.5, 1.0, 2.0])[cluster, None]
    return 6 * rng.normal(size=(5, d))[cluster] + widths * rng.normal(size=(n, d))


@experiment(
    lambda: [{"n": n, "d": d} for n, d in CASES],
    source="Choosing a scale: a bandwidth for each point suits tight beside wide clusters. "
    "Nothing is said of its cost; here it is.",
    shown=("bandwidths", "one", "local", "local / one", "local / one cpu"),
)
def local(n, d):
    """Seconds of the same graph with one sigma, and with a sigma for every point.

    Two moons, and five normal clusters of very different widths in three and five dimensions; L =
    10. "bandwidths" are the seconds of `local_bandwidths`.
    """
    X = points("moons", n).X if d == 2 else wide_and_narrow(n, d)
    bandwidths = timed(lambda: kdegraph.local_bandwidths(X))
    values = {"bandwidths": bandwidths.seconds}
    for name, sigma in (("one", kdegraph.estimate_sigma(X, seed=0)), ("local", bandwidths.value)):
        built = timed(lambda: kdegraph.similarity_graph(X, sigma=sigma, n_rounds=L, seed=0))  # noqa: B023
        values |= {
            name: built.seconds,
            f"{name} cpu": built.cpu,
            f"{name} sampler": built.value.sampler,
        }
    values["local / one"] = values["local"] / values["one"]
    values["local / one cpu"] = values["local cpu"] / values["one cpu"]
    return values
