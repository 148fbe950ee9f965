"""The manual: its code runs, its pages can be built, and it describes every public name."""

import ast
import doctest
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import kdegraph
import kdegraph_explorer
import numpy as np
import pytest
from sphinx.util.inventory import InventoryFile

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(
    r"^(% not run: [^\n]+\n\n)?```(python|pycon)\n(.*?)^```$", re.DOTALL | re.MULTILINE
)
PAGES = [
    path
    for path in (ROOT / "README.md", *sorted(DOCS.glob("*.md")))
    if BLOCK.search(path.read_text())
]
NOT_RUN = {"% not run: starts processes", "% not run: downloads a model"}
FROM_ELSEWHERE = {"anndata", "scanpy"}  # no extra installs them; what follows needs them, too


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """Pages write files, set the number of threads, and silence warnings."""
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        yield
    kdegraph.set_num_threads(None)


def run(page, names):
    """Run the code of a page in order, and return the reports of the examples that are wrong."""
    text, wrong = page.read_text(), []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for found in BLOCK.finditer(text):
        reason, kind, code = found.groups()
        line = text[: found.start(3)].count("\n")
        if reason:
            assert reason.strip() in NOT_RUN
        elif kind == "python":
            exec(compile("\n" * line + code, page, "exec"), names)
        else:
            test = doctest.DocTestParser().get_doctest(code, {}, page.name, page, line)
            test.globs = names
            runner.run(test, out=wrong.append, clear_globs=False)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_of_a_page_runs(page, own_folder):
    try:
        assert run(page, {"__name__": page.stem}) == []
    except ModuleNotFoundError as error:
        if error.name not in FROM_ELSEWHERE:
            raise


def build(folder):
    """Build the manual as HTML in a copy, as the gallery is written beside its pages. A warning is
    an error: of links that lead nowhere, of pages that cannot be reached, of code that fails.
    """
    for name in ("docs", "examples", "packaging"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "CHANGELOG.md", folder)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "docs", "html"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


def described(html):
    """The names that the reference describes."""
    inventory = InventoryFile.loads((html / "objects.inv").read_bytes(), uri="")
    return {name for kind in inventory.data for name in inventory.data[kind]}


def public():
    """The names that users import."""
    for module in (kdegraph, kdegraph.datasets, kdegraph_explorer):
        yield from (f"{module.__name__}.{name}" for name in module.__all__)


def test_the_manual_is_complete_and_needs_no_network(tmp_path):
    """One test, so that processes that share the tests build the manual once."""
    html = build(tmp_path)
    assert set(public()) <= described(html)
    commands = (html / "api" / "command_line.html").read_text()
    assert "--memory-limit SIZE" in commands
    assert "Usage: kdegraph explore" in commands
    examples = sorted((ROOT / "examples" / "gallery").glob("*.py"))
    assert len(examples) >= 15
    for example in examples:
        assert (html / "gallery" / f"{example.stem}.html").is_file()
        assert list((html / "_images").glob(f"sphx_glr_{example.stem}_001*")), example
    pages = {path.name: path.read_text() for path in html.rglob("*.html")}
    remote = re.compile(r'(<script[^>]* src|<link[^>]* href|<img[^>]* src)="(https?:)?//')
    assert [name for name, text in pages.items() if remote.search(text)] == []


def texts_of_the_library():
    """All literals of the library, with a line break for each formatted value."""
    for path in Path(kdegraph.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                parts = (getattr(part, "value", None) for part in node.values)
                yield "".join(part if isinstance(part, str) else "\n" for part in parts)


def test_messages_on_the_page_of_questions_are_those_of_the_library():
    text = (DOCS / "faq.md").read_text()
    messages = re.findall(r'"([^"]+)"', "".join(re.findall(r"^### (.*)$", text, re.MULTILINE)))
    assert len(messages) > 20
    texts = "\n\n".join(texts_of_the_library())
    fragments = [part.strip() for one in messages for part in re.split(r"\.\.\.|\bX\b", one)]
    assert [part for part in fragments if part not in texts] == []


def test_warnings_and_errors_name_the_entry_that_explains_them():
    text = (DOCS / "faq.md").read_text()
    entries = set(re.findall(r"^\((error-[a-z]+)\)=$", text, re.MULTILINE))
    assert len(entries) >= 14
    assert {name for name in texts_of_the_library() if name.startswith("error-")} == entries
    with pytest.raises(ValueError, match="must be finite") as refused:
        kdegraph.similarity_graph([[0.0], [np.nan]])
    assert refused.value.__notes__ == ["(see faq.html#error-finite in the manual)"]
