"""Uploaded files outlive the server, and are found from other browsers, until they are deleted."""

from browser import axe
from browser.explorer_page import FOCUSED, ExplorerPage
from browser.test_connection import UNREACHABLE, end

WORDS = "zoo.csv: 300 points"
TABLE = "width,height\n" + "\n".join(
    f"{x + i % 10 / 10},{y + i // 10 / 10}" for x, y in ((0, 0), (5, 0), (0, 5)) for i in range(100)
)


def clusters(page):
    """For each point the first one of its color; an earlier session may have chosen the colors."""
    colors = page.colors()
    return [colors.index(color) for color in colors]


def test_an_upload_outlives_its_server_until_it_is_deleted(server, new_page, tmp_path, monkeypatch):
    monkeypatch.setenv("KDEGRAPH_STATE_DIR", str(tmp_path / "state"))
    path = tmp_path / "zoo.csv"
    path.write_text(TABLE)
    process = server()
    page = ExplorerPage(new_page(ignore=UNREACHABLE)).open(server.address + "?view=points")
    page.choose_source("File")
    page.upload(path)
    page.expect_status(WORDS)
    page.change(lambda: page.set_slider("Clusters k", 1))
    page.page.wait_for_function("() => location.search.includes('n_clusters=')")
    groups, scores, query = clusters(page), page.lasting_scores(), page.page.url
    assert len(set(groups)) == 4

    end(process)
    banner = page.page.get_by_role("alert").filter(has_text="has lost its server")
    banner.wait_for()
    server()
    banner.wait_for(state="detached")
    other = ExplorerPage(new_page()).open(query)  # as a second browser
    for shown in (page, other):
        shown.expect_status(WORDS)
        assert (clusters(shown), shown.lasting_scores()) == (groups, scores)
    page.page.goto(server.address + "?source=generators")
    page.expect_status("2,000 points")
    page.page.go_back()
    page.expect_status(WORDS)
    assert clusters(page) == groups

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
