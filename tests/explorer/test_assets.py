"""The scripts, style sheets and pictures of the package."""

import ast
import re
from pathlib import Path

import kdegraph_explorer
from kdegraph_explorer.assets import SIZES, STATIC, style_sheet

PACKAGE = Path(kdegraph_explorer.__file__).parent


def named_files():
    """The files that the modules and the style sheets of the package name."""
    endings = {
        "script": "js",
        "script_of_elements": "js",
        "style_sheet": "css",
        "styled_text": "css",
        "icon": "svg",
        "template": "html",
    }
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            called = isinstance(node, ast.Call) and endings.get(ast.unparse(node.func))
            if called and isinstance(node.args[0], ast.Constant):  # elsewhere it is passed on
                yield f"{node.args[0].value}.{called}"
    for path in STATIC.glob("*.css"):
        yield from re.findall(r"url\((.+\.png)\)", path.read_text())


def test_every_file_is_used_and_every_name_has_a_file():
    # `script_of_elements` puts that file before others.
    assert {"elements.js", *named_files()} == {path.name for path in STATIC.iterdir()}


def test_no_style_sheet_or_script_is_written_in_python():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert ":host" not in node.value, path.name
                assert "function render" not in node.value, path.name


def test_letters_have_the_sizes_of_one_scale():
    sized = re.compile(r"font(?:-size)?: [^;]*\d(?:px|rem|pt)")
    for path in STATIC.glob("*.css"):
        assert not sized.findall(path.read_text()), path.name
        found = style_sheet(path.stem)
        assert "--kg-small" not in found
        assert "--kg-text" not in found
        assert set(re.findall(r"font-size: (\d+px)", found)) <= set(SIZES.values())
    for path in PACKAGE.rglob("*.py"):
        assert not re.search(r"font-?_?size\": \"\d", path.read_text(), re.IGNORECASE), path.name
