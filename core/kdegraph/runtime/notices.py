"""Lines for the person who waits: on standard error, each line once per process.

Whoever draws on the terminal can show them in another way (`shown_by`).
"""

import sys
from contextlib import contextmanager


def _write(text):
    if sys.stderr is not None:  # None in programs without a console
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


_show = _write
_told: set[str] = set()


def tell(text):
    """Show `text`, unless it was shown before."""
    if text not in _told:
        _told.add(text)
        _show(text)


@contextmanager
def shown_by(show):
    """Return a context in which ``show(text)`` is called instead of writing to standard error."""
    global _show
    before, _show = _show, show
    try:
        yield
    finally:
        _show = before
