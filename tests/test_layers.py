"""The library knows no user interface."""

import ast
import subprocess
import sys
from pathlib import Path

import kdegraph
import pytest

CORE = Path(kdegraph.__file__).parent
INTERFACE = {
    "panel",
    "panel_material_ui",
    "holoviews",
    "hvplot",
    "bokeh",
    "datashader",
    "matplotlib",
    "IPython",
    "ipywidgets",
    "kdegraph_explorer",
}


def imported(tree):
    """Top-level names of the packages that a module imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize(
    "path", sorted(CORE.rglob("*.py")), ids=lambda path: path.relative_to(CORE).as_posix()
)
def test_core_module_imports_no_interface(path):
    # The command line starts the explorer, inside the one command that does so.
    allowed = {"kdegraph_explorer"} if path == CORE / "cli" / "explore.py" else set()
    assert not set(imported(ast.parse(path.read_text()))) & INTERFACE - allowed


def test_import_loads_no_interface():
    code = f"import kdegraph, sys; print(sorted({INTERFACE!r} & set(sys.modules)))"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )
