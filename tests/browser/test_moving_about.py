"""Views that are being opened, swipes and the drawer: what only a browser shows."""

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

# How often the page is laid out for several changes: at once, and in the frames that follow.
LAYOUTS = """async () => {
  const root = [...Bokeh.index.roots].find(view => view.model.type.endsWith("ReactComponent"))
  const views = ["KDE graph: points and edges", "KDE graph: eigenvalues"]
    .map(name => Bokeh.index.find_one(look.figure(name)))
  const frames = async () => {
    for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame)
  }
  await frames()
  const counts = {styles: 0, sizes: 0}
  const [update, compute] = [root.update_layout, root.compute_layout]
  root.update_layout = () => { counts.styles += 1; update.call(root) }
  root.compute_layout = () => { counts.sizes += 1; compute.call(root) }
  for (const view of views) {
    view.invalidate_layout()
    view._after_resize()
  }
  const at_once = {...counts}
  await frames()
  root.update_layout = update
  root.compute_layout = compute
  return [at_once, counts]
}"""


def test_a_swipe_scrolls_a_phone_and_a_view_is_announced_before_it_is_built(explorer):
    page = explorer(has_touch=True, viewport={"width": 390, "height": 844})
    check_swipe(page)
    for name in (".kg-kde-points", ".kg-knn-points", ".kg-kde-spectrum", ".kg-scores"):
        place = page.page.locator(name).first
        place.scroll_into_view_if_needed()
        box = place.bounding_box()
        assert 300 < box["width"] <= 390
        assert box["height"] > 150
    check_announcement(page)
    page.page.get_by_label("Open drawer").click()
    page.page.get_by_role("slider", name="Rounds L").wait_for()
    page.change(lambda: page.set_slider("Rounds L", 5))


def check_announcement(page):
    # Script runs to its end before any message comes from the session, however busy that is.
    before, after, words = page.page.evaluate(ANNOUNCED, "Scaling")
    assert (before, after) == (True, False)
    assert "Scaling" in words
    assert "Opening …" in words
    page.page.locator(".kg-scaling canvas").first.wait_for()
    page.page.wait_for_function("() => !look.part('.kg-main').matches('.kg-opening')")


def test_the_page_is_laid_out_once_for_many_changes(first_view):
    at_once, later = first_view.page.evaluate(LAYOUTS)
    assert at_once == {"styles": 0, "sizes": 0}
    assert later == {"styles": 1, "sizes": 1}


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
