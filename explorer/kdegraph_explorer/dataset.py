"""What is explored: points, what is known about them, and how they are placed on the screen."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class Dataset:
    """Points with a name; compared by identity, so that it can key caches.

    Attributes
    ----------
    name : str
    points : (n, d) float64 array
    truth : (n,) int array or None
        True labels, when they are known.
    columns : tuple of d str
        Without them x1, x2, ...; `named` says whether they were given.
    picture : (height, width, 3) uint8 array or None
        The image that the points come from.
    grid : (rows, columns) or None
        For an image: the points are the pixels of a grid of this shape, row by row; it may be coarser than the picture.
    """

    name: str
    points: np.ndarray
    truth: np.ndarray | None = None
    columns: tuple = ()
    picture: np.ndarray | None = None
    grid: tuple | None = None
    named: bool = field(init=False, default=False)
    _components: dict = field(default_factory=dict, repr=False)

    def __post_init__(self):
        object.__setattr__(self, "named", bool(self.columns))
        if not self.columns:
            object.__setattr__(self, "columns", tuple(f"x{i + 1}" for i in range(self.points.shape[1])))

    @property
    def n_points(self):
        """Number of points."""
        return len(self.points)

    @property
    def axes(self):
        """Names of the axes that the points can be drawn along: the columns, and for d > 2 two principal components."""
        return ("PC 1", "PC 2", *self.columns) if len(self.columns) > 2 else self.columns

    def positions(self, horizontal, vertical):
        """Coordinates along two of `axes`.

        Returns
        -------
        (n, 2) float64 array
            With a single column, the second coordinate is a random height, so that the points can be told apart.
        """
        if len(self.columns) == 1:
            heights = np.random.default_rng(0).uniform(-0.5, 0.5, self.n_points) * 0.2 * max(float(np.ptp(self.points)), 1e-300)
            return np.column_stack([self.points[:, 0], heights])
        return np.column_stack([self._axis(horizontal), self._axis(vertical)])

    def _axis(self, name):
        if name in self.columns:
            return self.points[:, self.columns.index(name)]
        if name not in self._components:
            centred = self.points - self.points.mean(axis=0)
            centred /= max(float(np.abs(centred).max()), 1e-300)
            _, vectors = np.linalg.eigh(centred.T @ centred)
            for component in (1, 2):
                vector = vectors[:, -component]
                vector = vector * np.sign(vector[np.argmax(np.abs(vector))])  # the sign is a convention: the largest entry is positive
                self._components[f"PC {component}"] = centred @ vector
        return self._components[name]
