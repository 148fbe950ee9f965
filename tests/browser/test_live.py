"""What is seen while results change: dimmed old ones, no blank plots, and nothing left behind."""

import json

MOVES = 40

# Looks at every frame, until it is told to stop.
WATCH = """() => {
  const watch = {frames: 0, blank: [], pictures: new Set(), spectra: new Set(), stop: false}
  window.watch = watch
  let last = null
  const inspect = () => {
    watch.frames += 1
    const image = look.columns("KDE graph: points and edges", "image")[0]?.[0]
    const values = look.columns("KDE graph: eigenvalues", "value")[0]
    const numbers = values?.length && values.every(value => Number.isFinite(value))
    if (!numbers) watch.blank.push("eigenvalues")
    if (image === undefined) watch.blank.push("no image")
    else if (image !== last && !image.some(Boolean)) watch.blank.push("empty image")
    if (values) watch.spectra.add(Array.from(values).join())
    watch.pictures.add(image)
    last = image
    if (!watch.stop) requestAnimationFrame(inspect)
  }
  inspect()
}"""
SEEN = """() => {
  const {frames, blank, pictures, spectra} = window.watch
  window.watch.stop = true
  return [frames, blank, pictures.size, spectra.size]
}"""


def drag(page, moves=MOVES):
    """Move sigma to the left and back again, as fast as keys repeat."""
    page.page.get_by_role("slider", name="Kernel width σ").focus()
    for i in range(moves):
        page.page.keyboard.press("ArrowLeft" if i < moves // 2 else "ArrowRight")
        page.page.wait_for_timeout(30)
    return page.settle()


def holdings(page):
    """Count the models, nodes and listeners of a page after garbage collection."""
    session = page.page.context.new_cdp_session(page.page)
    session.send("HeapProfiler.collectGarbage")
    counters = session.send("Memory.getDOMCounters")
    session.detach()
    models = page.page.evaluate("() => Bokeh.documents.map(doc => doc._all_models.size)")
    return {"models": models, "nodes": counters["nodes"], "listeners": counters["jsEventListeners"]}


# Notes whether the views are dimmed, whenever that changes.
DIMMED = """() => {
  const place = look.within(document, ".kg-main")[0]
  window.dimmed = []
  const note = () => window.dimmed.push(place.classList.contains("kg-outdated"))
  new MutationObserver(note).observe(place, {attributeFilter: ["class"]})
}"""


def test_old_results_are_dimmed_until_the_new_ones_are_there(first_view):
    page = first_view
    page.page.evaluate(DIMMED)
    page.change(lambda: page.set_slider("Rounds L", 20))
    dimmed = page.page.evaluate("() => window.dimmed")
    assert dimmed[0]
    assert not dimmed[-1]
    place = page.page.locator(".kg-main")
    below = page.page.locator(".kg-below")
    assert below.evaluate("part => getComputedStyle(part).opacity") == "1"
    place.evaluate("part => part.classList.add('kg-outdated')")  # for a long computation
    page.page.wait_for_function(
        "part => getComputedStyle(part).opacity === '0.45'", arg=below.element_handle()
    )
    place.evaluate("part => part.classList.remove('kg-outdated')")
    page.change(lambda: page.set_slider("Rounds L", -20))


def test_quick_moves_blank_nothing_and_leave_nothing_behind(explorer):
    page = explorer(query="?sigma=0.1&sigma_auto=false")
    before = page.lasting_scores(), page.colors()
    page.page.evaluate(WATCH)
    drag(page)
    frames, blank, pictures, spectra = page.page.evaluate(SEEN)
    assert frames > MOVES
    assert blank == []
    assert pictures > 2
    assert spectra > 2
    assert (page.lasting_scores(), page.colors()) == before  # the slider is where it was
    before = holdings(page)
    drag(page)
    drag(page)
    after = holdings(page)
    assert after["models"] == before["models"], json.dumps([before, after])
    assert after["nodes"] <= 1.05 * before["nodes"], json.dumps([before, after])
    assert after["listeners"] <= 1.05 * before["listeners"], json.dumps([before, after])
