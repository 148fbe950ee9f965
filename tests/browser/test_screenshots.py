"""How the explorer looks."""

import pytest

ALL_ROUNDS = """([name, rounds]) => Bokeh.documents.map(doc => doc.get_model_by_name(name)).find(Boolean)
  ?.renderers.some(renderer => renderer.data_source.data["error"]?.length === rounds)"""
EDGES = """names => names.every(name => Bokeh.documents.map(doc => doc.get_model_by_name(name)).find(Boolean)
  ?.renderers.some(renderer => renderer.data_source.data["image"]?.[0]?.some?.(Boolean)))"""
# The new views: the name of the tab, and what is there once nothing more comes.
VIEWS = {
    "point": ("One point", lambda page: page.locator(".kg-neighbours tbody tr").first.wait_for()),
    "rounds": ("Rounds", lambda page: page.wait_for_function(ALL_ROUNDS, arg=["Rounds: degrees", 20])),
    "embedding": ("Embedding", lambda page: page.locator(".kg-conductances canvas").first.wait_for()),
    "compare": ("Compare", lambda page: page.locator(".kg-compare tr", has_text="Edges").filter(has_not_text="–").wait_for()),
}


def hidden(page):
    """What differs from run to run."""
    return [page.locator(f"{table} tr", has_text="Seconds").locator("td:visible") for table in (".kg-scores", ".kg-compare")]


def keep_for_readme(page, name, pytestconfig):
    """With new baselines, README.md gets new pictures, with the numbers in them."""
    if pytestconfig.getoption("--update-screenshots"):
        page.screenshot(path=pytestconfig.rootpath / "docs" / f"{name}.png", animations="disabled", caret="hide")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_screenshot_of_moons(explorer, screenshot, theme, pytestconfig):
    explorer = explorer()
    page = explorer.page
    page.wait_for_function(EDGES, arg=["KDE graph: points and edges", "k-NN graph: points and edges"])
    if theme == "dark":
        page.get_by_label("Toggle theme").click()
        explorer.settle()
    page.wait_for_timeout(1000)
    explorer.settle()
    screenshot(page, f"moons-{theme}", hide=hidden(page))
    if theme == "light":
        keep_for_readme(page, "explorer", pytestconfig)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_screenshot_of_views(explorer, screenshot, view, theme, pytestconfig):
    explorer = explorer(color_scheme=theme)
    page, (tab, complete) = explorer.page, VIEWS[view]
    page.locator(".kg-tabs button", has_text=tab).click()
    complete(page)
    page.wait_for_timeout(1000)
    explorer.settle()
    screenshot(page, f"{view}-{theme}", hide=hidden(page))
    if (view, theme) == ("rounds", "dark"):
        keep_for_readme(page, "rounds", pytestconfig)
