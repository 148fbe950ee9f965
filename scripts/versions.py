"""Resolve the versions of the packages that kdegraph needs, and test the project with them.

Three sets of versions are tried on each Python that the classifiers in `pyproject.toml` name:

lowest   the lower bounds in `pyproject.toml` of the packages that users install, or where a Python
         has no binaries of these, the lowest versions that it has
newest   the newest versions that work together
pinned   `constraints.txt`, if these are not the newest versions
coming   the newest versions with pre-releases of the packages in `COMING`; only if asked for

Each trial has an environment of its own, outside of the repository, in which the tests in `SUBSET`
run for about five minutes. Uv resolves and installs; where it may download, it also fetches
the Pythons that are missing.

    python scripts/versions.py                                try all sets on all Pythons
    python scripts/versions.py --sets lowest --pythons 3.11   try one
    python scripts/versions.py --sets coming                  try pre-releases, and name what fails
    python scripts/versions.py --write                        write constraints.txt, try nothing
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ROOT / "constraints.txt"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OLDEST = PROJECT["requires-python"].removeprefix(">=")
PYTHONS = [
    text.rpartition(" ")[2]
    for text in PROJECT["classifiers"]
    if text.startswith("Programming Language :: Python :: 3.")
]
RUNTIME = ("explorer", "notebook", "dask", "excel")  # the extras of users
HEADER = """\
# The versions that this project is developed and tested with, on each Python that it supports.
# Everything that any extra needs is here, directly or not.
# Use: pip install -c constraints.txt -e '.[explorer]'
# To move on: `make update-constraints`, then `make test`.
"""
# Each package that users install is used by some of these.
SUBSET = (
    "tests/test_kept_files.py",  # files of earlier versions
    "tests/runtime/test_parallel.py",  # numba, llvmlite
    "tests/runtime/test_blas.py",  # threadpoolctl
    "tests/kde/test_grid.py",
    "tests/graph/test_graph.py",
    "tests/graph/test_exchange.py",  # SciPy's matrices
    "tests/graph/test_zarr.py",
    "tests/graph/test_tiles.py",  # Dask, Distributed
    "tests/spectral/test_spectrum.py",  # LAPACK
    "tests/clustering/test_estimators.py",  # scikit-learn
    "tests/clustering/test_transformer.py",
    "tests/io/test_tables.py",  # PyArrow
    "tests/io/test_lazily.py",  # h5py, Zarr, Dask
    "tests/io/test_optional_formats.py",  # openpyxl
    "tests/io/test_pictures.py",  # Pillow
    "tests/cli/test_commands.py",  # Click
    "tests/cli/test_tiles.py",
    "tests/explorer/test_app.py",  # Panel, Bokeh, Tornado, Jinja2
    "tests/explorer/test_controls.py",  # Param, Panel Material UI
    "tests/explorer/test_views.py",  # HoloViews
    "tests/explorer/test_figure_file.py",  # Matplotlib
    "tests/explorer/test_notebook.py",  # IPython, ipywidgets, jupyter_bokeh
    "tests/explorer/test_text.py",  # MarkupSafe
    "tests/browser/test_first_page.py",
)
# The lowest versions run with newer ones of what they need themselves, which announce changes.
ANNOUNCEMENTS = [
    f"-Wdefault::{kind}"
    for kind in ("DeprecationWarning", "PendingDeprecationWarning", "FutureWarning")
]
# Packages whose private names the project uses, or that change most.
COMING = ("numba", "llvmlite", "panel", "bokeh", "scikit-learn")
SHOWN = ("numpy", "scipy", "numba", "scikit-learn", "pyarrow", "dask", "zarr", "panel", "bokeh")
COLUMNS = ("Python", "set", *SHOWN, "passed", "failed", "seconds")


class Failed(Exception):
    """A command failed; the message is what it printed."""


def uv(*arguments):
    """Run uv and return what it prints.

    Pyenv's commands work only for the versions that its user has chosen, so the Pythons that it
    has installed come before them.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders = [*map(str, pyenv.glob("versions/*/bin")), os.environ["PATH"]]
    done = subprocess.run(
        [sys.executable, "-m", "uv", "--quiet", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | {"PATH": os.pathsep.join(folders)},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise Failed(done.stderr.strip())
    return done.stdout


def resolve(extras, *options):
    """Return the versions that uv chooses for some extras, as lines of constraints."""
    chosen = [f"--extra={extra}" for extra in extras]
    short = ("--no-header", "--no-annotate")
    return uv("pip", "compile", "pyproject.toml", *short, *chosen, *options)


def newest():
    """Return the newest versions of all that any extra needs, for all Pythons, with markers."""
    return HEADER + resolve(
        ("dev", "bench", "history"), "--universal", f"--python-version={OLDEST}"
    )


def lowest(interpreter):
    """Return the lowest versions of what users install, and the newest of what these need."""
    lowest_binaries = ("--resolution=lowest-direct", "--only-binary=:all:")
    return resolve(RUNTIME, *lowest_binaries, f"--python={interpreter}")


def coming(interpreter):
    """Return the newest versions of what users install, with the pre-releases of `COMING`."""
    allowed = (f"--prerelease-package={name}=allow" for name in COMING)
    return resolve(RUNTIME, *allowed, f"--python={interpreter}")


def install(folder, interpreter, constraints):
    """Install the project and what its tests need, and return {name: version}."""
    path = folder / "constraints.txt"
    path.write_text(constraints)
    where = f"--python={interpreter}"
    uv("pip", "install", "--compile-bytecode", where, "-c", path, "--editable", f"{ROOT}[test]")
    packages = json.loads(uv("pip", "list", "--format=json", where))
    return {canonicalize_name(package["name"]): package["version"] for package in packages}


def above_bounds(versions):
    """Return the lower bounds of what users install that are below the installed versions."""
    extras = (PROJECT["optional-dependencies"][extra] for extra in RUNTIME)
    for text in (*PROJECT["dependencies"], *(text for extra in extras for text in extra)):
        requirement = Requirement(text)
        for bound in requirement.specifier:
            version = versions[canonicalize_name(requirement.name)]
            if Version(bound.version) < Version(version):
                yield f"{requirement} ({version})"


def run_subset(folder, interpreter, options):
    """Run the tests, and return how many passed and failed, and the seconds that they took."""
    report = folder / "report.xml"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment["KDEGRAPH_CACHE_DIR"] = str(folder / "cache")
    # Two processes, as kernels use all cores themselves.
    pytest = [interpreter, "-m", "pytest", "-q", "-n2", "-pno:cacheprovider", "-mnot slow"]
    command = [*pytest, *options, f"--junitxml={report}", *SUBSET]
    subprocess.run(command, cwd=ROOT, env=environment)
    if not report.exists():
        raise Failed("pytest ended without a report")
    return counts(ET.parse(report).getroot().find("testsuite").attrib)


def counts(suite):
    """Return the columns of the table from the attributes of a test suite in a JUnit report."""
    failed = int(suite["failures"]) + int(suite["errors"])
    passed = int(suite["tests"]) - int(suite["skipped"]) - failed
    return {"passed": passed, "failed": failed, "seconds": round(float(suite["time"]))}


def attempt(folder, python, name, constraints_for):
    """Try a set of versions on a Python, and return its row of the table."""
    row = {"Python": python, "set": name}
    interpreter = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    print(f"\n{name} versions on Python {python}", flush=True)
    try:
        uv("venv", "--clear", "--python", python, folder)
    except Failed as error:
        print(error, flush=True)
        return row | {"passed": "missing"}
    try:
        versions = install(folder, interpreter, constraints_for(interpreter))
        if name == "lowest":
            above = ", ".join(above_bounds(versions))
            print("bounds that are not reached:", above or "none", flush=True)
        row |= {package: versions.get(package) for package in SHOWN}
        return row | run_subset(folder, interpreter, ANNOUNCEMENTS if name == "lowest" else ())
    except Failed as error:
        print(error, flush=True)
        return row | {"failed": "not run"}


def try_all(folder, pythons, sets):
    """Try sets of versions on Pythons, and return the rows of the table."""
    latest, pinned = newest(), CONSTRAINTS.read_text()
    known = {
        "lowest": lowest,
        "newest": lambda _: latest,
        "pinned": lambda _: pinned,
        "coming": coming,
    }
    if pinned == latest:
        print("constraints.txt holds the newest versions")
        sets = [name for name in sets if name != "pinned"]
    return [
        attempt(folder / f"{name}-{Path(python).name}", python, name, known[name])
        for python in pythons
        for name in sets
    ]


def table(rows):
    """Return rows as lines, with columns below each other."""
    cells = [COLUMNS, *([str(row.get(column, "-")) for column in COLUMNS] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in cells)


def succeeded(rows):
    """Return whether no trial failed and at least one ran."""
    failed = [row["failed"] for row in rows if "failed" in row]
    return bool(failed) and not any(failed)


def folder_outside(text):
    """Return a folder for environments, which must not be in the repository."""
    folder = Path(text).resolve()
    if folder.is_relative_to(ROOT):
        raise argparse.ArgumentTypeError(f"must be outside of the repository, got {text}")
    return folder


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    sets = ("lowest", "newest", "pinned")
    parser.add_argument("--sets", nargs="+", choices=(*sets, "coming"), default=sets)
    parser.add_argument("--pythons", nargs="+", default=PYTHONS, help="versions or paths")
    parser.add_argument(
        "--folder", type=folder_outside, help="for the environments, which are kept (1 GB each)"
    )
    parser.add_argument("--write", action="store_true", help="write constraints.txt, try nothing")
    arguments = parser.parse_args()
    if arguments.write:
        CONSTRAINTS.write_text(newest())
        return 0
    with tempfile.TemporaryDirectory(prefix="kdegraph-versions-") as temporary:
        folder = arguments.folder or Path(temporary)
        rows = try_all(folder, arguments.pythons, arguments.sets)
    print(f"\n{table(rows)}")
    return 0 if succeeded(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
