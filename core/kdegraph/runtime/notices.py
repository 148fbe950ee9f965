"""Lines for the person who waits: on standard error, each once per process, unless whoever owns the
terminal shows them in another way.
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
    """Within this context `show(text)` is called instead of writing to standard error."""
    global _show
    before, _show = _show, show
    try:
        yield
    finally:
        _show = before
