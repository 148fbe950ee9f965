"""The page that a visitor sees first."""

from browser.saving import wait_for_address


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
