"""Kernel density estimation without the 1/n: sums of kernels, by several solvers."""

from kdegraph.geometry.kernels import Kernel
from kdegraph.kde.api import (
    KERNEL_SUM_METHODS,
    DirectKDE,
    FastKDE,
    gauss_transform,
    kernel_sum,
    make_solver,
)

__all__ = [
    "KERNEL_SUM_METHODS",
    "DirectKDE",
    "FastKDE",
    "Kernel",
    "gauss_transform",
    "kernel_sum",
    "make_solver",
]
