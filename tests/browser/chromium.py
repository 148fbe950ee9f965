"""Which Chromium the browser tests drive; run as a program, the exit status says whether there is
one.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find():
    """Path of a Chromium that starts: the variable CHROMIUM, one on PATH, or the one Playwright
    installed; else None.
    """
    if chosen := os.environ.get("CHROMIUM"):
        return shutil.which(chosen)
    for path in filter(None, map(shutil.which, NAMES)):
        # A snap's launcher is on PATH even where snaps cannot run.
        if subprocess.run([path, "--version"], capture_output=True, timeout=60).returncode == 0:
            return path
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if os.path.exists(path) else None


if __name__ == "__main__":
    sys.exit(0 if find() else 1)
