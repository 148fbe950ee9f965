"""Drive the explorer in a page: read what it shows (see look.js), and use its controls."""

import re
import time
from pathlib import Path

from browser.pages import PATIENCE
from kdegraph_explorer.uploads import PART_BYTES

LOOK = Path(__file__).with_name("look.js").read_text()
# The name of the element that has the focus.
FOCUSED = """() => {
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  return element?.getAttribute("aria-label") ?? element?.textContent ?? ""
}"""

ALL_ROUNDS = """([name, rounds]) =>
  look.columns(name, "error").some(errors => errors.length === rounds)"""
EDGES = """names => names.every(name =>
  look.columns(name, "image").some(images => images[0]?.some?.(Boolean)))"""
# Scrolls the row of tabs.
CENTER = """tab => {
  let row = tab
  while (!row.matches(".kg-tabs")) row = row.parentElement ?? row.getRootNode().host
  const [place, room] = [tab, row].map(node => node.getBoundingClientRect())
  row.scrollLeft += place.left + place.width / 2 - room.left - room.width / 2
}"""
SELECTED = """name => look.figure(name).renderers
  .map(renderer => renderer.data_source.selected.indices)
  .find(indices => indices.length) ?? []"""
PLOT = "KDE graph: points and edges"


def first(selector, **options):
    """Return how to wait for the first part of a page that matches."""
    return lambda page: page.locator(selector, **options).first.wait_for()


VIEWS = {  # the large views of every data set, and how to wait until nothing more comes in each
    "Start": first(".kg-headline b", has_text="/"),
    "Graphs": lambda page: page.wait_for_function(
        EDGES, arg=[PLOT, "k-NN graph: points and edges"]
    ),
    "Scales": first(".kg-scales", has_text="from σ"),
    "One point": first(".kg-neighbors tbody tr"),
    "Rounds": lambda page: page.wait_for_function(ALL_ROUNDS, arg=["Rounds: degrees", 20]),
    "Embedding": first(".kg-conductances canvas"),
    "Compare": lambda page: (
        page.locator(".kg-compare tr", has_text="Edges").filter(has_not_text="–").wait_for()
    ),
    "Scaling": first(".kg-scaling canvas"),
    "Why": first(".kg-why-rows tbody tr"),
    "Rows": first(".kg-rows tbody tr"),
}


class ExplorerPage:
    """Drives the explorer in a page.

    Parameters
    ----------
    page : playwright.sync_api.Page or playwright.sync_api.Frame
    notebook : bool
        Whether it is shown in a notebook, where Bokeh does not say when it is idle.
    """

    def __init__(self, page, notebook=False):
        self.page, self.notebook = page, notebook
        page.evaluate(f"() => {{ {LOOK} }}")  # a page that is open ...
        # ... and one that is yet to come
        getattr(page, "page", page).add_init_script(LOOK)

    def open(self, url):
        """Load the page and wait for its first result."""
        self.page.goto(url)
        result, error = (
            self.page.locator(".kg-status").filter(has_text="points in"),
            self._message(),
        )
        result.or_(error).first.wait_for()
        assert not error.is_visible(), error.inner_text()
        return self.settle()

    def _message(self, text=r"\w"):
        return self.page.locator(".kg-error .kg-message div div").filter(has_text=re.compile(text))

    def settle(self):
        """Wait until there is a complete result and nothing is computed, sent or drawn any more."""
        missing = self._look("settle", PATIENCE, self.notebook)
        assert not missing, f"the page does not come to rest: {missing}; {self.status()}"
        return self

    def _look(self, name, *arguments):
        return self.page.evaluate("([name, values]) => look[name](...values)", [name, arguments])

    def status(self):
        """Return the line of the status."""
        return self._look("status")

    def scores(self):
        """Return the table of scores: {row: [value of the KDE graph, value of the k-NN graph]}."""
        return self._look("scores")

    def column(self, figure, column):
        """Return a column of the data that a figure draws, of its uppermost layer that has it."""
        return self._look("column", figure, column)

    def eigenvalues(self, graph="KDE graph"):
        """Return the eigenvalues that the spectrum shows."""
        return self.column(f"{graph}: eigenvalues", "value")

    def colors(self, graph="KDE graph"):
        """Return the colors of the points, which show the clusters."""
        return self.column(f"{graph}: points and edges", "color")

    def segments(self, graph="KDE graph"):
        """Return the colors of the segments over a photograph, flat, the lowest row first."""
        return self.column(f"{graph}: segmentation", "image")[0]

    def lasting_scores(self):
        """Return the scores without the seconds, which differ from run to run."""
        return {
            name: values for name, values in self.scores().items() if not name.startswith("Seconds")
        }

    def seen(self):
        """Return all that a parameter of the computation can change, as one string."""
        return self._look("seen")

    def expect_status(self, words):
        """Wait until the status says `words`, and then until the page is at rest."""
        self.page.locator(".kg-status").filter(has_text=words).wait_for()
        return self.settle()

    def expect_theme(self, theme):
        """Wait until all components have the theme, "light" or "dark", and its colors, and then
        until the page is at rest.
        """
        other = {"light": ".mui-dark", "dark": ".mui-light"}[theme]
        self.page.wait_for_function("other => look.within(document, other).length === 0", arg=other)
        self.page.wait_for_function(
            "() => look.within(document, 'button').every(one => !one.getAnimations().length)"
        )
        return self.settle()

    def change(self, action):
        """Do `action` and wait until what is seen has changed and the page is at rest."""
        before = self.seen()
        action()
        self.page.wait_for_function("before => look.seen() !== before", arg=before, polling=50)
        return self.settle()

    def until(self, condition, what):
        """Wait until `condition()` holds; the error says `what` it is."""
        end = time.monotonic() + PATIENCE / 1000
        while not condition():
            assert time.monotonic() < end, f"timed out waiting until {what}"
            self.page.wait_for_timeout(100)

    def open_view(self, name):
        """Show one of the large views, and wait until it is complete and painted."""
        tab = self.page.locator(".kg-tabs button", has_text=name)
        tab.click()
        # A click scrolls the row of tabs as far as it needs to, which is not always the same.
        tab.evaluate(CENTER)
        VIEWS[name](self.page)
        self.page.wait_for_function("() => look.painted()")
        return self.settle()

    def expect_selection(self, expected):
        """Wait until these points are selected."""
        self.until(
            lambda: sorted(self.page.evaluate(SELECTED, PLOT)) == list(expected),
            f"{len(expected)} points are selected",
        )

    def choose_source(self, name):
        """Choose where the points come from."""
        self.page.get_by_label("Source", exact=True).click()
        items = self.page.locator(".MuiMenuItem-root")  # JupyterLab has a menu "File", too
        items.and_(self.page.get_by_role("menuitem", name=name, exact=True)).click()

    def upload(self, path):
        """Give the explorer a file."""
        self.page.locator("input[type=file]").set_input_files(path)

    def upload_large(self, folder):
        """Give the explorer a file that is sent in several parts, and wait for its points."""
        path = folder / "large.csv"
        words = "x" * 5_000
        rows = [f"{i % 7},{i % 5},{words}{i}" for i in range(1_000)]
        path.write_text("\n".join(["width,height,words", *rows]))
        assert path.stat().st_size > 2 * PART_BYTES
        self.choose_source("File")
        self.upload(path)
        return self.expect_status("large.csv: 1,000 points")

    def error(self, mentioning=""):
        """Wait for a message in the page that mentions a text, and return it."""
        message = self._message(re.escape(mentioning) or r"\w")
        message.wait_for()
        return message.inner_text().strip()

    def has_error(self):
        """Return whether there is a message in the page."""
        return self._message().is_visible()

    def set_slider(self, label, presses):
        """Move a slider by the keyboard: positive `presses` to the right."""
        slider = self.page.get_by_role("slider", name=label)
        for _ in range(abs(presses)):
            slider.press("ArrowRight" if presses > 0 else "ArrowLeft")
