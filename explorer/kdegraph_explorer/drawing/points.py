"""How large and how opaque points are drawn: by the same rule in the plots and in all files."""

import numpy as np

LARGE_PLOT = 450  # pixels of the shorter side of a plot, above which points grow with the plot
FADED = 0.15  # factor of the opacity of points that are not selected, beside others that are


def point_radius(n, viewport, size=1.0):
    """Radius of points in pixels: smaller if they are many, larger in large plots.

    Parameters
    ----------
    n : int
        Number of points.
    viewport : (x0, x1, y0, y1, width, height)
    size : float
        A factor that the user has chosen.
    """
    *_, width, height = viewport
    usual = np.clip(1.5 * (2000 / n) ** 0.3, 0.55, 3.5)
    return float(size * usual * max(1.0, min(width, height) / LARGE_PLOT) ** 0.5)


def point_opacities(n, selection, opacity=1.0):
    """Opacity of each point, from 0 to 1: `opacity`, or less for those that are not selected beside
    others that are.

    Returns
    -------
    (n,) float64 array
    """
    opacities = np.full(n, opacity)
    if len(selection):
        opacities *= FADED
        opacities[selection] = opacity
    return opacities
