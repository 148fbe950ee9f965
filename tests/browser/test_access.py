"""For everyone: axe-core, keys, the system's dark mode, small and large windows."""

from browser import axe
from browser.explorer_page import FOCUSED, VIEWS
from browser.saving import menu_item

OVERFLOWS = """() => {
  const {scrollWidth, scrollHeight} = document.documentElement
  return [scrollWidth > innerWidth, scrollHeight > innerHeight]
}"""


def test_axe_finds_nothing_serious_around_the_views_in_light_and_in_dark(explorer):
    """The page follows the system's dark mode, and has a switch.

    The views themselves are checked where their screenshots are taken.
    """
    explorer = explorer(color_scheme="dark")
    page = explorer.page
    wait_for_ground(page, dark=True)
    page.emulate_media(color_scheme="light")
    wait_for_ground(page, dark=False)
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
    page.emulate_media(color_scheme="light")
    wait_for_ground(page, dark=False)
    page.get_by_label("Toggle theme").click()
    wait_for_ground(page, dark=True)
    for source in ("Photograph", "File"):
        explorer.choose_source(source)
        explorer.settle()
        assert axe.serious(everything) == [], source


def wait_for_ground(page, *, dark):
    """Wait until the page's ground is dark, or light."""
    red = "parseInt(getComputedStyle(document.body).backgroundColor.match(/[0-9]+/)[0])"
    page.wait_for_function(f"dark => dark ? {red} < 64 : {red} > 192", arg=dark)


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
    menu_item(page, "Eigenvalues, KDE graph", "Show as a table").click()
    rows = page.page.locator(".kg-table:visible tbody tr")
    rows.first.wait_for()
    assert rows.count() == len(page.eigenvalues())
    assert any(
        "2 clusters of" in text
        for text in page.page.locator(".kg-caption .summary").all_text_contents()
    )
    menu_item(page, "Eigenvalues, KDE graph", "Show the plot").click()
    rows.first.wait_for(state="hidden")


def test_everything_fits(first_view):
    page, plots = first_view.page, (".kg-kde-points", ".kg-knn-points", ".kg-kde-spectrum")
    for width, height in ((1280, 720), (3840, 2160)):
        page.set_viewport_size({"width": width, "height": height})
        first_view.settle()
        assert page.evaluate(OVERFLOWS) == [False, False]
        for name in (*plots, ".kg-scores", ".kg-help", ".kg-export"):
            box = page.locator(name).first.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert box["y"] + box["height"] <= height
            assert min(box["width"], box["height"]) > 20
