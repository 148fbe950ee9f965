"""The first use after an installation."""

import os
import resource
import subprocess
import sys
import tempfile
import time

from benchmarks.experiment import experiment, grid

PROGRAM = """
import kdegraph
X = kdegraph.datasets.make("moons", n=15_000, seed=0).X
kdegraph.similarity_graph(X, sigma={sigma}, seed=0)
"""


def run(program, cache):
    """Run a program in a new process; return its seconds by the clock and of all cores."""
    environment = os.environ | {"KDEGRAPH_CACHE_DIR": cache}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@experiment(
    lambda: grid(sigma=[0.1, 1.0]),
    source="Install: how long the first use compiles.",
)
def first_use(sigma):
    """Seconds of a process that makes its first graph, with an empty and a filled cache folder.

    The process imports the package and makes the graph of 15,000 moons. A large sigma takes other
    kernels than a small one.
    """
    program = PROGRAM.format(sigma=sigma)
    with tempfile.TemporaryDirectory() as cache:
        (first, first_cpu), (later, later_cpu) = run(program, cache), run(program, cache)
    return {
        "seconds": first,
        "cpu": first_cpu,
        "later seconds": later,
        "later cpu": later_cpu,
    }
