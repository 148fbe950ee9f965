"""The explorer in a real browser: choices and what keeps them, files, errors."""

import json
import os
from itertools import pairwise

import numpy as np
import pytest
from browser.conftest import MOONS
from browser.explorer_page import FOCUSED, PLOT, ExplorerPage
from browser.saving import open_session, save, seen, wait_for_address
from explorer_actions import csv
from files import NOISY, picture_bytes
from kdegraph import SimilarityGraph
from kdegraph_explorer.uploads import PART_BYTES


def animals():
    """A CSV file of 90 animals in three groups that are far apart."""
    X = 0.3 * np.random.default_rng(1).normal(size=(90, 2))
    X += np.repeat([[0, 0], [8, 0], [0, 8]], 30, axis=0)
    kinds = np.repeat(["ant", "bee", "cat"], 30)
    return csv(width=X[:, 0], height=X[:, 1], **{"class": kinds})


def test_choices_change_what_depends_on_them_and_are_kept(explorer, first_view, tmp_path):
    """One page from choice to choice; meanwhile the one in `first_view` must not change."""
    page, other = explorer(), first_view.page.url
    assert page.page.url.endswith("?source=generators")
    check_both_graphs(page)
    check_a_view_is_built_while_the_mouse_rests_on_its_button(page)
    check_keys_of_controls(page)
    check_back_and_forward(page)
    check_rounds_and_undo(page)
    again = check_address(page, explorer)
    check_files(page, again, tmp_path)
    check_sigma(page)
    check_shapes(page)
    check_scales(page)
    assert first_view.page.url == other


def check_both_graphs(page):
    edges = page.scores()["Edges"]
    assert len(edges) == 2
    assert all(int(value.replace(",", "")) > 1000 for value in edges)
    for graph in ("KDE graph", "k-NN graph"):
        assert abs(page.eigenvalues(graph)[0]) < 1e-6
        # In a new process, what draws the clusters is compiled first.
        page.until(
            lambda graph=graph: len(set(page.colors(graph))) == 2, f"the {graph} has two colors"
        )


def check_a_view_is_built_while_the_mouse_rests_on_its_button(page):
    button = page.page.locator(".kg-tabs button", has_text="Rounds")
    button.hover()
    page.page.wait_for_function("() => look.figure('Rounds: degrees')")
    page.settle()
    assert button.get_attribute("aria-pressed") == "false"
    page.open_view("Rounds")
    page.open_view("Graphs")


def check_keys_of_controls(page):
    keyboard = page.page.keyboard
    for key, label in (
        ("s", "Kernel width σ"),
        ("l", "Rounds L"),
        ("n", "k-NN neighbors"),
        ("k", "Clusters k"),
    ):
        keyboard.press(key)
        page.page.wait_for_function(f"label => ({FOCUSED})() === label", arg=label)
    page.change(lambda: keyboard.press("ArrowRight"))
    assert "3 clusters" in page.status()
    keyboard.press("?")
    page.page.get_by_role("dialog").get_by_text("Undo the last change.").wait_for()
    keyboard.press("Escape")
    page.page.get_by_role("dialog").wait_for(state="hidden")
    page.change(lambda: keyboard.press("Control+z"))
    assert "2 clusters (automatic" in page.status()


def check_back_and_forward(page):
    # One press each: several are one step only if they follow each other quickly.
    page.change(lambda: page.set_slider("Clusters k", 1))
    page.page.wait_for_url("**/*n_clusters=3*")
    page.change(lambda: page.set_slider("Rounds L", 1))
    page.page.wait_for_url("**/*n_rounds=21*")
    page.change(page.page.go_back)
    assert "n_rounds" not in page.page.url
    assert "3 clusters" in page.status()
    page.change(page.page.go_back)
    assert "2 clusters (automatic" in page.status()
    page.change(page.page.go_forward)
    page.change(lambda: page.page.keyboard.press("Control+z"))  # undo continues from there
    assert "2 clusters (automatic" in page.status()


def check_rounds_and_undo(page):
    first = page.scores()["Edges"]
    page.change(lambda: page.set_slider("Rounds L", 1))
    second = page.scores()["Edges"]
    page.change(lambda: page.page.locator(".kg-undo button").click())
    assert page.scores()["Edges"] == first
    page.change(lambda: page.page.keyboard.press("Control+Shift+Z"))
    assert page.scores()["Edges"] == second
    page.change(lambda: page.set_slider("Rounds L", 10))
    many = page.scores()["Edges"]
    assert int(many[0].replace(",", "")) > int(first[0].replace(",", ""))
    page.change(lambda: page.set_slider("Clusters k", 3))
    assert page.scores()["Edges"] == many
    assert len(set(page.colors())) == 5
    fifth = page.page.get_by_role("button", name="Cluster 5: name it").element_handle()
    assert fifth.evaluate(
        "entry => { const legend = entry.parentElement.parentElement;"
        " return legend.scrollHeight <= legend.clientHeight }"
    )


def check_address(page, explorer):
    """Return the page that the address of `page` leads to."""
    wait_for_address(page, "n_clusters=5")
    again = explorer(query=page.page.url[page.page.url.index("?") :])
    assert seen(again) == seen(page)
    return again


def check_files(page, other, folder):
    """What is saved is what is shown, and a session file brings it back."""
    save(page, "Graph, NPZ").save_as(folder / "graph.npz")
    graph = SimilarityGraph.load(folder / "graph.npz")
    assert f"{graph.n_edges:,}" == page.scores()["Edges"][0]
    page.change(lambda: page.set_slider("Clusters k", 1))
    save(page, "Session file").save_as(folder / "session.json")
    assert json.loads((folder / "session.json").read_text())["choices"]["n_clusters"] == 6
    other.change(lambda: open_session(other, folder / "session.json"))
    assert seen(other) == seen(page)


def check_sigma(page):
    page.change(lambda: page.set_slider("Kernel width σ", 30))
    sigma = float(page.page.get_by_label("σ typed").input_value())
    label = page.page.get_by_text("Kernel width σ").filter(visible=True).first.locator("xpath=..")
    page.until(
        lambda: label.inner_text().split()[-1] == f"{sigma:.3g}", "the label is that of the handle"
    )
    handle = page.page.get_by_role("slider", name="Kernel width σ")
    place = float(handle.get_attribute("aria-valuenow"))
    assert place == pytest.approx(np.log10(sigma), abs=1e-4)


def check_shapes(page):
    """Shapes stand below headings, and are chosen by keys and by mouse."""
    page.page.get_by_role("combobox", name="Shape").click()
    page.page.locator(".MuiListSubheader-root", has_text="No clusters").wait_for()
    page.page.keyboard.press("End")
    page.page.keyboard.press("Enter")
    page.expect_status("one_gaussian: 2,000 points in 3 dimensions")
    page.page.get_by_role("combobox", name="Shape").click()
    page.page.get_by_role("menuitem", name="Two bananas").click()
    page.expect_status("two_bananas: 2,000 points in 2 dimensions, 6 clusters")


def check_scales(page):
    """A click near the end of the bands takes a scale at which there is one cluster."""
    page.open_view("Scales")
    page.page.locator(".kg-scales").filter(has_text="1 from σ").wait_for()
    box = page.page.locator(".kg-scales-bands canvas").first.bounding_box()
    x, y = box["x"] + 0.95 * box["width"], box["y"] + box["height"] / 2
    page.page.mouse.click(x, y, delay=400)  # a slow one
    page.expect_status("two_bananas: 2,000 points in 2 dimensions, 1 cluster")


BAD_FILES = {
    "nothing.csv": b"",
    "notes.docx": b"PK\x03\x04 whatever",
    "words.csv": b"name,color\nant,red\nbee,yellow\n",
    "broken.png": picture_bytes(NOISY)[:400],
}


PLACES = """([name, places]) => {
  const view = Bokeh.index.find_one(look.figure(name))
  const {left, top} = view.el.getBoundingClientRect()
  const {x_scale, y_scale} = view.frame
  return places.map(([x, y]) => [left + x_scale.compute(x), top + y_scale.compute(y)])
}"""
DRAGS = "([name, tool]) => look.figure(name).toolbar.active_drag.type === tool"


def drag(page, tool, places):
    """Drag the mouse in the plot of the KDE graph from place to place, once that uses `tool`."""
    page.page.wait_for_function(DRAGS, arg=[PLOT, tool])
    mouse = page.page.mouse
    places = page.page.evaluate(PLACES, [PLOT, places])
    mouse.move(*places[0])
    mouse.down()
    page.page.wait_for_timeout(400)  # People may rest before they move.
    for start, end in pairwise(places):
        for share in (0.5, 1.0):
            mouse.move(*(a + share * (b - a) for a, b in zip(start, end, strict=True)))
            # A browser makes one event of all moves between two frames, which is no drag.
            page.page.evaluate("() => new Promise(done => requestAnimationFrame(done))")
    mouse.up()


def test_files_are_sent_read_and_refused(clean_log, new_page, explorer_server, tmp_path):
    tab, sent = new_page(), []
    tab.on("websocket", lambda socket: socket.on("framesent", lambda data: sent.append(len(data))))
    page = ExplorerPage(tab).open(explorer_server[0] + MOONS)
    page.choose_source("File")
    check_an_upload_is_cancelled(page, sent, tmp_path)
    check_dropped_files(page)
    check_a_table(page, tmp_path)
    check_dragging(page)
    check_bad_files(page, tmp_path)


def check_an_upload_is_cancelled(page, sent, folder):
    """Parts are sent only as far as they are requested; `sent` collects their sizes."""
    (folder / "endless.npy").touch()
    os.truncate(folder / "endless.npy", 200 * PART_BYTES)
    page.upload(folder / "endless.npy")
    cancel = page.page.locator(".kg-cancel button")
    cancel.click()
    cancel.wait_for(state="hidden")
    assert "2,000 points" in page.settle().status()
    assert not page.has_error()
    parts = [size for size in sent if size > PART_BYTES / 2]
    assert 0 < len(parts) < 200
    assert max(sent) == PART_BYTES
    page.page.wait_for_timeout(1000)  # Nothing follows.
    assert len([size for size in sent if size > PART_BYTES / 2]) == len(parts)


def check_dropped_files(page):
    """A file is taken on its button, and anywhere else on the page, which says so."""
    make = """n => {
      const files = new DataTransfer()
      const rows = Array.from({length: n}, (_, i) => `${i % 7},${i % 5}`)
      files.items.add(new File(["x,y\\n" + rows.join("\\n")], "dropped.csv"))
      return files
    }"""
    button = page.page.locator("label", has=page.page.locator("input[type=file]"))
    sign = page.page.get_by_text("Drop the file to open it")

    def drop(n, place):
        files = page.page.evaluate_handle(make, n)
        place.dispatch_event("dragover", {"dataTransfer": files})
        assert sign.is_visible() == (place is not button)
        place.dispatch_event("drop", {"dataTransfer": files})
        assert sign.is_hidden()
        page.expect_status(f"dropped.csv: {n} points")

    button.wait_for()
    drop(30, button)
    page.choose_source("Generated points")
    page.expect_status("moons: 2,000 points")
    drop(40, page.page.locator(".kg-status"))


def check_a_table(page, folder):
    (folder / "animals.csv").write_bytes(animals())
    page.change(lambda: page.upload(folder / "animals.csv"))
    page.expect_status("animals.csv: 90 points in 2 dimensions, 3 clusters")
    assert page.scores()["Adjusted Rand index"] == ["1.000", "1.000"]
    colors = np.reshape(page.colors(), (3, 30))
    assert all(len(set(group)) == 1 for group in colors)
    assert len(set(colors[:, 0])) == 3


def check_dragging(page):
    """Dragging selects the animals in a box and in a lasso, or moves the window."""
    keyboard = page.page.keyboard
    page.page.get_by_role("button", name="Box", exact=True).click()
    drag(page, "BoxSelectTool", [(-1.5, -0.9), (2, 2)])
    page.expect_selection(range(30))
    keyboard.press("o")
    keyboard.down("Shift")
    drag(page, "LassoSelectTool", [(6, -0.9), (8, 4), (9.8, -0.9), (6, -0.9)])
    keyboard.up("Shift")
    page.expect_selection(range(60))
    keyboard.press("Escape")
    page.expect_selection([])
    keyboard.press("m")
    before = page.page.evaluate(PLACES, [PLOT, [(4, 4)]])
    drag(page, "PanTool", [(4, 4), (5, 5)])
    page.until(
        lambda: page.page.evaluate(PLACES, [PLOT, [(4, 4)]]) != before, "the window has moved"
    )
    page.expect_selection([])


def check_bad_files(page, folder):
    """Bad files give a message and keep what is seen; the next good file removes the message."""
    before = page.settle().seen()
    for name, content in BAD_FILES.items():
        (folder / name).write_bytes(content)
        page.upload(folder / name)
        message = page.error(mentioning=name)
        assert "Traceback" not in message
        assert page.settle().seen() == before
    (folder / "twig.png").write_bytes(picture_bytes(NOISY))
    page.change(lambda: page.upload(folder / "twig.png"))
    assert "twig" in page.status()
    assert not page.has_error()
