"""Servers of the explorer in processes of their own."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from explorer_actions import PATIENCE

# The command with a page that is made quickly.
QUICK = """
import sys
import panel as pn
from kdegraph.cli import main
from kdegraph_explorer import app

app.create_app = lambda file, checked, kept: pn.pane.Str("a quick page")
app.process.start = lambda: None
main(sys.argv[1:])
"""
EXPLORE = ("explore", "--no-browser", "--port", "0")


class Served:
    """A server that is started by a command of Python, and prints its address.

    It is a context: on entry it waits until the server has said where it is, and ends it at last.

    Attributes
    ----------
    address : str
    said : str
        What it has printed.
    """

    def __init__(self, command, log, folder=None, **environment):
        self._log = Path(log)
        with self._log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, *command],
                cwd=folder,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def __enter__(self):
        end = time.monotonic() + PATIENCE
        while not (address := re.search(r"(http://\S+).*\n", said := self._log.read_text())):
            assert self._process.poll() is None, said
            assert time.monotonic() < end, said
            time.sleep(0.1)
        self.address, self.said = address[1], said
        return self

    def __exit__(self, *error):
        self._process.kill()
        self._process.wait(PATIENCE)
