"""Notebooks of marimo in a real browser, without a network: the explorer is in a frame."""

import sys

import pytest
from browser.explorer_page import ExplorerPage

NOTEBOOK = """
import marimo

app = marimo.App(width="full")


@app.cell
def _():
    import marimo as mo
    from kdegraph.datasets import make
    from kdegraph_explorer import Explorer
    return Explorer, make, mo


@app.cell
def _(Explorer, make):
    explorer = Explorer(make("moons", n=1000, seed=0), sigma=0.1, n_clusters=2)
    explorer
    return (explorer,)


@app.cell
def _(Explorer, make):
    other = Explorer(make("moons", n=600, seed=1), sigma=0.1, n_clusters=2)
    other
    return (other,)


@app.cell
def _(mo):
    read, change = mo.ui.run_button(label="Read"), mo.ui.run_button(label="Change")
    mo.hstack([read, change])
    return change, read


@app.cell
def _(explorer, mo, other, read):
    mo.stop(not read.value)
    found = len(set(explorer.labels)), len(set(other.labels)), explorer.selection.tolist()
    mo.md(f"Found: {found}")
    return


@app.cell
def _(change, explorer):
    if change.value:
        explorer.sigma = 0.3
        explorer.n_clusters = 3
        explorer.selection = [5, 2, 3]
    return


@app.cell
def _(explorer):
    explorer.views["spectrum"]
    return


if __name__ == "__main__":
    app.run()
"""


@pytest.fixture
def marimo(serve, tmp_path_factory):
    """The address at which it shows the notebook."""
    folder = tmp_path_factory.mktemp("marimo")
    notebook = folder / "notebook.py"
    notebook.write_text(NOTEBOOK)
    settings = folder / "marimo" / "marimo.toml"
    settings.parent.mkdir()
    settings.write_text("[runtime]\nauto_instantiate = true\n")
    command = [sys.executable, "-m", "marimo", "edit", str(notebook), "--headless"]
    address, _ = serve(
        [*command, "--no-token", "--host", "localhost", "--port", "{port}"],
        XDG_CONFIG_HOME=str(folder),
        MARIMO_SKIP_UPDATE_CHECK="1",
    )
    return address


def explorer_in(page, number):
    """The explorer in the frame of that number, from 1, once it has its first result."""
    frame = page.locator("iframe.kg-frame").nth(number - 1).element_handle().content_frame()
    frame.locator(".kg-status").filter(has_text="points in").wait_for()
    return ExplorerPage(frame).settle()


def read(page, expected):
    """Have Python say what it reads."""
    page.get_by_role("button", name="Read", exact=True).click()
    page.get_by_text(f"Found: {expected}").wait_for()


def test_explorers_in_marimo(marimo, new_page, tmp_path):
    page = new_page(viewport={"width": 1500, "height": 2600})
    page.goto(marimo)
    first, second = explorer_in(page, 1), explorer_in(page, 2)
    assert first.status() == "moons: 1,000 points in 2 dimensions, 2 clusters"
    assert second.status() == "moons: 600 points in 2 dimensions, 2 clusters"
    page.get_by_text("In marimo, a view is shown as a part of its explorer.").wait_for()
    # What is done in the frames is read in Python, and the other way round.
    first.set_slider("Clusters k", 2)
    first.expect_status(", 4 clusters")
    second.set_slider("Clusters k", 1)
    second.expect_status(", 3 clusters")
    read(page, (4, 3, []))
    page.get_by_role("button", name="Change", exact=True).click()
    first.expect_status(", 3 clusters")
    first.expect_selection([2, 3, 5])
    first.page.get_by_text("Kernel width σ: 0.3").wait_for()
    read(page, (3, 3, [2, 3, 5]))
    assert second.status() == "moons: 600 points in 2 dimensions, 3 clusters"
    second.upload_large(tmp_path)
    page.reload()
    first = explorer_in(page, 1)
    assert first.status() == "moons: 1,000 points in 2 dimensions, 3 clusters"
    first.set_slider("Clusters k", 1)
    first.expect_status(", 4 clusters")
    read(page, (4, 3, [2, 3, 5]))
    cell = page.locator(".marimo-cell").filter(has_text="n=1000")
    cell.locator(".cm-content").click()
    before = page.locator("iframe.kg-frame").first.get_attribute("src")
    page.keyboard.press("Control+Enter")
    page.wait_for_function(
        "before => document.querySelector('iframe.kg-frame').src !== before", arg=before
    )
    first = explorer_in(page, 1)
    assert first.status() == "moons: 1,000 points in 2 dimensions, 2 clusters"
    first.set_slider("Clusters k", 3)
    first.expect_status(", 5 clusters")
    read(page, (5, 3, []))
