"""One's own data in the browser: hundreds of columns, colors, rows."""

import numpy as np
from browser.explorer_page import FOCUSED

PERPLEXITY = "Perplexity"
N_COLUMNS = 60
WHOLE = """entry => entry.scrollWidth <= entry.clientWidth
  && entry.getBoundingClientRect().right <= innerWidth"""


def open_own_data(explorer, folder):
    """Open a table of many columns, of which the first counts and the last groups."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, N_COLUMNS)) + 6 * group[:, None]
    names = [f"sensor {i}" for i in range(N_COLUMNS)]
    names[0] = "of all sensors the one that stands farthest from the door of the second laboratory"
    rows = [
        f"{i + 1},{','.join(f'{value:.4f}' for value in x)},{'uv'[g]}"
        for i, (x, g) in enumerate(zip(X, group, strict=True))
    ]
    path = folder / "own.csv"
    path.write_text("\n".join([f"number,{','.join(names)},kind", *rows]))
    found = explorer()
    found.choose_source("File")
    found.change(lambda: (found.upload(path), found.expect_status("own.csv")))
    return found


def test_many_columns_are_chosen_scaled_and_read(explorer, tmp_path):
    own_data = open_own_data(explorer, tmp_path)
    check_scales(own_data)
    page = own_data.page
    page.get_by_label("Search columns").fill("")
    columns = page.locator(".kg-columns")
    assert "60 of 62 are features" in page.locator(".columns .count").inner_text()
    assert columns.bounding_box()["height"] <= 200
    assert page.get_by_role("slider", name=PERPLEXITY).bounding_box()["y"] < 720  # on the screen
    assert columns.get_by_label("Role of number", exact=True).input_value() == "ignore"

    page.get_by_label("Search columns").fill("sensor 1")  # sensor 1 and 10 to 19
    assert columns.locator(".line:visible").count() == 11
    own_data.change(lambda: page.get_by_label("Role of all columns shown").select_option("ignore"))
    assert "49 of 62 are features" in page.locator(".columns .count").inner_text()
    page.get_by_label("Search columns").fill("kind")
    columns.get_by_label("Role of kind").select_option("label")
    page.locator(".kg-scores tr", has_text="Adjusted Rand index").wait_for()

    check_search_of_colors(own_data)
    page.get_by_label("Search columns").fill("number")
    columns.get_by_label("Role of number").select_option("color")
    own_data.until(lambda: len(set(own_data.colors())) > 12, "the points are colored by a number")

    own_data.open_view("Rows")
    page.get_by_label("Search the rows").fill("v")
    rows = page.locator(".kg-rows tbody tr")
    own_data.until(lambda: "of 40" in page.locator(".rows .status").inner_text(), "rows are found")
    rows.first.click()
    own_data.until(lambda: "1 selected" in page.locator(".rows .status").inner_text(), "a click")
    assert rows.first.locator("td").first.inner_text() == "40"
    heads = page.locator(".kg-rows th")  # long names leave room for the other columns
    assert max(head.bounding_box()["width"] for head in heads.all()[:6]) <= 221
    assert heads.nth(3).locator("button").get_attribute("title").startswith("of all sensors")


def check_search_of_colors(own_data):
    """A color is found among 62 columns by typing, and the next search begins anew."""
    page = own_data.page
    color = page.get_by_role("combobox", name="Color")
    options = page.locator(".MuiMenuItem-root:has(.MuiListItemText-root)")
    for words, found in (("SENSOR 5", 11), ("kind", 1)):
        color.click()
        page.wait_for_function(f"() => ({FOCUSED})() === 'Search'")
        assert options.count() == 63
        page.keyboard.type(words)
        own_data.until(lambda found=found: options.count() == found, "some columns are offered")
        page.keyboard.press("Enter")
        options.first.wait_for(state="hidden")
        chosen = words.lower()
        own_data.until(lambda chosen=chosen: color.inner_text() == chosen, "the choice is shown")
        if words == "SENSOR 5":
            assert page.locator(".entry:has(b)").evaluate(WHOLE)
    own_data.until(lambda: len(set(own_data.colors())) == 2, "each kind has its color")
    color.click()
    page.wait_for_function(f"() => ({FOCUSED})() === 'Search'")
    page.keyboard.press("Escape")
    options.first.wait_for(state="hidden")
    assert color.inner_text() == "kind"


def check_scales(own_data):
    page = own_data.page
    page.get_by_label("Search columns").fill("sensor 1")
    page.get_by_role("button", name="Scale of sensor 1", exact=True).click()
    page.get_by_role("group", name="Scale of sensor 1", exact=True).get_by_text("log").click()
    page.get_by_text("needs values above 0").wait_for()
    own_data.change(lambda: page.get_by_role("button", name="Standardize all").click())
    assert (
        page.get_by_role("button", name="Standardize all").get_attribute("aria-pressed") == "true"
    )
