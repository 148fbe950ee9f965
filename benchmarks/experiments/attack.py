"""The attack of the tests, with more cases than in the tests, and what it has found."""

import os
import re
import subprocess
import sys

import pytest

from benchmarks.browser import ROOT
from benchmarks.experiment import experiment

# The tests of each area, in `tests/attack`.
AREAS = {
    "kernel sums, weights, metrics, parameters": "points",
    "containers, damaged sparse matrices": "containers",
    "graphs, spectra, clusters": "graphs",
    "estimators": "estimators",
    "tables and commands": "tables",
    "damaged files": "files",
    "addresses, sessions, walks of the explorer": "explorer",
    "cancelled computations": "interrupts",
    "full disks, ended pipes": "writers",
    "workers of joblib": "processes",
}
BY_SIGNALS = "signals at random moments"


class Counter:
    """A plugin of pytest that counts tests, and the cases that Hypothesis has made for them."""

    def __init__(self):
        self.tests = self.failed = self.cases = 0

    def pytest_configure(self):
        import hypothesis.core  # not earlier, as pytest rewrites what it imports

        hypothesis.core.note_statistics = self._note

    def pytest_runtest_logreport(self, report):
        self.tests += report.when == "call" and not report.skipped
        self.failed += report.failed

    def _note(self, statistics):
        for phase in statistics.values():
            if isinstance(phase, dict):
                made = [case["status"] for case in phase["test-cases"]]
                self.cases += made.count("valid") + made.count("interesting")


def summary(rows):
    """Return the rows without what is the same for all, and their sum."""
    names = ("examples", "seed", "tests", "cases", "failed")
    lines = [{"area": row["area"]} | {name: row[name] for name in names} for row in rows]
    for line, row in zip(lines, rows, strict=True):
        line["seconds"] = round(row["row seconds"])
    total = {name: sum(line[name] or 0 for line in lines) for name in (*names[2:], "seconds")}
    return [*lines, {"area": f"all, with {rows[-1]['versions']}"} | total]


@experiment(
    lambda: [
        *({"area": area, "examples": 500, "seed": 1} for area in AREAS),
        *({"area": area, "examples": 1000, "seed": 2} for area in AREAS),
        {"area": "damaged files", "examples": 500, "seed": 3},
        {"area": BY_SIGNALS, "examples": 700, "seed": 0},
    ],
    source="Contributing: `tests/attack` tries what is rare, extreme, damaged or wrong.",
    summary=summary,
    limit=1800.0,
)
def attack(area, examples, seed):
    """Cases by area that the attack of the tests has tried, and tests that failed.

    A case is a call, a file, a walk or the like that Hypothesis has made up; some tests try a part
    of "examples". Signals interrupt as many calls of public functions.
    """
    if area == BY_SIGNALS:
        program = [sys.executable, "tests/runtime/interrupts.py", str(examples), "500"]
        done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True)
        (interrupts,) = re.findall(r"survived (\d+)", done.stdout) or [0]
        return {"tests": 1, "cases": int(interrupts), "failed": int(done.returncode != 0)}
    os.chdir(ROOT)
    os.environ["KDEGRAPH_ATTACK"] = str(examples)
    options = ["-q", "-p", "no:xdist", "-p", "no:cacheprovider", "--timeout=0"]
    options += ["--hypothesis-profile=attack", f"--hypothesis-seed={seed}"]
    counter = Counter()
    pytest.main([f"tests/attack/test_{AREAS[area]}.py", *options], plugins=[counter])
    return {"tests": counter.tests, "cases": counter.cases, "failed": counter.failed}
