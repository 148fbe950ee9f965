"""Many visitors of one server, who come, work, and go in all ways."""

import asyncio
import random
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from benchmarks.browser import PATIENCE, megabytes, served
from benchmarks.experiment import experiment

SESSION_ENDS = 90  # seconds after the last visit in which its session ends
EVERY = 2.0  # seconds between two looks at the memory
SOON = 10_000  # milliseconds
MOVES = 12  # of a slider, in a visit
ENDINGS = ("close", "lose the network", "crash")
CALM = ("crash", "net::ERR_INTERNET_DISCONNECTED")  # what the browser says of the endings


def resources(process):
    """The threads and the file descriptors of a process."""
    return [len(list(Path(f"/proc/{process.pid}/{kind}").iterdir())) for kind in ("task", "fd")]


async def visit(browser, address, number, faults):
    """Open the page, upload a table of one's own, move a slider, and leave."""
    rng, n = random.Random(number), 100 + number
    context = await browser.new_context(viewport={"width": 1280, "height": 720})
    page = await context.new_page()
    page.set_default_timeout(PATIENCE)
    page.on("console", lambda message: message.type == "error" and faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    status = page.locator(".kg-status")
    await page.goto(address)
    await status.filter(has_text="points in").wait_for()
    await page.get_by_label("Source", exact=True).click()
    await page.get_by_role("menuitem", name="File", exact=True).click()
    points = np.random.default_rng(number).normal(size=(n, 2))
    table = "x,y\n" + "\n".join(f"{x:.4f},{y:.4f}" for x, y in points)
    name = f"own-{number}.csv"
    file = {"name": name, "mimeType": "text/csv", "buffer": table.encode()}
    await page.locator("input[type=file]").set_input_files(file)
    own = f"{name}: {n:,} points"
    await status.filter(has_text=own).wait_for()
    slider = page.get_by_role("slider", name="k-NN neighbors")
    for _ in range(MOVES):
        await slider.press(rng.choice(["ArrowLeft", "ArrowRight"]))
        await page.wait_for_timeout(rng.uniform(100, 1_500))
    await status.filter(has_text=own).wait_for(timeout=SOON)  # and not the table of another
    ending = rng.choice(ENDINGS)
    if ending == "lose the network":
        await context.set_offline(True)
        await page.wait_for_timeout(5_000)
    elif ending == "crash":
        crashed = asyncio.ensure_future(page.wait_for_event("crash"))
        asyncio.ensure_future(page.goto("chrome://crash")).add_done_callback(
            lambda it: it.exception()
        )
        await crashed
    await context.close()


async def visits(address, process, sessions, at_once, minutes):
    """Make all visits, at most so many at once; return what went wrong, and the memory by time."""
    from browser.chromium import find
    from browser.conftest import ARGUMENTS
    from playwright.async_api import async_playwright

    faults, memory, start = [], [], time.monotonic()
    places = asyncio.Semaphore(at_once)

    async def come(browser, number):
        await asyncio.sleep(60 * minutes * number / sessions)
        async with places:
            try:
                await visit(browser, address, number, faults)
            except Exception as error:
                faults.append(f"session {number}: {str(error)[:500]}")

    async def watch():
        while True:
            memory.append((time.monotonic() - start, megabytes(process)))
            await asyncio.sleep(EVERY)

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
        watching = asyncio.ensure_future(watch())
        await visit(browser, address, sessions, faults)  # what is loaded once is there afterwards
        await asyncio.sleep(SESSION_ENDS)
        before = resources(process)
        await asyncio.gather(*(come(browser, number) for number in range(sessions)))
        await asyncio.sleep(SESSION_ENDS)
        watching.cancel()
        await browser.close()
    return faults, np.array(memory), before, resources(process)


def draw(rows, table):
    """The memory of the server by time, a line for each row."""
    figure = Figure(figsize=(7, 3), layout="tight")
    axes = figure.subplots()
    for row in rows:
        with np.load(table.arrays_path(row)) as arrays:
            seconds, used = arrays["memory"].T
        axes.plot(seconds / 60, used, label=f"{row['sessions']} visits, {row['at_once']} at once")
    axes.set(xlabel="minutes", ylabel="memory of the server, MB")
    axes.set_ylim(0)
    axes.legend()
    return figure


@experiment(
    lambda: [
        {"sessions": 30, "at_once": 4, "minutes": 5},
        {"sessions": 200, "at_once": 20, "minutes": 30},
    ],
    source="Serving to a group: sessions do not see each other, and nothing of them stays.",
    draw=draw,
    limit=7_200,
)
def server_load(sessions, at_once, minutes):
    """Visitors of `kdegraph explore` in a browser, each with a table of their own.

    They upload it, move a slider, check that the page still shows it, and close the page, lose the
    network, or have a browser that crashes. "faults" are pages with the data of another, errors on
    the console, and what does not answer; "lines of errors" those of the server's log. Threads and
    file descriptors are counted before the visits and a while after them.
    """
    with served("kdegraph explore") as (address, process):
        run = visits(address, process, sessions, at_once, minutes)
        faults, memory, before, after = asyncio.run(run)
        log = Path(f"/proc/{process.pid}/fd/1").read_text()
    faults = [fault for fault in faults if not any(word in fault for word in CALM)]
    errors = [line for line in log.splitlines() if "Error" in line or "ERROR" in line]
    for line in faults + errors:
        print(line)  # noqa: T201
    seconds, used = memory.T
    third = seconds > seconds[-1] / 3
    return {
        "faults": len(faults),
        "lines of errors": len(errors),
        "threads before": before[0],
        "threads after": after[0],
        "descriptors before": before[1],
        "descriptors after": after[1],
        "MB after a third": used[third][0],
        "MB at most": used.max(),
        "MB at the end": used[-1],
        "memory": memory,
    }
