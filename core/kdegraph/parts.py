"""Parts of a sampled graph that can be computed alone, by another process or machine: some targets,
and all points within their reach.

The tree's points are cut into *cells*, nodes of at most `CELL` points, whatever is asked for.
Kernel degrees and samples of a cell depend on its points, on the leaves within reach of its box,
and on the numbers that these points have among all: random streams are keyed on them. So it does
not matter which targets are computed together, in which order, or where.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from kdegraph.geometry.kernels import EXPONENTIAL, GAUSSIAN, LAPLACIAN, UNDERFLOW
from kdegraph.geometry.tree import build_tree
from kdegraph.kde.dispatch import degrees_at
from kdegraph.sampling.rejection import sampler as rejection

CELL = 2048


def reach(kernel, n, error):
    """The distance beyond which `n` points together add at most `error` to a kernel sum.

    Parameters
    ----------
    kernel : Kernel
    n : int
    error : float
        Absolute, >= 0. With 0 the kernel's values are zero in floating-point numbers from there on,
        and nothing at all is lost.

    Returns
    -------
    float
        In the norm of the kernel: Manhattan for the Laplacian one, Euclidean for the others.
    """
    exponent = _largest_exponent(n, error)
    return kernel.sigma * (math.sqrt(exponent) if kernel.code == GAUSSIAN else exponent)


def _largest_exponent(n, error):
    return min(UNDERFLOW, max(math.log(n / error), 0.0)) if error > 0 else UNDERFLOW


@dataclass(frozen=True)
class Part:
    """Targets and what is within their reach.

    Attributes
    ----------
    points : (m, d) float64
        The targets, then the others.
    vertices : (m,) int64
        The numbers of these points among all.
    n_targets : int
    """

    points: np.ndarray
    vertices: np.ndarray
    n_targets: int

    @property
    def targets(self):
        """The numbers of the targets among all points."""
        return self.vertices[: self.n_targets]

    def draw_neighbors(self, kernel, n_rounds, seed, eps):
        """Kernel degrees and neighbors of the targets.

        Parameters
        ----------
        kernel : Kernel
        n_rounds : int
        seed : int
        eps : float
            Relative error of the degrees, on top of what was left out.

        Returns
        -------
        degrees : (n_targets,) float64
            ``sum_{j != i} k(x_i, x_j)`` over the points of the part.
        neighbors : (n_targets, n_rounds) int64
            Numbers among all points, drawn with probabilities proportional to the kernel; -1 for a
            target without any in reach.
        """
        tree = build_tree(self.points)
        positions = np.empty(len(self.points), np.int64)
        positions[tree.order] = np.arange(len(self.points))
        own = positions[: self.n_targets]
        degrees = np.zeros(len(self.points))  # for points that are no targets nothing is drawn
        degrees[own] = degrees_at(kernel, tree, own, eps)
        vertices = self.vertices[tree.order]
        drawn = rejection.draw_neighbors(
            kernel, replace(tree, order=vertices), degrees, n_rounds, seed
        )[own]
        return degrees[own], np.where(drawn >= 0, vertices[drawn], -1)


def cells(tree):
    """The nodes of `tree` that are computed as a whole."""
    level = 0
    while -(-len(tree.points) >> level) > CELL and level < tree.n_levels - 1:
        level += 1
    return np.arange(2**level - 1, 2 ** (level + 1) - 1)


def parts(tree, kernel, error, targets=None):
    """Give the parts that cover some targets, one after the other.

    Parameters
    ----------
    tree : Tree
        Of all points.
    kernel : Kernel
    error : float
        What a kernel sum may lose; see `reach`.
    targets : (k,) int array, optional
        Numbers of points; all by default.

    Yields
    ------
    Part
        Together they have all `targets` among theirs, each once.
    """
    wanted = np.full(len(tree.order), targets is None)
    if targets is not None:
        wanted[targets] = True
    wanted = wanted[tree.order]
    largest = _largest_exponent(len(tree.points), error)
    leaves = np.arange(tree.first_leaf, tree.start.size)
    for cell in cells(tree):
        begin, end = tree.start[cell], tree.stop[cell]
        if not wanted[begin:end].any():
            continue
        near = leaves[_exponents(kernel, tree, cell, leaves) <= largest]
        inside = np.zeros(len(tree.points) + 1, np.int64)
        np.add.at(inside, tree.start[near], 1)
        np.add.at(inside, tree.stop[near], -1)
        inside = np.cumsum(inside[:-1]) > 0
        inside[begin:end] = False
        positions = np.concatenate([np.arange(begin, end), np.flatnonzero(inside)])
        yield Part(tree.points[positions], tree.order[positions], int(end - begin))


def _exponents(kernel, tree, cell, nodes):
    """The smallest exponent of the kernel between the box of `cell` and those of `nodes`."""
    with np.errstate(over="ignore"):
        gaps = (
            np.maximum(
                np.maximum(tree.low[nodes] - tree.high[cell], tree.low[cell] - tree.high[nodes]),
                0.0,
            )
            * kernel.inverse_sigma
        )
        if kernel.code == LAPLACIAN:
            return gaps.sum(axis=1)
        squares = (gaps * gaps).sum(axis=1)
    return np.sqrt(squares) if kernel.code == EXPONENTIAL else squares
