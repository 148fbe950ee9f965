"""Keep a secret of the user in a file that nobody else can read."""

import os
import secrets
import sys
import uuid
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path

SIZE = 32  # bytes: as many as SHA-256 makes of it
FILE = "server-secret"


def user_secret():
    """Return the secret that signs the session ids and the cookies of this user's servers.

    It is made once and kept in the user's state folder, so that open pages and logins outlive a
    restart of the server. A file that is damaged, or that others may have read, is replaced. If no
    file can be kept, the secret lasts as long as the process, with a warning.
    """
    path = None
    try:
        path = state_folder() / FILE
        return _kept(path) or _made(path)
    except (OSError, RuntimeError) as error:  # a RuntimeError if there is no home folder
        warnings.warn(
            f"cannot keep the secret that signs logins in {path or 'the home folder'} ({error}), "
            "so that they end with the server; set KDEGRAPH_STATE_DIR to a folder of your own"
        )
        return secrets.token_bytes(SIZE)


def state_folder():
    """Return the folder that `KDEGRAPH_STATE_DIR` names, or ours in the user's state folder."""
    if path := os.environ.get("KDEGRAPH_STATE_DIR"):
        return Path(path)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home())
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return base / "kdegraph"


def readable_by_others(file):
    """Return whether other users of this machine can read an open file, or write to it."""
    return os.name == "posix" and bool(os.fstat(file.fileno()).st_mode & 0o077)


@contextmanager
def writing_private(path, place=os.replace):
    """Open a temporary file for bytes that only this user can read, and at the end of this context
    call ``place(temporary, path)``.

    After an error, nothing is left of the temporary file.
    """
    temporary = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
            if readable_by_others(file):
                raise PermissionError("files there can be read by other users")
            yield file
        place(temporary, path)
    finally:
        with suppress(OSError):
            temporary.unlink()


def _kept(path):
    """Read the secret; remove a file that cannot be used, and return None then."""
    try:
        with path.open("rb") as file:
            exposed, content = readable_by_others(file), file.read(2 * SIZE + 1)
    except FileNotFoundError:
        return None
    try:
        secret = bytes.fromhex(content.decode("ascii"))
    except ValueError:
        secret = b""
    if len(secret) == SIZE and not exposed:
        return secret
    reason = "could be read by other users" if exposed else "was damaged"
    warnings.warn(
        f"{path} {reason} and is replaced: whoever had logged in to a server has to do so again"
    )
    path.unlink(missing_ok=True)
    return None


def _made(path):
    """Make the file, which appears with its whole content, and return the secret in it.

    It is that of another process if that was faster.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    secret = secrets.token_bytes(SIZE)
    try:
        # Unlike a renaming, a link never replaces a file.
        with writing_private(path, place=os.link) as file:
            file.write(secret.hex().encode())
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        return _kept(path) or secret
    return secret
