"""Results in files: paths are checked before the work begins, and files are complete or absent."""

import csv
import errno
import io
import json
import math
import os
import sys
from pathlib import Path

import click

from kdegraph.runtime.replacing import new_folder, writing

STDOUT = Path("-")  # where CSV is written to instead of a file


def check_output(path, extensions, source="-"):
    """Check a path before any work is done for it, and return it as a Path; None stays None, and
    "-" is `STDOUT`.

    Links are resolved, so that the file behind a link is replaced rather than the link. A
    click.BadParameter is raised if the path does not end in one of the extensions, if its folder
    does not exist or cannot be written to, or if it is that of the `source` of the points.
    """
    if path in (None, "-"):
        return None if path is None else STDOUT
    name, path = Path(path).name, Path(path).resolve()
    folder = f"the folder {str(path.parent)!r}"
    problem = None
    if Path(name).suffix.lower() not in extensions:
        problem = f"{name!r} must end in {', '.join(extensions)}."
    elif path.is_dir():
        problem = f"{str(path)!r} is a folder."
    elif not path.parent.is_dir():
        problem = f"{folder} does not exist."
    elif path == Path(source).resolve():
        problem = f"{name!r} is FILE itself, which would be replaced; write to another file."
    elif not os.access(path.parent, os.W_OK):
        problem = f"{folder} cannot be written to."
    if problem:
        raise click.BadParameter(problem, param_hint="'--output'")
    return path


def write_columns(path, columns):
    """Write a dictionary of columns of numbers by the extension of the path.

    CSV and Parquet files hold all of them; NPY files and Zarr stores hold the last one.
    """
    extension, values = path.suffix.lower(), list(columns.values())[-1]
    if extension == ".zarr":
        import zarr

        with new_folder(path) as folder:
            zarr.save_array(folder, values)
    elif extension == ".npy":
        from kdegraph.npy_files import write_npy

        with writing(path) as temporary:
            write_npy(temporary, values)
    else:
        import pyarrow as pa

        from kdegraph.io.columns import as_arrow

        write_frame(path, pa.table({name: as_arrow(values) for name, values in columns.items()}))


def print_json(facts):
    """Print a JSON object; numbers that are not finite become null."""

    def finite(value):
        if isinstance(value, dict):
            return {key: finite(one) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [finite(one) for one in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    # Numbers of NumPy, and dates.
    text = json.dumps(finite(facts), default=lambda one: getattr(one, "item", one.__str__)())
    _print_bytes(text.encode() + b"\n")


def write_frame(path, frame):
    """Write an Arrow table to a Parquet file, or as CSV to a file or to `STDOUT`."""
    from pyarrow import parquet

    if path == STDOUT:
        content = io.BytesIO()
        _write_csv(frame, content)
        _print_bytes(content.getvalue())
        return
    with writing(path) as temporary, temporary.open("wb") as stream:
        if path.suffix.lower() == ".parquet":
            parquet.write_table(frame, stream)
        else:
            _write_csv(frame, stream)


def _print_bytes(content):
    """Write bytes to standard output, which takes a part at a time where it has no buffer."""
    if sys.stdout is None:  # closed by whoever has started the process
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")
    rest = memoryview(content)
    while rest:
        rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.buffer.flush()


def _write_csv(frame, stream):
    from pyarrow import csv as arrow_csv

    names = io.StringIO()  # Arrow would quote all of them
    csv.writer(names, lineterminator="\n").writerow(frame.column_names)
    stream.write(names.getvalue().encode())
    arrow_csv.write_csv(frame, stream, arrow_csv.WriteOptions(include_header=False))
