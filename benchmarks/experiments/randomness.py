"""The random streams."""

import shutil
import subprocess

import numba
import numpy as np
from kdegraph.runtime.random import stream, uniform

from benchmarks.experiment import experiment, grid

BLOCK = 1 << 20
# All that dieharder calls reliable, but for the ones that take minutes each.
TESTS = (0, 1, 2, 3, 4, 8, 9, 10, 11, 13, 15, 16, 100, 101, 102, 202, 204, 205, 206, 209)
ORDERS = ("counters", "vertices", "draws", "vertices and draws")


@numba.njit(nogil=True)
def fill(order, seed, first, words):
    """Write the upper 32 bits of numbers first, first + 1, ... in an order of `ORDERS`."""
    for i in range(words.size):
        k = first + i
        if order == 0:
            u = uniform(stream(seed, 5, 3), k)
        elif order == 1:
            u = uniform(stream(seed, k, 0), 0)
        elif order == 2:
            u = uniform(stream(seed, 5, k), 0)
        else:
            u = uniform(stream(seed, k // 20, k // 2 % 10), k % 2)
        words[i] = np.uint32(u * 2.0**32)


def p_values(order, test):
    """Name, p-value and assessment of each statistic of one test."""
    columns = ("test_name", "pvalues", "assessment")
    shown = [argument for column in columns for argument in ("-D", column)]
    command = ["dieharder", "-g", "200", "-d", str(test), *shown, "-c", ","]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        first, words = 0, np.empty(BLOCK, np.uint32)
        try:
            while process.poll() is None:
                fill(order, np.uint64(1000 * order + test), first, words)
                process.stdin.write(words.tobytes())
                first += BLOCK
        except BrokenPipeError:  # it has enough
            pass
        out = process.stdout.read().decode()
        process.stdin = None
    return [[part.strip() for part in line.split(",")] for line in out.splitlines()]


def summary(rows):
    """A row for each order."""
    for order in ORDERS:
        some = [row for row in rows if row["order"] == order]
        if some:
            yield {
                "order": order,
                "tests": len(some),
                "smallest p": min(row["smallest p"] for row in some),
                "largest p": max(row["largest p"] for row in some),
            } | {name: sum(row[name] for row in some) for name in ("statistics", "weak", "failed")}


@experiment(
    lambda: grid(order=ORDERS, test=TESTS),
    source="The counter-based random numbers are to pass dieharder, a standard battery (Debian and "
    "Ubuntu: `apt install dieharder`).",
    why="dieharder calls p-values below 0.005 or above 0.995 weak, of which one in a hundred is "
    "expected, and those beyond 1e-6 failed.",
    summary=summary,
)
def randomness(order, test):
    """The random streams under dieharder, in the orders in which samplers use them.

    Along the counters of one stream, along the vertices, along the draws, and draw by draw within
    each vertex; every test with fresh numbers.
    """
    if shutil.which("dieharder") is None:
        raise ModuleNotFoundError(name="dieharder")
    names, values, assessments = zip(*p_values(ORDERS.index(order), test), strict=True)
    p = np.array(values, float)
    return {"name": names[0], "statistics": len(p), "smallest p": p.min(), "largest p": p.max(),
            "weak": assessments.count("WEAK"), "failed": assessments.count("FAILED")}  # fmt: skip
