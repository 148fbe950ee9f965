"""Deadlines for all functions that report their progress."""

import time
from collections.abc import Callable

from kdegraph.validation import check_positive


class Deadline:
    """Stop a computation that takes too long: give it as the `progress` of any function.

    Parameters
    ----------
    seconds : float
        Time from now, also for several calls together.
    progress : callable, optional
        Gets the reports until then.

    Raises
    ------
    ValueError, TypeError
        If `seconds` is not a positive number.

    Examples
    --------
    >>> import kdegraph
    >>> X = kdegraph.datasets.make("moons", n=500, seed=0).X
    >>> graph = kdegraph.similarity_graph(X, seed=0, progress=kdegraph.Deadline(600))
    >>> kdegraph.spectrum(graph, 3, progress=kdegraph.Deadline(1e-9))
    Traceback (most recent call last):
    ...
    TimeoutError: the deadline of 1e-09 s passed in the stage 'components'
    """

    def __init__(self, seconds: float, progress: Callable[[str, float], object] | None = None):
        self._seconds, self._progress = check_positive(seconds, "seconds"), progress
        self._end = time.monotonic() + self._seconds

    def __call__(self, stage: str, fraction: float) -> None:
        """Pass a report on, or raise a TimeoutError after the deadline.

        Parameters
        ----------
        stage : str
        fraction : float

        Raises
        ------
        TimeoutError
            After the deadline; the function that reports raises it again.

        Examples
        --------
        >>> import kdegraph
        >>> kdegraph.Deadline(60, print)("tree", 0.5)
        tree 0.5
        """
        if time.monotonic() > self._end:
            raise TimeoutError(f"the deadline of {self._seconds:g} s passed in the stage {stage!r}")
        if self._progress is not None:
            self._progress(stage, fraction)
