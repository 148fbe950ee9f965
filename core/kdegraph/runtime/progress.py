"""Reporting how far a computation is: ``progress(stage, fraction)`` and its parts.

A public function reports through ``progress(stage, fraction)``. A step within it does not know the
stage and reports through ``progress(fraction)``. None stands for a caller who does not listen.
"""

import time

# Seconds between two reports while a computation is at work.
REPORT_INTERVAL = 0.02


def stage_progress(progress, name):
    """Return the ``progress(fraction)`` of the stage `name`, or None when nobody listens."""
    return None if progress is None else lambda fraction: progress(name, fraction)


def partial_progress(progress, start, stop):
    """Return the ``progress(fraction)`` of a step that leads from the fraction `start` of a stage
    to the fraction `stop`, or None when nobody listens.
    """
    if progress is None:
        return None
    return lambda fraction: progress(start + (stop - start) * fraction)


class StageTimer:
    """Measures and reports the stages of one computation.

    Parameters
    ----------
    progress : callable or None
        Called as ``progress(stage, fraction)``.

    Attributes
    ----------
    timings : dict
        Seconds of each stage that has ended, by its name.
    """

    def __init__(self, progress=None):
        self._progress = progress
        self.timings = {}
        self._stage = None
        self._start = self._fraction = 0.0

    def enter(self, stage):
        """End the stage before and begin `stage`. A stage may be entered several times."""
        self.leave()
        self._stage, self._start, self._fraction = stage, time.perf_counter(), 0.0
        self.report(0.0)

    def leave(self):
        """End the current stage, if there is one, and note its seconds."""
        if self._stage is not None:
            seconds = time.perf_counter() - self._start
            self.timings[self._stage] = self.timings.get(self._stage, 0.0) + seconds
            self._stage = None

    @property
    def progress(self):
        """The ``progress(fraction)`` of the current stage, or None when nobody listens."""
        return None if self._progress is None else self.report

    def report(self, fraction):
        """Report a fraction. It never falls within a stage, though the steps of it begin anew."""
        if self._progress is not None:
            self._fraction = max(self._fraction, float(fraction))
            self._progress(self._stage, self._fraction)
