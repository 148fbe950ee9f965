"""The Gauss transform beside the direct sum, tree codes and a transform made of two non-uniform
FFTs, in one run on the same points.

    python benchmarks/gauss_transform.py --image photo.jpg --csv
    benchmarks/results/gauss_transform.csv

Sources are the targets. Peers that are not installed are left out (`pip install finufft mlpack`);
the tree codes run on one thread. The direct sum and the tree codes are measured on a random part of
the targets and extrapolated (column `targets`). `error` is the largest relative error at random
targets whose exact sums are known. The tolerance of the FFTs is the loosest power of ten whose
error is at most the one achieved here ("same error"), or at most eps. Seconds are medians; `cpu`
adds up all threads and is the figure to trust on a machine that others use. The second table holds
the slopes of log(cpu) against log(n).
"""

import importlib.util
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import click
import kdegraph
import numpy as np
from _common import clock, csv_option, medians, moons, write

RUNS = 5
TARGETS = 300  # whose exact sums are known
SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000)


@dataclass(frozen=True)
class Problem:
    """Points, bandwidth, tolerance."""

    name: str
    X: np.ndarray
    sigma: float
    eps: float

    @cached_property
    def part(self):
        """Numbers of some targets."""
        return np.random.default_rng(0).choice(
            len(self.X), min(len(self.X), TARGETS), replace=False
        )

    @cached_property
    def exact(self):
        """Exact sums at these targets."""
        return kdegraph.gauss_transform(
            self.X, self.X[self.part], sigma=self.sigma, method="direct"
        )

    def error(self, sums):
        """The largest relative error of the `sums` at all targets."""
        return float(np.abs(sums[self.part] / self.exact - 1).max())


def timed(function, runs):
    """Medians of seconds and CPU seconds over some runs, and the last result."""
    results = [clock(function) for _ in range(runs)]
    return *medians([seconds for _, *seconds in results]), results[-1][0]


def ours(problem):
    """kdegraph; the first call compiles."""
    return lambda: kdegraph.gauss_transform(problem.X, sigma=problem.sigma, eps=problem.eps)


def fourier(problem, tolerance, threads):
    """A Gauss transform as a product in Fourier space between two non-uniform FFTs, periodic with a
    margin.
    """
    import finufft

    X, d = problem.X, problem.X.shape[1]
    low, high = X.min(axis=0), X.max(axis=0)
    cut = math.sqrt(-math.log(tolerance))
    period = (high - low).max() + problem.sigma * cut
    modes = 2 * math.ceil(period / (math.pi * problem.sigma) * cut) + 1
    k = np.arange(modes) - modes // 2
    line = (
        problem.sigma
        * math.sqrt(math.pi)
        / period
        * np.exp(-((math.pi * problem.sigma / period * k) ** 2))
    )
    transform = line
    for _ in range(d - 1):
        transform = transform[..., None] * line
    names = {2: ("nufft2d1", "nufft2d2"), 3: ("nufft3d1", "nufft3d2")}[d]
    forward, backward = (getattr(finufft, name) for name in names)
    ones = np.ones(len(X), complex)

    def run():
        scaled = [(X[:, c] - (low[c] + high[c]) / 2) * (2 * math.pi / period) for c in range(d)]
        modes_of = forward(*scaled, ones, (modes,) * d, eps=tolerance, isign=-1, nthreads=threads)
        return backward(
            *scaled, modes_of * transform, eps=tolerance, isign=1, nthreads=threads
        ).real

    return run


def measure_fourier(problem, allowed, threads):
    """Seconds, CPU seconds, error and tolerance of the loosest tolerance that keeps the error
    within `allowed`; None if there is none.
    """
    for digits in range(1, 15):
        error = problem.error(fourier(problem, 10.0**-digits, threads)())
        if error <= allowed:
            return (
                *timed(fourier(problem, 10.0**-digits, threads), RUNS)[:2],
                error,
                f"tolerance 1e-{digits}",
            )
    return None


def scikit_learn(problem, targets):
    """Kernel density by scikit-learn's tree, with the tree."""
    from sklearn.neighbors import KDTree

    d = problem.X.shape[1]
    factor = (math.sqrt(math.pi) * problem.sigma) ** d  # its densities are normalized
    return lambda: (
        factor
        * KDTree(problem.X).kernel_density(
            targets, problem.sigma / math.sqrt(2), rtol=problem.eps, atol=0
        )
    )


def mlpack(problem, targets):
    """Kernel density by mlpack's dual tree."""
    from mlpack import kde

    n, d = problem.X.shape
    factor = n * (math.sqrt(math.pi) * problem.sigma) ** d

    def run():
        # It reorders the points that it is given.
        points, bandwidth = (problem.X.copy(), targets.copy()), problem.sigma / math.sqrt(2)
        return (
            factor
            * kde(
                reference=points[0],
                query=points[1],
                bandwidth=bandwidth,
                kernel="gaussian",
                rel_error=problem.eps,
            )["predictions"]
        )

    return run


TREES = {"scikit-learn KDTree": scikit_learn}
if importlib.util.find_spec("mlpack"):
    TREES["mlpack"] = mlpack


def compare(problem, threads, quick):
    """Rows of the table for one problem."""
    n, d = problem.X.shape
    kdegraph.set_num_threads(threads)
    rows = []

    def add(method, seconds, cpu, error, targets=n, note=""):
        scale = n / targets
        row = {
            "problem": problem.name,
            "n": n,
            "d": d,
            "sigma": problem.sigma,
            "eps": problem.eps,
            "threads": threads,
            "method": method,
            "seconds": seconds * scale,
            "cpu": cpu * scale,
            "error": error,
            "targets": targets,
            "note": note,
        }
        rows.append(row)
        row["cpu / ours"] = row["cpu"] / rows[0]["cpu"]
        times = f"{row['seconds']:>11.4g} s{row['cpu']:>11.4g} s cpu{row['cpu / ours']:>10.4g}x"
        click.echo(f"  {method:<20}{times}  error {error:.1e}  {note}")

    click.echo(f"{problem.name}, n = {n:,}, d = {d}, eps = {problem.eps:g}, {threads} threads")
    ours(problem)()
    seconds, cpu, sums = timed(ours(problem), RUNS)
    add("kdegraph", seconds, cpu, problem.error(sums))
    few = problem.X[problem.part]
    add(
        "direct",
        *timed(
            lambda: kdegraph.gauss_transform(problem.X, few, sigma=problem.sigma, method="direct"),
            3,
        )[:2],
        0.0,
        len(few),
    )
    if d <= 3 and importlib.util.find_spec("finufft"):
        for name, allowed in (
            ("finufft, same error", rows[0]["error"]),
            ("finufft, error eps", problem.eps),
        ):
            if found := measure_fourier(problem, allowed, threads):
                add(name, *found[:3], note=found[3])
    for name, method in TREES.items() if threads == 1 and not quick else ():
        if name == "mlpack" and n <= 100_000:  # a dual tree gains from all targets at once
            *total, sums = timed(method(problem, problem.X), 1)
            add(name, *total, problem.error(sums))
            continue
        # With a single target this times the tree and next to nothing else; it is counted once.
        build = timed(method(problem, few[:1]), 1)[:2]
        *total, sums = timed(method(problem, few), 1)
        seconds, cpu = (
            b * len(few) / n + max(t - b, 0.0) for b, t in zip(build, total, strict=True)
        )
        add(name, seconds, cpu, float(np.abs(sums / problem.exact - 1).max()), len(few))
    return rows


def slopes(threads):
    """Log-log slopes of CPU seconds against n."""
    kdegraph.set_num_threads(threads)
    for eps in (1e-2, 1e-6):
        cpu = []
        for n in SIZES:
            run = ours(Problem("moons", moons(n), 0.1, eps))
            run()
            cpu.append(timed(run, 2 * RUNS + 1)[1])
        slope = float(np.polyfit(np.log(SIZES), np.log(cpu), 1)[0])
        click.echo(
            f"slope at eps = {eps:g}: {slope:.2f}, ms: " + ", ".join(f"{1e3 * t:.1f}" for t in cpu)
        )
        yield {
            "eps": eps,
            "slope": slope,
            **{f"cpu at {n}": t for n, t in zip(SIZES, cpu, strict=True)},
        }


def problems(images):
    """What is measured."""
    X = moons(1_000_000)
    yield Problem("moons", moons(100_000), 0.1, 1e-2)
    yield Problem("moons", X, 0.1, 1e-2)
    yield Problem("moons", X, 0.1, 1e-6)
    yield Problem("normal", np.random.default_rng(0).normal(size=(100_000, 3)), 0.3, 1e-2)
    from PIL import Image

    for path in images:
        points = kdegraph.datasets.image_points(Image.open(path), max_pixels=None)
        yield Problem(f"pixels {path.stem}", points.X, 0.2, 1e-2)


@click.command()
@click.option(
    "--image",
    "images",
    type=click.Path(path_type=Path, exists=True),
    multiple=True,
    help="A photograph.",
)
@click.option(
    "--threads", "thread_counts", type=int, multiple=True, default=(1, 2), show_default=True
)
@csv_option
@click.option("--quick", is_flag=True, help="Without the tree codes.")
def main(images, thread_counts, path, quick):
    """Print the tables."""
    table = list(slopes(1))
    rows = [
        row
        for problem in problems(images)
        for threads in thread_counts
        for row in compare(problem, threads, quick)
    ]
    write(path, rows)
    write(path and path.with_stem(path.stem + "_slopes"), table)


if __name__ == "__main__":
    main()
