"""What an eigensolver returns."""

from dataclasses import dataclass

import numpy as np


@dataclass(eq=False)
class Eigenpairs:
    """The largest eigenpairs of M beyond its null space.

    Attributes
    ----------
    values : (k,) array
        In descending order.
    vectors : (n, k) float64 array
    residuals : (k,) array
    converged : bool
    n_products : int
        Products of M with a block of vectors.
    """

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    converged: bool
    n_products: int
