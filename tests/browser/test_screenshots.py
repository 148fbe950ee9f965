"""Screenshots of all views, their accessibility problems by axe-core, and their plots as pictures
and as tables.

Each view is opened once for all of these, as that takes long.
"""

import xml.etree.ElementTree as ElementTree

import numpy as np
from browser import axe
from browser.explorer_page import VIEWS
from browser.saving import MENU, menu_item, picture_of
from browser.screenshots import BASELINES, compare, hidden, name_of
from kdegraph_explorer.drawing.palette import CLUSTER_COLORS, rgb
from PIL import Image

README = {"graphs-light": "explorer", "rounds-dark": "rounds"}  # with the numbers in them
COMPACT = {"width": 1000, "height": 672}
N_PLOTS = 5 + 4 + 2 + 3 + 3 + 3 + 5 + 3 + 1  # of all views


def test_views_in_light_and_small_in_dark(explorer, screenshot, pytestconfig, subtests, tmp_path):
    """Sizes do not depend on colors: large in dark is only the picture of the README."""
    explorer = explorer(color_scheme="light")
    page, main, n_plots = explorer.page, explorer.page.locator(".kg-main"), 0

    def check(view, *looks, rule=None):
        """Compare a view with its screenshot, and check it by axe-core."""
        name = name_of(view, *looks)
        with subtests.test(name):
            explorer.open_view(view)
            assert axe.serious(main, rule) == []
            screenshot(page, name, hide=hidden(page))
        if name in README and pytestconfig.getoption("--update-screenshots"):
            path = pytestconfig.rootpath / "docs" / f"{README[name]}.png"
            page.screenshot(path=path, animations="disabled", caret="hide")

    axe.load(page)
    for view in VIEWS:
        check(view, "light")
    page.emulate_media(color_scheme="dark")
    explorer.expect_theme("dark")
    check("Rounds", "dark", rule=axe.COLORS)
    page.set_viewport_size(COMPACT)
    for view in VIEWS:
        check(view, "compact", "dark", rule=axe.COLORS)
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
    baseline = BASELINES / "graphs-light.png"
    picture = np.asarray(Image.open(baseline).convert("RGB")).copy()
    orange = (picture == rgb(CLUSTER_COLORS[1])).all(axis=2)
    picture[orange] = rgb(CLUSTER_COLORS[2])
    Image.fromarray(picture).save(tmp_path / "changed.png")
    assert compare(baseline, baseline) == ("", None)
    assert "of the pixels differ" in compare(baseline, tmp_path / "changed.png")[0]
