"""Open pages in contexts of their own, and watch them for errors."""

from browser.watcher import Watcher

PATIENCE = 300_000  # milliseconds; a first compilation on a busy machine takes its time
SIZE = {"width": 1280, "height": 720}
OPTIONS = {
    "viewport": SIZE,
    "device_scale_factor": 1,
    "reduced_motion": "reduce",
    "locale": "en-GB",
    "timezone_id": "UTC",
}


class Pages:
    """Opens pages of a browser.

    Parameters
    ----------
    browser : playwright.sync_api.Browser
    """

    def __init__(self, browser):
        self._browser = browser
        self._contexts, self._watchers = [], []

    def open(self, ignore=(), **options):
        """Open a page; `options` are those of a browser context.

        Errors that contain a part in `ignore` are not ours.
        """
        context = self._browser.new_context(**{**OPTIONS, **options})
        context.set_default_timeout(PATIENCE)
        self._contexts.append(context)
        self._watchers.append(Watcher(context, ignore))
        return context.new_page()

    def problems(self):
        """Return the problems so far."""
        return [problem for watcher in self._watchers for problem in watcher.problems]

    def take_pictures(self, folder, name):
        """Save screenshots of all pages after a failure."""
        folder.mkdir(exist_ok=True)
        pages = [page for context in self._contexts for page in context.pages]
        for index, page in enumerate(pages):
            page.screenshot(path=folder / f"failed-{name}-{index}.png")

    def close(self):
        """Close all of them."""
        for context in self._contexts:
            context.close()
