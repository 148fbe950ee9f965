"""Read the files that commands write, check their errors, and start them as processes."""

import subprocess
import sys

import numpy as np


def column(path, name="label"):
    """Return a column of whole numbers of a CSV file."""
    lines = path.read_text().splitlines()
    index = lines[0].split(",").index(name)
    return np.array([int(line.split(",")[index]) for line in lines[1:]])


def same_partition(a, b):
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


def assert_refused(result, *words, code=2):
    """Assert one line on standard error, nothing on standard output, and the exit code."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("Error: ")
    for word in words:
        assert word in lines[0]


def start(*command, **options):
    """Start a command in a process of its own, whose streams are pipes unless others are given."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [sys.executable, "-m", "kdegraph", *map(str, command)]
    return subprocess.Popen(command, **pipes | options)
