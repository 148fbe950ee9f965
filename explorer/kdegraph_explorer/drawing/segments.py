"""Draw pictures, and segments of their pixels, for Bokeh."""

import numpy as np
from kdegraph.datasets import expand_labels

from .palette import cluster_colors


def packed_image(picture):
    """Pack a (height, width, 3) uint8 picture for Bokeh, the first row at the bottom."""
    pixels = np.full((*picture.shape[:2], 4), 255, dtype=np.uint8)
    pixels[:, :, :3] = picture
    return pixels.view(np.uint32)[::-1, :, 0].copy()


def segments(labels, style="colors", picture=None):
    """Draw the clusters of the pixels as an image, the first row at the bottom.

    The `style` is "colors", one for every cluster, "means", the mean color of its pixels in the
    `picture`, or "boundaries", lines where two clusters meet on an image that is clear elsewhere,
    as fine as the pixels of the picture if there is one.
    """
    if style == "boundaries":
        # The boundaries of larger pictures would take too long to draw at their full size.
        fine = picture is not None and picture.shape[0] * picture.shape[1] <= 1_000_000
        if not fine:
            return _boundaries(labels)
        return _boundaries(expand_labels(labels, labels.shape, picture.shape[:2]), thicken=1)
    if style == "means":
        return packed_image(mean_colors(labels, picture)[labels])
    return packed_image(cluster_colors(int(labels.max()) + 1)[labels])


def mean_colors(labels, picture):
    """Return the mean color in the picture of each segment of its pixels, (k, 3) uint8."""
    full = expand_labels(labels, labels.shape, picture.shape[:2]).ravel()
    counts = np.maximum(np.bincount(full, minlength=labels.max() + 1), 1)
    channels = picture.reshape(-1, 3).T
    sums = [np.bincount(full, weights=values, minlength=len(counts)) for values in channels]
    return np.round(np.stack(sums, axis=1) / counts[:, None]).astype(np.uint8)


def _boundaries(labels, thicken=0):
    """Draw white lines with dark edges, which are seen on any photograph.

    They are `thicken` pixels wider on both sides.
    """
    meet = np.zeros(labels.shape, dtype=bool)
    across, down = labels[:, 1:] != labels[:, :-1], labels[1:] != labels[:-1]
    meet[:, 1:] |= across
    meet[1:] |= down
    edges = np.zeros(labels.shape, dtype=bool)
    edges[:, :-1] |= across
    edges[:-1] |= down
    if thicken:
        from scipy.ndimage import binary_dilation  # slow to import: only photographs need it

        meet = binary_dilation(meet, iterations=thicken)
        edges = binary_dilation(meet, iterations=thicken)
    dark = np.where(edges, np.uint32(0xFF202020), np.uint32(0))
    return np.where(meet, np.uint32(0xFFFFFFFF), dark)[::-1].copy()
