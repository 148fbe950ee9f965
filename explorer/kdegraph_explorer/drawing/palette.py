"""Define colors that are safe for color-blind people, and readable on white and near-black."""

import colorsys

import numpy as np

# Okabe and Ito's palette without black and with the yellow last, which is faint on white; then
# darker and lighter steps of the same hues.
CLUSTER_COLORS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#D55E00",
    "#56B4E9",
    "#B8A600",
    "#5A4FCF",
    "#7F4B00",
    "#8FBF9F",
    "#A3003F",
    "#7A8CA5",
)
BETWEEN = "#8A8F98"  # edges between two clusters, points without one
MARK = "#E0224E"  # the subject of a plot
# Muted, so that methods are not taken for clusters; their marks distinguish them.
METHOD = {"kde": "#4B6A94", "other": "#8A7490", "knn": "#8F7658", "full": "#5C8577"}
# The mark of each method: its name in Bokeh, and the same as a character.
MARKERS = {
    "kde": ("circle", "●"),
    "other": ("diamond", "◆"),
    "knn": ("triangle", "▲"),
    "full": ("square", "■"),
}


def cluster_colors(n):
    """Return the colors of the clusters 0 to n - 1, and last the neutral one: uint8 array.

    Beyond the palette, hues follow at golden-angle steps; no palette keeps that many apart for
    everyone.
    """
    more = [
        colorsys.hls_to_rgb((i * 0.381966) % 1.0, (0.42, 0.58)[i % 2], 0.6)
        for i in range(max(0, n - len(CLUSTER_COLORS)))
    ]
    rows = (
        [rgb(color) for color in CLUSTER_COLORS[:n]]
        + [tuple(round(255 * c) for c in color) for color in more]
        + [rgb(BETWEEN)]
    )
    return np.array(rows, dtype=np.uint8)


def rgb(color):
    """Return the three numbers of a color written #rrggbb."""
    return tuple(int(color[i : i + 2], 16) for i in (1, 3, 5))


def in_hex(color):
    """Return a color of three numbers as #rrggbb."""
    return "#{:02x}{:02x}{:02x}".format(*color)


def packed(rows, alpha=255):
    """Pack colors for Bokeh: (n, 3) uint8 to (n,) uint32, red in the highest byte."""
    rows = np.asarray(rows, dtype=np.uint32)
    return (rows[:, 0] << 24) | (rows[:, 1] << 16) | (rows[:, 2] << 8) | np.uint32(alpha)
