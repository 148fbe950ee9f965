"""Save files from a page, and compare pages by their addresses."""

import numpy as np


def save(page, item):
    """Choose an item of the menu of files, and return the file."""
    page.page.locator(".kg-export button").click()
    with page.page.expect_download() as download:
        page.page.get_by_role("menuitem", name=item, exact=True).click()
    return download.value


def open_session(page, path):
    """Choose a session file in the menu of files."""
    page.page.locator(".kg-export button").click()
    page.page.get_by_role("menuitem", name="Open a session file").click()
    page.page.get_by_role("dialog").locator("input[type=file]").set_input_files(path)


MENU = ": table and pictures"


def menu_item(page, title, item):
    """Open the menu of a plot, and return one of its items."""
    page.page.get_by_role("button", name=title + MENU, exact=True).click()
    return page.page.get_by_role("button", name=item, exact=True).and_(
        page.page.locator(":visible")
    )


def picture_of(page, title, item):
    """Save a plot as a picture from its own menu."""
    chosen = menu_item(page, title, item)
    with page.page.expect_download() as download:
        chosen.click()
    return download.value


def seen(page):
    """Return the content of a page, apart from what depends on earlier positions of sliders.

    These are last digits, and which cluster has which color.
    """
    colors = page.colors()
    numbers = {color: number for number, color in enumerate(dict.fromkeys(colors))}
    return (
        page.status(),
        page.lasting_scores(),
        [numbers[c] for c in colors],
        np.round(page.eigenvalues(), 4).tolist(),
    )


def wait_for_address(page, part):
    page.page.wait_for_function("part => location.search.includes(part)", arg=part)
