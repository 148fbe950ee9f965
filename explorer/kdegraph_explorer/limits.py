"""Limits that whoever serves the explorer sets by environment variables.

The messages stand on the page. They name the limit and say what to do.
"""

import os
import threading
from dataclasses import dataclass, field, fields
from functools import cache
from weakref import WeakKeyDictionary

from kdegraph import Deadline
from kdegraph.datasets import MAX_BYTES


@dataclass(frozen=True)
class Limits:
    """The largest allowed values; None is no limit, unless it is said to be another default.

    ``KDEGRAPH_MAX_POINTS`` sets `points`, and so on. `points`, `pixels`, `seconds` and `bytes` are
    those of one data set, picture, computation and file; all sessions together have at most
    `points_in_all` points and `bytes_in_all` bytes of uploaded files. Files are kept for
    `kept_days` after they were last opened, by default only on a server of one user, and have
    `kept_bytes` on the disk together.
    """

    sessions: int | None = None
    points: int | None = None
    points_in_all: int | None = None
    bytes: int = MAX_BYTES
    bytes_in_all: int | None = None
    pixels: int | None = None
    seconds: int | None = None
    kept_days: int | None = field(default=None, metadata={"least": 0})
    kept_bytes: int = field(default=2**30, metadata={"least": 0})


@cache
def limits():
    """Return the `Limits` of this process, read once from its environment.

    A ValueError names a variable that is not a positive whole number, or 0 to keep no files.
    """
    texts = {each: os.environ.get(variable(each.name)) for each in fields(Limits)}
    values = {each.name: _number(each, text) for each, text in texts.items() if text}
    values["bytes"] = min(values.get("bytes", MAX_BYTES), MAX_BYTES)  # no more can be read
    return Limits(**values)


def variable(field):
    """Return the name of the environment variable of a field of `Limits`."""
    return f"KDEGRAPH_MAX_{field.upper()}"


def _number(field, text):
    least = field.metadata.get("least", 1)
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise ValueError(
            f"{variable(field.name)} must be a whole number of at least {least}, not {text[:80]!r}"
        )
    return int(text)


def words(field):
    """Return a limit for messages, with its unit and the name of its variable."""
    unit = field.partition("_")[0]
    return f"the limit of this server is {getattr(limits(), field):,} {unit} ({variable(field)})"


def check(field, amount, what, advice):
    """Refuse an amount above a limit with a ValueError; `what` it is begins the message."""
    most = getattr(limits(), field)
    if most is not None and amount > most:
        raise ValueError(f"{what} {amount:,} {field}, and {words(field)}; {advice}")


def in_time(work, wait):
    """Limit the seconds of the work of a `jobs.Latest`, if there is such a limit.

    ``wait(progress)`` comes before the work and does not count.
    """
    if limits().seconds is None:
        return work

    def limited(request, progress, publish):
        wait(progress)
        try:
            return work(request, Deadline(limits().seconds, progress), publish)
        except TimeoutError:
            advice = "choose fewer points or fewer rounds"
            raise TimeoutError(f"this takes too long: {words('seconds')}; {advice}") from None

    return limited


class Total:
    """Count what all sessions hold together, against the limit of a field of `Limits`."""

    def __init__(self, field, advice):
        self._field, self._advice = field, advice
        self._held, self._lock = WeakKeyDictionary(), threading.Lock()

    def hold(self, owner, amount):
        """Count `amount` for an owner, in place of the amount that it had before.

        It counts until it is set to 0, or until the owner is no more. Above the limit the earlier
        amount stays, and a ValueError is raised.
        """
        most = getattr(limits(), self._field)
        with self._lock:
            others = sum(self._held.values()) - self._held.get(owner, 0)
            if most is not None and amount and others + amount > most:
                raise ValueError(
                    f"with these, all sessions have {others + amount:,}, and {words(self._field)}; "
                    f"{self._advice}"
                )
            self._held[owner] = amount


POINTS = Total("points_in_all", "choose fewer points, or try again later")
UPLOADS = Total("bytes_in_all", "choose a smaller file, or try again later")
