"""Screenshots of all views, their accessibility problems by axe-core, and their plots as pictures
and as tables.

Each view is opened once for all of these, as that takes long.
"""

import xml.etree.ElementTree as ElementTree

import numpy as np
from browser import axe
from browser.saving import MENU, menu_item, picture_of
from browser.screenshots import BASELINES, compare
from kdegraph_explorer.drawing.palette import CLUSTER_COLORS, rgb
from PIL import Image

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
COMPACT = {"width": 1000, "height": 672}
N_PLOTS = 5 + 4 + 2 + 3 + 3 + 3 + 5 + 3 + 1  # of all views


def hidden(page):
    """Return the parts that differ from run to run."""
    return [
        page.locator(f"{table} tr", has_text="Seconds").locator("td:visible")
        for table in (".kg-scores", ".kg-compare")
    ]


def test_views_in_light_and_small_in_dark(explorer, screenshot, pytestconfig, subtests, tmp_path):
    """Sizes do not depend on colors: large in both themes are the pictures of the README alone."""
    explorer = explorer(color_scheme="light")
    page, main, n_plots = explorer.page, explorer.page.locator(".kg-main"), 0

    def check(name, rule=None):
        """Compare the view in the name of a screenshot with that, and check it by axe-core."""
        with subtests.test(name):
            show(explorer, name.split("-")[0])
            assert axe.serious(main, rule) == []
            screenshot(page, name, hide=hidden(page))
        if name in README and pytestconfig.getoption("--update-screenshots"):
            path = pytestconfig.rootpath / "docs" / f"{README[name]}.png"
            page.screenshot(path=path, animations="disabled", caret="hide")

    axe.load(page)
    for view in VIEWS:
        check(f"{view}-light")
    page.emulate_media(color_scheme="dark")
    explorer.expect_theme("dark")
    for view in ("moons", "rounds"):
        check(f"{view}-dark", axe.COLORS)
    page.set_viewport_size(COMPACT)
    for view in VIEWS:
        check(f"{view}-compact-dark", axe.COLORS)
        with subtests.test(f"plots of {view}"):
            n_plots += check_plots(explorer, tmp_path)
    assert n_plots == N_PLOTS


def check_plots(explorer, folder):
    """Save each plot of a view as a picture, and read it as a table; return the number of plots."""
    menus = explorer.page.locator(".kg-main button.more:visible").evaluate_all(
        "menus => menus.map(menu => menu.ariaLabel)"
    )
    titles = [menu.removesuffix(MENU) for menu in menus]
    if "KDE graph" not in titles:  # the spectra of the view Graphs are below other views, too
        titles = [title for title in titles if not title.startswith("Eigenvalues, ")]
    for title in titles:
        check_picture(explorer, title, folder)
        check_table(explorer, title)
    return len(titles)


def check_picture(page, title, folder):
    picture_of(page, title, "Save as PNG").save_as(folder / "plot.png")
    with Image.open(folder / "plot.png") as file:
        picture = file.convert("RGBA")
    assert picture.getextrema()[3] == (255, 255), title  # nothing shines through
    assert len(picture.getcolors(picture.width * picture.height)) > 20, title
    picture_of(page, title, "Save as SVG").save_as(folder / "plot.svg")
    root = ElementTree.parse(folder / "plot.svg").getroot()
    assert root.tag.endswith("svg"), title
    assert len(list(root.iter())) > 20, title


def check_table(page, title):
    table = page.page.locator(".kg-table:visible")
    menu_item(page, title, "Show as a table").click()
    table.locator("p").first.wait_for()
    assert (
        table.locator("tbody tr").count() > 0
        or "Nothing has been measured yet." in table.locator("p").inner_text()
    ), title
    menu_item(page, title, "Show the plot").click()
    table.wait_for(state="hidden")


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
