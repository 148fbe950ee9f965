"""Threads that lend a hand, quickly.

To wake a thread takes some 50 microseconds, and to wait in turn for the GIL as long again. So a
thread that has finished something watches out for more, without the GIL, for about a quarter of a
millisecond before it sleeps; whoever calls it then needs a microsecond.
"""

import queue
import threading

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from kdegraph.runtime.jit import jit

WATCH, LINGER = (
    900_000,
    20_000,
)  # looks at a counter: how long a thread watches, and leaves to the other one to let go of the GIL

if numba.config.DISABLE_JIT:

    def watch(counter, seen):
        """Wait a little while for ``counter[0]`` to become another number than `seen`."""

else:

    @intrinsic
    def _look(typing_context, counter):
        """The number counter[0], read from memory every time."""

        def codegen(context, builder, signature, args):
            array = context.make_array(signature.args[0])(context, builder, args[0])
            return builder.load_atomic(array.data, "acquire", 8)

        return types.int64(counter), codegen

    @jit
    def watch(counter, seen):
        """Wait a little while for ``counter[0]`` to become another number than `seen`."""
        for _ in range(WATCH):
            if _look(counter) != seen:
                break
        for _ in range(LINGER):
            _look(counter)


class Job:
    """Work that threads may join until it is closed; ``error`` is what it raised in one of them."""

    def __init__(self, work):
        self.error = None
        self._work, self._n_working = work, 0
        self._lock, self._over = threading.Lock(), threading.Lock()
        self._over.acquire()
        self._ended = np.zeros(1, np.int64)

    def join(self):
        """Work, unless the job is closed."""
        with self._lock:
            work = self._work
            if work is None:
                return
            self._n_working += 1
        try:
            work()
        except BaseException as error:
            self.error = error
        with self._lock:
            self._n_working -= 1
            if self._n_working or self._work is not None:
                return
        self._over.release()
        self._ended[0] = 1  # last of all: the GIL is free in a moment

    def close(self):
        """Let nobody join any more; return whether nobody is working."""
        with self._lock:
            self._work = None
            return self._n_working == 0

    def wait(self, timeout=-1):
        """Wait at most `timeout` seconds for those who work when the job was closed; return whether
        they have finished.
        """
        watch(self._ended, 0)
        return self._over.acquire(timeout=timeout)


class Pool:
    """At most `n_threads` threads that join jobs."""

    def __init__(self, n_threads):
        self._n_threads, self._threads = n_threads, []
        self._jobs = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._posted, self._n_watching = np.zeros(1, np.int64), 0

    @property
    def awake(self):
        """Whether a thread watches out for a job."""
        return self._n_watching > 0

    def post(self, job, n_threads):
        """Ask `n_threads` to join the `job`; those that are busy come later, if it is still open
        then.
        """
        with self._lock:
            while len(self._threads) < min(n_threads, self._n_threads):
                thread = threading.Thread(
                    target=self._serve, name=f"kdegraph {len(self._threads)}", daemon=True
                )
                thread.start()  # an interrupt here must not leave one in the list that never ran
                self._threads.append(thread)
            for _ in range(n_threads):
                self._jobs.put(job)
            self._posted[0] += 1

    def close(self, timeout=0.0):
        """Let the threads end once they are free; wait at most `timeout` seconds for each of them."""
        with self._lock:
            threads, self._threads, self._n_threads = self._threads, [], 0
            for _ in threads:
                self._jobs.put(None)
            self._posted[0] += 1
        for thread in threads:
            thread.join(timeout)

    def _serve(self):
        while True:
            seen = self._posted[0]
            if self._jobs.empty():
                self._watch(seen)
            job = self._jobs.get()
            if job is None:
                return
            job.join()
            del job  # and with it what it works on

    def _watch(self, seen):
        with self._lock:
            self._n_watching += 1
        watch(self._posted, seen)
        with self._lock:
            self._n_watching -= 1
