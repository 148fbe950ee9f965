"""A progress line on the terminal."""

import shutil
import sys
import time
from contextlib import contextmanager, nullcontext

from kdegraph.runtime.progress import notices_shown_by


class ProgressLine:
    """Draw progress in one line of the terminal, and remove the line at the end.

    It is called as ``progress(stage, fraction)`` and writes to standard error by default.
    """

    def __init__(self, stream=None):
        self.stream = sys.stderr if stream is None else stream
        self._drawn = 0
        self._next = 0.0

    def __call__(self, stage, fraction):
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + 0.1  # seconds between two drawings
        bar = "#" * round(min(max(fraction, 0.0), 1.0) * 24)
        line = f"{stage:<20.20} [{bar:<24}] {fraction:4.0%}"
        line = line[: shutil.get_terminal_size().columns - 1]
        self.stream.write("\r" + line.ljust(self._drawn))
        self.stream.flush()
        self._drawn = len(line)

    def say(self, text):
        """Write `text` on a line of its own."""
        self._write_over(text, "\n")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self._drawn:
            self._write_over("", "\r")

    def _write_over(self, text, end):
        self.stream.write("\r" + text.ljust(self._drawn) + end)
        self.stream.flush()
        self._drawn = 0


@contextmanager
def progress_line(quiet, deadline=None):
    """Yield a `progress` callback that draws a line, if standard error is a terminal, and ends the
    command after a number of seconds from now.

    Otherwise, or if `quiet`, draw nothing and show no notices; yield None without a `deadline`.
    """
    silent = quiet or not sys.stderr.isatty()
    with nullcontext() if silent else ProgressLine() as line:
        progress = line
        if deadline is not None:
            from kdegraph.runtime.deadline import Deadline  # imports NumPy, which is slow

            progress = Deadline(deadline, line)
        with notices_shown_by((lambda text: None) if silent else line.say):
            yield progress
