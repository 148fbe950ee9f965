"""On a phone: every view, swipes, the drawer, and views that are being opened."""

from itertools import pairwise

from browser.explorer_page import VIEWS
from browser.screenshots import hidden, name_of

PHONE = {"width": 390, "height": 844}
PICTURED = "Start", "Graphs", "Rows"  # text, plots and tables
CARDS = """cards => cards
  .filter(card => card.checkVisibility())
  .map(card => card.getBoundingClientRect())
  .map(({left, right, top, bottom}) => ({left, right, top, bottom}))"""
ANNOUNCED = """name => {
  const tabs = look.part(".kg-tabs")
  const views = () => [...look.part(".kg-main").shadowRoot.querySelectorAll(".kg-view")]
  const seen = () => views().some(view => view.checkVisibility({visibilityProperty: true}))
  const before = seen()
  const button = [...tabs.shadowRoot.querySelectorAll("button")].find(b => b.textContent === name)
  button.click()
  return [before, seen(), getComputedStyle(look.part(".kg-main"), "::after").content]
}"""
TOUCH_ACTION = """() => getComputedStyle(look.part(".kg-kde-points").shadowRoot
  .querySelector(".bk-Canvas").shadowRoot.querySelector(".bk-events")).touchAction"""

WINDOW = """() => {
  const {x_range, y_range} = look.figure("KDE graph: points and edges")
  return [x_range.start, x_range.end, y_range.start, y_range.end]
}"""


def test_a_phone(explorer, screenshot, subtests):
    page = explorer(color_scheme="dark", viewport=PHONE, has_touch=True)
    check_swipe(page)
    check_announcement(page)
    for view in VIEWS:
        name = name_of(view, "phone", "dark")
        with subtests.test(name):
            page.open_view(view)
            check_cards(page.page)
            if view in PICTURED:
                screenshot(page.page, name, hide=hidden(page.page))
    page.page.get_by_label("Open drawer").click()
    page.page.get_by_role("slider", name="Rounds L").wait_for()
    page.change(lambda: page.set_slider("Rounds L", 5))


def check_swipe(page):
    page.page.wait_for_function(f"() => ({TOUCH_ACTION})() === 'pan-x pan-y'")
    before = page.page.evaluate(WINDOW)
    fingers = page.page.context.new_cdp_session(page.page)

    def touch(kind, *places):
        points = [{"x": 195, "y": y} for y in places]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 300)
    for y in range(280, 100, -20):
        touch("touchMove", y)
        page.page.wait_for_timeout(20)
    touch("touchEnd")
    page.page.wait_for_function("() => look.part('.kg-main').scrollTop > 50")
    assert page.page.evaluate(WINDOW) == before


def check_announcement(page):
    # Script runs to its end before any message comes from the session, however busy that is.
    before, after, words = page.page.evaluate(ANNOUNCED, "Scaling")
    assert (before, after) == (True, False)
    assert "Scaling" in words
    assert "Opening …" in words
    page.page.locator(".kg-scaling canvas").first.wait_for()
    page.page.wait_for_function("() => !look.part('.kg-main').matches('.kg-opening')")


def check_cards(page):
    """Cards lie one below the other, none is cut off, and nothing is wider than the page."""
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".kg-main").evaluate("main => main.scrollWidth <= main.clientWidth")
    cards = page.locator(".kg-main .kg-card").evaluate_all(CARDS)
    assert len(cards) >= 2
    for card in cards:
        assert card["left"] >= 0
        assert card["right"] <= PHONE["width"]
        assert card["bottom"] - card["top"] > 150
    assert all(above["bottom"] <= below["top"] for above, below in pairwise(cards)), cards
