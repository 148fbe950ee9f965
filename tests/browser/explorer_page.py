"""The explorer as a test sees it: what it shows, and the controls that a user has."""

import json
import re
import time

# Bokeh's models of the page, by the names that the figures carry.
READ_FIGURE = """([name, column]) => {
  for (const doc of Bokeh.documents) {
    const figure = doc.get_model_by_name(name);
    const stores = (figure?.renderers ?? []).map(renderer => renderer.data_source.data[column]);
    const values = stores.filter(Boolean).at(-1);
    if (values) return Array.from(values, value => ArrayBuffer.isView(value) ? Array.from(value) : value);
  }
  return null;
}"""
N_IMAGES = """name => Bokeh.documents.map(doc => doc.get_model_by_name(name)).find(Boolean)
  ?.renderers.map(renderer => renderer.data_source.data["image"]).find(Boolean)?.length ?? 0"""
IDLE = "() => window.Bokeh && Bokeh.documents.length > 0 && Bokeh.documents.every(doc => doc.is_idle)"
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
PATIENCE = 60_000  # milliseconds; a first compilation on a busy machine takes its time


class ExplorerPage:
    """Drives the explorer in a page.

    Parameters
    ----------
    page : playwright.sync_api.Page
    notebook : bool
        Whether it is shown in a notebook, where Bokeh does not say when it is idle.
    """

    def __init__(self, page, notebook=False):
        self.page, self.notebook = page, notebook

    def open(self, url):
        """Load the page and wait for its first result."""
        self.page.goto(url)
        result, error = self.page.locator(".kg-status").filter(has_text="points in"), self._message()
        result.or_(error).first.wait_for(timeout=PATIENCE)
        assert not error.is_visible(), error.inner_text()
        return self.settle()

    def _message(self, text=r"\w"):
        return self.page.locator(".kg-error .MuiAlert-message").filter(has_text=re.compile(text))

    def settle(self):
        """Wait until there is a complete result and nothing is computed, sent or drawn any more."""
        page = self.page
        seen, times = None, 0
        end = time.monotonic() + PATIENCE / 1000
        while times < 3:  # between two stages all may look idle for a moment
            page.locator(".kg-cancel").wait_for(state="hidden", timeout=PATIENCE)
            if not self.notebook:
                page.wait_for_function(IDLE, timeout=PATIENCE)
            now = self.seen()
            complete = "cluster" in self.status() and self.scores().get("Edges", ["–"]).count("–") == 0
            complete = complete and self._painted()
            seen, times = now, times + 1 if complete and now == seen else 0
            assert time.monotonic() < end, f"the page does not come to rest: {self.status()}"
            page.wait_for_timeout(100)
        page.evaluate("() => document.fonts.ready.then(() => true)")
        page.evaluate(TWO_FRAMES)
        return self

    def _painted(self):
        """Whether the edges are on the screen, where they belong there: in a new process, what draws them is compiled first."""
        if not self.page.locator(".kg-kde-points").is_visible():
            return True
        return all(self.page.evaluate(N_IMAGES, f"{graph}: points and edges") for graph in ("KDE graph", "k-NN graph"))

    def status(self):
        """The line that says what is explored."""
        return self.page.locator(".kg-status div").first.inner_text().strip()

    def scores(self):
        """{row: [value of the KDE graph, value of the k-NN graph]} as the table shows it."""
        cells = "rows => rows.map(row => Array.from(row.cells, cell => cell.textContent))"
        return {name: values for name, *values in self.page.locator(".kg-scores tbody tr").evaluate_all(cells)}

    def column(self, figure, column):
        """A column of the data that a figure draws, of its uppermost layer that has it."""
        return self.page.evaluate(READ_FIGURE, [figure, column])

    def eigenvalues(self, graph="KDE graph"):
        """The eigenvalues that the spectrum shows."""
        return self.column(f"{graph}: eigenvalues", "value")

    def colours(self, graph="KDE graph"):
        """The colours of the points: the clusters."""
        return self.column(f"{graph}: points and edges", "colour")

    def segments(self, graph="KDE graph"):
        """The colours of the segments that lie over a photograph, flat, the lowest row first."""
        return self.column(f"{graph}: segmentation", "image")[0]

    def lasting_scores(self):
        """The scores without the seconds, which differ from run to run."""
        return {name: values for name, values in self.scores().items() if not name.startswith("Seconds")}

    def seen(self):
        """All that a parameter of the computation can change, as one string."""
        return json.dumps([self.status(), self.lasting_scores(), self.eigenvalues(), self.eigenvalues("k-NN graph"), self.colours()])

    def expect_status(self, words):
        """Wait until the status says `words`, and then until the page is at rest."""
        self.page.locator(".kg-status").filter(has_text=words).wait_for(timeout=PATIENCE)
        return self.settle()

    def change(self, action):
        """Do `action` and wait until what is seen has changed and the page is at rest."""
        before = self.seen()
        action()
        self.until(lambda: self.seen() != before, "something that is seen changes")
        return self.settle()

    def until(self, condition, what):
        """Wait until `condition()` holds; `what` it is stands in the error."""
        end = time.monotonic() + PATIENCE / 1000
        while not condition():
            assert time.monotonic() < end, f"waited in vain until {what}"
            self.page.wait_for_timeout(100)

    def choose_source(self, name):
        """Choose where the points come from."""
        self.page.get_by_label("Source", exact=True).click()
        self.page.get_by_role("menuitem", name=name, exact=True).click()

    def upload(self, path):
        """Give the explorer a file."""
        self.page.locator("input[type=file]").set_input_files(path)

    def error(self, mentioning=""):
        """The message in the page; waits for one that mentions what is given."""
        message = self._message(re.escape(mentioning) or r"\w")
        message.wait_for(timeout=PATIENCE)
        return message.inner_text().strip()

    def has_error(self):
        """Whether there is a message in the page."""
        return self._message().is_visible()

    def set_slider(self, label, presses):
        """Move a slider by the keyboard: positive `presses` to the right."""
        self.page.get_by_role("slider", name=label).focus()
        for _ in range(abs(presses)):
            self.page.keyboard.press("ArrowRight" if presses > 0 else "ArrowLeft")
