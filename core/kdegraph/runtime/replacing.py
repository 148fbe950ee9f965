"""Atomic writes of files and folders."""

import errno
import os
import shutil
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["writing"]  # what other packages may use


@contextmanager
def writing(path):
    """Write a file atomically; errors name it. See `replacing`.

    Raises
    ------
    OSError
        With `path` as its file name.
    """
    with naming(path), replacing(path) as temporary:
        yield temporary


@contextmanager
def replacing(path):
    """Fill a temporary file, which replaces `path` at the end.

    If anything goes wrong, `path` stays as it was. A process that is killed leaves the temporary
    file, whose name begins with a dot. The target of a symbolic link is replaced rather than the
    link, and what is no regular file, such as a pipe or /dev/stdout, is written directly.

    Parameters
    ----------
    path : path-like

    Yields
    ------
    Path
        The file to write, with the same extension as `path`.
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
    """Write a folder atomically: a temporary one beside it, which is moved there at the end.

    Parameters
    ----------
    path : path-like

    Yields
    ------
    Path
        The temporary folder, which does not exist yet.

    Raises
    ------
    FileExistsError
        If there is something at `path`.
    OSError
        With `path` as its file name.
    """
    path = Path(path)
    if path.exists():
        raise FileExistsError(f"path: {str(path)!r} exists; choose a new name")
    temporary = _beside(path)
    try:
        with naming(path):
            yield temporary
            temporary.rename(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def naming(path):
    """Give errors of writing, for instance to a full disk, the name of the file.

    Libraries raise some without it, and some without the number of the error. Errors about the
    temporary file become errors about `path`.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        raise OSError(error.errno or errno.EIO, reason, str(path)) from error


def _beside(path):
    """Return a new name in the folder of `path`, with the same extension."""
    return path.with_name(f".{path.stem}-{uuid.uuid4().hex}{path.suffix}")
