"""Receive files from a browser, part by part.

The server asks for each part, so that a page never sends more than it is asked for: a cancel and
the events of the page do not wait behind the file, and a file that is no longer wanted stops.
"""

import hashlib
import queue
import shutil
import tempfile
import threading
import time
import weakref
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import IO

from .limits import UPLOADS
from .results import UPLOADING

PART_BYTES = 2 * 2**20  # Bytes that are asked for at a time; one message holds them.
MEMORY_BYTES = 2**20  # Bytes up to which a file is kept in memory, and not in a temporary file.
STALL_LIMIT = 60  # Seconds that a part may take.


@dataclass(frozen=True)
class StoredFile:
    """The content of a file, which is available as long as something refers to this object.

    `size` is in bytes, and `sha256` is the checksum in hexadecimal digits. `kept` is set once the
    file has been kept on the server. The content begins `start` bytes after the begin of the file.
    """

    name: str
    size: int
    sha256: str
    _file: IO[bytes] = field(repr=False, compare=False)
    start: int = field(default=0, repr=False, compare=False)
    kept: threading.Event = field(default_factory=threading.Event, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def __post_init__(self):
        weakref.finalize(self, self._file.close)

    @classmethod
    def of(cls, name, *parts):
        """Store bytes, given in one or several parts."""
        return _store(name, parts)

    @classmethod
    def at(cls, path):
        """Refer to a file of this machine."""
        with ExitStack() as stack:
            file = stack.enter_context(path.open("rb"))
            sha256, size = hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
            stack.pop_all()  # The file stays open.
        return cls(path.name, size, sha256, file)

    def read(self, size=-1):
        """Return the content as bytes, or its first `size` bytes.

        Large files take a while: call it in a worker thread.
        """
        with self._lock:
            self._file.seek(self.start)
            return self._file.read(size)

    def copy_to(self, target):
        """Write the content to an open file."""
        with self._lock:
            self._file.seek(self.start)
            shutil.copyfileobj(self._file, target)


def _store(name, parts, announced=0):
    """Return the `StoredFile` of the parts of a file; folders in its name are dropped.

    The file counts with the `announced` number of bytes, or with those that have come if they are
    more.
    """
    digest, size = hashlib.sha256(), 0
    with ExitStack() as stack:
        file = stack.enter_context(tempfile.SpooledTemporaryFile(MEMORY_BYTES))
        UPLOADS.hold(file, announced)
        for part in parts:
            size += len(part)
            UPLOADS.hold(file, max(size, announced))
            file.write(part)
            digest.update(part)
        stack.pop_all()  # The file stays open.
    return StoredFile(PurePath(name).name, size, digest.hexdigest(), file)


class IncomingFile:
    """A file that a browser offers, with the `size` in bytes that it has announced.

    ``ask(start, stop)`` asks the browser for these bytes, and `put` takes the answer.
    ``take(stored)`` receives the `StoredFile`, or ``refuse(error)`` the ValueError that says why
    there is none. The session's thread calls all methods but `parts`, and a worker thread iterates
    over `parts`.
    """

    def __init__(self, name, size, *, ask, take, refuse):
        self.name, self.size = name, size
        self.take, self.refuse = take, refuse
        self._ask = ask
        self._asked = None  # The range of the bytes that were asked for, until they are there.
        self._answers = queue.SimpleQueue()

    def ask(self, start):
        """Ask for the part that begins at `start`."""
        self._asked = range(start, min(start + PART_BYTES, self.size))
        self._ask(self._asked.start, self._asked.stop)

    def put(self, start, data):
        """Take a part that has arrived. A part that was not asked for is ignored."""
        if self._asked is None or start != self._asked.start:
            return
        if len(data) == len(self._asked):
            self._answer(data)
        else:
            self.fail(f"{len(data):,} bytes arrived instead of {len(self._asked):,}")

    def fail(self, reason):
        """Answer the question for a part with the reason why there is none."""
        self._answer(ValueError(f"{self.name} could not be sent: {reason}; choose it again"))

    def _answer(self, answer):
        if self._asked is not None:
            self._asked = None
            self._answers.put(answer)

    def parts(self, progress, post):
        """Iterate over the parts, each as bytes; see `Latest` for `progress` and `post`.

        A ValueError says if a part does not arrive within `STALL_LIMIT`, or is not what was asked
        for.
        """
        starts = range(0, self.size, PART_BYTES)
        post(lambda: self.ask(0))
        for start in starts:
            part = self._wait(start, progress)
            following = start + PART_BYTES
            if following < self.size:  # It arrives while the caller stores this one.
                post(lambda following=following: self.ask(following))
            yield part

    def _wait(self, start, progress):
        end = time.monotonic() + STALL_LIMIT
        while time.monotonic() < end:
            progress(UPLOADING, start / self.size)
            try:
                answer = self._answers.get(timeout=0.1)  # then `progress` may stop this
            except queue.Empty:
                continue
            if isinstance(answer, Exception):
                raise answer
            return answer
        raise ValueError(
            f"{self.name} has stopped arriving: nothing came for {STALL_LIMIT:g} seconds after "
            f"{start:,} of {self.size:,} bytes; check the connection, and choose the file again"
        )


def receive(incoming, progress, post):
    """Receive an `IncomingFile` in a worker thread: store it and compute its checksum.

    See `Latest` for `progress` and `post`. Return a callable for the session's thread, which hands
    over the `StoredFile`. A ValueError says if the file does not arrive, or cannot be stored.
    """
    try:
        stored = _store(incoming.name, incoming.parts(progress, post), incoming.size)
    except OSError as error:
        reason = error.strerror or error
        raise ValueError(f"the server cannot store {incoming.name}: {reason}") from None
    return lambda: incoming.take(stored)
