"""Programs that tests run in a process of their own."""

import os
import subprocess
import sys


def run(program, *arguments, cwd=None, timeout=250, **environment):
    """Run Python code, which is text, or the Python file of a path; warnings are errors.

    Returns the `CompletedProcess`. An exit status other than 0 fails with what the program wrote.
    """
    code = ["-c"] if isinstance(program, str) else []
    done = subprocess.run(
        [sys.executable, "-W", "error", *code, program, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=os.environ | environment,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr
    return done
