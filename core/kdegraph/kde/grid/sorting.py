"""Sorting points into the boxes of a regular lattice.

Boxes are numbered with the last dimension fastest.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit

# Points whose boxes are computed side by side.
LOCATED_TOGETHER = 64


class Lattice(NamedTuple):
    """A regular lattice of boxes."""

    origin: NDArray[np.float64]  # (d,): the lower corner of the first box
    scale: float  # one over the width of a box
    shape: NDArray[np.int64]  # (d,): number of boxes along each axis


class Boxes(NamedTuple):
    """The boxes of a lattice that hold points."""

    points: NDArray[np.float64]  # (n, d)
    # (n,): the points of box ``numbers[k]`` are those with the indices ``order[start[k]:stop[k]]``
    order: NDArray[np.int32]
    # (n_boxes,): in ascending order
    numbers: NDArray[np.int64]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]

    def subset(self, rows: NDArray[np.int64]) -> "Boxes":
        """Return some of the boxes."""
        return self._replace(
            numbers=self.numbers[rows], start=self.start[rows], stop=self.stop[rows]
        )


def sort_points(points: NDArray[np.float64], lattice: Lattice) -> Boxes:
    """Sort `points` into the boxes: count, add up, write (a counting sort on all threads). Each
    chunk of points has counts of its own, at most 32 for each box.
    """
    n, n_boxes = len(points), int(np.prod(lattice.shape))
    n_chunks = max(1, min(32, 4 * n // n_boxes))
    chunk = max(50_000, -(-n // n_chunks))
    box, order = np.empty(n, np.int32), np.empty(n, np.int32)
    count = np.zeros((-(-n // chunk), n_boxes), np.int32)
    parallel.run(_locate, n, points, chunk, lattice, box, count, chunk=chunk)
    numbers, start, stop = np.empty((3, min(n, n_boxes)), np.int64)
    found = _list_boxes(count, numbers, start, stop)
    parallel.run(_list_points, n, box, chunk, count, order, chunk=chunk)
    return Boxes(points, order, numbers[:found], start[:found], stop[:found])


@jit
def _locate(begin, end, points, chunk, lattice, box, count):
    """Write the boxes of the points begin ... end - 1, and count these in each chunk of points."""
    origin, scale, shape = lattice
    number = np.empty(LOCATED_TOGETHER, np.int64)
    for first in range(begin, end, LOCATED_TOGETHER):
        size = min(LOCATED_TOGETHER, end - first)
        number[:] = 0
        for c in range(shape.size):
            low, n = origin[c], shape[c]
            for k in range(size):
                place = int((points[first + k, c] - low) * scale)
                number[k] = number[k] * n + min(place, n - 1)
        for k in range(size):
            box[first + k] = number[k]
            count[(first + k) // chunk, number[k]] += 1


@jit(borrow=True)
def _list_boxes(count, numbers, start, stop):
    """List the boxes that hold points with the ranges of these, and return how many there are;
    count[k, b] becomes the place at which chunk k writes its first point of box b.
    """
    found, first = 0, 0
    for b in range(count.shape[1]):
        last = first
        for k in range(count.shape[0]):
            size = count[k, b]
            count[k, b] = last
            last += size
        if last > first:
            numbers[found], start[found], stop[found] = b, first, last
            found += 1
        first = last
    return found


@jit(borrow=True)
def _list_points(begin, end, box, chunk, place, order):
    """Write the indices begin, ..., end - 1 in the order of their boxes; place[k, b] is the next
    place for a point of chunk k in box b.
    """
    for i in range(begin, end):
        k = i // chunk
        order[place[k, box[i]]] = i
        place[k, box[i]] += 1


@jit
def count_boxes(points, origin, scale, shape):
    """Return the number of boxes that hold points, and of those that hold every other one.

    The arguments after `points` are the fields of a `Lattice`: it is called for every width that is
    considered, and a call with a tuple takes twice as long.
    """
    seen = np.zeros(shape.prod(), np.uint8)
    whole = half = 0
    for i in range(len(points)):
        number = 0
        for c in range(shape.size):
            place = int((points[i, c] - origin[c]) * scale)
            number = number * shape[c] + min(place, shape[c] - 1)
        whole += seen[number] == 0
        if i % 2 == 0:
            half += seen[number] < 2
            seen[number] = 2
        elif seen[number] == 0:
            seen[number] = 1
    return whole, half


@jit(borrow=True)
def mark_neighbors(numbers, n_along, stride, reach, mark):
    """Mark the boxes that lie at most `reach` away from one of the boxes `numbers` along an axis,
    on which there are `n_along` boxes whose numbers differ by `stride`.
    """
    for k in range(numbers.size):
        i = (numbers[k] // stride) % n_along
        for o in range(max(-reach, -i), min(reach, n_along - 1 - i) + 1):
            mark[numbers[k] + o * stride] = True


@jit
def turn_points(begin, end, points, center, axes, out):
    """Write the coordinates of the points begin ... end - 1 along `axes`, from the `center`."""
    d = center.size
    x = np.empty(d)
    for i in range(begin, end):
        for c in range(d):
            x[c] = points[i, c] - center[c]
        for c in range(d):
            total = 0.0
            for e in range(d):
                total += x[e] * axes[e, c]
            out[i, c] = total
