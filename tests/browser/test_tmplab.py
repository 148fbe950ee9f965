"""The example notebook in a real JupyterLab, without a network."""

import re
import shutil
import sys
from collections import Counter

import pytest
from browser.explorer_page import PATIENCE, ExplorerPage

NOTEBOOK = "explore.ipynb"
SETTINGS = {
    "@jupyterlab/apputils-extension/notification.jupyterlab-settings": '{"fetchNews": "false", "checkForUpdates": false}',
    "@jupyterlab/notebook-extension/tracker.jupyterlab-settings": '{"autoStartDefaultKernel": true}',
}


@pytest.fixture(scope="module")
def lab(serve, tmp_path_factory, pytestconfig):
    """Address of a JupyterLab of our own that has the example notebook open."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copy(pytestconfig.rootpath / "examples" / NOTEBOOK, folder)
    for name, content in SETTINGS.items():
        path = folder / "settings" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    places = {name: str(folder / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
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
    options = ["--IdentityProvider.token=", f"--ServerApp.root_dir={folder}", "--LabApp.news_url=None", "--LabApp.collaborative=False"]
    address, _ = serve(
        [*command, *options],
        path=f"/lab/tree/{NOTEBOOK}",
        JUPYTERLAB_SETTINGS_DIR=str(folder / "settings"),
        JUPYTERLAB_WORKSPACES_DIR=str(folder / "workspaces"),
        **places,
    )
    return address


@pytest.mark.timeout(300)
def test_explorer_in_jupyterlab(lab, new_page):
    page = new_page(viewport={"width": 1600, "height": 1400})
    page.goto(lab)
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=PATIENCE)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name=re.compile("^Restart Kernel and Run All")).click()
    page.get_by_role("button", name="Confirm Kernel Restart").click()
    page.locator(".kg-status").first.wait_for(timeout=60000)
    page.wait_for_timeout(6000)
    print("COUNT", page.get_by_role("slider").count(), page.locator(".kg-main").count())
    page.locator(".kg-main").first.scroll_into_view_if_needed()
    page.screenshot(path="/tmp/shots/lab.png")
    b = page.get_by_role("slider", name="Kernel width σ").first
    b.focus(timeout=5000)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(4000)
    print(
        "STATUS", page.locator(".kg-status div").first.inner_text(), b.get_attribute("aria-valuenow"), ExplorerPage(page).eigenvalues()[:4]
    )
    page.screenshot(path="/tmp/shots/lab2.png")


def code_cell(page, number):
    """The code cell of that number, from 1."""
    return page.locator(".jp-CodeCell").nth(number - 1)


def output_of(page, number):
    """The text that a cell has printed."""
    return code_cell(page, number).locator(".jp-OutputArea-output").inner_text().strip()


def expect_output(page, number, text):
    """Wait until a cell has printed `text`."""
    code_cell(page, number).locator(".jp-OutputArea-output").filter(has_text=text).wait_for(timeout=PATIENCE)
