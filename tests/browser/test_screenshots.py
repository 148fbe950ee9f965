"""How the explorer looks."""

import pytest

ALL_ROUNDS = """([name, rounds]) =>
  look.columns(name, "error").some(errors => errors.length === rounds)"""
EDGES = """names => names.every(name =>
  look.columns(name, "image").some(images => images[0]?.some?.(Boolean)))"""
# The views: the name of the tab, and what is there once nothing more comes.
VIEWS = {
    "moons": (
        "Graphs",
        lambda page: page.wait_for_function(
            EDGES, arg=["KDE graph: points and edges", "k-NN graph: points and edges"]
        ),
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
}
README = {
    ("moons", "light"): "explorer",
    ("rounds", "dark"): "rounds",
}  # pictures for README.md, with the numbers in them


def hidden(page):
    """What differs from run to run."""
    return [
        page.locator(f"{table} tr", has_text="Seconds").locator("td:visible")
        for table in (".kg-scores", ".kg-compare")
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_screenshots_of_views(explorer, screenshot, theme, pytestconfig, subtests):
    explorer = explorer(color_scheme=theme)
    page = explorer.page
    for view, (tab, complete) in VIEWS.items():
        with subtests.test(view):
            page.locator(".kg-tabs button", has_text=tab).click()
            complete(page)
            page.wait_for_timeout(1000)
            explorer.settle()
            screenshot(page, f"{view}-{theme}", hide=hidden(page))
            if (view, theme) in README and pytestconfig.getoption("--update-screenshots"):
                page.screenshot(
                    path=pytestconfig.rootpath / "docs" / f"{README[view, theme]}.png",
                    animations="disabled",
                    caret="hide",
                )
