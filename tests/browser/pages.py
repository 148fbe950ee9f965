"""Pages in contexts of their own, watched for what must not happen in them."""

from browser.watcher import Watcher

PATIENCE = 120_000  # milliseconds; a first compilation on a busy machine takes its time
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
        """A new page; `options` are those of a browser context, `ignore` holds parts of errors
        that are not ours.
        """
        context = self._browser.new_context(**{**OPTIONS, **options})
        context.set_default_timeout(PATIENCE)
        self._contexts.append(context)
        self._watchers.append(Watcher(context, ignore))
        return context.new_page()

    def problems(self):
        """What has happened so far and must not."""
        return [problem for watcher in self._watchers for problem in watcher.problems]

    def take_pictures(self, folder, name):
        """Keep what is seen, for whoever looks into a failure."""
        folder.mkdir(exist_ok=True)
        pages = [page for context in self._contexts for page in context.pages]
        for index, page in enumerate(pages):
            page.screenshot(path=folder / f"failed-{name}-{index}.png")

    def close(self):
        """Close all of them."""
        for context in self._contexts:
            context.close()
