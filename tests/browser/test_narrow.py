"""In a small window, as a cell of a notebook is one: nothing is cut, and every tool is there."""

from browser.explorer_page import PLOT

# The right edge of each part, and that of the page or of what the part must fit in.
EDGES = """([outer, inner]) => look.within(document, outer).flatMap(host =>
  look.within(host, inner).filter(part => part.checkVisibility()).map(part => {
    const limit = Math.min(innerWidth, host.getBoundingClientRect().right)
    return [part.getBoundingClientRect().right, limit + 1]
  }))"""
PARTS = (".kg-scores", "table"), (".kg-tabs", "button"), (".kg-color", "*"), (".kg-toolbar", "*")
HEIGHTS = """() => look.within(look.part(".kg-main"), "canvas")
  .filter(part => part.checkVisibility()).map(part => part.getBoundingClientRect().height)"""
RANGE = "name => { const {x_range} = look.figure(name); return x_range.end - x_range.start }"
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


def test_views_fit_into_narrow_windows(first_view):
    page = first_view.page
    for width in (900, 1100):
        resize(first_view, width)
        for part in PARTS:
            check_edges(page, *part)
    resize(first_view, 1000)
    first_view.open_view("Compare")
    check_edges(page, ".kg-compare", "th, td", least=5 * 8)
    first_view.open_view("Scaling")
    for inner in ("button", ".kg-timings", "canvas"):
        check_edges(page, ".kg-main", inner)
    first_view.open_view("One point")
    for width in (900, 1000, 1280):
        resize(first_view, width)
        check_edges(page, ".kg-neighbors", "th, td")
        check_edges(page, ".kg-card", "button")
        track = page.get_by_role("slider", name="Draw").locator("../..").bounding_box()
        assert track["width"] >= 100
    first_view.open_view("Start")
    for width in (900, 1000):
        resize(first_view, width)
        check_verdicts(page, width)
    check_headline(page)
    first_view.open_view("Graphs")


def test_one_scrolls_to_all_of_a_view_in_a_low_window(first_view):
    """As on a small screen, or with a zoom of 150 %."""
    page = first_view.page
    resize(first_view, 900, 480)
    least = {"Start": 130, "Graphs": 60}  # pixels of a plot
    for view, card in (("Start", ".kg-start-spectra"), ("Graphs", ".kg-scores")):
        first_view.open_view(view)
        first_view.settle()
        heights = page.evaluate(HEIGHTS)
        assert min(heights) >= least[view], (view, heights)
        last = page.locator(card)
        last.scroll_into_view_if_needed()
        place = last.bounding_box()
        assert place["y"] >= page.locator(".kg-toolbar").bounding_box()["y"] + 40
        assert place["y"] + place["height"] <= 480
    resize(first_view, 1280)


def test_what_sets_a_cluster_apart_is_read_above_its_plots_in_a_narrow_window(first_view):
    page = first_view.page
    first_view.open_view("Why")
    for width, least in ((853, 400), (1024, 100), (1280, 150)):
        resize(first_view, width, 480)
        for i, sentence in enumerate(page.get_by_text("effect: ").all()):
            text = sentence.bounding_box()
            plot = page.locator(f".kg-why-{i}").bounding_box()
            assert text["y"] + text["height"] <= plot["y"] + 1
            assert text["x"] + text["width"] <= plot["x"] + plot["width"]
            assert plot["width"] >= least
        assert i >= 1
    page.locator(".kg-why-rows").scroll_into_view_if_needed()
    assert page.locator(".kg-why-rows").bounding_box()["y"] < 480
    first_view.open_view("Graphs")
    resize(first_view, 1280)


def resize(first_view, width, height=672):
    first_view.page.set_viewport_size({"width": width, "height": height})
    first_view.settle()


def check_edges(page, outer, inner, least=1):
    """Check that no part within another is cut off at the right; there are at least `least`."""
    edges = page.evaluate(EDGES, [outer, inner])
    assert len(edges) >= least, (outer, inner)
    assert all(right <= limit for right, limit in edges), (outer, inner, edges)


def check_headline(page):
    """The headline stands between the tabs and the plots, which end above the fold."""
    text = page.locator(".kg-headline p").bounding_box()
    card = page.locator(".kg-start-spectra").bounding_box()
    plots = page.locator(".kg-card").filter(has_text="Sampled graph").first.bounding_box()
    assert text["y"] >= page.locator(".kg-tabs").bounding_box()["y"] + 30
    assert text["y"] + text["height"] <= plots["y"]
    assert card["y"] + card["height"] <= 672


def check_verdicts(page, width):
    """The verdicts stand above the plots, whole or with their words as a tooltip."""
    for method in ("kde", "knn", "full"):
        verdict = page.locator(f".kg-verdict-{method} span")
        text, plot = verdict.bounding_box(), page.locator(f".kg-start-{method}").bounding_box()
        assert text["y"] + text["height"] <= plot["y"]
        line = verdict.locator("..")
        whole = line.evaluate("({scrollWidth, clientWidth}) => scrollWidth <= clientWidth")
        assert whole or width == 900
        assert verdict.get_attribute("title") == verdict.inner_text()


def test_each_plot_has_its_tools(first_view):
    page = first_view.page
    box = page.get_by_role("button", name="Drag to select the points in a box: KDE graph")
    move = page.get_by_role("button", name="Drag to move the window: k-NN graph")
    box.click()
    page.get_by_role("button", name="Box", exact=True, pressed=True).wait_for()
    page.wait_for_function(
        "name => look.figure(name).toolbar.active_drag.type === 'BoxSelectTool'", arg=PLOT
    )
    move.click()
    page.get_by_role("button", name="Move", exact=True, pressed=True).wait_for()
    before = page.evaluate(RANGE, PLOT)
    page.get_by_role("button", name="Zoom in: KDE graph").click()
    page.wait_for_function(
        f"([name, before]) => ({RANGE})(name) < 0.95 * before", arg=[PLOT, before]
    )
    page.get_by_role("button", name="Reset: show all points of KDE graph again").click()
    page.wait_for_function(
        f"([name, before]) => Math.abs(({RANGE})(name) / before - 1) < 1e-6", arg=[PLOT, before]
    )


def test_one_sign_explains_the_controls_of_a_group(first_view):
    page = first_view.page
    sign = page.get_by_role("button", name="About: KDE graph")
    sign.click()
    popover = page.locator("[popover]:popover-open")
    assert "Neighbors drawn per point." in popover.inner_text()
    assert "Perplexity" not in popover.inner_text()  # not offered at present
    page.keyboard.press("Escape")
    popover.wait_for(state="detached")


def test_the_page_is_laid_out_once_for_many_changes(first_view):
    at_once, later = first_view.page.evaluate(LAYOUTS)
    assert at_once == {"styles": 0, "sizes": 0}
    assert later == {"styles": 1, "sizes": 1}
