"""The example notebook in a real JupyterLab, without a network."""

import re
import shutil
import sys
from collections import Counter

import pytest
from browser.explorer_page import ExplorerPage

NOTEBOOK = "explore.ipynb"
SETTINGS = {
    "apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',
    "notebook-extension/tracker": '{"autoStartDefaultKernel": true}',
}


@pytest.fixture(scope="module")
def lab(serve, tmp_path_factory, pytestconfig):
    """Address of a JupyterLab of our own that has the example notebook open."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copy(pytestconfig.rootpath / "examples" / NOTEBOOK, folder)
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
    ]
    address, _ = serve(
        [*command, *options],
        path=f"/lab/tree/{NOTEBOOK}",
        JUPYTERLAB_SETTINGS_DIR=str(folder / "settings"),
        JUPYTERLAB_WORKSPACES_DIR=str(folder / "workspaces"),
        **places,
    )
    return address


def test_explorer_in_jupyterlab(lab, new_page):
    # JupyterLab's debugger says so whenever it restarts a kernel.
    page = new_page(
        ignore="Could not restore the debugger state", viewport={"width": 1600, "height": 1400}
    )
    sent = []  # what the page sends to the kernel
    page.on("websocket", lambda socket: socket.on("framesent", lambda data: sent.append(data)))
    page.goto(lab)
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name=re.compile("^Restart Kernel and Run All")).click()
    page.get_by_role("button", name="Confirm Kernel Restart").click()
    expect_output(page, 4, "points per cluster")
    page.locator(".kg-status").wait_for()
    # The explorer shows itself and is live: moving sigma changes what it shows, and what Python
    # reads back.
    explorer = ExplorerPage(page, notebook=True).settle()
    assert "3,000 points in 2 dimensions, 2 clusters" in explorer.status()
    assert set(output_of(page, 4).splitlines()) == {"sigma 0.1", "points per cluster [1500, 1500]"}
    explorer.change(lambda: explorer.set_slider("Kernel width σ", -60))
    explorer.set_slider("Clusters k", 2)
    explorer.expect_status(", 4 clusters")
    code_cell(page, 4).locator(".jp-InputArea-editor").click()
    page.keyboard.press("Control+Enter")
    expect_output(page, 4, "sigma 0.0251")
    sizes = re.search(r"\[(.*)\]", output_of(page, 4)).group(1).split(", ")
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


def code_cell(page, number):
    """The code cell of that number, from 1."""
    return page.locator(".jp-CodeCell").nth(number - 1)


def output_of(page, number):
    """The text that a cell has printed."""
    return code_cell(page, number).locator(".jp-OutputArea-output").inner_text().strip()


def expect_output(page, number, text):
    """Wait until a cell has printed `text`."""
    code_cell(page, number).locator(".jp-OutputArea-output").filter(has_text=text).wait_for()
