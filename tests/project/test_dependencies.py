"""Imported packages are declared in `pyproject.toml` and pinned in `constraints.txt`."""

import ast
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks.row import DISTRIBUTIONS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
OURS = {"kdegraph", "kdegraph_explorer", "benchmarks", "browser"}  # the last one of the tests
# Packages that are imported where they are installed, and not missed elsewhere: a notebook shows
# the explorer through these, which the extra `notebook` installs. The library draws on the axes of
# its caller, and reads workbooks with openpyxl, which the extra `excel` installs.
OPTIONAL = {
    "explorer": {"ipython", "ipywidgets", "jupyter-bokeh", "traitlets"},
    "core": {"matplotlib", "openpyxl"},
}


def names(requirements):
    """Canonical names of the packages that requirements ask for, without those of this project."""
    return {canonicalize_name(Requirement(r).name) for r in requirements} - {"kdegraph"}


def imported(folder):
    """Canonical names of the distributions that the modules in a folder import anywhere."""
    modules = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                modules.add(node.module.partition(".")[0])
    known = {module: [name] for module, name in DISTRIBUTIONS.items()} | packages_distributions()
    third_party = modules - set(sys.stdlib_module_names) - OURS
    return {canonicalize_name(known.get(module, [module])[0]) for module in third_party}


def test_the_library_imports_what_it_declares():
    extra = names(EXTRAS["dask"])
    assert imported("core") - OPTIONAL["core"] == names(PROJECT["dependencies"]) | extra


def test_the_explorer_imports_what_its_extra_declares():
    beyond_library = imported("explorer") - names(PROJECT["dependencies"])
    assert beyond_library - OPTIONAL["explorer"] == names(EXTRAS["explorer"])
    assert OPTIONAL["explorer"] <= names(EXTRAS["notebook"])


def test_experiments_import_what_their_extra_declares():
    others = [PROJECT["dependencies"], *(EXTRAS[name] for name in EXTRAS if name != "bench")]
    beyond = imported("benchmarks") - set().union(*map(names, others))
    assert beyond == names(EXTRAS["bench"])


@pytest.fixture(scope="module")
def pinned():
    """The packages with a version in `constraints.txt`."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert all(re.match(r"[\w.-]+==[\w.+!]+( ; .+)?$", pin) for pin in pins)
    return {canonicalize_name(pin.partition("==")[0]) for pin in pins}


def required_by(name):
    """Return the requirements of a package; none if it is for experiments or for workbooks, and not
    installed.
    """
    try:
        return requires(name) or ()
    except PackageNotFoundError:
        extras = ("bench", "excel", "history")
        assert name in set().union(*(names(EXTRAS[extra]) for extra in extras))
        return ()


def test_all_that_is_needed_is_pinned(pinned):
    """Directly or not: the requirements of what is installed are followed."""
    groups = [PROJECT["dependencies"], *EXTRAS.values()]
    to_visit = [(Requirement(text), "") for group in groups for text in group]
    needed = set()
    while to_visit:
        requirement, of_extra = to_visit.pop()
        marker, name = requirement.marker, canonicalize_name(requirement.name)
        if name == "kdegraph" or (marker and not marker.evaluate({"extra": of_extra})):
            continue
        for extra in ("", *requirement.extras):
            if (name, extra) not in needed:
                needed.add((name, extra))
                to_visit += [(Requirement(text), extra) for text in required_by(name)]
    unpinned = {name for name, _ in needed} - pinned
    assert unpinned <= {"setuptools"}  # belongs to the environment, like pip
