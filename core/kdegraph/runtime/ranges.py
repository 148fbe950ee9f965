"""How work on many items is cut into ranges, sized by how long the last ranges took."""

import threading
from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """Times, in seconds, that decide how work is cut into ranges and shared.

    They were chosen on two cores by the times of the experiments `latency` and
    `stages`, and they decide nothing but speed.

    Attributes
    ----------
    worth_waking : float
        Work shorter than this is finished by the calling thread, because waking a sleeping thread
        takes about 50 microseconds, and its first turn at the GIL as long again.
    trial : float
        The calling thread tries ranges of about this duration until it can judge the rest.
    shortest : float
        A range takes at least this long where threads share the work, so that taking a range costs
        little beside the work on it.
    longest : float
        A range takes at most about this long where threads share the work: long beside the cost of
        a call, short beside what a person notices when progress is reported or work is cancelled.
    """

    worth_waking: float = 150e-6
    trial: float = 30e-6
    shortest: float = 60e-6
    longest: float = 5e-3


SCHEDULE = Schedule()

# The first range is this part of all items, as nothing is known of their cost yet ...
_FIRST_PART = 1024
# ... and each range has at most this many times the items of the one before it.
_GROWTH = 64


class WorkRanges:
    """Cuts ``range(n_items)`` into ranges for the threads that ask for them.

    Parameters
    ----------
    n_items : int
    chunk : int or None
        Items in each range. None lets the size follow the time that ranges take.
    n_threads : int
        Number of threads that may share the work.
    """

    def __init__(self, n_items, chunk, n_threads):
        self.n_items, self.chunk, self.n_threads = n_items, chunk, n_threads
        self.n_done = 0
        self._next = 0
        self._size = chunk or 1 + min(n_items // _FIRST_PART, _GROWTH)
        self._largest, self._smallest = -(-n_items // (4 * n_threads)), 1
        self._shared = False
        self._stopped = False
        self._lock = threading.Lock()

    def take(self):
        """Return the next (start, stop), or None when nothing is left."""
        with self._lock:
            if not self.left:
                return None
            start, size = self._next, self._size
            if self._shared and not self.chunk:
                size = min(size, self._fair_share(self.n_items - start))
            self._next = min(start + size, self.n_items)
            return start, self._next

    def _fair_share(self, n_left):
        """Return the largest range while threads share the work.

        Ranges become smaller toward the end, so that no thread waits long for another one.
        """
        half_of_share = -(-n_left // (2 * self.n_threads))
        toward_end = max(half_of_share, self._largest // 16)
        return max(min(self._largest, toward_end), self._smallest)

    def finish(self, start, stop, seconds):
        """Note that the work on a range took `seconds`."""
        with self._lock:
            self.n_done += stop - start
            if not self.chunk:
                seconds = max(seconds, 1e-9)
                wanted = SCHEDULE.longest if self._shared else SCHEDULE.trial
                growth = min(_GROWTH, max(0.25, wanted / seconds))
                self._size = max(1, int((stop - start) * growth))
                self._smallest = int((stop - start) * SCHEDULE.shortest / seconds)

    def take_all_next(self):
        """Let the next range be all that is left, unless `chunk` is given."""
        self._size = self.chunk or self.n_items

    def share(self):
        """Expect several threads to take ranges from now on."""
        self._shared = True

    def stop(self):
        """Hand out no more ranges."""
        self._stopped = True

    @property
    def left(self):
        """Whether there is a range to take."""
        return self._next < self.n_items and not self._stopped

    @property
    def fraction_done(self):
        """How much of the work is done, from 0 to 1."""
        return self.n_done / self.n_items
