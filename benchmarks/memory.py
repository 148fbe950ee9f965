"""Memory of the explorer's server: megabytes after moves of a slider, and after sessions that have
ended.

    python benchmarks/memory.py [--n 15000] [--moves 200] [--sessions 20] [--csv
    benchmarks/results/memory.csv]

The figures are the resident memory of the process when nothing is being computed any more: after
the first session has made ten moves, after `--moves` more, after ten further pages were opened,
looked at and closed, one after the other, and after `--sessions` more. A second column is for a
server whose malloc has one arena (MALLOC_ARENA_MAX=1, for glibc). By default glibc gives threads
arenas of their own, and memory that a session has freed in one arena cannot be used from another.
When a session has ended, whole pages that are free go back to the system; free memory between pages
that are in use stays with the process. With one arena that is next to nothing. Resident memory
alone does not tell whether anything leaks; what malloc has handed out does (glibc's malloc_info).
"""

import click
from _browser import PATIENCE, chromium, open_explorer, served
from _common import csv_option, show, write

WARM_UP = 10  # moves, and sessions


def megabytes(process):
    """Resident memory of a process."""
    with open(f"/proc/{process.pid}/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))


def move(explorer, times):
    """Move sigma to and fro, and wait for every result."""
    page = explorer.page
    page.get_by_role("slider", name="Kernel width σ").focus()
    for i in range(times):
        before = explorer.column("KDE graph: eigenvalues", "value")
        page.keyboard.press("ArrowRight" if i % 2 else "ArrowLeft")
        while explorer.column("KDE graph: eigenvalues", "value") == before:
            page.wait_for_timeout(20)
        page.locator(".kg-cancel").wait_for(state="hidden", timeout=PATIENCE)
    explorer.settle()


def visit(browser, address, times, choices):
    """Open the page, look at it, and close it, one time after the other."""
    for _ in range(times):
        open_explorer(browser, address, **choices).page.close()


def measure(n, moves, sessions, **environment):
    """Megabytes of a new server with these environment variables, by what has been done with it."""
    choices = {"data.n": n, "sigma": 0.1, "sigma_auto": "false"}
    with served(**environment) as (address, process), chromium() as browser:
        explorer = open_explorer(browser, address, **choices)
        move(explorer, WARM_UP)
        row = {"MB after 10 moves": megabytes(process)}
        move(explorer, moves)
        row[f"after {moves} more"] = megabytes(process)
        visit(browser, address, WARM_UP, choices)
        explorer.page.wait_for_timeout(SESSION_ENDS)
        row["after 10 sessions"] = megabytes(process)
        visit(browser, address, sessions, choices)
        explorer.page.wait_for_timeout(SESSION_ENDS)
        row[f"after {sessions} more"] = megabytes(process)
    return row


@click.command()
@click.option("--n", default=15_000, show_default=True)
@click.option("--moves", default=200, show_default=True)
@click.option("--sessions", default=20, show_default=True)
@csv_option
def main(n, moves, sessions, path):
    """Print a column of megabytes for each way to allocate."""
    rows = [
        {"n": n, "arenas of malloc": arenas} | measure(n, moves, sessions, **environment)
        for arenas, environment in {"default": {}, "one": {"MALLOC_ARENA_MAX": "1"}}.items()
    ]
    show(rows)
    write(path, rows)


# Milliseconds until the server has noticed that a page is gone: it looks every 17 seconds, and
# waits as long.
SESSION_ENDS = 40_000


if __name__ == "__main__":
    main()
