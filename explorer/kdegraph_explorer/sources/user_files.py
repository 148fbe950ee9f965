"""Files of the user: read, named, and packed for session files."""

import base64
import hashlib
from pathlib import Path

from kdegraph import datasets

from ..limits import check, limits
from ..uploads import PART_BYTES, StoredFile

# Bytes of the largest data file that a session file contains. For a larger one it has the name and
# the checksum.
MAX_PACKED = 64 * 2**20


def packed(file):
    """Return a `StoredFile` for a session file: its content, or its checksum if it is large."""
    if file.size > MAX_PACKED:
        return {"name": file.name, "sha256": file.sha256}
    return {"name": file.name, "content": base64.b64encode(file.read()).decode()}


def decoded(content):
    """Decode base64 in parts, so that other threads run between them."""
    if not isinstance(content, str | bytes):
        raise TypeError("content must be text")
    starts = range(0, len(content), PART_BYTES)
    return (base64.b64decode(content[i : i + PART_BYTES], validate=True) for i in starts)


def stored(file):
    """Return the `StoredFile` of a path; a `StoredFile` is returned as it is."""
    return file if isinstance(file, StoredFile) else StoredFile.at(Path(file))


def name_of(file):
    """Return the name of a path or of a `StoredFile`; None for anything else."""
    if file is None or isinstance(file, ValueError):
        return None
    return file.name if isinstance(file, StoredFile) else Path(file).name


def read(file):
    """Read a path or a `StoredFile`; raise an error that arrived instead."""
    if isinstance(file, ValueError):
        raise file
    try:
        content, name = file, name_of(file)
        if isinstance(file, StoredFile):
            content = file.read()
            if hashlib.sha256(content).hexdigest() != file.sha256:
                raise ValueError(f"{name} was damaged on the server; choose it again")
        found = datasets.read(content, filename=name, max_bytes=max_bytes(name))
    except OSError as error:
        raise ValueError(
            f"the file {str(file)!r} cannot be read: {error.strerror or error}; "
            "under Data, choose another file or another source"
        ) from None
    if found.kind == "image":
        height, width = found.image.shape[:2]
        check("pixels", height * width, f"{found.name} has", "scale it down first")
    return found


def max_bytes(name):
    """Return the bytes to which a file may unpack; those of a picture are not decoded in vain."""
    most = limits().pixels
    if most is None or datasets.file_type(name) not in ("png", "jpeg"):
        return datasets.MAX_BYTES
    return min(datasets.MAX_BYTES, 24 * most)  # three colors, each as a float64
