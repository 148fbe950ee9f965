"""Colors in a space in which distances are those that people see."""

import numpy as np

# From linear sRGB to XYZ, each divided by that of the white point D65 (IEC 61966-2-1).
_TO_XYZ = np.array(
    [
        [0.412390799265959, 0.357584339383878, 0.180480788401834],
        [0.212639005871510, 0.715168678767756, 0.072192315360734],
        [0.019330818715592, 0.119194779794626, 0.950532152249661],
    ]
)
_TO_XYZ /= _TO_XYZ.sum(axis=1, keepdims=True)
# Where the cube root of the standard gives way to a line (CIE 15).
_LINEAR_BELOW = (6 / 29) ** 3


def lab(rgb):
    """Return CIE L*a*b* for sRGB colors.

    Parameters
    ----------
    rgb : (..., 3) float array
        Red, green and blue in [0, 1].

    Returns
    -------
    (..., 3) float64 array
        Lightness from 0 (black) to 100 (white); a* from green to red and b* from blue to yellow,
        both 0 for grays.
    """
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = linear @ _TO_XYZ.T
    x, y, z = np.moveaxis(
        np.where(xyz > _LINEAR_BELOW, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29), -1, 0
    )
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)
