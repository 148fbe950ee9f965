"""Atomic writes of files and folders."""

import errno
import os
import shutil
import time
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["writing"]  # for other packages, too

PAUSE = 0.1  # seconds within which threads that still write make a folder anew


@contextmanager
def writing(path):
    """Write a file atomically, as `replacing` does, with errors that name `path`."""
    with naming(path), replacing(path) as temporary:
        yield temporary


@contextmanager
def replacing(path):
    """Write a temporary file with the same extension, which replaces `path` at the end.

    After an error, `path` is unchanged. A process that is killed leaves the temporary file, whose
    name begins with a dot. A symbolic link stays, and its target is replaced. Anything but a
    regular file, such as a pipe or /dev/stdout, is written directly.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        yield target
        return
    temporary = _beside(target)
    try:
        temporary.touch(exist_ok=False)
        yield temporary
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


@contextmanager
def new_folder(path):
    """Write a temporary folder, which does not exist yet and is renamed to `path` at the end.

    A FileExistsError is raised if `path` exists, and errors of writing name `path`.
    """
    path = Path(path)
    if path.exists():
        raise FileExistsError(f"path: {str(path)!r} exists; choose a new name")
    temporary = _beside(path)
    try:
        with naming(path):
            yield temporary
            temporary.rename(path)
    except BaseException:
        _remove(temporary)
        raise


def _remove(folder):
    """Remove a folder, again if it is made anew: after an error in one of its threads, Zarr (3.1)
    goes on writing in the others.
    """
    for _ in range(100):
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(PAUSE)
        if not folder.exists():
            break


@contextmanager
def naming(path):
    """Add the name of the file to errors of writing, for example to a full disk.

    Libraries raise some errors without a name or without a number. Errors about the temporary file
    become errors about `path`.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        raise OSError(error.errno or errno.EIO, reason, str(path)) from error


def _beside(path):
    """Return a new name in the folder of `path`, with the same extension."""
    return path.with_name(f".{path.stem}-{uuid.uuid4().hex}{path.suffix}")
