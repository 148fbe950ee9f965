"""Files that are never there by half."""

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
