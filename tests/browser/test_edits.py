"""Clusters named, merged and split by hand in the browser, and saved with the table."""

import numpy as np
from browser.explorer_page import FOCUSED
from browser.saving import save
from explorer_actions import csv
from pyarrow import csv as arrow_csv

PLACES = np.array([[0, 0], [0, 6], [30, 0], [30, 6]])
GROUP = np.repeat(np.arange(4), 15)
X = np.random.default_rng(0).normal(0, 0.4, size=(60, 2)) + PLACES[GROUP]


def entry(page, name):
    """The entry of a cluster in the legend."""
    return page.page.get_by_role("button", name=name, exact=True)


def press(page, label):
    return page.change(lambda: page.page.get_by_role("button", name=label, exact=True).click())


def expect_legend(page, *words):
    legend = page.page.locator(".kg-color .entry")
    page.until(lambda: legend.all_inner_texts() == list(words), f"the legend says {words}")
    page.settle()


def test_a_part_is_clustered_and_clusters_are_named_merged_and_saved(explorer, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(csv(x=X[:, 0], y=X[:, 1]))
    page = explorer("?bandwidth=one&sigma=3&n_clusters=2")
    page.choose_source("File")
    page.change(lambda: (page.upload(path), page.expect_status("t.csv")))
    page.open_view("Graphs")
    expect_legend(page, "1", "2")
    colors = np.array(page.colors())

    page.page.keyboard.press("c")
    press(page, "Recluster these")
    expect_legend(page, "1", "2")
    entry(page, "Cluster 1: name it").click()
    page.page.get_by_text("go back to all points").wait_for()
    assert not page.page.get_by_role("button", name="Merge", exact=True).is_visible()
    page.page.keyboard.press("Escape")
    press(page, "All points")
    expect_legend(page, "1a", "1b", "2")
    assert "3 clusters (edited by hand; 2 computed)" in page.status()
    found = np.array(page.colors())
    others = colors != colors[0]
    np.testing.assert_array_equal(found[others], colors[others])
    assert len(set(found)) == 3

    entry(page, "Cluster 2: name it").press("Enter")  # by the keyboard
    page.page.keyboard.type("far")
    page.page.keyboard.press("Enter")
    expect_legend(page, "1a", "1b", "far")
    page.until(lambda: page.page.evaluate(FOCUSED) == "far: rename", "the focus is where it was")
    entry(page, "Cluster 1b: name it").click()
    merge = page.page.get_by_role("button", name="Merge", exact=True)
    merge.click()
    page.page.get_by_text("Choose two clusters or more").wait_for()
    page.page.get_by_role("checkbox", name="far").check()
    page.change(merge.click)
    expect_legend(page, "1", "far")
    page.change(lambda: page.page.locator(".kg-undo button").first.click())
    expect_legend(page, "1a", "1b", "far")

    save(page, "Table with clusters, CSV").save_as(tmp_path / "table.csv")
    table = arrow_csv.read_csv(tmp_path / "table.csv")
    np.testing.assert_allclose(table["x"], X[:, 0])
    assert table["cluster"].to_pylist() == [1] * 30 + [2] * 30
    assert sorted(set(table["subcluster"].to_pylist())) == ["1a", "1b", "2"]
    assert table["cluster_name"].to_pylist() == [""] * 30 + ["far"] * 30

    entry(page, "Cluster 1a: name it").click()
    page.page.get_by_label("Number of parts").fill("99")
    page.page.get_by_role("button", name="Split", exact=True).click()
    page.page.get_by_text("Choose 2 parts or more, and at most 15").wait_for()
    page.page.get_by_label("Number of parts").fill("2")
    page.change(page.page.get_by_role("button", name="Split", exact=True).click)
    expect_legend(page, "1a1", "1a2", "1b", "far")
