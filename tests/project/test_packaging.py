"""Wheel and sdist, in an environment that holds nothing but what they ask for."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from kdegraph.runtime.cache import CACHE_DIR

from scripts.release import faults_of_sdist

ROOT = Path(__file__).parents[2]
SMOKE = """
import numpy as np, kdegraph, kdegraph_explorer, kdegraph_explorer.app
X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [20, 0]], 30, axis=0)
graph = kdegraph.similarity_graph(X, sigma=1.0, n_rounds=10, seed=0)
assert 0 < graph.n_edges <= 600, graph.n_edges
labels = kdegraph_explorer.Explorer(X, sigma=1.0, n_clusters=2).labels
assert len(set(labels[:30])) == len(set(labels[30:])) == 1 and labels[0] != labels[-1], labels
print(kdegraph.__file__)
print(kdegraph.__version__)
"""
COMPILE = "import kdegraph; kdegraph.kernel_sum([[0.0]], sigma=1.0, method='direct')"

# Type checkers and editors look for these, and lazy imports follow the stub.
TYPED = {"kdegraph/py.typed", "kdegraph/__init__.pyi", "kdegraph_explorer/py.typed"}


def run(*command, cwd, **environment):
    """Return the output of a command, which must succeed."""
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_"))
    }
    done = subprocess.run(
        command, cwd=cwd, env={**clean, **environment}, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the sdist and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return folder


def sources():
    """All files of the two packages, as an installed package names them."""
    roots = (ROOT / "core", ROOT / "explorer")
    return {
        path.relative_to(root).as_posix()
        for root in roots
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_wheel_holds_both_packages_and_nothing_else(built):
    (wheel,) = built.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == sources()
    assert names >= TYPED


def test_sdist_holds_what_a_build_and_the_tests_need(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    files = (
        "pyproject.toml README.md LICENSE Makefile constraints.txt apps/explorer.py CITATION.cff"
    )
    assert names >= {*files.split(), "tests/conftest.py"}
    assert names >= {f"core/{name}" for name in TYPED if name.startswith("kdegraph/")}
    assert "explorer/kdegraph_explorer/py.typed" in names
    assert faults_of_sdist(sdist) == []
    assert not any(".venv" in name or "__pycache__" in name for name in names)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_wheel_works_in_an_empty_environment(built, tmp_path):
    (wheel,) = built.glob("*.whl")
    venv.create(tmp_path / "venv")
    bin_folder = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    python = bin_folder / "python"
    options = ("-q", "--no-compile", "-c", ROOT / "constraints.txt")
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", *options, f"{wheel}[explorer]", cwd=tmp_path)
    # An installed package may belong to root: nothing is written beside it, the cache has a place
    # of its own.
    environment = {
        "PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode"),
        "KDEGRAPH_CACHE_DIR": str(tmp_path / "cache"),
    }
    locate = "import kdegraph; print(kdegraph.__file__)"
    where = run(python, "-c", locate, cwd=tmp_path, **environment)
    package = Path(where.strip()).parent
    folders = (package, package.parent / "kdegraph_explorer")
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            path.chmod(path.stat().st_mode & ~0o222)
    before = {path for folder in folders for path in folder.rglob("*")}
    run(python, "-c", COMPILE, cwd=tmp_path, **environment)
    assert any((tmp_path / "cache").rglob("*.nbc")), "compiled code is kept in KDEGRAPH_CACHE_DIR"
    # The rest is compiled already: the kernels are those of the checkout.
    environment["KDEGRAPH_CACHE_DIR"] = str(CACHE_DIR.parent)
    printed = run(python, "-c", SMOKE, cwd=tmp_path, **environment)
    used, version = printed.strip().splitlines()[-2:]
    assert version == wheel.name.split("-")[1]
    assert Path(used).is_relative_to(tmp_path)
    assert {path for folder in folders for path in folder.rglob("*")} == before
    assert "cluster" in run(bin_folder / "kdegraph", "--help", cwd=tmp_path)
    for folder in folders:  # so that pytest can clear up
        for path in (folder, *folder.rglob("*")):
            path.chmod(path.stat().st_mode | 0o200)
