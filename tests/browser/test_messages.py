"""Messages between a page and its session arrive, however slow either of them is."""

import re
import sys

from browser.explorer_page import ExplorerPage
from browser.saving import seen, wait_for_address

SIGMA = "Kernel width σ"
SCRIPT = "**/panel-material-ui.bundle.js*"  # without which no control is drawn
TABLE = "x,y\n" + "\n".join(f"{x},{y}" for x in (0, 1, 2, 10, 11, 12) for y in range(5))

# What the field for sigma shows is set by messages. The last one of each row comes when the one
# before is drawn and, as that took long, not yet reported to the model.
RECEIVE = """async rows => {
  const document = Bokeh.documents[0]
  const {data} = [...document._all_models.values()].find(model => model.data?.label === "σ typed")
  const receive = value => document.apply_json_patch({
    events: ["value_input", "value"].map(attr => (
      {kind: "ModelChanged", model: {id: data.id}, attr, new: value})),
  })
  const input = look.within(window.document, "input")
    .find(input => input.labels?.[0]?.textContent.startsWith("σ typed"))
  const pause = () => new Promise(done => setTimeout(done, 300))
  for (const [last, slow, ...others] of rows.map(row => row.reverse())) {
    for (const value of others.reverse()) {
      receive(value)
      await pause()
    }
    const draw_slowly = value => {
      delete input.defaultValue
      input.defaultValue = value
      queueMicrotask(() => receive(last))
      const end = performance.now() + 50
      while (performance.now() < end);
    }
    Object.defineProperty(input, "defaultValue", {configurable: true, set: draw_slowly})
    receive(slow)
    await pause()
  }
}"""


def test_a_value_that_is_outdated_when_it_is_drawn_is_no_choice(explorer):
    page = explorer()
    field, handle = page.page.get_by_label("σ typed"), page.page.get_by_role("slider", name=SIGMA)
    seen, place = page.seen(), handle.get_attribute("aria-valuenow")
    # React reports some changes at once: every second one, roughly.
    page.page.evaluate(RECEIVE, [["0.2", "0.3"], ["0.4", "0.5", "0.6"], ["0.7", "0.8", "0.9"]])
    assert page.settle().seen() == seen
    assert field.input_value() == "0.9"
    assert handle.get_attribute("aria-valuenow") == place


class Wire:
    """Hold back the messages between a page and its session from a given one on.

    Parameters
    ----------
    page : playwright.sync_api.Page
    upward, downward : str
        A part of the first message to the session, and of the first one to the page, that is held
        back.
    """

    def __init__(self, page, upward, downward):
        self.up, self.down = Direction(upward), Direction(downward)
        page.route_web_socket("**/ws*", self._connect)  # the query of the page follows

    def _connect(self, socket):
        server = socket.connect_to_server()
        socket.on_message(lambda message: self.up.take(message, server.send))
        server.on_message(lambda message: self.down.take(message, socket.send))


class Direction:
    """Messages in one direction; `held` are those that wait."""

    def __init__(self, first):
        self._first = first
        self.held = []

    def take(self, message, send):
        """Pass a message on, or hold it back."""
        if self.held or (self._first is not None and self._first in str(message)):
            self.held.append((message, send))
        else:
            send(message)

    def release(self):
        """Pass on what is held, and all that follows."""
        held, self.held, self._first = self.held, [], None
        for message, send in held:
            send(message)


def test_keys_before_the_first_result_change_nothing(new_page, clean_log, explorer_server):
    page = new_page()
    wire = Wire(page, upward='"document_ready"', downward='"attr":"built"')
    explorer = ExplorerPage(page)
    page.goto(explorer_server[0] + "?source=generators")
    explorer.until(lambda: wire.up.held, "the page is built")
    hidden = page.get_by_role("slider", name=SIGMA, include_hidden=True)  # behind the skeleton
    for _ in range(3):
        hidden.press("ArrowRight")
    assert len(wire.up.held) == 1  # the session does not listen yet
    wire.up.release()
    explorer.until(lambda: wire.down.held, "the session has begun")
    message, send = wire.down.held[0]
    send(message)
    page.wait_for_function("() => !document.body.inert")
    explorer.set_slider(SIGMA, 3)
    del wire.down.held[0]
    wire.down.release()
    explorer.expect_status("2,000 points")
    assert page.get_by_label("preset σ").is_checked()
    assert page.get_by_label("σ typed").input_value() == "0.1"


def test_a_file_waits_for_a_page_that_loads_slowly_and_is_there_again(serve, new_page, tmp_path):
    path = tmp_path / "two.csv"
    path.write_text(TABLE)
    command = [sys.executable, "-m", "panel", "serve", "apps/explorer.py", "--port", "{port}"]
    address, log = serve([*command, "--args", str(path)], path="/explorer")
    page = ExplorerPage(new_page())

    def hold(route):
        page.page.wait_for_timeout(4_000)
        route.continue_()

    page.page.route(SCRIPT, hold)
    page.page.goto(address)
    page.expect_status("two.csv: 30 points in 2 dimensions")
    assert page.page.get_by_role("button", name="Undo the").is_disabled()
    perplexity = page.page.get_by_role("slider", name="Perplexity").get_attribute("aria-valuenow")
    page.page.get_by_text(f"moderate σ, perplexity {perplexity}; L = 30.").wait_for()
    label = (
        page.page.get_by_text(re.compile("^Perplexity"))
        .filter(visible=True)
        .first.locator("xpath=..")
    )
    assert label.inner_text().endswith(perplexity)
    page.page.unroute(SCRIPT)
    page.change(lambda: page.set_slider("Rounds L", 10))
    wait_for_address(page, "n_rounds=40")
    before = seen(page)
    page.page.reload()
    page.expect_status("points in")
    assert seen(page) == before
    assert "ERROR" not in log.read_text()
