"""The explorer as a program that serves a page."""

import re
import subprocess
import sys
import urllib.request

import pytest
from explorer_objects import PATIENCE


@pytest.fixture
def served(tmp_path):
    """Starts `serve` with arguments in a process of its own; returns the address that it prints."""
    running = []

    def start(*arguments):
        code = "import ast, sys; from kdegraph_explorer.app import serve; serve(*map(ast.literal_eval, sys.argv[1:]))"
        process = subprocess.Popen([sys.executable, "-c", code, *map(repr, arguments)], stdout=subprocess.PIPE, text=True)
        running.append(process)
        return re.search(r"http://\S+", process.stdout.readline()).group()

    yield start
    for process in running:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def test_serves_a_page_that_names_no_other_host(served):
    address = served(None, "127.0.0.1", 0)
    with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
        page = answer.read().decode()
    assert "<title>kdegraph explorer</title>" in page
    loaded = re.findall(r"""(?:src|href)=["']([^"']+)""", page)
    assert loaded
    assert not [reference for reference in loaded if re.match(r"(https?:)?//", reference)]
