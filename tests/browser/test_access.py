"""For everyone: axe-core, keys, the system's dark mode, small and large windows."""

from itertools import pairwise

import pytest
from browser import axe
from browser.explorer_page import VIEWS

FOCUSED = """() => {
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  return element?.getAttribute("aria-label") ?? element?.textContent ?? ""
}"""
OVERFLOWS = """() => {
  const {scrollWidth, scrollHeight} = document.documentElement
  return [scrollWidth > innerWidth, scrollHeight > innerHeight]
}"""


def test_axe_finds_nothing_serious_around_the_views(explorer):
    """The views themselves are looked at where their screenshots are taken."""
    explorer = explorer()
    page = explorer.page
    axe.load(page)
    everything, main, sidebar = map(page.locator, ("html", ".kg-main", ".kg-sidebar"))
    assert axe.serious(everything) == []
    assert page.locator(".kg-tabs button").all_text_contents() == list(VIEWS)
    for scheme, only in (("light", None), ("dark", axe.COLORS)):
        page.emulate_media(color_scheme=scheme)
        wait_for_ground(page, dark=scheme == "dark")
        page.keyboard.press("?")
        dialog = page.get_by_role("dialog")
        dialog.wait_for()
        assert axe.serious(dialog, only) == [], scheme
        page.keyboard.press("Escape")
        dialog.wait_for(state="hidden")
        assert axe.serious(sidebar, only) == [], scheme
        page.keyboard.press("t")
        page.locator(".kg-table:visible").first.wait_for()
        assert axe.serious(main, only) == [], ("tables", scheme)
        page.keyboard.press("t")
    for source in ("Photograph", "File"):
        explorer.choose_source(source)
        explorer.settle()
        assert axe.serious(everything) == [], source


def wait_for_ground(page, *, dark):
    """Wait until the page's ground is dark, or light."""
    red = "parseInt(getComputedStyle(document.body).backgroundColor.match(/[0-9]+/)[0])"
    page.wait_for_function(f"dark => dark ? {red} < 64 : {red} > 192", arg=dark)


def test_page_follows_the_dark_mode_of_the_system(explorer):
    page = explorer(color_scheme="dark").page
    wait_for_ground(page, dark=True)
    page.emulate_media(color_scheme="light")
    wait_for_ground(page, dark=False)
    page.get_by_label("Toggle theme").click()
    wait_for_ground(page, dark=True)


def test_keys_lead_to_the_controls(explorer):
    page = explorer()
    for key, label in (
        ("s", "Kernel width σ"),
        ("l", "Rounds L"),
        ("n", "k-NN neighbors"),
        ("k", "Clusters k"),
    ):
        page.page.keyboard.press(key)
        page.page.wait_for_function(f"label => ({FOCUSED})() === label", arg=label)
    page.change(lambda: page.page.keyboard.press("ArrowRight"))
    assert "3 clusters" in page.status()
    page.page.keyboard.press("?")
    page.page.get_by_role("dialog").get_by_text("Undo the last change.").wait_for()
    page.page.keyboard.press("Escape")
    page.page.get_by_role("dialog").wait_for(state="hidden")


def test_every_control_is_reached_by_tab(first_view):
    page = first_view
    reached = set()
    for _ in range(60):
        page.page.keyboard.press("Tab")
        reached.add(page.page.evaluate(FOCUSED).strip())
    for label in (
        "Points n",
        "Noise",
        "Kernel width σ",
        "Rounds L",
        "k-NN neighbors",
        "Clusters k",
        "Export",
        "KDE graph: table and pictures",
    ):
        assert label in reached or any(label in name for name in reached), (
            f"{label} is not among {sorted(reached)}"
        )


def test_plots_are_read_as_tables(first_view):
    page = first_view
    page.page.get_by_role("button", name="Eigenvalues, KDE graph: table and pictures").click()
    page.page.get_by_role("button", name="Show as a table").and_(
        page.page.locator(":visible")
    ).click()
    rows = page.page.locator(".kg-table:visible tbody tr")
    rows.first.wait_for()
    assert rows.count() == len(page.eigenvalues())
    assert any(
        "2 clusters of" in text
        for text in page.page.locator(".kg-caption .summary").all_text_contents()
    )
    page.page.get_by_role("button", name="Eigenvalues, KDE graph: table and pictures").click()
    page.page.get_by_role("button", name="Show the plot").and_(
        page.page.locator(":visible")
    ).click()
    rows.first.wait_for(state="hidden")


@pytest.mark.parametrize("size", [(1280, 720), (3840, 2160)])
def test_everything_fits(first_view, size):
    page = first_view
    page.page.set_viewport_size({"width": size[0], "height": size[1]})
    page.settle()
    assert page.page.evaluate(OVERFLOWS) == [False, False]
    for name in (
        ".kg-kde-points",
        ".kg-knn-points",
        ".kg-kde-spectrum",
        ".kg-scores",
        ".kg-help",
        ".kg-export",
    ):
        box = page.page.locator(name).first.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= size[0]
        assert box["y"] + box["height"] <= size[1]
        assert min(box["width"], box["height"]) > 20


CARDS = """cards => cards
  .filter(card => card.checkVisibility())
  .map(card => card.getBoundingClientRect())
  .map(({left, right, top, bottom}) => ({left, right, top, bottom}))"""


def test_telephone(explorer):
    page = explorer(viewport={"width": 390, "height": 844})
    for name in [*reversed(VIEWS), "Graphs"]:
        page.open_view(name)
        assert page.page.evaluate(OVERFLOWS)[0] is False, name
        cards = page.page.locator(".kg-main .kg-card").evaluate_all(CARDS)
        assert len(cards) >= 2, name
        assert all(
            card["left"] >= 0 and card["right"] <= 390 and card["bottom"] - card["top"] > 150
            for card in cards
        ), (name, cards)
        assert all(above["bottom"] <= below["top"] for above, below in pairwise(cards)), (
            name,
            cards,
        )
    for name in (".kg-kde-points", ".kg-knn-points", ".kg-kde-spectrum", ".kg-scores"):
        place = page.page.locator(name).first
        place.scroll_into_view_if_needed()
        box = place.bounding_box()
        assert 300 < box["width"] <= 390
        assert box["height"] > 150
    page.page.get_by_label("Open drawer").click()
    page.page.get_by_role("slider", name="Rounds L").wait_for()
    page.change(lambda: page.set_slider("Rounds L", 5))
