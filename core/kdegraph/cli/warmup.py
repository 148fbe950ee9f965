"""The command `kdegraph warmup`."""

import click

from kdegraph.cli._build import print_report
from kdegraph.cli._errors import Failure
from kdegraph.cli._progress import progress_line


@click.command()
@click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
def warmup(quiet):
    """Compile what the usual calls need now, so that the first graph does not wait for it.

    That is all functions of the library, for points in single and double precision. The explorer
    compiles what paints its pictures while its first page opens. The machine code is kept in the
    user's cache folder (or in KDEGRAPH_CACHE_DIR) and read from there by every later run. Useful
    after an installation, and when the image of a container is built.

    \b
    Examples:
      kdegraph warmup
      KDEGRAPH_CACHE_DIR=/opt/kdegraph-cache kdegraph warmup --quiet
    """
    with progress_line(quiet) as progress:
        from kdegraph.runtime.cache import CACHE_DIR
        from kdegraph.warmup import warm_up

        seconds = warm_up(progress=progress)
    files = [path.stat().st_size for path in CACHE_DIR.rglob("*") if path.is_file()]
    if not files:
        raise Failure(
            f"nothing could be written to {CACHE_DIR}; "
            "set KDEGRAPH_CACHE_DIR to a folder that can be written"
        )
    if not quiet:
        size = f"{sum(files) / 1e6:.1f} MB"
        print_report([("seconds", f"{seconds:.1f}"), ("cache", f"{CACHE_DIR} ({size})")])
