"""Derivatives of the Gaussian in one dimension, which are Hermite functions, and their bounds.

Both ways to truncate an expansion rest on Cramér's inequality for Hermite functions, which bounds
the remainder of the Taylor series in one dimension:

    |error| <= 1.0865 exp(-z^2 / 2) sum_{m >= p} (sqrt(2) r)^m / sqrt(m!),    r >= |u - v|.
"""

import math

import numpy as np

from kdegraph.runtime.jit import jit

# The constant of Cramér's inequality.
CRAMER = 1.0865

# Boxes are not expanded where x = sqrt(2) r is larger: the terms of the remainder grow up to the
# order x^2 = 36, and rounding errors are amplified by exp(x^2 / 2) = 6.6e7.
MAX_REACH = 6.0

# Rounding errors of an expansion, relative to the sum of the absolute values of its terms.
TAYLOR_ROUNDING = 4e-15

# sqrt(m) for every order that occurs.
SQUARE_ROOTS = np.sqrt(np.arange(200.0))


@jit(borrow=True)
def derivatives(z, n, out):
    """Write ``G_0(z), ..., G_{n-1}(z)``, the derivatives of ``exp(-z^2)``, into `out`."""
    x = -2.0 * z
    out[0] = math.exp(-z * z)
    if n > 1:
        out[1] = x * out[0]
    for k in range(2, n):
        out[k] = x * out[k - 1] - 2.0 * (k - 1) * out[k - 2]
