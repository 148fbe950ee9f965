"""Results in files: paths are checked before the work begins, and files are complete or absent."""

import os
from pathlib import Path

import click

from kdegraph.runtime.replacing import new_folder, writing


def check_output(path, extensions):
    """Check a path before any work is done for it, and return it as a Path; None stays None.

    Links are resolved, so that the file behind a link is replaced rather than the link. A
    click.BadParameter is raised if the path does not end in one of the extensions, or if its folder
    does not exist or cannot be written to.
    """
    if path is None:
        return None
    name, path = Path(path).name, Path(path).resolve()
    folder = f"the folder {str(path.parent)!r}"
    problem = None
    if Path(name).suffix.lower() not in extensions:
        problem = f"{name!r} must end in {', '.join(extensions)}."
    elif path.is_dir():
        problem = f"{str(path)!r} is a folder."
    elif not path.parent.is_dir():
        problem = f"{folder} does not exist."
    elif not os.access(path.parent, os.W_OK):
        problem = f"{folder} cannot be written to."
    if problem:
        raise click.BadParameter(problem, param_hint="'--output'")
    return path


def write_columns(path, columns):
    """Write a dictionary of columns of numbers by the extension of the path.

    CSV and Parquet files hold all of them; NPY files and Zarr stores hold the last one. The names
    have no commas and no quotes.
    """
    import numpy as np

    extension, values = path.suffix.lower(), list(columns.values())[-1]
    if extension == ".zarr":
        import zarr

        with new_folder(path) as folder:
            zarr.save_array(folder, values)
        return
    with writing(path) as temporary, temporary.open("wb") as stream:
        if extension == ".npy":
            np.save(stream, values, allow_pickle=False)
        else:
            _write_table(stream, columns, extension)


def _write_table(stream, columns, extension):
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv, parquet

    # PyArrow's own conversion imports pandas, which takes longer than writing a small table.
    table = pa.table(
        {
            name: pa.Array.from_buffers(
                pa.from_numpy_dtype(values.dtype),
                len(values),
                [None, pa.py_buffer(np.ascontiguousarray(values))],
            )
            for name, values in columns.items()
        }
    )
    if extension == ".parquet":
        parquet.write_table(table, stream)
    else:
        stream.write((",".join(columns) + "\n").encode())  # Arrow would quote the names
        csv.write_csv(table, stream, csv.WriteOptions(include_header=False))
