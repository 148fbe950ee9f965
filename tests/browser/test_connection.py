"""A server that ends under an open page, and is started again; messages on their way."""

import logging
import time

import panel as pn
import pytest
from browser import axe
from browser.explorer_page import FOCUSED, ExplorerPage
from kdegraph_explorer.app import create_app
from kdegraph_explorer.views import controls, widgets
from panel.io import document as writing
from panel.io import unlocked
from panel.io.state import set_curdoc

BANNER = ".kg-connection"
WORDS = "zoo.csv: 300 points"
TABLE = "width,height\n" + "\n".join(
    f"{x + i % 10 / 10},{y + i // 10 / 10}" for x, y in ((0, 0), (5, 0), (0, 5)) for i in range(100)
)


def end(process):
    """End a server at once, as a crash does."""
    process.kill()
    process.wait(20)


# Chromium writes an error to the console for every attempt to reach the server.
UNREACHABLE = ("net::ERR_CONNECTION_REFUSED",)


def test_a_page_and_its_file_outlive_their_server(server, new_page, tmp_path, monkeypatch):
    """The file is found from another browser, too, until it is deleted."""
    monkeypatch.setenv("KDEGRAPH_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "zoo.csv").write_text(TABLE)
    process = server()
    page = ExplorerPage(new_page(ignore=UNREACHABLE)).open(server.address + "?view=points")
    page.choose_source("File")
    page.upload(tmp_path / "zoo.csv")
    page.expect_status(WORDS)
    page.change(lambda: page.set_slider("Clusters k", 1))
    page.page.wait_for_function("() => location.search.includes('n_clusters=4')")
    groups, scores = clusters(page), page.lasting_scores()
    assert len(set(groups)) == 4
    end(process)
    banner = page.page.get_by_role("alert").filter(has_text="has lost its server")
    banner.wait_for()
    place = page.page.locator(BANNER).bounding_box()
    assert place["y"] == 0
    assert place["width"] == 1280
    slider = page.page.locator("input[type=range][aria-label='Clusters k']")
    slider.evaluate("slider => slider.focus()")
    assert page.page.evaluate("() => document.activeElement === document.body")
    process = server()
    banner.wait_for(state="detached")
    other = ExplorerPage(new_page()).open(page.page.url)  # as a second browser
    for shown in (page, other):
        shown.expect_status(WORDS)
        assert (clusters(shown), shown.lasting_scores()) == (groups, scores)
    other.page.close()
    assert page.page.get_by_role("slider", name="Clusters k").get_attribute("aria-valuenow") == "4"
    page.change(lambda: page.set_slider("Clusters k", 1))
    check_deletion(page)
    # What the address cannot restore stays until it is given up.
    end(process)
    banner.wait_for()
    server()
    banner.filter(has_text="has not kept “zoo.csv”").wait_for()
    assert page.status().startswith(WORDS)
    page.page.keyboard.press("Enter")  # “Load the page again”, which has the focus
    banner.wait_for(state="detached")
    assert "the file 'zoo.csv' is not on this server: choose it under Data" in page.error()
    page.expect_status("2,000 points")


def clusters(page):
    """For each point the first one of its color; an earlier session may have chosen the colors."""
    colors = page.colors()
    return [colors.index(color) for color in colors]


def check_deletion(page):
    """Delete the file that is kept, by the keyboard."""
    files = page.page.get_by_role("group").filter(has_text="Kept on the server: 1")
    files.locator("summary").focus()
    page.page.keyboard.press("Enter")
    axe.load(page.page)
    assert axe.serious(files.locator("..")) == []
    for _ in range(3):  # the list, which scrolls, and “Open”
        page.page.keyboard.press("Tab")
        if page.page.evaluate(FOCUSED) == "Delete zoo.csv":
            break
    assert page.page.evaluate(FOCUSED) == "Delete zoo.csv"
    page.page.keyboard.press("Enter")
    files.wait_for(state="hidden")
    page.page.get_by_text("The file is not kept, and lost with this page").wait_for()
    assert axe.serious(page.page.locator(".kg-sidebar")) == []


@pytest.fixture
def server_here():
    """The explorer on a server in a thread of this process."""
    pn.serve({"/": create_app}, port=0, threaded=True, show=False, verbose=False)
    while not pn.state._servers:
        time.sleep(0.05)
    (running,) = [entry[0] for entry in pn.state._servers.values()]
    yield running
    pn.state.kill_all_servers()


def test_messages_and_keys_count_while_others_wait(server_here, new_page, monkeypatch, caplog):
    def late(widget):  # as on a busy server
        widget._debounce = 1000  # milliseconds
        return widget

    for module in (controls, widgets):
        monkeypatch.setattr(module, "at_once", late)
    explorer = ExplorerPage(new_page()).open(f"http://localhost:{server_here.port}/")
    check_no_message_is_kept_back(explorer.page, server_here)
    explorer.set_slider("Clusters k", 2)
    explorer.page.keyboard.press("t")
    explorer.page.locator(".kg-table").first.wait_for()
    explorer.page.wait_for_function("() => location.search.includes('n_clusters=4')")
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def check_no_message_is_kept_back(page, server):
    (session,) = server.get_sessions("/")
    (connection,) = session._subscribed_connections

    async def send():
        async with connection._socket.write_lock:  # as when another message is being written
            with set_curdoc(session.document), unlocked():
                session.document.title = "kept back"
            # Panel does this when a message before this one has been written.
            del writing._WRITE_BLOCK[session.document]

    session.document.add_next_tick_callback(send)
    page.wait_for_function("() => Bokeh.documents[0].title() === 'kept back'")
