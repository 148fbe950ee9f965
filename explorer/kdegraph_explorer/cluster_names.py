"""Keep the names that the user gives to clusters.

A name belongs to a set of points: when clusters are computed again, it goes to the cluster that
shares most points with it. Names are pairs of the name and the rows of the points as text (see
`checks.as_text`), plain values for undo, addresses and session files.
"""

import numpy as np

from .checks import as_text, at, count, holds, quoted, runs
from .results import rows_of

MAX_LENGTH = 60  # characters of a name
MAX_NAMES = 100  # the largest number of clusters
ADDRESSED = 20  # points of each name in an address; they identify nearly any cluster


def check_names(names):
    """Check names from outside; a ValueError says what is wrong."""
    pairs = names if isinstance(names, list) and len(names) <= MAX_NAMES else [None]
    for pair in pairs:
        known = isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)
        if not known or pair[0] == "" or pair[0] != cleaned(pair[0]):
            raise ValueError(
                f"cluster_names must be at most {MAX_NAMES} pairs of a name and the rows of its "
                f"points, such as ['bees', '0-5,7'], got {quoted(names)}"
            )
        runs(pair[1])


def cleaned(name):
    """Return what a user types as a name: on one line, and not too long."""
    return " ".join(name.split())[:MAX_LENGTH].strip()


def check_name(name, number, named):
    """Check the name that a user types for a cluster; `named` are all present ones by number."""
    words = " ".join(name.split())
    if not words and number not in named:
        raise ValueError("Type a name: it is empty, and there is none to take back.")
    if len(words) > MAX_LENGTH:
        raise ValueError(f"A name has at most {MAX_LENGTH} characters, not {len(words):,}.")
    if words in (named[other] for other in named if other != number):
        raise ValueError(f"Another cluster is called “{words}”: choose a name of its own.")


def assigned(names, clusters, dataset):
    """Return the name of each cluster: a dict of its number to the position in `names`.

    All names together keep as many of their points as possible. A name without a point in any
    cluster is omitted.
    """
    if not names or clusters is None:
        return {}
    # Slow to import: the page does not wait for it.
    from scipy.optimize import linear_sum_assignment

    n_clusters = int(clusters.max()) + 1
    shared = np.array(
        [np.bincount(clusters[_points(text, dataset)], minlength=n_clusters) for _, text in names]
    )
    which, numbers = linear_sum_assignment(-shared)
    return {int(c): int(i) for i, c in zip(which, numbers, strict=True) if shared[i, c]}


def renamed(names, number, name, clusters, dataset):
    """Return the names after a cluster was given a name by hand; "" removes its name."""
    former = assigned(names, clusters, dataset).get(number)
    rest = [pair for i, pair in enumerate(names) if i != former]
    if not (name := cleaned(name)):
        return rest
    rows = rows_of(dataset)[clusters == number]
    return [*rest, [name, as_text(rows)]][-MAX_NAMES:]


def abridged(names):
    """Return the names with some of the points of each, evenly spread, for an address."""
    found = []
    for name, text in names:
        n_rows = count(text)
        places = np.arange(0, n_rows, max(1, -(-n_rows // ADDRESSED)))
        found.append([name, as_text(at(text, places))])
    return found


def _points(text, dataset):
    """Return the points in a data set whose rows a text names."""
    return np.flatnonzero(holds(text, rows_of(dataset)))
