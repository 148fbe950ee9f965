"""The random streams under dieharder, a standard battery (Debian and Ubuntu: `apt install
dieharder`).

    python benchmarks/randomness.py [--tests 0 2 15] [--csv benchmarks/results/randomness.csv]

Numbers reach the battery in the orders in which samplers use them: along the counters of one
stream, along the vertices, along the draws, and draw by draw within each vertex. A test is run with
fresh numbers (a seed of its own). dieharder calls p-values below 0.005 or above 0.995 weak, of
which one in a hundred is expected, and those beyond 1e-6 failed.
"""

import shutil
import subprocess

import click
import numba
import numpy as np
from _common import csv_option, write
from kdegraph.runtime.random import stream, uniform

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


def p_values(program, order, test, seed):
    """The lines (name, p-value, assessment) of one test."""
    columns = ("test_name", "ntuple", "pvalues", "assessment")
    shown = [argument for column in columns for argument in ("-D", column)]
    command = [program, "-g", "200", "-d", str(test), *shown, "-c", ","]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        first, words = 0, np.empty(BLOCK, np.uint32)
        try:
            while process.poll() is None:
                fill(order, np.uint64(seed), first, words)
                process.stdin.write(words.tobytes())
                first += BLOCK
        except BrokenPipeError:  # it has enough
            pass
        out = process.stdout.read().decode()
        process.stdin = None
    for line in out.splitlines():
        name, ntuple, p, assessment = (part.strip() for part in line.split(","))
        yield name, int(ntuple), float(p), assessment


@click.command()
@click.option(
    "--tests",
    type=int,
    multiple=True,
    default=TESTS,
    help="Numbers of dieharder's tests; `dieharder -l` lists them.",
)
@click.option("--dieharder", "program", default="dieharder", show_default=True, help="The program.")
@csv_option
def main(tests, program, path):
    """Print one line for each p-value."""
    if shutil.which(program) is None:
        raise click.ClickException(f"{program} is not installed")
    rows = []
    for number, name in enumerate(ORDERS):
        for test in tests:
            for title, ntuple, p, assessment in p_values(
                program, number, test, seed=1000 * number + test
            ):
                rows.append(
                    {
                        "order": name,
                        "test": test,
                        "name": title,
                        "ntuple": ntuple,
                        "p": p,
                        "assessment": assessment,
                    }
                )
                click.echo(f"{name:<20} {title:<24} {ntuple:>3} {p:.8f} {assessment}")
    write(path, rows)


if __name__ == "__main__":
    main()
