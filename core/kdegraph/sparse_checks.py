"""Refuse sparse matrices whose arrays do not describe a matrix."""

from typing import Any

import numpy as np

# The number of axes of the values of sparse matrices, by format.
_AXES_OF_VALUES = {"coo": 1, "csr": 1, "csc": 1, "bsr": 3, "dia": 2}


def check_sparse(matrix: Any, name: str) -> None:
    """Refuse a sparse matrix whose arrays do not describe a matrix of its shape.

    SciPy can hold such a matrix, and compiled code would read and write beyond its arrays. Anything
    but a sparse matrix is not checked. The cost is a pass over the index arrays, or for LIL the
    conversion to CSR. Messages call the matrix `name`.
    """
    kind = getattr(matrix, "format", None)
    if kind == "lil":
        rows, values = matrix.rows, matrix.data
        same = rows.shape == values.shape == matrix.shape[:1]
        if not same or list(map(len, rows)) != list(map(len, values)):
            raise ValueError(f"{name}.rows and {name}.data differ; the sparse matrix is damaged")
        matrix, kind = matrix.tocsr(), "csr"
    if kind not in _AXES_OF_VALUES:
        return
    if matrix.data.ndim != _AXES_OF_VALUES[kind]:
        raise ValueError(f"{name}.data has shape {matrix.data.shape}; the sparse matrix is damaged")
    if kind == "coo":
        for axis, (indices, size) in enumerate(zip(matrix.coords, matrix.shape, strict=True)):
            _check_indices(indices, size, len(matrix.data), f"{name}.coords[{axis}]")
    elif kind == "dia":
        sides = sum(matrix.shape)
        _check_indices(matrix.offsets, sides, len(matrix.data), f"{name}.offsets", -sides)
    else:
        _check_rows(matrix, kind, name)


def _check_rows(matrix, kind, name):
    """Refuse the index arrays of a CSR, CSC or BSR matrix if they do not lead to its values."""
    height, width = matrix.data.shape[1:] if kind == "bsr" else (1, 1)
    n_rows, n_columns = matrix.shape[0] // height, matrix.shape[1] // width
    if kind == "csc":
        n_rows, n_columns = n_columns, n_rows
    indptr, last = matrix.indptr, len(matrix.indices)
    _check_indices(indptr, last + 1, n_rows + 1, f"{name}.indptr")
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(
            f"{name}.indptr must have {n_rows + 1} ascending numbers from 0; the sparse matrix "
            f"is damaged, build it anew, e.g. from its coordinates"
        )
    # SciPy converts a BSR matrix with spare room at the end to one of another size.
    if last != len(matrix.data) or (kind == "bsr" and last != indptr[-1]):
        raise ValueError(
            f"{name}.indices has {last} indices for {len(matrix.data)} values, of which "
            f"{indptr[-1]} are used; the sparse matrix is damaged, build it anew"
        )
    used = matrix.indices[: indptr[-1]]
    _check_indices(used, n_columns, len(used), f"{name}.indices")


def _check_indices(indices, size, n_values, name, lowest=0):
    """Refuse indices of a sparse matrix that are out of range, or fewer or more than its values."""
    if indices.ndim != 1 or indices.dtype not in (np.int32, np.int64):
        raise ValueError(
            f"{name} must be an int32 or int64 vector, got an array of shape {indices.shape} and "
            f"dtype {indices.dtype}; the sparse matrix is damaged, build it anew"
        )
    if len(indices) != n_values:
        raise ValueError(f"{name} has {len(indices)} indices for {n_values} values")
    if n_values and (indices.min() < lowest or indices.max() >= size):
        raise ValueError(
            f"{name} must be from {lowest} to {size - 1}, got {indices.min()} to {indices.max()}; "
            "the sparse matrix is damaged, build it anew"
        )
