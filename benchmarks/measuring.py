"""Clocks."""

import resource
import statistics
import time
from typing import Any, NamedTuple

AWAKE = 0.2  # seconds after which the system has woken all cores
RUNS, BUDGET = 5, 5.0  # of one function, and seconds


class Timing(NamedTuple):
    """What a function returned, and medians of its seconds: by the clock, and of all cores."""

    value: Any
    seconds: float
    cpu: float


def timed(function, warm_up=None, runs=RUNS):
    """Run a function several times, but not again after `BUDGET` seconds.

    Parameters
    ----------
    function : callable
    warm_up : callable, optional
        Called before that until code is compiled and cores are awake; by default the function.
    runs : int, default=5

    Returns
    -------
    Timing
        With the value of the last run.
    """
    end = time.perf_counter() + AWAKE
    (warm_up or function)()
    while time.perf_counter() < end:
        (warm_up or function)()
    wall, cpu, end = [], [], time.perf_counter() + BUDGET
    while len(wall) < runs and (not wall or time.perf_counter() < end):
        start = time.perf_counter(), time.process_time()
        value = function()
        wall.append(time.perf_counter() - start[0])
        cpu.append(time.process_time() - start[1])
    return Timing(value, statistics.median(wall), statistics.median(cpu))


def peak_gib():
    """The most memory that this process has had, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
