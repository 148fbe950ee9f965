"""Describe clusters by the columns of a table that set them apart from the other rows."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from kdegraph.io.columns import Column
from kdegraph.io.dataset import Dataset
from kdegraph.io.frames import as_table
from kdegraph.io.mixed import codes_of
from kdegraph.io.table import Table
from kdegraph.summary import in_html, in_short
from kdegraph.validation import as_array, check_count
from kdegraph.votes import SURE

__all__ = ["ClusterDescription", "ClusterDescriptions", "Difference", "describe_clusters"]

# The least effects with these names: probabilities of superiority of 0.71, 0.64 and 0.56.
STRENGTHS = {"large": 0.42, "medium": 0.28, "small": 0.12}


class Difference(NamedTuple):
    """Hold how a column differs between the rows of a cluster and the other rows.

    Attributes
    ----------
    column : str
    effect : float
        Cliff's delta, from -1 to 1, see `describe_clusters`; below 0 only where `kind` is "low".
    kind : {"high", "low", "range", "category"}
    value : str
        The range, or the category; empty for "high" and "low".
    inside, outside : float
        The medians of the cluster and of the other rows; or the shares of their rows in the range,
        or with the category.
    """

    column: str
    effect: float
    kind: str
    value: str
    inside: float
    outside: float

    @property
    def strength(self) -> str:
        """Return "large", "medium", "small" or "negligible"."""
        names = (name for name, least in STRENGTHS.items() if abs(self.effect) >= least)
        return next(names, "negligible")

    @property
    def words(self) -> str:
        """Return the difference as a name: "high income", "age 30 to 40" or "species: Adelie"."""
        if self.kind == "category":
            return f"{self.column}: {self.value}"
        return f"{self.column} {self.value}" if self.value else f"{self.kind} {self.column}"

    @property
    def sentence(self) -> str:
        """Return the difference in words and numbers."""
        if self.value:
            inside, outside = map(_percent, (self.inside, self.outside))
            return f"{self.value}: {inside} inside, {outside} outside"
        medians = f"median {in_short(self.inside)}, outside {in_short(self.outside)}"
        return f"{self.kind}er in {_percent((1 + abs(self.effect)) / 2)} of pairs; {medians}"


class ClusterDescription(NamedTuple):
    """Describe one cluster.

    Attributes
    ----------
    cluster : int, str or bool
        Its label.
    size : int
        The number of its rows.
    name : str
        The strongest differences in words; empty if none is at least of medium strength.
    differences : tuple of Difference
        The strongest first; without columns that have no value in the cluster or outside.
    typical, doubtful : int array
        Rows, as `describe_clusters` finds them.
    """

    cluster: Any
    size: int
    name: str
    differences: tuple[Difference, ...]
    typical: NDArray[np.intp]
    doubtful: NDArray[np.intp]


class ClusterDescriptions(tuple[ClusterDescription, ...]):
    """Hold a `ClusterDescription` of each cluster, in the order of the labels."""

    __slots__ = ()

    def __repr__(self) -> str:
        lines = (f"  {head}: {words}" for head, words in self._lines())
        return "\n".join([f"<ClusterDescriptions of {self._count()}", *lines]) + ">"

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        return in_html(f"ClusterDescriptions of {self._count()}", self._lines())

    def _count(self):
        return "1 cluster" if len(self) == 1 else f"{len(self)} clusters"

    def _lines(self):
        """Yield label, size and strongest differences of each cluster."""
        for found in self:
            strongest = (f"{one.words} ({one.strength})" for one in found.differences[:3])
            yield f"{found.cluster} ({found.size:,} rows)", ", ".join(strongest)

    def to_arrow(self) -> Any:
        """Return all differences as a `pyarrow.Table`, a row for each cluster and column."""
        import pyarrow as pa

        rows = [
            {"cluster": found.cluster, "size": found.size, "name": found.name, **one._asdict()}
            for found in self
            for one in found.differences
        ]
        names = ("cluster", "size", "name", *Difference._fields)
        return pa.table({name: [row[name] for row in rows] for name in names})


def describe_clusters(
    X: Any, labels: ArrayLike, *, probabilities: ArrayLike | None = None, n_examples: int = 5
) -> ClusterDescriptions:
    """Find the columns that set each cluster apart from the other rows.

    Parameters
    ----------
    X : data frame, dict, Table, Dataset or (n, d) array_like
        The columns: numbers, booleans and text, also those by which the rows were not clustered.
        Identifiers and dates are not compared. Cells may be missing.
    labels : (n,) array_like
        The cluster of each row, whole numbers or text; rows with -1 belong to none and are
        excluded. Booleans describe the rows with True against the others.
    probabilities : (n,) array_like, optional
        How sure the cluster of each row is, such as `KDESpectralClustering.probabilities_`.
    n_examples : int
        The largest number of typical, and of doubtful, rows of each cluster.

    Returns
    -------
    ClusterDescriptions
        A tuple with a `ClusterDescription` of each cluster, which shows itself as a table in
        notebooks and has the method ``to_arrow()``.

    Raises
    ------
    ValueError, TypeError
        For input of another kind or length, and labels without a cluster.

    Notes
    -----
    The effect is Cliff's delta, 2 A - 1, where A is the probability of superiority: that a random
    row of the cluster has a larger value than a random row outside, and half the probability that
    they are equal. It depends on ranks alone, so that outliers and units do not matter. Where it
    is larger, the effect is the share of the cluster minus the share of the other rows in a range,
    that between the quantiles 0.05 and 0.95 of a cluster of at least 20 rows; this finds clusters
    in the middle. For text, booleans, and columns of 0 and 1, it is the largest such difference of
    shares for a value, which is Cliff's delta of the question whether a row has it. Effects are
    called large from 0.42, medium from 0.28 and small from 0.12 on.

    Effects describe a sample. Clusters were found in these columns, so that no test of
    significance would be valid, and in clusters of a few rows large effects arise by chance.

    Typical rows have the smallest sum over the columns of the distance to the cluster's median, in
    ranks as a share of all rows; for categories, 1 minus the frequency of theirs in the cluster as
    a share of the most frequent one; and 1/2 for missing cells. Rows are doubtful if their
    probability is below 0.9, the least probable first.

    Cost: O(d n (log n + k)) for k clusters.

    References
    ----------
    N. Cliff, "Dominance statistics: ordinal analyses to answer ordinal questions", Psychological
    Bulletin 114 (1993), 494-509. A. Vargha, H. D. Delaney, "A critique and improvement of the CL
    common language effect size statistics of McGraw and Wong", Journal of Educational and
    Behavioral Statistics 25 (2000), 101-132 (the strengths).

    Examples
    --------
    >>> import kdegraph
    >>> frame = {
    ...     "income": [31.0, 29.0, 35.0, 72.0, 80.0, 75.0],
    ...     "home": ["rent", "rent", "own", "own", "own", "own"],
    ... }
    >>> found = kdegraph.describe_clusters(frame, [0, 0, 0, 1, 1, 1])
    >>> found
    <ClusterDescriptions of 2 clusters
      0 (3 rows): low income (large), home: rent (large)
      1 (3 rows): high income (large), home: own (large)>
    >>> found[0].name
    'low income, home: rent'
    >>> found[0].differences[0].sentence
    'lower in 100% of pairs; median 31, outside 75'
    """
    columns = _columns(X)
    n = len(columns[0].values)
    names, groups, kept = _groups(labels, n)
    sureness = _sureness(probabilities, n)[kept]
    n_examples = check_count(n_examples, "n_examples", minimum=0)
    differences: list[list[Difference]] = [[] for _ in groups]
    deviations = [np.zeros(len(group)) for group in groups]
    for column in columns:
        if len(kept) < n:
            column = replace(column, values=column.values[kept])
        for i, (difference, deviation) in enumerate(_compare(column, groups)):
            differences[i] += [] if difference is None else [difference]
            deviations[i] += deviation
    found = []
    for i, group in enumerate(groups):
        ordered = sorted(differences[i], key=lambda one: -abs(one.effect))
        strong = [one for one in ordered[:2] if abs(one.effect) >= STRENGTHS["medium"]]
        name = ", ".join(one.words for one in strong)
        doubt = sureness[group] < SURE
        typical = np.lexsort((deviations[i], doubt))[:n_examples]
        doubtful = np.argsort(sureness[group], kind="stable")[: min(n_examples, doubt.sum())]
        rows = (kept[group[places]] for places in (typical, doubtful))
        found.append(ClusterDescription(names[i], len(group), name, tuple(ordered), *rows))
    return ClusterDescriptions(found)


def _percent(share):
    """Return a share in whole percent, 0 and 100 only where they are exact."""
    if 0 < share < 0.005:
        return "under 1%"
    return "over 99%" if 0.995 <= share < 1 else f"{share:.0%}"


def _columns(X) -> list[Any]:
    """Return the columns that can be compared."""
    if not (isinstance(X, (dict, Table, Dataset)) or hasattr(X, "__arrow_c_stream__")):
        if scipy.sparse.issparse(X):
            raise TypeError(
                f"X is a sparse matrix of {X.shape[1]:,} columns; give those to compare as a data "
                "frame, such as pandas.DataFrame(X[:, columns].toarray(), columns=names)"
            )
        X = as_array(X, "X", "a table of numbers of shape (n, d)")
        if X.ndim != 2 or X.dtype.kind not in "biuf":
            raise ValueError(
                f"X must be a table of numbers of shape (n, d), got shape {X.shape} and dtype "
                f"{X.dtype}; give other columns as a data frame"
            )
        X = Dataset(X.astype(np.float64))
    if isinstance(X, Dataset):
        pairs = zip(X.feature_names, X.X.T, strict=True)
        X = Table(Column(name, "number", values) for name, values in pairs)
    table = as_table(X)
    known = (column for column in table.columns if column.classifies)
    columns = [column for column in known if column.recognized not in ("id", "index")]
    if not columns or table.n_rows == 0:
        raise ValueError(
            "X must have rows, and columns of numbers or text that are not identifiers; give those "
            "that describe the rows"
        )
    return columns


def _groups(labels, n):
    """Return the names of the clusters, their rows among those that are kept, and these rows."""
    labels = as_array(labels, "labels")
    if labels.shape != (n,):
        raise ValueError(
            f"labels must have shape ({n},), one for each row of X, got {labels.shape}; if rows "
            "were skipped, give those of X that have labels"
        )
    if labels.dtype.kind == "b" and labels.any():
        return [True], [np.flatnonzero(labels)], np.arange(n)
    text = all(isinstance(label, str) for label in labels.tolist())
    if not (text or labels.dtype.kind in "biu"):
        raise ValueError(
            f"labels must be whole numbers, text or booleans, got dtype {labels.dtype}; turn them "
            "into whole numbers, -1 for rows without a cluster"
        )
    labels = labels.astype(str) if text else labels
    kept = np.arange(n) if text else np.flatnonzero(labels != -1)
    if len(kept) == 0 or labels.dtype.kind == "b":
        raise ValueError("labels has no cluster: all rows are excluded, by -1 or False")
    names, codes = np.unique(labels[kept], return_inverse=True)
    order = np.argsort(codes, kind="stable")
    return names.tolist(), np.split(order, np.cumsum(np.bincount(codes))[:-1]), kept


def _sureness(probabilities, n):
    """Return the probability of each row, 1 if none are given."""
    sureness = np.ones(n) if probabilities is None else as_array(probabilities, "probabilities")
    usable = sureness.shape == (n,) and sureness.dtype.kind in "biuf"
    if not (usable and ((sureness >= 0) & (sureness <= 1)).all()):
        raise ValueError(
            f"probabilities must be {n} numbers from 0 to 1, one for each row of X, got "
            f"{sureness.dtype} of shape {sureness.shape}; those of excluded rows may be 0"
        )
    return sureness


def _compare(column, groups):
    """Yield the `Difference` of each group, or None, and how untypical each of its rows is."""
    if column.numeric:
        known = np.isfinite(column.values)
        if not np.isin(column.values[known], (0, 1)).all():
            return _compare_numbers(column, known, groups)
    return _compare_categories(column, groups)


def _compare_numbers(column, known, groups):
    from scipy.stats import rankdata  # slow to import

    ordered = np.sort(column.values[known])
    ranks = np.full(len(known), np.nan)
    ranks[known] = rankdata(column.values[known])
    for group in groups:
        own, difference = group[known[group]], None
        n_outside = len(ordered) - len(own)
        if len(own) and n_outside:
            others = known.copy()
            others[own] = False
            superiority = (ranks[own].mean() - (len(own) + 1) / 2) / n_outside
            effect = 2 * superiority - 1
            medians = [_quantile(column.values[rows], 0.5) for rows in (own, others)]
            kind = "low" if effect < 0 else "high"
            difference = Difference(column.name, float(effect), kind, "", *medians)
            if len(own) >= 20:  # one of them is 5 %
                within = _in_range(column.name, column.values[own], ordered)
                difference = max(difference, within, key=lambda one: abs(one.effect))
        center = np.median(ranks[own]) if len(own) else np.nan
        yield difference, np.nan_to_num(np.abs(ranks[group] - center) / len(known), nan=0.5)


def _in_range(name, values, ordered):
    """Return the difference of shares in the range of a group; `ordered` are all values."""
    low, high = _quantile(values, 0.05), _quantile(values, 0.95)
    n_all = np.searchsorted(ordered, high, "right") - np.searchsorted(ordered, low)
    n_own = np.count_nonzero((values >= low) & (values <= high))
    inside = n_own / len(values)
    outside = float((n_all - n_own) / (len(ordered) - len(values)))
    words = f"{in_short(low)} to {in_short(high)}" if low < high else in_short(low)
    return Difference(name, inside - outside, "range", words, inside, outside)


def _quantile(values, share):
    """Return a quantile that is one of the values, as a mean of two may overflow."""
    return float(np.quantile(values, share, method="inverted_cdf"))


def _compare_categories(column, groups):
    names, codes = codes_of(column)
    known = codes < len(names)
    totals = np.bincount(codes[known], minlength=len(names))
    for group in groups:
        own, places, counts = np.unique(
            codes[group[known[group]]], return_inverse=True, return_counts=True
        )
        inside = counts / counts.sum()
        difference, n_outside = None, totals.sum() - counts.sum()
        if len(own) and n_outside and totals.max() > 1:  # else each row has a text of its own
            outside = (totals[own] - counts) / n_outside
            best = np.argmax(inside - outside)
            shares = float(inside[best]), float(outside[best])
            effect = shares[0] - shares[1]
            difference = Difference(column.name, effect, "category", names[own[best]], *shares)
        deviation = np.full(len(group), 0.5)
        deviation[known[group]] = 1 - inside[places] / inside.max(initial=0.0)
        yield difference, deviation
