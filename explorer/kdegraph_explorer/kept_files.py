"""Keep uploaded files on the server for a while, so that an address of the page finds them again.

A kept file is a file of the server's user: a line with its name, size and checksum, and then its
content. It is called by a keyed hash of that line. So a name that was not made by this user finds
nothing, and nobody can learn whether the server has a file by making it up.
"""

import datetime
import hashlib
import hmac
import json
import os
import re
import time
from contextlib import ExitStack, suppress
from typing import NamedTuple

from .limits import limits, variable
from .serving.user_secret import state_folder, writing_private
from .uploads import StoredFile

KEY = re.compile("f[0-9a-f]{24}")  # with a letter first, an address never holds it as a number
USUAL_DAYS = 7  # on a server of one user
MAX_FILES = 100
MAX_HEADER = 2**14  # bytes of the line; a file with a longer name is not kept
MAX_DAYS = 36_500  # later dates may not exist
DAY = 24 * 60 * 60  # seconds
WRITTEN_WITHIN = DAY / 24  # seconds; an older temporary file is of a process that was killed


class KeptFile(NamedTuple):
    """Describe a kept file: its key in addresses, its name, its bytes, and until when it stays."""

    key: str
    name: str
    size: int
    until: datetime.date


class KeptFiles:
    """Keep files in a folder, each for some days after it was last opened.

    Several processes may use one folder, which is made when it is needed, and closed to other
    users. With another `secret` than that of the user, none of the files is found; 0 `days` keep
    and find nothing. Sessions and their workers call all methods.
    """

    def __init__(self, folder, secret, days):
        self._folder, self.days = folder, min(days, MAX_DAYS)
        self._key = hmac.digest(secret, b"kept files", "sha256")
        if days:  # else the files of other servers stay
            self._clean()

    @classmethod
    def of_user(cls, secret, alone):
        """Return those of the user with a secret, who is `alone` on the server or has visitors.

        A server cannot tell its visitors apart, so that one for others keeps nothing unless
        ``KDEGRAPH_MAX_KEPT_DAYS`` says so.
        """
        days = limits().kept_days
        if days is None:
            days = USUAL_DAYS if alone else 0
        return cls(state_folder() / "files", secret, days)

    def key_of(self, file):
        """Return the name of a `StoredFile` in addresses, whether it is kept or not."""
        return self._named(_header(file))

    def keep(self, file):
        """Keep a `StoredFile`, or note that it was opened again if that was done before.

        It takes a while to write a large file: call this in a worker thread. A ValueError says why
        the file is not kept.
        """
        path = self._folder / self.key_of(file)
        if file.kept.is_set():
            try:
                os.utime(path)
            except OSError:
                raise ValueError("it was deleted") from None
            return
        if not self.days:
            raise ValueError("this server keeps no files")
        header = _header(file)
        size, most = len(header) + file.size, limits().kept_bytes
        if size > most or len(header) > MAX_HEADER:
            limit = f"{most:,} bytes ({variable('kept_bytes')})"
            raise ValueError(f"it is too large: the server keeps up to {limit}")
        try:
            self._write(path, header, file)
        except OSError as error:
            raise ValueError(f"the server cannot write it: {error.strerror or error}") from None
        file.kept.set()

    def _write(self, path, header, file):
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.chmod(0o700)
        self._clean(path, len(header) + file.size)
        with writing_private(path) as target:
            target.write(header)
            file.copy_to(target)

    def find(self, key):
        """Return the kept file with a key as a `StoredFile`; None if there is none."""
        if not (isinstance(key, str) and KEY.fullmatch(key)):
            return None
        with suppress(OSError), ExitStack() as stack:
            file = stack.enter_context((self._folder / key).open("rb"))
            found = self._described(key, file)
            if found is not None:
                stack.pop_all()  # The file stays open.
            return found
        return None

    def files(self):
        """Return a `KeptFile` for each kept file, the one that was opened last first."""
        found = []
        for modified, _, path in self._on_disk():
            with suppress(OSError), path.open("rb") as file:
                if (stored := self._described(path.name, file)) is not None:
                    until = datetime.date.fromtimestamp(modified + self.days * DAY)
                    found.append(KeptFile(path.name, stored.name, stored.size, until))
        return found

    def delete(self, key):
        """Delete the kept file with a key, if there is one."""
        if isinstance(key, str) and KEY.fullmatch(key):
            with suppress(OSError):
                (self._folder / key).unlink()

    def _described(self, key, file):
        """Return an open file as a `StoredFile`; None if it is outdated, cut off or of others."""
        stat, header = os.fstat(file.fileno()), file.readline(MAX_HEADER + 1)
        if stat.st_mtime + self.days * DAY < time.time() or key != self._named(header):
            return None
        name, size, sha256 = json.loads(header)
        if stat.st_size != len(header) + size:
            return None
        stored = StoredFile(name, size, sha256, file, start=len(header))
        stored.kept.set()
        return stored

    def _named(self, header):
        return "f" + hmac.digest(self._key, header, hashlib.sha256)[:12].hex()

    def _on_disk(self):
        """Return (time, bytes, path) of all files, the newest first."""
        found = []
        with suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    if KEY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                        stat = entry.stat()
                        found.append((stat.st_mtime, stat.st_size, self._folder / entry.name))
        return sorted(found, reverse=True)

    def _clean(self, new=None, room=0):
        """Remove the files whose time is over, and the oldest ones beyond the limits.

        Make `room`, in bytes, for a `new` file, which may replace one of the same path.
        """
        now, total, n_files = time.time(), room, int(new is not None)
        for modified, size, path in self._on_disk():
            if path == new:
                continue
            total, n_files = total + size, n_files + 1
            late = modified + self.days * DAY < now
            if late or total > limits().kept_bytes or n_files > MAX_FILES:
                with suppress(OSError):
                    path.unlink()
        with suppress(OSError):
            for path in self._folder.glob(".f*-*"):
                if path.stat().st_mtime + WRITTEN_WITHIN < now:
                    path.unlink()


def _header(file):
    """Return the first line of a kept file."""
    return json.dumps([file.name, file.size, file.sha256]).encode() + b"\n"
