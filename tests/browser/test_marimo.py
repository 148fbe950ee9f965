"""The example for marimo, in a real browser, without a network."""

import sys

import pytest
from browser.explorer_page import ExplorerPage

EIGENVALUES = """() => Bokeh.documents.flatMap(document => [...document._all_models.values()])
  .filter(model => model.name === "k-NN graph: eigenvalues")
  .map(figure => figure.renderers.find(shown => shown.data_source.data.value).data_source.data)
  .map(({color, value}) => JSON.stringify([[...color], [...value]]))"""


@pytest.fixture(scope="module")
def marimo(serve, pytestconfig):
    """Address of the example, run by marimo."""
    example = pytestconfig.rootpath / "examples" / "explore_marimo.py"
    command = [sys.executable, "-m", "marimo", "run", str(example), "--headless", "--no-token"]
    address, _ = serve([*command, "--host", "localhost", "--port", "{port}"])
    return address


def test_explorer_in_marimo(marimo, new_page):
    page = new_page(viewport={"width": 1400, "height": 1100})
    page.goto(marimo)
    page.locator(".kg-status").filter(has_text="points in").wait_for()
    explorer = ExplorerPage(page, notebook=True).settle()
    assert explorer.status() == "moons: 1,000 points in 2 dimensions, 2 clusters"
    explorer.set_slider("Clusters k", 2)
    explorer.expect_status(", 4 clusters")
    # Python reads back what was chosen, and the view of its own shows it, too.
    page.get_by_role("button", name="Read the result back").click()
    page.get_by_text("sigma 0.1, 4 clusters").wait_for()
    page.wait_for_function(
        f"() => {{ const found = ({EIGENVALUES})(); "
        "return found.length === 2 && found[0] === found[1] && found[0].includes('[') }"
    )
