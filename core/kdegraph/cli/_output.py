"""Writing results: checked before the work begins, and never half a file."""

import os
from pathlib import Path

import click

from kdegraph.runtime.replacing import writing


def check_output(path, extensions):
    """Check a path before any work is done for it.

    Parameters
    ----------
    path : str or None
    extensions : sequence of str
        Those that can be written, with the dot.

    Returns
    -------
    Path or None
        With links resolved, so that the file behind a link is replaced rather than the link.

    Raises
    ------
    click.BadParameter
        For another extension, or a folder that does not exist or cannot be written to.
    """
    if path is None:
        return None
    path = Path(path)
    if path.suffix.lower() not in extensions:
        raise click.BadParameter(
            f"{path.name!r} must end in {', '.join(extensions)}.", param_hint="'--output'"
        )
    path = path.resolve()
    if path.is_dir():
        raise click.BadParameter(f"{str(path)!r} is a folder.", param_hint="'--output'")
    if not path.parent.is_dir():
        raise click.BadParameter(
            f"the folder {str(path.parent)!r} does not exist.", param_hint="'--output'"
        )
    if not os.access(path.parent, os.W_OK):
        raise click.BadParameter(
            f"the folder {str(path.parent)!r} cannot be written to.", param_hint="'--output'"
        )
    return path


def write_table(path, columns):
    """Write columns as CSV or Parquet, by the extension.

    Parameters
    ----------
    path : Path
    columns : dict
        Plain name (no comma, no quote) to array of numbers.
    """
    import pyarrow as pa

    table = pa.table({name: _arrow(column) for name, column in columns.items()})
    with writing(path) as temporary:
        if path.suffix.lower() == ".csv":
            from pyarrow import csv

            with temporary.open("wb") as stream:
                # Arrow would put the names into quotes.
                stream.write((",".join(columns) + "\n").encode())
                csv.write_csv(table, stream, csv.WriteOptions(include_header=False))
        else:
            from pyarrow import parquet

            parquet.write_table(table, temporary)


def _arrow(column):
    """An array of numbers for PyArrow, whose own conversion imports pandas: that takes longer than
    to write a small table.
    """
    import numpy as np
    import pyarrow as pa

    buffer = pa.py_buffer(np.ascontiguousarray(column))
    return pa.Array.from_buffers(pa.from_numpy_dtype(column.dtype), len(column), [None, buffer])


def write_array(path, array):
    """Write an array as NPY."""
    import numpy as np

    with writing(path) as temporary, temporary.open("wb") as stream:
        np.save(stream, array, allow_pickle=False)


def write_picture(path, image):
    """Write an (height, width, 3) uint8 array as PNG."""
    from PIL import Image

    with writing(path) as temporary:
        Image.fromarray(image).save(temporary, "PNG")
