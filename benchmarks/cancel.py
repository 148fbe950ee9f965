"""How soon stale work of the explorer stops: milliseconds from the cancel until the next request
could begin.

    python benchmarks/cancel.py [--n 100000] [--times 30] [--csv benchmarks/results/cancel.csv]

Sigma changes, as when its slider is moved, and the work is cancelled after a random part of its
time.
"""

import os
import random
import statistics
import time

import click
import kdegraph
from _common import csv_option, show, write
from kdegraph_explorer.compiling import wait
from kdegraph_explorer.jobs import Latest, Mailbox
from kdegraph_explorer.pipeline import Pipeline, Request

SIGMA = 0.1


def finish(job):
    """Seconds until a job has nothing under way."""
    start = time.perf_counter()
    while job.busy:
        time.sleep(0.0005)
    return time.perf_counter() - start


@click.command()
@click.option("--n", default=100_000, show_default=True)
@click.option("--times", default=30, show_default=True)
@csv_option
def main(n, times, path):
    """Print a column of milliseconds."""
    wait(lambda stage, fraction: None)
    dataset, rng = kdegraph.datasets.make("moons", n=n, seed=0), random.Random(0)
    job = Latest(Pipeline().run, mailbox=Mailbox(), deliver=lambda *arguments: None)
    job.request(Request(dataset, sigma=SIGMA, n_rounds=20))
    finish(job)
    job.request(Request(dataset, sigma=SIGMA * 1.01, n_rounds=20))
    whole = finish(job)
    seconds, where = [], []
    for i in range(times):
        job.request(Request(dataset, sigma=SIGMA * 1.01 ** (i + 2), n_rounds=20))
        time.sleep(rng.uniform(0, whole))
        where.append(job.busy)
        job.cancel()
        seconds.append(finish(job))
    stopped = [1000 * took for took, busy in zip(seconds, where, strict=True) if busy]
    row = {
        "n": n,
        "whole move, ms": 1000 * whole,
        "cancelled": len(stopped),
        "median, ms": statistics.median(stopped),
        "worst, ms": max(stopped),
        "load of the machine": os.getloadavg()[0],
    }
    show([row])
    write(path, [row])


if __name__ == "__main__":
    main()
