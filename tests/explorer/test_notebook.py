"""The explorer in notebooks and in frames, and the example notebooks, which run to their ends."""

import asyncio
import json
import re
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import nbformat
import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.document.models import DocumentModelManager
from bokeh.model import DataModel
from bokeh.models import Column, ImportedStyleSheet, InlineStyleSheet, UIElement
from bokeh.util.token import get_token_payload
from explorer_actions import PATIENCE
from kdegraph import datasets
from kdegraph.runtime.jit import COMPILING
from kdegraph_explorer import Explorer
from kdegraph_explorer.jobs import Mailbox
from kdegraph_explorer.patches.jupyter_bokeh import live_model, scripts
from kdegraph_explorer.patches.panel import HAS_WIDGETS, prepare_for_notebook
from kdegraph_explorer.views.browser import Browser
from nbclient import NotebookClient
from panel.models.esm import ReactComponent

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


def test_what_is_sent_is_made_once_in_a_turn_of_the_event_loop():
    async def ask():
        slider = pmui.IntSlider(value=1, start=0, end=10)
        widget = live_model(slider, Mailbox().post)
        texts = [widget.get_state()["render_bundle"] for _ in "12"]
        slider.value = 7
        await asyncio.sleep(0)
        return [*texts, widget.get_state()["render_bundle"]]

    first, second, later = asyncio.run(ask())
    assert first is second
    assert ['"value":7' in text for text in (first, later)] == [False, True]


def test_a_page_that_is_loaded_again_gets_code_and_style_sheets_once():
    explorer = Explorer(datasets.make("moons", n=60, seed=0), **SMALL)
    place = explorer.__panel__()
    widget = live_model(place, explorer.session.mailbox.post)
    place[0].beats += 1
    explorer.session.mailbox.drain()
    components = widget._model.select({"type": ReactComponent})
    codes = [json.dumps(one.bundle) for one in components if one.class_name == "IntSlider"]
    assert codes
    assert all(code in scripts() for code in codes)
    sheets = {id(sheet): sheet.css for sheet in widget._model.select({"type": InlineStyleSheet})}
    assert sheets
    assert len(set(sheets.values())) == len(sheets)
    # JupyterLab waits for 2 s until it says that there is no such widget.
    assert len(widget.get_state()["render_bundle"]) < 1_500_000  # bytes
    explorer.close()


def test_code_that_the_page_does_not_have_stays_with_its_component():
    own, linked, widget = (
        ReactComponent(bundle=bundle, esm="code", data=DataModel())
        for bundle in (None, "url", "abc")
    )
    prepare_for_notebook(Column(children=[own, linked, widget], tags=[HAS_WIDGETS]))
    assert [own.esm, linked.esm, widget.esm] == ["code", "code", ""]
    widget.esm = "code"
    prepare_for_notebook(Column(children=[widget]))  # a page without the code of widgets
    assert widget.esm == "code"


def test_no_place_of_an_explorer_in_a_notebook_asks_for_style_sheets(monkeypatch):
    recompute = DocumentModelManager.recompute
    count = mock.Mock()
    monkeypatch.setattr(
        DocumentModelManager, "recompute", lambda models: (count(), recompute(models))
    )
    explorer = Explorer(datasets.make("moons", n=60, seed=0), **SMALL)
    places = [explorer.__panel__() for _ in "ab"]
    widgets = [live_model(place, explorer.session.mailbox.post) for place in places]
    for place in places:  # it moves from one to the other
        place[0].beats += 1
        explorer.session.mailbox.drain()
    for widget in widgets:
        models = [one for one in widget._model.references() if isinstance(one, UIElement)]
        assert any("kg-explorer" in model.css_classes for model in models)
        sheets = [sheet for model in models for sheet in model.stylesheets]
        assert not [sheet.url for sheet in sheets if isinstance(sheet, ImportedStyleSheet)]
    assert count.call_count < 50  # not once for each of some hundred style sheets
    count.reset_mock()
    explorer.session.state.drag = "lasso"
    assert count.call_count == 1  # not once for each of the two plots
    explorer.close()


# ---- the page that a notebook of marimo shows in a frame

SMALL = {"sigma": 0.2, "n_clusters": 2, "n_rounds": 5}


def address_of(shown):
    """The address in the frame that a notebook shows."""
    return re.search(r'<iframe [^>]*src="([^"]+)"', shown._repr_html_()).group(1)


async def fetch(address):
    """The text at an address of the loop that is running, and the headers."""

    def read():
        with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
            return answer.read().decode(), answer.headers

    with ThreadPoolExecutor(1) as pool:
        return await asyncio.get_running_loop().run_in_executor(pool, read)


def small_explorer():
    return Explorer(datasets.make("moons", n=60, seed=0), **SMALL)


async def seen_in_a_frame(explorer):
    """Show an explorer, and load the page; returns its address."""
    address = address_of(explorer._display_())
    page, headers = await fetch(address)
    assert "<title>kdegraph explorer</title>" in page
    assert "script-src 'nonce-" in page
    assert headers["Content-Security-Policy"].startswith("frame-ancestors 'self' http://localhost")
    return address


def test_a_frame_shows_the_explorer_of_the_program_at_a_hidden_address():
    async def notebook():
        explorer = small_explorer()
        address = await seen_in_a_frame(explorer)
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", address)
        assert address_of(explorer._display_()) == address
        document = explorer._display_().document
        page, _ = await fetch(address)
        assert explorer._display_().document is document  # the same for all
        token = re.search(r'"token":"([^"]+)"', page).group(1)
        hours = (get_token_payload(token)["session_expiry"] - time.time()) / 3600
        assert hours > 24 * 365  # until it can no longer be loaded again
        root = address.rsplit("/", 2)[0]
        for other in ("/", "/explorer", "/static/js/bokeh.min.js", "/favicon.ico"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                await fetch(root + other)
        explorer.close()

    asyncio.run(notebook())


def test_each_explorer_has_a_frame_of_its_own():
    async def notebook():
        explorers = [small_explorer() for _ in range(2)]
        one, other = [await seen_in_a_frame(explorer) for explorer in explorers]
        assert one != other
        explorers[0].close()
        await asyncio.sleep(0)
        # Refused, or cut off if it comes while the server ends.
        with pytest.raises((urllib.error.URLError, ConnectionError)):
            await fetch(one)
        await fetch(other)
        explorers[1].close()

    asyncio.run(notebook())


def test_the_server_ends_with_the_event_loop():
    async def notebook():
        return await seen_in_a_frame(small_explorer())

    address = asyncio.run(notebook())
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=PATIENCE)
