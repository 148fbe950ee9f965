"""Files that tests make, and tables from them."""

import contextlib
import io
import signal
import struct
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from kdegraph import datasets
from PIL import Image


def csv_table(text, filename="t.csv"):
    return datasets.read(text.encode() if isinstance(text, str) else text, filename=filename)


def load_csv(text, **options):
    return datasets.load(
        text.encode() if isinstance(text, str) else text, filename="t.csv", **options
    )


def npy_bytes(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def npz_bytes(**arrays):
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def xlsx_bytes(rows, corner=None, before=()):
    """The bytes of a workbook with these rows in a sheet, perhaps a far cell, and other sheets."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    for row in rows:
        sheet.append(row)
    if corner is not None:
        sheet.cell(*corner, "far")
    for number, words in enumerate(before):
        book.create_sheet(f"{number}", number).append(words)
    book.create_sheet("last").append(["other"])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def parquet_bytes(columns):
    stream = io.BytesIO()
    pa.parquet.write_table(pa.table(columns), stream)
    return stream.getvalue()


def picture_bytes(array, kind="PNG", mode=None, **options):
    image = Image.fromarray(array)
    stream = io.BytesIO()
    (image.convert(mode) if mode else image).save(stream, kind, **options)
    return stream.getvalue()


def png_header(width, height):
    """A PNG file that says it is huge, and stops there."""

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(b"\0" * 64))
    )


NOISY = np.random.default_rng(0).integers(0, 255, (40, 40, 3), dtype=np.uint8)


@contextlib.contextmanager
def full_disk(n_bytes):
    """Let no file grow beyond `n_bytes`, as on a full disk."""
    resource = pytest.importorskip("resource", reason="limits of files are those of Unix")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
