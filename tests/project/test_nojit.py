"""Tests marked `nojit` once more with kernels as plain Python, which checks bounds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="this is that run already")
def test_engine_without_compiler():
    root = Path(__file__).parents[2]
    plugins = ["-p", "no:cacheprovider", "-p", "no:xdist"]
    marked = [path for path in root.glob("tests/*/test_*.py") if "mark.nojit" in path.read_text()]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "nojit", *plugins, *marked]
    run = subprocess.run(
        command,
        cwd=root,
        capture_output=True,
        text=True,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        timeout=280,
    )
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
