"""The page that a notebook of marimo shows in a frame."""

import asyncio
import re
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from bokeh.util.token import get_token_payload
from explorer_objects import PATIENCE
from kdegraph import datasets
from kdegraph_explorer import Explorer

SMALL = {"sigma": 0.2, "n_clusters": 2, "n_rounds": 5}


def address_of(shown):
    """The address in the frame that a notebook shows."""
    return re.search(r'<iframe [^>]*src="([^"]+)"', shown._repr_html_()).group(1)


async def fetch(address):
    """The text at an address of the loop that is running, and the headers."""

    def read():
        with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
            return answer.read().decode(), answer.headers

    with ThreadPoolExecutor(1) as pool:
        return await asyncio.get_running_loop().run_in_executor(pool, read)


def small_explorer():
    return Explorer(datasets.make("moons", n=60, seed=0), **SMALL)


async def seen_in_a_frame(explorer):
    """Show an explorer, and load the page; returns its address."""
    address = address_of(explorer._display_())
    page, headers = await fetch(address)
    assert "<title>kdegraph explorer</title>" in page
    assert "script-src 'nonce-" in page
    assert headers["Content-Security-Policy"].startswith("frame-ancestors 'self' http://localhost")
    return address


def test_a_frame_shows_the_explorer_of_the_program_at_a_hidden_address():
    async def notebook():
        explorer = small_explorer()
        address = await seen_in_a_frame(explorer)
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", address)
        assert address_of(explorer._display_()) == address
        document = explorer._display_().document
        await fetch(address)
        assert explorer._display_().document is document  # the same for all
        root = address.rsplit("/", 2)[0]
        for other in ("/", "/explorer", "/static/js/bokeh.min.js", "/favicon.ico"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                await fetch(root + other)
        explorer.close()

    asyncio.run(notebook())


def test_a_frame_can_be_loaded_again_after_hours():
    async def notebook():
        explorer = small_explorer()
        page, _ = await fetch(address_of(explorer._display_()))
        token = re.search(r'"token":"([^"]+)"', page).group(1)
        hours = (get_token_payload(token)["session_expiry"] - time.time()) / 3600
        assert hours > 24 * 365
        explorer.close()

    asyncio.run(notebook())


def test_each_explorer_has_a_frame_of_its_own():
    async def notebook():
        explorers = [small_explorer() for _ in range(2)]
        one, other = [await seen_in_a_frame(explorer) for explorer in explorers]
        assert one != other
        explorers[0].close()
        await asyncio.sleep(0)
        # Refused, or cut off if it comes while the server ends.
        with pytest.raises((urllib.error.URLError, ConnectionError)):
            await fetch(one)
        await fetch(other)
        explorers[1].close()

    asyncio.run(notebook())


def test_the_server_ends_with_the_event_loop():
    async def notebook():
        return await seen_in_a_frame(small_explorer())

    address = asyncio.run(notebook())
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=PATIENCE)
