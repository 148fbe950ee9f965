"""How the explorer looks."""

import pytest


def hidden(page):
    """What differs from run to run."""
    return [page.locator(".kg-scores tr", has_text="Seconds").locator("td")]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_screenshot_of_moons(explorer, screenshot, theme, pytestconfig):
    explorer = explorer()
    page = explorer.page
    if theme == "dark":
        page.get_by_label("Toggle theme").click()
        explorer.settle()
    screenshot(page, f"moons-{theme}", hide=hidden(page))
    if theme == "light" and pytestconfig.getoption("--update-screenshots"):
        page.screenshot(path=pytestconfig.rootpath / "docs" / "explorer.png", animations="disabled", caret="hide")  # for the README
