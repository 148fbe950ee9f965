"""The scripts, style sheets and icons of the package."""

import ast
from pathlib import Path

import kdegraph_explorer
from kdegraph_explorer.assets import STATIC

PACKAGE = Path(kdegraph_explorer.__file__).parent


def named_files():
    """The files that the modules of the package name."""
    endings = {"script": "js", "style_sheet": "css", "icon": "svg"}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in endings:
                name = ast.literal_eval(node.args[0])
                yield f"{name}.{endings[ast.unparse(node.func)]}"


def test_every_file_is_used_and_every_name_has_a_file():
    assert set(named_files()) == {path.name for path in STATIC.iterdir()}


def test_no_style_sheet_or_script_is_written_in_python():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert ":host" not in node.value, path.name
                assert "function render" not in node.value, path.name
