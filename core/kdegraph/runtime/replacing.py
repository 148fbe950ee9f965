"""Files and folders that are never there by half."""

import shutil
import uuid
from contextlib import contextmanager, suppress


@contextmanager
def replacing(path):
    """Write to a temporary file beside `path`, and move it there at the end.

    Whatever goes wrong, `path` stays as it was. A process that is killed leaves the temporary file,
    whose name begins with a dot.

    Parameters
    ----------
    path : Path

    Yields
    ------
    Path
        The temporary file, with the same extension.
    """
    temporary = path.with_name(f".{path.stem}-{uuid.uuid4().hex}{path.suffix}")
    try:
        temporary.touch(exist_ok=False)
        yield temporary
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o777)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


@contextmanager
def new_folder(path):
    """Fill a temporary folder beside `path`, which is moved there at the end.

    Parameters
    ----------
    path : Path

    Yields
    ------
    Path
        The temporary folder, which is yet to be made.

    Raises
    ------
    FileExistsError
        If there is something at `path`.
    """
    if path.exists():
        raise FileExistsError(f"path: {str(path)!r} exists; choose a new name")
    temporary = path.with_name(f".{path.stem}-{uuid.uuid4().hex}{path.suffix}")
    try:
        yield temporary
        temporary.rename(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
