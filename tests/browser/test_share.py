"""Keeping and sharing in a real browser: the address, undo, files, pictures."""

import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pyarrow as pa
from browser.explorer_page import VIEWS
from kdegraph import SimilarityGraph
from PIL import Image
from pyarrow import csv


def save(page, item):
    """Choose an item of the menu of files, and return the file."""
    page.page.locator(".kg-export button").click()
    with page.page.expect_download() as download:
        page.page.get_by_role("menuitem", name=item, exact=True).click()
    return download.value


MENU = ": table and pictures"


def menu_item(page, title, item):
    """Open the menu of a plot, and return one of its items."""
    page.page.get_by_role("button", name=title + MENU, exact=True).click()
    return page.page.get_by_role("button", name=item, exact=True).and_(
        page.page.locator(":visible")
    )


def picture_of(page, title, item):
    """Save a plot as a picture from its own menu."""
    chosen = menu_item(page, title, item)
    with page.page.expect_download() as download:
        chosen.click()
    return download.value


def seen(page):
    """What a page shows, without what depends on where the sliders have been: last digits, and
    which cluster has which color.
    """
    colors = page.colors()
    numbers = {color: number for number, color in enumerate(dict.fromkeys(colors))}
    return (
        page.status(),
        page.lasting_scores(),
        [numbers[c] for c in colors],
        np.round(page.eigenvalues(), 4).tolist(),
    )


def wait_for_address(page, part):
    page.page.wait_for_function("part => location.search.includes(part)", arg=part)


def test_address_follows_the_choices_and_brings_them_back(explorer):
    page = explorer()
    assert page.page.url.endswith("?source=generators")
    page.change(lambda: page.set_slider("Rounds L", 10))
    page.change(lambda: page.set_slider("Clusters k", 1))
    wait_for_address(page, "n_clusters=3")
    again = explorer(query=page.page.url[page.page.url.index("?") :])
    assert seen(again) == seen(page)


def test_address_that_cannot_be_says_why(explorer_server, new_page):
    other = new_page()
    other.goto(explorer_server[0] + "?sigma=-3")
    other.locator(".kg-error", has_text="sigma cannot be -3").wait_for()
    other.locator(".kg-status", has_text="points in").wait_for()


def test_undo_and_redo_with_keys(explorer):
    page = explorer()
    first = page.scores()["Edges"]
    page.change(lambda: page.set_slider("Rounds L", 1))
    second = page.scores()["Edges"]
    page.change(lambda: page.page.keyboard.press("Control+z"))
    assert page.scores()["Edges"] == first
    page.change(lambda: page.page.keyboard.press("Control+Shift+Z"))
    assert page.scores()["Edges"] == second
    page.change(lambda: page.page.locator(".kg-undo button").click())
    assert page.scores()["Edges"] == first


def test_files_hold_what_is_shown(first_view, tmp_path):
    page = first_view
    table = csv.read_csv(pa.OSFile(str(save(page, "Labels, CSV").path())))
    colors = page.colors()
    labels = table["kde_cluster"].to_pylist()
    assert len({*zip(labels, colors, strict=True)}) == len(set(labels)) == 2
    save(page, "Graph, NPZ").save_as(tmp_path / "graph.npz")
    assert f"{SimilarityGraph.load(tmp_path / 'graph.npz').n_edges:,}" == page.scores()["Edges"][0]
    script = save(page, "Python script")
    assert script.suggested_filename == "moons.py"
    assert "kdegraph.similarity_graph" in script.path().read_text()


def test_session_file_is_opened_in_another_browser(explorer, tmp_path):
    page = explorer()
    page.change(lambda: page.set_slider("Clusters k", 2))
    save(page, "Session file").save_as(tmp_path / "session.json")
    assert json.loads((tmp_path / "session.json").read_text())["choices"]["n_clusters"] == 4
    other = explorer()

    def open_file():
        other.page.locator(".kg-export button").click()
        other.page.get_by_role("menuitem", name="Open a session file").click()
        other.page.get_by_role("dialog").locator("input[type=file]").set_input_files(
            tmp_path / "session.json"
        )

    other.change(open_file)
    assert seen(other) == seen(page)


def test_every_plot_of_every_view_is_saved_as_a_picture_and_read_as_a_table(first_view, tmp_path):
    page, done = first_view, set()
    for view in [*VIEWS, "Graphs"]:
        page.open_view(view)
        menus = page.page.locator(".kg-main button.more:visible").evaluate_all(
            "menus => menus.map(menu => menu.ariaLabel)"
        )
        for title in [menu.removesuffix(MENU) for menu in menus]:
            if (view, title) not in done and not (
                title.startswith("Eigenvalues, ") and view != "Graphs"
            ):  # those are below other views, too
                done.add((view, title))
                check_picture(page, title, tmp_path)
                check_table(page, title)
    assert len(done) == 5 + 4 + 3 + 3 + 3 + 5 + 1


def check_picture(page, title, folder):
    picture_of(page, title, "Save as PNG").save_as(folder / "plot.png")
    pixels = np.asarray(Image.open(folder / "plot.png").convert("RGBA"))
    assert (pixels[:, :, 3] == 255).all(), title
    assert len(np.unique(pixels.reshape(-1, 4), axis=0)) > 20, title
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


def test_two_browsers_do_not_see_each_other(explorer, first_view):
    one, other = explorer(), first_view
    before = other.seen()
    one.change(lambda: one.set_slider("Rounds L", 10))
    one.change(lambda: one.set_slider("Clusters k", 2))
    assert other.settle().seen() == before
    assert other.page.url.endswith("?source=generators")
