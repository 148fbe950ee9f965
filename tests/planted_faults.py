"""Plant faults in a copy of the project, one at a time, and check that its tests catch each.

    python tests/planted_faults.py [--only WORD] [--list]

A fault of `planted_faults.txt` is a small change of one line that a tired programmer might make: a
weight without its correction, a draw that is skipped, an eigenvector that is lost, a result that is
stale. The tests named beside it must fail. The program ends with the faults that no test has
noticed, and fails if there are any. `tests/project/test_planted_faults.py` checks that each can
still be planted.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import click

ROOT = Path(__file__).parents[1]
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", ".*cache", ".hypothesis", "__pycache__", "build", "dist", "test-report"
)


class Fault(NamedTuple):
    """A change of the source that tests must notice.

    `path` is below the root of the project; `text` stands in that file exactly once and becomes
    `fault`; `tests` are the paths, below `tests/`, of the tests that must fail.
    """

    name: str
    path: str
    text: str
    fault: str
    tests: str


def read_faults(path):
    """Read faults that are written as small diffs.

    Each has a line with its name, one with its file and the tests that must fail, and the lines
    that go (`-`) and come (`+`).
    """
    for block in path.read_text().strip().split("\n\n"):
        name, place, *lines = block.split("\n")
        file, tests = place.split(": ")
        text, fault = ("\n".join(line[2:] for line in lines if line[0] == sign) for sign in "-+")
        yield Fault(name, file, text, fault, tests)


FAULTS = tuple(read_faults(ROOT / "tests" / "planted_faults.txt"))


def plant(fault, root):
    """Change the copy of the project below `root`."""
    path = root / fault.path
    source = path.read_text()
    if source.count(fault.text) != 1:
        raise ValueError(
            f"{fault.name}: {fault.path} holds {fault.text!r} {source.count(fault.text)} times"
        )
    path.write_text(source.replace(fault.text, fault.fault))


def noticed_by(fault, folder, cache):
    """Return which test of a fault fails in a copy of the project with that fault, or the signal
    that ended the tests, "" if none does.

    Faults share the folder with compiled code, which has a place for each version of the kernels.
    """
    root = Path(folder) / "project"
    shutil.copytree(ROOT, root, ignore=NOT_COPIED)
    plant(fault, root)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(root / "core"), str(root / "explorer")]),
        "KDEGRAPH_CACHE_DIR": str(cache),
    }
    tests = [str(root / "tests" / name) for name in fault.tests.split()]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    run = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    if run.returncode < 0:
        return f"ended by signal {-run.returncode}"
    if run.returncode not in (0, 1):
        raise RuntimeError(
            f"{fault.name}: the tests did not run:\n{run.stdout[-2000:]}{run.stderr[-2000:]}"
        )
    return re.search(r"^(FAILED|ERROR) \S+|\Z", run.stdout, re.MULTILINE)[0]


@click.command()
@click.option("--only", default="", help="Only faults whose name or tests contain this.")
@click.option("--list", "listed", is_flag=True, help="Name the faults, and plant none.")
def main(only, listed):
    """Plant every fault and report what the tests noticed."""
    missed = []
    cache = tempfile.TemporaryDirectory()
    for fault in FAULTS:
        if only not in fault.name and only not in fault.tests:
            continue
        if listed:
            click.echo(f"{fault.name}: {fault.path}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            test = noticed_by(fault, folder, cache.name)
        click.echo(f"{fault.name}: {test or 'MISSED'}")
        missed += [] if test else [fault.name]
    if missed:
        raise click.ClickException(f"no test noticed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
