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


def test_a_wrong_example_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n```\n\n```pycon\n>>> x + 1\n3\n```\n")
    (report,) = [text for text in run(page, {}) if "Failed example" in text]
    assert "Expected:\n    3\nGot:\n    2\n" in report


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The manual as HTML. A warning is an error: of links that lead nowhere, of pages that cannot
    be reached, and of pictures whose code fails.
    """
    folder = tmp_path_factory.mktemp("manual")
    for name in ("docs", "examples"):  # the gallery is written beside its pages
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "CHANGELOG.md", folder)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "docs", "html"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


def test_every_public_name_is_described(built):
    inventory = InventoryFile.loads((built / "objects.inv").read_bytes(), uri="")
    described = {name for kind in inventory.data for name in inventory.data[kind]}
    public = {f"kdegraph.{name}" for name in kdegraph.__all__}
    public |= {f"kdegraph.datasets.{name}" for name in kdegraph.datasets.__all__}
    public |= {f"kdegraph_explorer.{name}" for name in kdegraph_explorer.__all__}
    assert public <= described


def test_the_help_of_the_commands_is_shown(built):
    page = (built / "api" / "command_line.html").read_text()
    assert "--memory-limit SIZE" in page
    assert "Usage: kdegraph explore" in page


def test_pages_need_no_network(built):
    pages = {path.name: path.read_text() for path in built.rglob("*.html")}
    assert len(pages) > 20
    remote = re.compile(r'(<script[^>]* src|<link[^>]* href|<img[^>]* src)="(https?:)?//')
    assert [name for name, text in pages.items() if remote.search(text)] == []


def test_the_gallery_shows_what_is_in_its_folder(built):
    examples = sorted(path.stem for path in (ROOT / "examples" / "gallery").glob("*.py"))
    assert len(examples) >= 15
    for name in examples:
        assert list((built / "_images").glob(f"sphx_glr_{name}_001*")), f"{name} has no picture"
        assert (built / "gallery" / f"{name}.html").is_file()


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
