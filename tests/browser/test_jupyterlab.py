"""The example notebook in a real JupyterLab, without a network."""

import re
import shutil
import sys

import pytest
from browser.explorer_page import PATIENCE, ExplorerPage

NOTEBOOK = "explore.ipynb"
SETTINGS = {"@jupyterlab/apputils-extension/notification.jupyterlab-settings": '{"fetchNews": "false", "checkForUpdates": false}'}


@pytest.fixture(scope="module")
def lab(serve, tmp_path_factory, pytestconfig):
    """Address of a JupyterLab of our own that has the example notebook open."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copy(pytestconfig.rootpath / "examples" / NOTEBOOK, folder)
    for name, content in SETTINGS.items():
        path = folder / "settings" / name
        path.parent.mkdir(parents=True)
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
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for(timeout=PATIENCE)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name=re.compile("^Run All( Cells)?$")).click()
    explorer = ExplorerPage(page)
    explorer.settle()
    before = explorer.eigenvalues()
    page.screenshot(path="/tmp/setup/lab.png")
    assert len(before) > 2
