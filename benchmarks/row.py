"""One row in a process of its own: what happens there costs this row only."""

import contextlib
import multiprocessing
import os
import platform
import re
import resource
import signal
import sys
import time
import traceback
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import kdegraph
from kdegraph.runtime.memory import available_memory

# What is noted of every row besides its parameters and the values that were measured.
FAILURE = "failure"
FACTS = (FAILURE, "row seconds", "threads", "load", "machine", "versions", "date")
# Distributions whose versions are noted where a row has imported them.
DISTRIBUTIONS = {
    "kdegraph": "kdegraph", "numpy": "numpy", "scipy": "scipy", "numba": "numba",
    "sklearn": "scikit-learn", "faiss": "faiss-cpu", "pynndescent": "pynndescent",
    "finufft": "finufft", "mlpack": "mlpack", "genieclust": "genieclust", "dask_ml": "dask-ml",
    "panel": "panel", "umap": "umap-learn",
}  # fmt: skip
# Modules that most rows import, which takes seconds: they are imported once, by a process of which
# those of the rows are copies. It computes nothing, so it has no threads that a copy would lack.
PRELOADED = ("kdegraph.dispatch", "kdegraph.graph", "sklearn.cluster")


def measure_row(measure, parameters, options, limit):
    """Measure one row.

    Parameters
    ----------
    measure : callable
        A function of a module, called with all that follows by name.
    parameters, options : dict
    limit : float
        Seconds after which the process is ended.

    Returns
    -------
    dict
        The measured values, and `FACTS`; after a failure its reason in place of the values.
    """
    # Threads of OpenMP that wait for work would otherwise count as processor time.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*PRELOADED, measure.__module__])
    receiver, sender = context.Pipe(duplex=False)
    start, load = time.perf_counter(), os.getloadavg()[0]
    process = context.Process(target=_measure, args=(sender, measure, parameters, options))
    process.start()
    sender.close()
    try:
        values, facts = _receive(receiver, process, limit)
    finally:
        _end(process)
    facts |= {
        "row seconds": time.perf_counter() - start,
        "load": load,
        "machine": machine(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }
    return values | {name: facts.get(name, "") for name in FACTS}


def _receive(receiver, process, limit):
    """What the process has found, or why it has not."""
    if not receiver.poll(limit):
        return {}, {FAILURE: f"given up after {limit:g} s"}
    try:
        return receiver.recv()
    except EOFError:
        process.join()
        if process.exitcode == -signal.SIGKILL:
            return {}, {FAILURE: "killed, probably for want of memory"}
        return {}, {FAILURE: f"the process ended with exit code {process.exitcode}"}


def _end(process):
    """End a process and all that it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join()


def _measure(sender, measure, parameters, options):
    """The body of the process."""
    os.setpgid(0, 0)
    # What does not fit is refused here, before the system ends another process for it.
    most = available_memory()
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    try:
        values, reason = measure(**parameters, **options), ""
    except BaseException as error:
        values, reason = {}, explain(error)
        if not isinstance(error, (ImportError, MemoryError)):
            traceback.print_exc()
    facts = {FAILURE: reason, "threads": kdegraph.get_num_threads(), "versions": _versions()}
    sender.send((values, facts))


def explain(error):
    """A line on an error, without the folders of this machine."""
    if isinstance(error, ModuleNotFoundError):
        return f"{error.name} is not installed"
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return re.sub(r"(?<!\w)/(?:[^\s/'\"]+/)+", "", text)[:300]


def _versions():
    """The versions of the packages that have been imported."""
    found = []
    for module, name in DISTRIBUTIONS.items():
        if module in sys.modules:
            with contextlib.suppress(PackageNotFoundError):
                found.append(f"{name} {version(name)}")
    return ", ".join(found)


def machine():
    """The machine in a few words."""
    model = platform.machine()
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line for line in lines if line.startswith("model name"))
        model = " ".join(name.partition(":")[2].split())
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    python = platform.python_version()
    return f"{os.cpu_count()} cores ({model}), {gib:.0f} GiB, {platform.system()}, Python {python}"
