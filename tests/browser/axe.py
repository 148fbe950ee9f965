"""Find accessibility problems with axe-core."""

from axe_playwright_python.sync_playwright import Axe

COLORS = "color-contrast"  # the only rule that depends on whether a page is light or dark


def load(page):
    """Load axe-core into a page."""
    page.evaluate(f"() => {{ {Axe().axe_script} }}")


def serious(part, only=None, tries=5):
    """Return the serious problems that axe-core finds in a part of the page.

    Problems of what has just appeared may disappear by themselves, so they are looked for again.
    """
    for _ in range(tries):
        if not (found := _serious_now(part, only)):
            break
        part.page.wait_for_timeout(500)
    return found


def _serious_now(part, only):
    """Return the serious problems of a part of the page at this moment, by all rules or by one."""
    named = {"label-content-name-mismatch": {"enabled": True}}  # axe-core leaves it out by default
    options = {
        "resultTypes": ["violations"],
        "preload": False,
        "rules": named,
        **({"runOnly": [only]} if only else {}),
    }
    found = part.evaluate(
        "(part, options) => axe.run(part, options).then(found => found.violations)", options
    )
    return [
        f"{violation['id']}: {violation['help']}: {node['html'][:200]}"
        for violation in found
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
