"""Files saved in a real browser, and every plot as a picture and as a table."""

import xml.etree.ElementTree as ElementTree

import pyarrow as pa
from browser.explorer_page import VIEWS
from browser.saving import MENU, menu_item, picture_of, save
from kdegraph import SimilarityGraph
from PIL import Image
from pyarrow import csv


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
    assert len(done) == 5 + 4 + 2 + 3 + 3 + 3 + 5 + 3 + 1


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
