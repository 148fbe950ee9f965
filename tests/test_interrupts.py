"""Ctrl+C, and the stop button of a notebook, at any moment: the process lives on, and works."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("interrupts.py")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_interrupts_at_random_moments(seed):
    command = [sys.executable, str(PROGRAM), "--count", "80", "--scale", "500", "--seed", str(seed)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=250)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout.split("survived ")[1].split()[0]) > 20, run.stdout
