"""The page that a visitor sees first."""

import io

import numpy as np
import pytest
from browser.saving import wait_for_address
from kdegraph_explorer.assets import style_sheet
from PIL import Image, ImageFilter

PHONE = {"width": 390, "height": 844}
# Shows the picture in place of a plot again.
COVER = """(host, style) => {
  document.body.insertAdjacentHTML("beforeend", `<style>${style}</style>`)
  host.classList.add("kg-uncolored")
}"""


def test_the_first_page_proves_the_point_and_the_tour_can_be_left(explorer):
    page = explorer("")
    page.page.wait_for_function("() => look.painted()")
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


def test_a_page_shows_the_places_of_its_parts_until_it_is_built(new_page, explorer_server):
    page = new_page(java_script_enabled=False)  # so that it is never built
    page.goto(explorer_server[0], wait_until="domcontentloaded")
    skeleton = page.get_by_role("status", name="The explorer is being opened")
    skeleton.filter(has_text="kdegraph explorer").wait_for()
    boxes = [place.bounding_box() for place in skeleton.locator("main i").all()]
    assert len(boxes) == 6
    assert all(box["height"] > 80 for box in boxes)
    assert max(box["x"] + box["width"] for box in boxes) > 1_200  # of 1,280


@pytest.mark.parametrize("width", [1280, 1000, 960])
def test_cards_come_where_their_places_are(explorer, new_page, explorer_server, width):
    size = {"width": width, "height": 720}
    before = new_page(viewport=size, java_script_enabled=False)
    before.goto(explorer_server[0], wait_until="domcontentloaded")
    page = explorer("", viewport=size).page
    page.wait_for_function("() => look.painted()")
    places = [place.bounding_box() for place in before.locator("#loader main i").all()]
    cards = [card.bounding_box() for card in page.locator(".kg-main .kg-card").all()]
    shown = [card for card in cards if card is not None]
    for place, card in zip(places[1:], shown, strict=True):
        assert all(abs(place[name] - card[name]) <= 1 for name in place), (place, card)


def colored(page, box):
    """Whether each pixel within a box of a page is blue or yellow, as the clusters are."""
    with Image.open(io.BytesIO(page.screenshot(clip=box))) as picture:
        pixels = np.asarray(picture.convert("RGB"), dtype=int)
    return pixels.max(axis=2) - pixels.min(axis=2) > 80


def near(mask, pixels=2):
    """Whether a pixel of a mask is at most so far away, along both axes."""
    wide = Image.fromarray(mask).convert("L").filter(ImageFilter.MaxFilter(2 * pixels + 1))
    return np.asarray(wide) > 0


@pytest.mark.parametrize(("theme", "size"), [("light", None), ("dark", None), ("dark", PHONE)])
def test_pictures_stand_where_the_plots_come(explorer, new_page, explorer_server, theme, size):
    options = {"color_scheme": theme, **({} if size is None else {"viewport": size})}
    before = new_page(**options, java_script_enabled=False)
    before.goto(explorer_server[0], wait_until="domcontentloaded")
    page = explorer("", **options).page
    page.wait_for_function("() => look.painted()")
    assert page.locator("#kg-first-plots, .kg-uncolored:visible").count() == 0
    assert page.evaluate("() => look.part('.kg-main').scrollWidth <= innerWidth")
    names = ["kde", "knn"] if size == PHONE else ["kde", "knn", "full"]
    for name in names:
        plot = page.locator(f".kg-start-{name}")
        box = plot.bounding_box()
        live, picture = colored(page, box), colored(before, box)
        plot.evaluate(COVER, style_sheet("first-plots"))
        covered = colored(page, box)
        for other in (picture, covered):
            assert min(live.sum(), other.sum()) > 500
            assert (near(live) & other).mean() > 0.95 * other.mean(), name
            assert (near(other) & live).mean() > 0.95 * live.mean(), name


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
    assert all('id="loader"' in page.split("<script src=")[0] for page in pages.values())
