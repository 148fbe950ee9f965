"""Notebooks in a real JupyterLab and in Jupyter Notebook 7, without a network."""

import re
import shutil
import subprocess
import sys
from collections import Counter

import nbformat
import pytest
from browser.explorer_page import ExplorerPage
from browser.screenshots import hidden, name_of
from nbformat.v4 import new_code_cell, new_notebook

# Where the applications show a notebook.
JUPYTERLAB, NOTEBOOK_7 = "lab/tree/{}?reset", "notebooks/{}"
# What they say by themselves: their debugger whenever it restarts a kernel, and Notebook 7 (7.6)
# about parts of JupyterLab that it does not have.
THEIR_OWN = (
    "Could not restore the debugger state",
    "Cannot read properties of undefined (reading 'schema')",
    "Command 'filebrowser:open-path' not registered",
)
LOST = "widget model not found"  # see `load_again`
SETTINGS = {
    "apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',
    "notebook-extension/tracker": '{"autoStartDefaultKernel": true, "windowingMode": "none"}',
}
CELLS = (
    "from kdegraph_explorer import Explorer\n"
    "from kdegraph.datasets import make\n"
    'explorer = Explorer(make("moons", n=1000, seed=0), sigma=0.1, n_clusters=2)',
    "explorer",
    'explorer.views["spectrum"]',
    "import numpy\nexplorer.n_clusters, explorer.sigma, numpy.bincount(explorer.labels).tolist()",
)
INSIDE = 'import ipywidgets\nipywidgets.VBox([ipywidgets.Label("Around it"), explorer.ipywidget()])'
CHOOSE_THEME = """theme =>
  jupyterapp.commands.execute("apputils:change-theme", {theme})"""
SCREENSHOTS = ("Graphs", "light"), ("Graphs", "dark"), ("Rows", "dark")  # plots, and wide tables
WINDOW = {"width": 1600, "height": 1400}
MAX_SAVED = 1_000_000  # bytes of a saved notebook
SHOWN_PICTURE = "img.kg-snapshot:visible"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder with the notebooks."""
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="module")
def lab(serve, folder):
    """Address of a server of our own; the place of an application comes behind it."""
    for name, content in SETTINGS.items():
        path = folder / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    places = {
        name: str(folder / name.lower())
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    command = [
        sys.executable,
        "-m",
        "jupyter",
        "lab",
        "--allow-root",
        "--no-browser",
        "--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
    ]
    options = [
        "--IdentityProvider.token=",
        f"--ServerApp.root_dir={folder}",
        "--LabApp.news_url=None",
        "--LabApp.collaborative=False",
        "--LabApp.expose_app_in_browser=True",
    ]
    address, _ = serve(
        [*command, *options],
        path="/",
        JUPYTERLAB_SETTINGS_DIR=str(folder / "settings"),
        JUPYTERLAB_WORKSPACES_DIR=str(folder / "workspaces"),
        **places,
    )
    return address


@pytest.fixture
def open_notebook(lab, new_page):
    """Opens a notebook in a page, and waits for its kernel."""

    def open(name, application=JUPYTERLAB, ignore=THEIR_OWN):
        page = new_page(ignore=ignore, viewport=WINDOW)
        return load(page, lab + application.format(name))

    return open


def load(page, address):
    """Load a notebook in a page, and wait for its kernel."""
    # A notebook without a kernel is said to be idle, too. A kernel that is told to restart before
    # it is connected may not come back, or speaks an old protocol.
    with page.expect_websocket(lambda socket: "/channels" in socket.url):
        page.goto(address)
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()
    return page


def load_again(page, explorer, address):
    """Load a notebook again whose kernel lives, until its two explorers are there.

    JupyterLab looks for a widget for 2 s. If the kernel answers at the end of them, JupyterLab may
    have all widgets and still say that one is not there, until the page is loaded once more.
    """
    lost = page.get_by_text("model not found")
    places = [
        code_cell(page, 2).locator(".kg-status"),
        code_cell(page, 3).locator(".kg-kde-spectrum"),
    ]
    for _ in range(5):
        load(page, address)
        explorer.until(
            lambda: lost.count() or all(place.count() for place in places), "they are there or lost"
        )
        if not lost.count():
            break


def run_all(page):
    """Run all cells in a new kernel."""
    page.get_by_role("menuitem", name="Kernel", exact=True).click()
    page.get_by_role("menuitem", name=re.compile("^Restart Kernel and Run All")).click()
    page.get_by_role("button", name="Confirm Kernel Restart").click()


def explore(open_notebook, folder, application=JUPYTERLAB, shown=CELLS[1]):
    """Run a notebook, and wait for the explorer that a cell has `shown`.

    Returns its page, and a list of what that sends to the kernel.
    """
    cells = [new_code_cell(source) for source in (CELLS[0], shown, *CELLS[2:])]
    nbformat.write(new_notebook(cells=cells), folder / "short.ipynb")
    page, sent = open_notebook("short.ipynb", application, (*THEIR_OWN, LOST)), []
    page.on("websocket", lambda socket: socket.on("framesent", lambda data: sent.append(data)))
    run_all(page)
    page.locator(".kg-status").filter(has_text="points in").wait_for()
    return page, sent


def test_an_explorer_in_jupyterlab_and_after_it(
    open_notebook, folder, lab, tmp_path, screenshot, subtests
):
    page, sent = explore(open_notebook, folder)
    explorer = ExplorerPage(page, notebook=True).settle()
    check_screenshots(page, explorer, screenshot, subtests)
    explorer.open_view("Graphs")
    check_python_reads(page, explorer, sent)
    check_width(page, explorer)
    check_keys(page)
    check_the_picture_outlives_its_kernel(page, open_notebook, folder, lab, tmp_path)
    explorer.upload_large(tmp_path)


def test_an_explorer_within_another_widget_in_notebook_7(open_notebook, folder):
    page, _ = explore(open_notebook, folder, NOTEBOOK_7, INSIDE)
    box = code_cell(page, 2).locator(".widget-vbox")
    box.get_by_text("Around it").wait_for()
    box.locator(".kg-status").filter(has_text="1,000 points in 2 dimensions").wait_for()
    code_cell(page, 3).locator(".kg-kde-spectrum").wait_for()
    explorer = ExplorerPage(page, notebook=True).settle()
    explorer.set_slider("Clusters k", 1)
    explorer.expect_status(", 3 clusters")
    read(page, "(3, 0.1")


def read(page, words):
    """Run the last cell, which reads what is chosen, and return what it says."""
    code_cell(page, 4).locator(".jp-InputArea-editor").click()
    page.keyboard.press("Control+Enter")
    output = code_cell(page, 4).locator(".jp-OutputArea-output").filter(has_text=words)
    output.wait_for()
    return output.inner_text()


def check_python_reads(page, explorer, sent):
    """Sliders change what the explorer shows, and what Python reads back."""
    undo = page.locator(".kg-undo button").first
    assert undo.inner_text().strip() == ""  # an icon, and not the name of one
    explorer.change(lambda: explorer.set_slider("Kernel width σ", -10))
    explorer.set_slider("Clusters k", 2)
    explorer.expect_status(", 4 clusters")
    sizes = re.search(r"\[(.*)\]", read(page, "(4, 0.0794")).group(1).split(", ")
    assert len(sizes) == 4
    expected = sorted(map(int, sizes))  # a notebook does not say when it has drawn
    explorer.until(
        lambda: sorted(Counter(explorer.colors()).values()) == expected,
        f"the clusters have {expected} points",
    )
    # What the kernel has sent, such as the data of plots, does not come back.
    messages = [data for data in sent if isinstance(data, bytes) and b"comm_msg" in data]
    assert messages
    assert not any(b"ndarray" in message for message in messages)
    explorer.set_slider("Clusters k", -2)
    explorer.expect_status(", 2 clusters")


def check_width(page, explorer):
    """The window is wide, and the cell is not: what it shows is one below the other, and whole."""
    header = page.locator(".kg-status").bounding_box()
    plot = page.locator(".kg-kde-points").first.bounding_box()
    assert plot["y"] - header["y"] < 120  # the bar is as low as on a page
    page.set_viewport_size({**WINDOW, "width": 1100})
    explorer.until(lambda: lowest_plot_is_below(page), "the plots follow the width of the cell")
    scores = page.locator(".kg-scores")
    table, place = scores.locator("table").bounding_box(), scores.bounding_box()
    assert table["x"] + table["width"] <= place["x"] + place["width"] + 1
    page.set_viewport_size(WINDOW)


def lowest_plot_is_below(page):
    upper, lower = (
        page.locator(f".kg-{method}-points").bounding_box() for method in ("kde", "knn")
    )
    return lower["y"] >= upper["y"] + upper["height"]


def check_keys(page):
    """Keys belong to the explorer or to the notebook, whichever has the focus."""
    n_cells = len(CELLS)
    page.locator(".kg-kde-points").first.click(position={"x": 90, "y": 60})
    for key in "bda":  # JupyterLab would add and delete cells
        page.keyboard.press(key)
    page.keyboard.press("d")
    page.keyboard.press("d")
    page.get_by_role("button", name="Box", exact=True, pressed=True).wait_for()
    assert page.locator(".jp-CodeCell").count() == n_cells
    explorer = ExplorerPage(page, notebook=True).settle()
    # Where the page moves under the mouse, a click goes to another place.
    while not page.evaluate("document.activeElement.matches('.cm-content')"):
        code_cell(page, 4).locator(".jp-InputArea-editor").click()
        page.wait_for_timeout(200)
    page.keyboard.press("End")
    page.keyboard.type(" # me")  # keys of the explorer
    assert "# me" in code_cell(page, 4).locator(".jp-InputArea-editor").inner_text()
    page.get_by_role("button", name="Box", exact=True, pressed=True).wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    page.wait_for_function(
        "n => document.querySelectorAll('.jp-CodeCell').length === n", arg=n_cells + 1
    )
    # What is chosen in the explorer reaches the kernel.
    explorer.settle()
    explorer.set_slider("Clusters k", 1)
    explorer.expect_status(", 3 clusters")


def check_the_picture_outlives_its_kernel(page, open_notebook, folder, lab, tmp_path):
    """The explorer outlives its page, and its picture outlives its kernel."""
    single = code_cell(page, 3).locator(".kg-kde-spectrum")
    single.wait_for()
    explorer = ExplorerPage(page, notebook=True).settle()
    assert not page.locator(SHOWN_PICTURE).count()
    explorer.change(lambda: explorer.set_slider("Clusters k", 1))
    explorer.expect_status(", 4 clusters")
    read(page, "(4, 0.0794")
    page.locator("img.kg-snapshot[alt*='4 clusters']").first.wait_for(state="attached")
    page.keyboard.press("Control+s")
    path = folder / "short.ipynb"
    explorer.until(lambda: "4 clusters" in path.read_text(), "the notebook is saved")
    assert path.stat().st_size < MAX_SAVED
    said = []
    page.on("console", lambda message: said.append(message.text))
    load_again(page, explorer, lab + JUPYTERLAB.format("short.ipynb"))
    page.locator(".kg-status").filter(has_text="4 clusters").wait_for()
    explorer.until(lambda: not page.locator(SHOWN_PICTURE).count(), "both pictures have gone")
    assert not any("import map" in text for text in said)
    shutil.copy(path, folder / "copy.ipynb")  # has a kernel of its own, without an explorer
    copy = open_notebook("copy.ipynb", ignore=(*THEIR_OWN, LOST))
    copy.locator(SHOWN_PICTURE).first.wait_for()
    copy.wait_for_timeout(3000)
    assert not copy.get_by_text("model not found").locator("visible=true").count()
    command = [sys.executable, "-m", "jupyter", "nbconvert", "--to", "html", str(path)]
    subprocess.run([*command, "--output-dir", str(tmp_path)], check=True, capture_output=True)
    html = (tmp_path / "short.html").read_text()
    assert 'class="kg-snapshot"' in html
    assert "4 clusters" in html


def check_screenshots(page, explorer, screenshot, subtests):
    place = code_cell(page, 2).locator(".kg-explorer")
    for view, theme in SCREENSHOTS:
        name = name_of(view, "jupyterlab", theme)
        with subtests.test(name):
            page.evaluate(CHOOSE_THEME, f"JupyterLab {theme.capitalize()}")
            explorer.open_view(view)
            explorer.expect_theme(theme)
            screenshot(place, name, hide=hidden(page))


def code_cell(page, number):
    """The code cell of that number, from 1."""
    return page.locator(".jp-CodeCell").nth(number - 1)
