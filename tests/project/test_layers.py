"""Imports follow the data, and the library knows no user interface."""

import ast
import subprocess
import sys
from pathlib import Path

import kdegraph
import pytest

CORE = Path(kdegraph.__file__).parent
MODULES = sorted(CORE.rglob("*.py"))
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

# From what is imported by all to what imports all: a module imports from its own layer's folder and
# from the lines above it.
LAYERS = (
    {"validation"},
    {"runtime"},
    {"eigengap"},
    {"costs"},
    {"geometry"},
    {"bandwidth"},
    {"kde"},
    {"sampling"},
    {"adjacency"},
    {"graph_files"},
    {"baselines", "graph"},
    {"spectral"},
    {"clustering"},
    {"estimators"},
    {"io"},
    {"datasets"},
    {"warmup"},
    {"cli"},
    {"__main__"},
)
LAYER = {room: number for number, rooms in enumerate(LAYERS) for room in rooms}


def imported(tree):
    """Top-level names of the packages that a module imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(CORE).as_posix())
def test_core_module_imports_no_interface(path):
    # The command line starts the explorer, inside the one command that does so.
    allowed = {"kdegraph_explorer"} if path == CORE / "cli" / "explore.py" else set()
    assert not set(imported(ast.parse(path.read_text()))) & INTERFACE - allowed


def imported_rooms(tree):
    """First names below `kdegraph` of all modules that a module imports; public names have none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "kdegraph":
            names = node.module.split(".")[1:2] or [alias.name for alias in node.names]
            yield from (name for name in names if name in LAYER)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(CORE).as_posix())
def test_imports_follow_the_data(path):
    room = path.relative_to(CORE).with_suffix("").parts[0]
    if room == "__init__":
        return
    for other in imported_rooms(ast.parse(path.read_text())):
        assert other == room or LAYER[other] < LAYER[room], f"{room} imports {other}"


def test_every_module_has_a_layer():
    assert {path.relative_to(CORE).with_suffix("").parts[0] for path in MODULES} == {
        *LAYER,
        "__init__",
    }


def test_import_loads_no_interface():
    code = f"import kdegraph, sys; print(sorted({INTERFACE!r} & set(sys.modules)))"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )
