"""Color points by their label or by a column, with the entries of a legend."""

from dataclasses import dataclass

import numpy as np
from bokeh.palettes import Viridis256

from .drawing.palette import BETWEEN, CLUSTER_COLORS, cluster_colors, rgb
from .point_columns import cell, columns_of, values_of

CLUSTER = "cluster"  # the choice of a color that is not a column
PREFIX = "column:"  # before the name of a column, so that no column is mistaken for the clusters
# Steps of a scale for numbers, without its ends, which are hard to see on black and on white.
SCALE = np.array([rgb(color) for color in Viridis256[36:236:8]], dtype=np.uint8)
# Share of the values beyond each end of the scale, so that outliers do not determine it.
CLIPPED = 0.01


@dataclass(frozen=True, eq=False)
class Coloring:
    """The color of each point.

    `name` is that of the column. `codes` (n,) are rows of `palette` (k + 1, 3), whose last row is
    neutral: for no value, and for edges between two colors. `entries` are the categories with their
    colors, #rrggbb; `limits`, the ends of a scale of numbers or dates, or None.
    """

    name: str
    codes: np.ndarray
    palette: np.ndarray
    entries: tuple = ()
    limits: tuple | None = None


def choices(dataset):
    """Return the choices of a color: a dict of what the user reads to the choice."""
    return {"Cluster": CLUSTER} | {name: PREFIX + name for name in columns_of(dataset)}


def coloring_of(dataset, choice):
    """Return the `Coloring` for one of the `choices`; None for clusters and unknown choices."""
    if dataset is None or choice not in choices(dataset).values() or choice == CLUSTER:
        return None
    column = columns_of(dataset)[choice.removeprefix(PREFIX)]
    values = values_of(dataset, column)
    if column.kind == "text" or _few_classes(column, values):
        return _by_category(column.name, values)
    return _on_a_scale(column.name, values)


def _few_classes(column, values):
    """Return whether numbers stand for classes: few of them differ, and all are whole."""
    if column.kind != "number":
        return False
    present = values[np.isfinite(values)]
    if not (present == np.round(present)).all():
        return False
    return len(np.unique(present)) <= len(CLUSTER_COLORS)


def _by_category(name, values):
    texts = np.array([cell(value) for value in values], dtype=object)
    names, codes, counts = np.unique(texts, return_inverse=True, return_counts=True)
    n_colors = min(len(names), len(CLUSTER_COLORS))
    kept = np.sort(np.argsort(-counts, kind="stable")[:n_colors])
    numbers = np.full(len(names), n_colors)
    numbers[kept] = np.arange(n_colors)
    palette = cluster_colors(n_colors)
    entries = [(names[i], CLUSTER_COLORS[number]) for number, i in enumerate(kept)]
    if len(names) > n_colors:
        entries.append((f"{len(names) - n_colors:,} others", BETWEEN))
    return Coloring(name, numbers[codes], palette, entries=tuple(entries))


def _on_a_scale(name, values):
    numbers = values.astype(np.float64)
    known = np.isfinite(numbers) if values.dtype.kind == "f" else ~np.isnat(values)
    codes = np.full(len(values), len(SCALE))
    palette = np.vstack([SCALE, [rgb(BETWEEN)]]).astype(np.uint8)
    if not known.any():
        return Coloring(name, codes, palette, limits=("–", "–"))
    low, high = np.quantile(values[known], [CLIPPED, 1 - CLIPPED], method="nearest")
    ends = np.array([low, high]).astype(np.float64)
    middle, half = ends[0] / 2 + ends[1] / 2, ends[1] / 2 - ends[0] / 2  # without overflow
    place = (np.clip(numbers[known], *ends) - middle) / (half or 1.0)
    codes[known] = np.minimum((place + 1) / 2 * len(SCALE), len(SCALE) - 1).astype(np.int64)
    return Coloring(name, codes, palette, limits=(cell(low), cell(high)))
