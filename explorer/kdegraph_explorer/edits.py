"""Apply edits by hand to computed clusters: merge clusters, and split them into parts.

An edit is a list of texts: "merge" and the rows of its points (see `checks.as_text`), or "split"
and the rows of each part. Edits follow their points when clusters are computed anew, and those that
no longer fit are left out. Clusters are numbered by their colors. What the user reads is a mark:
the numbers from 1 without gaps, and "2a" or "2a1" for the parts of a cluster that was split.
"""

import re
from itertools import chain, count, islice
from typing import NamedTuple

import numpy as np

from .checks import as_text, holds, quoted, runs

MAX_EDITS = 100
MAX_PARTS = 100
# The colors of parts, those first that differ most from the first clusters, which keep their own.
SPARE_COLORS = (10, 9, 7, 6, 8, 5, 4, 3, 11, 2, 1, 0)


class Clusters(NamedTuple):
    """The numbers of the clusters of points, `colors` (n,), and their marks by number and in order;
    the numbers of clusters that were `edited`, and the edits that do not fit.
    """

    colors: np.ndarray
    marks: dict
    edited: frozenset
    misfits: tuple


def applied(edits, colors, rows):
    """Apply edits to the computed clusters `colors` (n,) of points in `rows` (n,)."""
    # The place of each cluster in a tree: the color of a computed cluster, and then which part.
    paths = {c: (c,) for c in numbers_in(colors)}
    edited, misfits = set(), []
    for edit in edits:
        parts = [holds(text, rows) for text in edit[1:]]
        together = np.logical_or.reduce(parts)
        found = (_merged if edit[0] == "merge" else _split)(colors, paths, parts, together)
        if found is None:
            misfits.append((edit, together))
            continue
        colors, paths, touched = found
        edited |= touched
        misfits = [(one, its) for one, its in misfits if (its & ~together).any()]  # replaced
    misfits = tuple(edit for edit, _ in misfits)
    return Clusters(colors, _marks(paths), frozenset(edited & paths.keys()), misfits)


def numbers_in(colors):
    """Return the numbers of the clusters in `colors` (n,), ascending."""
    return np.flatnonzero(np.bincount(colors)).tolist()


def _merged(colors, paths, parts, together):
    """Merge all clusters that have more than half of their points in the only part.

    Return None if they have no more than half of the part.
    """
    sizes = np.bincount(colors)
    inside = np.bincount(colors[together], minlength=len(sizes))
    members = [c for c in paths if 2 * inside[c] > sizes[c]]
    if not members or 2 * inside[members].sum() <= np.count_nonzero(together):
        return None
    kept = min(members, key=lambda c: (len(paths[c]), paths[c]))
    others = {c: path for c, path in paths.items() if c not in members}
    touched = {kept} if len(members) > 1 else set()
    return np.where(np.isin(colors, members), kept, colors), others | {kept: paths[kept]}, touched


def _split(colors, paths, parts, together):
    """Split the cluster that is most like all parts together, whatever parts it had before.

    Parts with half of their points elsewhere are left out. Points of the cluster in no part join
    the largest one, unless they are more than the smallest one. Return None if less than two parts
    remain.
    """
    sizes = np.bincount(colors)
    common = np.bincount(colors[together], minlength=len(sizes))
    best, place, below = 0.0, (), []
    for path in paths.values():
        for depth in range(len(path), 0, -1):
            leaves = [c for c in paths if paths[c][:depth] == path[:depth]]
            shared = common[leaves].sum()
            alike = shared / (sizes[leaves].sum() + together.sum() - shared)
            if alike > best:
                best, place, below = alike, path[:depth], sorted(leaves, key=paths.get)
    inside = np.isin(colors, below)
    kept = [part & inside for part in parts if 2 * (part & inside).sum() > part.sum()]
    if not kept:
        return None
    rest, counts = inside & ~np.logical_or.reduce(kept), [part.sum() for part in kept]
    if rest.sum() > min(counts):
        kept.append(rest)
    else:
        kept[int(np.argmax(counts))] |= rest
    if len(kept) < 2:
        return None
    free = (c for c in chain(SPARE_COLORS, count(len(SPARE_COLORS))) if c not in paths)
    numbers = list(islice(chain(below, free), len(kept)))
    colors, paths = colors.copy(), {c: path for c, path in paths.items() if c not in below}
    for i, (number, part) in enumerate(zip(numbers, kept, strict=True)):
        colors[part], paths[number] = number, (*place, i)
    return colors, paths, set(numbers)


def _marks(paths):
    """Return the marks of clusters by number, in order.

    A cluster keeps its number unless it is above a free one.
    """
    tops = sorted({path[0] for path in paths.values()})
    free = (number for number in range(len(tops)) if number not in tops)
    numbers = {top if top < len(tops) else next(free): top for top in tops}
    marks = {}
    for number, top in sorted(numbers.items()):
        branch = {c: path[1:] for c, path in paths.items() if path[0] == top}
        marks |= _branch_marks(branch, f"{number + 1}", 0)
    return marks


def _branch_marks(branch, mark, depth):
    """Return the marks of the clusters below one place of the tree, from their further paths."""
    if len(branch) == 1:
        return dict.fromkeys(branch, mark)
    steps, marks = sorted({path[0] for path in branch.values()}), {}
    for i, step in enumerate(steps):
        below = {c: path[1:] for c, path in branch.items() if path[0] == step}
        if len(steps) == 1:  # the other parts were merged with other clusters
            return _branch_marks(below, mark, depth)
        sign = f"{i + 1}" if depth % 2 else _letters(i)
        marks |= _branch_marks(below, mark + sign, depth + 1)
    return marks


def _letters(i):
    return (_letters(i // 26 - 1) if i >= 26 else "") + chr(ord("a") + i % 26)


def number_of(mark):
    """Return the number from 1 in a mark: that of the cluster that "2a1" is a part of."""
    return int(re.match(r"\d+", mark)[0])


def with_merge(edits, colors, numbers, rows):
    """Return the edits after the clusters with some numbers were merged by hand."""
    chosen = np.isin(colors, numbers)
    if len(numbers_in(colors[chosen])) < 2:
        raise ValueError("Choose two clusters or more: one cannot be merged.")
    return _with(edits, ["merge", as_text(rows[chosen])])


def with_split(edits, parts, rows):
    """Return the edits after a cluster was split by hand: `parts` are numbers of its `rows`."""
    members = [as_text(rows[parts == number]) for number in np.unique(parts)]
    if not 2 <= len(members) <= MAX_PARTS:
        raise ValueError(f"A cluster is split into 2 to {MAX_PARTS} parts, not {len(members)}.")
    return _with(edits, ["split", *members])


def _with(edits, new):
    if len(edits) >= MAX_EDITS:
        raise ValueError(f"There are {MAX_EDITS} edits by hand already: undo one of them.")
    return [*edits, new]


def check_edits(edits):
    """Check edits from outside; a ValueError says what is wrong."""
    least = {"merge": 1, "split": 2}
    most = {"merge": 1, "split": MAX_PARTS}
    for edit in edits if isinstance(edits, list) and len(edits) <= MAX_EDITS else [None]:
        is_list = isinstance(edit, list) and all(isinstance(text, str) and text for text in edit)
        kind, *texts = edit if is_list and edit else [""]
        if not least.get(kind, 1) <= len(texts) <= most.get(kind, 0):
            raise ValueError(
                f"edits must be at most {MAX_EDITS} lists such as ['merge', '0-5,7'] or "
                f"['split', '0-3', '4-5'], got {quoted(edits)}"
            )
        ends = np.vstack([runs(text) for text in texts])
        ends = ends[ends[:, 0].argsort()]
        if (ends[1:, 0] <= ends[:-1, 1]).any():
            raise ValueError(f"the parts of a split must have no common point, got {quoted(edit)}")
