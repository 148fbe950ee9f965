"""Screenshots of all views, and their accessibility problems by axe-core.

Each view is opened once for both, as that takes long.
"""

from itertools import pairwise

import numpy as np
import pytest
from browser import axe
from browser.screenshots import BASELINES, compare
from kdegraph_explorer.drawing.palette import CLUSTER_COLORS, rgb
from PIL import Image

CARDS = """cards => cards
  .filter(card => card.checkVisibility())
  .map(card => card.getBoundingClientRect())
  .map(({left, right, top, bottom}) => ({left, right, top, bottom}))"""
ALL_ROUNDS = """([name, rounds]) =>
  look.columns(name, "error").some(errors => errors.length === rounds)"""
EDGES = """names => names.every(name =>
  look.columns(name, "image").some(images => images[0]?.some?.(Boolean)))"""
CENTER = """tab => {
  let row = tab
  while (!row.matches(".kg-tabs")) row = row.parentElement ?? row.getRootNode().host
  const [place, room] = [tab, row].map(node => node.getBoundingClientRect())
  row.scrollLeft += place.left + place.width / 2 - room.left - room.width / 2
}"""
# The views: the name of the tab, and what is there once nothing more comes.
VIEWS = {
    "start": ("Start", lambda page: page.locator(".kg-headline b", has_text="/").wait_for()),
    "moons": (
        "Graphs",
        lambda page: page.wait_for_function(
            EDGES, arg=["KDE graph: points and edges", "k-NN graph: points and edges"]
        ),
    ),
    "scales": (
        "Scales",
        lambda page: page.locator(".kg-scales", has_text="from σ").wait_for(),
    ),
    "point": ("One point", lambda page: page.locator(".kg-neighbors tbody tr").first.wait_for()),
    "rounds": (
        "Rounds",
        lambda page: page.wait_for_function(ALL_ROUNDS, arg=["Rounds: degrees", 20]),
    ),
    "embedding": (
        "Embedding",
        lambda page: page.locator(".kg-conductances canvas").first.wait_for(),
    ),
    "compare": (
        "Compare",
        lambda page: (
            page.locator(".kg-compare tr", has_text="Edges").filter(has_not_text="–").wait_for()
        ),
    ),
    "scaling": ("Scaling", lambda page: page.locator(".kg-scaling canvas").first.wait_for()),
    "why": ("Why", lambda page: page.locator(".kg-why-rows tbody tr").first.wait_for()),
    "rows": ("Rows", lambda page: page.locator(".kg-rows tbody tr").first.wait_for()),
}
README = {"moons-light": "explorer", "rounds-dark": "rounds"}  # with the numbers in them
COMPACT, PHONE = {"width": 1000, "height": 672}, {"width": 390, "height": 844}


def hidden(page):
    """Return the parts that differ from run to run."""
    return [
        page.locator(f"{table} tr", has_text="Seconds").locator("td:visible")
        for table in (".kg-scores", ".kg-compare")
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_screenshots_of_views(explorer, screenshot, theme, pytestconfig, subtests):
    explorer = explorer(color_scheme=theme)
    axe.load(explorer.page)
    main, rule = explorer.page.locator(".kg-main"), None if theme == "light" else axe.COLORS
    for view in VIEWS:
        name = f"{view}-{theme}"
        with subtests.test(name):
            show(explorer, view)
            assert axe.serious(main, rule) == []
            screenshot(explorer.page, name, hide=hidden(explorer.page))
            if name in README and pytestconfig.getoption("--update-screenshots"):
                explorer.page.screenshot(
                    path=pytestconfig.rootpath / "docs" / f"{README[name]}.png",
                    animations="disabled",
                    caret="hide",
                )
    if theme == "light":  # sizes do not depend on colors
        explorer.page.set_viewport_size(COMPACT)
        for view in VIEWS:
            name = f"{view}-compact-light"
            with subtests.test(name):
                show(explorer, view)
                screenshot(explorer.page, name, hide=hidden(explorer.page))


def test_screenshots_on_a_phone(explorer, screenshot, subtests):
    explorer = explorer(color_scheme="dark", viewport=PHONE, has_touch=True)
    for view in VIEWS:
        name = f"{view}-phone-dark"
        with subtests.test(name):
            show(explorer, view)
            check_cards_on_a_phone(explorer.page)
            screenshot(explorer.page, name, hide=hidden(explorer.page))


def check_cards_on_a_phone(page):
    """Cards lie one below the other, none is cut off, and nothing is wider than the page."""
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    cards = page.locator(".kg-main .kg-card").evaluate_all(CARDS)
    assert len(cards) >= 2
    for card in cards:
        assert card["left"] >= 0
        assert card["right"] <= PHONE["width"]
        assert card["bottom"] - card["top"] > 150
    assert all(above["bottom"] <= below["top"] for above, below in pairwise(cards)), cards


def test_another_color_of_a_cluster_is_seen(tmp_path):
    baseline = BASELINES / "moons-light.png"
    picture = np.asarray(Image.open(baseline).convert("RGB")).copy()
    orange = (picture == rgb(CLUSTER_COLORS[1])).all(axis=2)
    picture[orange] = rgb(CLUSTER_COLORS[2])
    Image.fromarray(picture).save(tmp_path / "changed.png")
    assert compare(baseline, baseline) == ("", None)
    assert "of the pixels differ" in compare(baseline, tmp_path / "changed.png")[0]


def show(explorer, view):
    """Open a view, and wait until it is complete."""
    name, complete = VIEWS[view]
    tab = explorer.page.locator(".kg-tabs button", has_text=name)
    tab.click()
    # A click scrolls the row of tabs as far as it needs to, which is not always the same.
    tab.evaluate(CENTER)
    complete(explorer.page)
    explorer.settle()
