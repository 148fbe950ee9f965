"""The explorer in notebooks, and the example notebooks, which run from top to bottom."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import panel as pn
import panel_material_ui as pmui
import pytest
from kdegraph.runtime.jit import COMPILING
from kdegraph_explorer.jobs import Mailbox
from kdegraph_explorer.patches.jupyter_bokeh import live_model
from kdegraph_explorer.views.browser import Browser
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.name)
def test_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), (
        "examples are kept without outputs"
    )
    client = NotebookClient(
        notebook,
        timeout=240,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    with ThreadPoolExecutor(1) as pool:  # its event loop must not meet one of another test
        pool.submit(
            asyncio.run, client.async_execute()
        ).result()  # closes its loop, which client.execute does not
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert outputs
    errors = [
        output.text
        for output in outputs
        if output.output_type == "stream" and output.name == "stderr"
    ]
    assert set("".join(errors).splitlines()) <= {COMPILING}


def test_messages_of_a_notebook_are_dealt_with_on_the_session_s_thread():
    # Kernels hand over the messages of widgets in threads of their own.
    slider = pmui.IntSlider(value=1, start=0, end=10)
    threads = []
    slider.param.watch(lambda event: threads.append(threading.get_ident()), "value")

    async def show_and_move():
        widget = live_model(slider, Mailbox().post)
        assert not widget.combine_events  # these wait for a kernel that may not answer
        [model] = (model for model in widget._document.models if hasattr(model, "value"))
        content = {
            "event": "jsevent",
            "kind": "ModelChanged",
            "model": model.ref,
            "attr": "value",
            "new": 7,
        }
        with ThreadPoolExecutor(1) as kernel:
            kernel.submit(widget._handle_custom_msg, content, []).result()
        await asyncio.sleep(0)
        return threading.get_ident()

    owner = asyncio.run(show_and_move())
    assert slider.value == 7
    assert threads == [owner]


def test_messages_for_a_component_reach_the_notebook(monkeypatch):
    browser, sent = Browser(print), []
    widget = live_model(pn.Column(browser), Mailbox().post)
    monkeypatch.setattr(widget, "send", lambda content, buffers=None: sent.append(content))
    browser.save("labels.csv", b"1,2")
    (events,) = (
        json.loads(content["payload"])["events"]
        for content in sent
        if "events" in content.get("payload", "")
    )
    (event,) = events
    values = dict(event["msg_data"]["values"]["entries"])
    assert [*values["model"]] == ["id"]  # a reference to what the page has already
    assert ["name", "labels.csv"] in values["data"]["entries"]


def test_a_page_that_is_loaded_again_gets_what_is_there_now():
    slider = pmui.IntSlider(value=1, start=0, end=10)
    widget = live_model(slider, Mailbox().post)
    slider.value = 7
    (bundle,) = (json.loads(text) for text in [widget.get_state()["render_bundle"]])
    (document,) = bundle["docs_json"].values()
    values = [root["attributes"]["data"]["attributes"]["value"] for root in document["roots"]]
    assert values == [7]
