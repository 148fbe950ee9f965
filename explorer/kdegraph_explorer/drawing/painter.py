"""Paint plots of points and edges, drawing again only what has changed."""

from dataclasses import dataclass, field

import numpy as np

from ..coloring import Coloring
from ..point_columns import shortened
from .edges import chosen_edges
from .palette import cluster_colors, packed
from .raster import PALE, draw

FADED = 0.15  # factor of the opacity of points that are not selected while others are
# Up to this number the browser draws the points, sharp at every zoom. More are part of the image.
MAX_GLYPHS = 4000
LONGEST_NAME = 20  # characters of a name on a cluster, so that it fits beside the edge of a plot


def point_radius(n, viewport, size=1.0):
    """Return the radius of n points in pixels: smaller if they are many, larger in large plots.

    `size` is a factor that the user has chosen.
    """
    *_, width, height = viewport
    usual = np.clip(1.5 * (2000 / n) ** 0.3, 0.55, 3.5)
    return float(size * usual * max(1.0, min(width, height) / 450) ** 0.5)


def glyph_colors(palette, colors, pale=None):
    """Return the colors of points for Bokeh, (n,) uint32, from their rows in a palette; those that
    are `pale`, (n,) bool, are translucent.
    """
    return packed(palette[colors], 255 if pale is None else np.where(pale, int(255 * PALE), 255))


def point_opacities(n, selection, opacity=1.0, pale=None):
    """Return the opacity of each point, from 0 to 1; less if others are selected, or if `pale`."""
    opacities = np.full(n, opacity)
    if len(selection):
        opacities *= FADED
        opacities[selection] = opacity
    if pale is not None:
        opacities[pale] *= PALE
    return opacities


@dataclass(frozen=True, eq=False)
class Scene:
    """The data that a plot of one graph depends on.

    `positions` is an (n, 2) array, and `viewport` is (x0, x1, y0, y1, width, height). Without an
    `adjacency`, no edges are drawn; without `colors` (n,), all points have the neutral color.
    Unless the `selection` is empty, all other points fade, and only its edges are drawn; `edges` is
    "all", "strongest", or "selection". A `coloring` replaces `colors`. `names` are written on
    clusters, by their numbers in `colors`. `size` and `opacity` are factors of the radius of the
    points, and of their opacity. Points that are `pale`, an (n,) bool array, have less of it.
    """

    positions: np.ndarray
    viewport: tuple
    adjacency: object = None
    colors: np.ndarray | None = None
    selection: np.ndarray | tuple = ()
    edges: str = "all"
    coloring: Coloring | None = None
    names: dict = field(default_factory=dict)
    size: float = 1.0
    opacity: float = 1.0
    pale: np.ndarray | None = None

    @property
    def as_glyphs(self):
        """Return whether the browser draws the points."""
        return len(self.positions) <= MAX_GLYPHS

    @property
    def radius(self):
        """Return the radius of the points in pixels."""
        return point_radius(len(self.positions), self.viewport, self.size)


@dataclass(frozen=True, eq=False)
class Layers:
    """The parts of a plot that have changed on the screen; None for those that have not."""

    # (height, width) uint32, fills the viewport
    image: np.ndarray | None = None
    # (m, 2), of the glyphs; m is 0 when the points are in the image
    positions: np.ndarray | None = None
    # (m,) uint32
    colors: np.ndarray | None = None
    # Places and names of clusters: a list of (x, y, name)
    names: list | None = None


class Painter:
    """Paint one plot, remembering what it shows. Used by one thread at a time."""

    def __init__(self):
        self._shown = {}

    def glyphs(self, scene):
        """Return the layers of `scene` that the browser draws, where they have changed."""
        colors, palette = _colored(scene)
        return Layers(
            positions=self._glyph_positions(scene),
            colors=self._glyph_colors(scene, colors, palette),
            names=self._names(scene),
        )

    def image(self, scene):
        """Return the layer of `scene` that is drawn here, if it has changed."""
        key = (
            scene.positions,
            scene.viewport,
            scene.adjacency,
            scene.colors,
            scene.selection,
            scene.edges,
            scene.coloring,
            None if scene.as_glyphs else (scene.size, scene.opacity),
            scene.pale,
        )
        if not self._changed("image", key):
            return Layers()
        colors, palette = _colored(scene)
        radius = edges = None
        if not scene.as_glyphs:
            radius = scene.radius
            colors = faded(colors, palette, scene.selection)
        if scene.adjacency is not None:
            edges = chosen_edges(scene.adjacency, scene.selection, scene.edges)
        image = draw(
            scene.viewport,
            scene.positions,
            colors,
            palette,
            edges=edges,
            radius=radius,
            opacity=scene.opacity,
            pale=scene.pale,
            above=scene.edges == "strongest",
        )
        return Layers(image=image)

    def _glyph_positions(self, scene):
        if not self._changed("positions", (scene.positions,)):
            return None
        return scene.positions if scene.as_glyphs else scene.positions[:0]

    def _glyph_colors(self, scene, colors, palette):
        key = (scene.positions, scene.colors, scene.coloring, scene.pale)
        if not self._changed("colors", key):
            return None
        if not scene.as_glyphs:
            return np.empty(0, dtype=np.uint32)
        return glyph_colors(palette, colors, scene.pale)

    def _names(self, scene):
        if not self._changed("names", (scene.positions, scene.colors, scene.names)):
            return None
        if scene.colors is None:
            return []
        found = [(_place(scene, number), name) for number, name in scene.names.items()]
        return [
            (*place, shortened(name, LONGEST_NAME)) for place, name in found if place is not None
        ]

    def _changed(self, layer, key):
        """Return whether a layer depends on something new.

        Arrays and graphs count as unchanged if they are the same object.
        """
        shown = self._shown.get(layer)
        same = shown is not None and all(
            a is b or (isinstance(a, tuple) and a == b) for a, b in zip(shown, key, strict=True)
        )
        self._shown[layer] = key
        return not same


def _place(scene, number):
    """Return the place of the name of a cluster, or None if it has no points.

    It is the point nearest to the mean, as the mean of a ring lies beside it.
    """
    members = scene.positions[scene.colors == number]
    if not len(members):
        return None
    return members[np.square(members - members.mean(axis=0)).sum(axis=1).argmin()].tolist()


def colors_of(coloring, clusters):
    """Return the colors of points as rows of a palette, and the palette, (k + 1, 3) uint8."""
    if coloring is not None:
        return coloring.codes, coloring.palette
    return clusters, cluster_colors(int(clusters.max()) + 1)


def faded(colors, palette, selection):
    """Return the colors of points with the neutral one for all but the selected, if there are any.

    Both are rows of the palette.
    """
    if not len(selection):
        return colors
    neutral = np.full(len(colors), len(palette) - 1)
    neutral[selection] = colors[selection]
    return neutral


def _colored(scene):
    """Return the colors of the points in a scene as rows of a palette, and the palette."""
    if scene.coloring is not None or scene.colors is not None:
        return colors_of(scene.coloring, scene.colors)
    neutral = cluster_colors(0)
    return np.zeros(len(scene.positions), dtype=np.int64), np.vstack([neutral, neutral])
