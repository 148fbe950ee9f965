"""A pool of threads that can be called within a microsecond.

Waking a sleeping thread takes about 50 microseconds, and its turn at the GIL as long again. So a
thread that has finished a job does not sleep at once: without the GIL, it watches for the next job
for about a quarter of a millisecond. A thread that calls it in this time needs a microsecond.
"""

import queue
import threading

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from kdegraph.runtime.jit import jit

# How often a thread reads a counter before it gives up watching; about 250 microseconds.
_READS_WHILE_WATCHING = 900_000
# How often it reads the counter after that has changed, before it asks for the GIL. In these 5
# microseconds the thread that has changed the counter can release the GIL.
_READS_BEFORE_GIL = 20_000

if numba.config.DISABLE_JIT:

    def watch(counter, seen):
        """Return at once: without compiled code a thread would hold the GIL while it watches."""

else:

    @intrinsic
    def _read(typing_context, counter):
        """Read ``counter[0]`` from memory, every time that it is called."""

        def codegen(context, builder, signature, args):
            array = context.make_array(signature.args[0])(context, builder, args[0])
            return builder.load_atomic(array.data, "acquire", 8)

        return types.int64(counter), codegen

    @jit
    def watch(counter, seen):
        """Wait until ``counter[0]`` is no longer `seen`, but at most a quarter of a millisecond."""
        for _ in range(_READS_WHILE_WATCHING):
            if _read(counter) != seen:
                break
        for _ in range(_READS_BEFORE_GIL):
            _read(counter)


class Job:
    """Work that threads can join until the job is closed.

    Parameters
    ----------
    work : callable
        Called once in each thread that joins. It returns when nothing is left to do.

    Attributes
    ----------
    error : BaseException or None
        What `work` has raised in one of the threads.
    """

    def __init__(self, work):
        self.error = None
        self._work, self._n_working = work, 0
        self._lock, self._over = threading.Lock(), threading.Lock()
        self._over.acquire()
        self._ended = np.zeros(1, np.int64)

    def join(self):
        """Work in the current thread, unless the job is closed."""
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
        self._ended[0] = 1  # last of all, because the GIL is released soon after it

    def close(self):
        """Let no other thread join; return whether no thread is working."""
        with self._lock:
            self._work = None
            return self._n_working == 0

    def wait(self, timeout=-1):
        """Wait until the threads that were working when the job was closed have finished.

        Parameters
        ----------
        timeout : float
            The longest time to wait, in seconds; -1 for any time.

        Returns
        -------
        bool
            Whether they have finished.
        """
        watch(self._ended, 0)
        return self._over.acquire(timeout=timeout)


class Pool:
    """At most `n_threads` threads that join jobs. They start when they are first needed."""

    def __init__(self, n_threads):
        self._n_threads, self._threads = n_threads, []
        self._jobs = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._posted, self._n_watching = np.zeros(1, np.int64), 0

    @property
    def awake(self):
        """Whether a thread is watching for a job."""
        return self._n_watching > 0

    def post(self, job, n_threads):
        """Ask `n_threads` threads to join a job.

        Threads that are busy join later, if the job is still open then.
        """
        with self._lock:
            while len(self._threads) < min(n_threads, self._n_threads):
                name = f"kdegraph {len(self._threads)}"
                thread = threading.Thread(target=self._serve, name=name, daemon=True)
                # It is listed after it has started, so that an interrupt between the two leaves no
                # thread in the list that never ran.
                thread.start()
                self._threads.append(thread)
            for _ in range(n_threads):
                self._jobs.put(job)
            self._posted[0] += 1

    def close(self, timeout=0.0):
        """Let the threads end when they have finished; wait at most `timeout` seconds for each."""
        with self._lock:
            threads, self._threads, self._n_threads = self._threads, [], 0
            for _ in threads:
                self._jobs.put(None)
            self._posted[0] += 1
        for thread in threads:
            thread.join(timeout)

    def _serve(self):
        """Join one job after another, in a thread of the pool."""
        while True:
            seen = self._posted[0]
            if self._jobs.empty():
                self._watch(seen)
            job = self._jobs.get()
            if job is None:
                return
            job.join()
            del job  # frees the arrays that it works on while this thread waits

    def _watch(self, seen):
        with self._lock:
            self._n_watching += 1
        watch(self._posted, seen)
        with self._lock:
            self._n_watching -= 1
