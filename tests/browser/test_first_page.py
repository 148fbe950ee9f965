"""The page that a visitor sees first."""

import io
import re
import sys
import time

import numpy as np
from browser.explorer_page import ExplorerPage
from browser.pages import PATIENCE, SIZE
from browser.saving import wait_for_address
from kdegraph_explorer.assets import style_sheet
from PIL import Image, ImageFilter

PHONE = {"width": 390, "height": 844}
# Shows the picture in place of a plot again, and the plot once more.
COVER = """(host, style) => {
  document.body.insertAdjacentHTML("beforeend", `<style id="cover">${style}</style>`)
  host.classList.add("kg-uncolored")
}"""
UNCOVER = """host => {
  document.getElementById("cover").remove()
  host.classList.remove("kg-uncolored")
}"""


def test_the_first_page_comes_where_its_places_are_and_proves_the_point(
    explorer, new_page, explorer_server
):
    before = new_page(java_script_enabled=False)  # so that it is never built
    before.goto(explorer_server[0], wait_until="domcontentloaded")
    skeleton = before.get_by_role("status", name="The explorer is being opened")
    skeleton.filter(has_text="kdegraph explorer").wait_for()
    page = explorer("")
    page.page.wait_for_function("() => look.painted()")
    assert page.page.locator("#kg-first-plots, .kg-uncolored:visible").count() == 0
    for width in (1280, 1000, 960):
        give_looks(before, page, "light", {"width": width, "height": 720})
        check_cards(before, page.page)
    for theme in ("light", "dark"):
        give_looks(before, page, theme, SIZE)
        check_pictures(before, page.page, ["kde", "knn", "full"])
    check_the_proof_and_the_tour(page)
    phone = explorer("", color_scheme="dark", viewport=PHONE)
    phone.page.wait_for_function("() => look.painted()")
    give_looks(before, phone, "dark", PHONE)
    check_pictures(before, phone.page, ["kde", "knn"])


# The explorer, whose next page is ready half a second after another one.
SOON = """
import sys
from kdegraph.cli import main
from kdegraph_explorer.serving import spare

spare.QUIET = 0.5
main(sys.argv[1:])
"""
# Whether the result is on the screen before the page takes input.
EARLY = """window.early = false
setInterval(() => {
  if (document.body?.inert && !document.getElementById("loader").checkVisibility())
    early ||= look.status().includes("2 clusters")
}, 10)"""


def test_a_page_that_is_ready_comes_with_its_result(serve, new_page):
    command = [sys.executable, "-c", SOON, "explore", "--no-browser", "--port", "{port}"]
    address, _ = serve(command)
    end = time.monotonic() + PATIENCE / 1000
    early = False
    while not early:
        assert time.monotonic() < end
        page = ExplorerPage(new_page())
        page.page.add_init_script(EARLY)
        page.open(address)
        early = page.page.evaluate("() => early")
    wait_for_address(page, "clumps")
    assert page.page.locator("#kg-first-plots").count() == 0
    page.change(lambda: page.set_slider("Clusters k", 1))
    assert "3 clusters" in page.status()


def give_looks(before, page, theme, size):
    """Give both pages a theme and a size."""
    for one in (before, page.page):
        one.emulate_media(color_scheme=theme)
        one.set_viewport_size(size)
    page.expect_theme(theme)


def check_cards(before, page):
    places = [place.bounding_box() for place in before.locator("#loader main i").all()]
    cards = [card.bounding_box() for card in page.locator(".kg-main .kg-card").all()]
    shown = [card for card in cards if card is not None]
    for place, card in zip(places[1:], shown, strict=True):
        assert all(abs(place[name] - card[name]) <= 1 for name in place), (place, card)


def check_pictures(before, page, names):
    """Pictures of the plots stand where these come."""
    assert page.evaluate("() => look.part('.kg-main').scrollWidth <= innerWidth")
    for name in names:
        plot = page.locator(f".kg-start-{name}")
        box = plot.bounding_box()
        live, picture = colored(page, box), colored(before, box)
        plot.evaluate(COVER, style_sheet("first-plots"))
        covered = colored(page, box)
        plot.evaluate(UNCOVER)
        for other in (picture, covered):
            assert min(live.sum(), other.sum()) > 500
            assert (near(live) & other).mean() > 0.95 * other.mean(), name
            assert (near(other) & live).mean() > 0.95 * live.mean(), name


def colored(page, box):
    """Whether each pixel within a box of a page is blue or yellow, as the clusters are."""
    with Image.open(io.BytesIO(page.screenshot(clip=box))) as picture:
        pixels = np.asarray(picture.convert("RGB"), dtype=int)
    return pixels.max(axis=2) - pixels.min(axis=2) > 80


def near(mask, pixels=2):
    """Whether a pixel of a mask is at most so far away, along both axes."""
    wide = Image.fromarray(mask).convert("L").filter(ImageFilter.MaxFilter(2 * pixels + 1))
    return np.asarray(wide) > 0


def check_the_proof_and_the_tour(page):
    headline = page.page.locator(".kg-headline")
    headline.filter(has_text="1/20").wait_for()
    headline.filter(has_text="The graph of the 10 nearest neighbors does not.").wait_for()
    for panel in ("Sampled graph", "k-NN graph", "Full graph"):
        assert len(page.column(f"Start: {panel}", "color")) == 2000
    page.page.get_by_role("button", name="Take the tour").click()
    tour = page.page.locator(".kg-tour-text")
    tour.filter(has_text="1 of 3").wait_for()
    page.page.locator(".kg-kde-points").first.wait_for()
    page.page.get_by_role("button", name="Leave", exact=True).click()
    tour.wait_for(state="hidden")
    page.settle()
    wait_for_address(page, "clumps")  # what was on the screen


def test_pages_with_another_address_have_no_pictures(new_page, explorer_server):
    request, address = new_page().request, explorer_server[0]
    pages = {
        query: request.get(address + query).text()
        for query in ("", "?source=generators", "?data.shape=clumps&view=start&n_clusters=3")
    }
    assert ["kg-first-plots" in page.split("<body>")[1] for page in pages.values()] == [
        True,
        False,
        False,
    ]
    for page in pages.values():  # after the policy, the browser would not look ahead
        before, after = page.split("Content-Security-Policy", 1)
        scripts = re.findall(r'src="(static/js/[^"]+)', after)
        assert scripts
        assert all(f'as="script" href="{script}"' in before for script in scripts)
    assert all('id="loader"' in page.split("<script src=")[0] for page in pages.values())
