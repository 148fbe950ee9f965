"""Clusters described by columns: effects against SciPy's test of ranks, and against counts."""

from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
from kdegraph import datasets, describe_clusters
from scipy.stats import mannwhitneyu
from test_summary import texts

N = 400
RNG = np.random.default_rng(0)
LABELS = RNG.integers(-1, 3, N)
MIDDLE = np.where(LABELS == 1, RNG.normal(0, 1, N), RNG.choice([-6, 6], N) + RNG.normal(0, 1, N))
TABLE = pd.DataFrame(
    {
        "shifted": RNG.normal(LABELS, 1).round(1),  # with ties
        "middle": MIDDLE * 1e300,
        "missing": np.where(RNG.random(N) < 0.4, np.nan, RNG.exponential(1 + LABELS**2)),
        "kind": np.array(list("abcd"))[
            np.where(RNG.random(N) < 0.5, LABELS, RNG.integers(0, 4, N))
        ],
        "member": RNG.random(N) < 0.2 + 0.3 * (LABELS == 2),
        "constant": 7.0,
        "empty": np.nan,
        "id": np.arange(N),
        "words": [f"text {i}" for i in range(N)],
    }
)
TABLE.loc[::7, "kind"] = None


def described(found):
    """The differences of a cluster by the names of the columns."""
    return {one.column: one for one in found.differences}


def check_cluster(found, members, others):
    """Compare all effects with the definitions."""
    differences = described(found)
    assert set(differences) == {"shifted", "middle", "missing", "kind", "member", "constant"}
    for name in ("shifted", "missing", "constant"):
        inside, outside = TABLE[name][members].dropna(), TABLE[name][others].dropna()
        superiority = mannwhitneyu(inside, outside).statistic / len(inside) / len(outside)
        one = differences[name]
        if one.kind != "range":
            assert one.effect == pytest.approx(2 * superiority - 1, abs=1e-12)
            assert one.kind == ("low" if superiority < 0.5 else "high")
            medians = inside.quantile(0.5, "lower"), outside.quantile(0.5, "lower")
            assert (one.inside, one.outside) == medians
    for name in ("kind", "member"):
        inside, outside = TABLE[name][members].dropna(), TABLE[name][others].dropna()
        numbers, rest = Counter(inside), Counter(outside)
        gains = {
            value: numbers[value] / len(inside) - rest[value] / len(outside) for value in numbers
        }
        best = max(gains, key=gains.get)
        one = differences[name]
        assert one.kind == "category"
        assert one.value == (best if name == "kind" else str(int(best)))
        assert one.effect == pytest.approx(gains[best], abs=1e-12)
        assert one.inside == numbers[best] / len(inside)
        assert one.outside == rest[best] / len(outside)
    strengths = [abs(one.effect) for one in found.differences]
    assert strengths == sorted(strengths, reverse=True)
    assert found.size == members.sum()


def test_effects_are_those_of_the_rank_statistic_and_of_counts():
    found = describe_clusters(TABLE, LABELS)
    assert [one.cluster for one in found] == [0, 1, 2]
    for one in found:
        check_cluster(one, one.cluster == LABELS, (LABELS != -1) & (one.cluster != LABELS))
    assert described(found[0])["shifted"].kind == "low"
    (selected,) = describe_clusters(TABLE, LABELS == 2)
    assert selected.cluster is True
    check_cluster(selected, LABELS == 2, LABELS != 2)  # rows with -1 are among the others here


def test_a_cluster_in_the_middle_is_found_by_its_range():
    found = describe_clusters(TABLE, LABELS)[1]
    one = found.differences[0]
    members, others = MIDDLE[LABELS == 1] * 1e300, MIDDLE[(LABELS == 0) | (LABELS == 2)] * 1e300
    ordered = np.sort(members)
    low, high = (
        ordered[int(np.ceil(0.05 * len(ordered))) - 1],
        ordered[int(np.ceil(0.95 * len(ordered))) - 1],
    )
    assert (one.column, one.kind) == ("middle", "range")
    assert one.inside == np.mean([low <= value <= high for value in members]) >= 0.9
    assert one.outside == np.mean([low <= value <= high for value in others]) == 0
    assert one.effect == one.inside - one.outside
    assert one.words == f"middle {low:.3g} to {high:.3g}"
    assert found.name.startswith(one.words)
    # A cluster beyond the others is not described by its range.
    assert describe_clusters({"x": MIDDLE}, MIDDLE > 3)[0].differences[0][1:3] == (1.0, "high")


def test_typical_rows_are_near_the_medians_and_doubtful_ones_have_small_probabilities():
    probabilities = np.where(RNG.random(N) < 0.2, RNG.random(N) * 0.9, 1.0)
    table = TABLE[["shifted", "missing", "kind"]]
    found = describe_clusters(table, LABELS, probabilities=probabilities, n_examples=7)[2]
    members, known = np.flatnonzero(LABELS == 2), LABELS != -1
    sums = np.zeros(len(members))
    for name in ("shifted", "missing"):
        ranks = table[name][known].rank()  # pandas: ties have the mean rank, NaN has none
        distances = (ranks[members] - ranks[members].median()).abs() / known.sum()
        sums += distances.fillna(0.5)
    shares = table["kind"][members].map(table["kind"][members].value_counts(normalize=True))
    sums += (1 - shares / shares.max()).fillna(0.5)
    sure = probabilities[members] >= 0.9
    order = np.argsort(sums[sure], kind="stable")
    assert found.typical.tolist() == members[sure][order][:7].tolist()
    doubtful = members[np.argsort(probabilities[members], kind="stable")][:7]
    assert found.doubtful.tolist() == doubtful.tolist()
    assert len(describe_clusters(table, LABELS)[0].doubtful) == 0


def test_data_of_all_kinds_have_the_same_description():
    complete = TABLE[["shifted", "kind", "member"]].fillna({"kind": "z"})
    columns = complete.to_dict("list")
    expected = describe_clusters(columns, LABELS)
    frame = pd.DataFrame(columns)
    arrow = pa.table(columns)
    encoded = arrow.set_column(1, "kind", arrow["kind"].dictionary_encode())
    for table in (frame, frame.astype({"kind": "category"}), arrow, encoded):
        assert repr(describe_clusters(table, LABELS)) == repr(expected)
    words = np.array(["zero", "one", "two"])[LABELS]
    by_word = {one.cluster: one[1:4] for one in describe_clusters(columns, words)}
    assert set(by_word) == {"zero", "one", "two"}
    X = TABLE[["shifted", "middle"]].to_numpy()
    names = {"x1": "shifted", "x2": "middle"}
    (one, _, _), (other, _, _) = describe_clusters(X, LABELS), describe_clusters(TABLE, LABELS)
    assert {names[d.column]: d.effect for d in one.differences}.items() <= {
        d.column: d.effect for d in other.differences
    }.items()
    data = datasets.Dataset(X, feature_names=("shifted", "middle"))
    assert [d.column for d in describe_clusters(data, LABELS)[0].differences] == [
        names[d.column] for d in one.differences
    ]


def test_one_cluster_one_row_and_columns_without_values_work():
    (alone,) = describe_clusters(TABLE, np.zeros(N, int))
    assert (alone.differences, alone.name, len(alone.typical)) == ((), "", 5)
    first, second = describe_clusters({"x": [1.0, 2.0], "y": [None, 3.0]}, [0, 1])
    assert [one.column for one in first.differences] == ["x"]
    assert (first.name, second.name) == ("low x", "high x")
    assert second.typical.tolist() == [1]


def test_descriptions_show_themselves_and_become_a_table():
    found = describe_clusters(
        {"size": [1.0, 2.0, 3.0, 9.0, 8.0, 7.0], "<kind>": ["a", "a", "b", "b", "b", "b"]},
        [0, 0, 0, 1, 1, 1],
    )
    assert "1 (3 rows): high size (large), <kind>: b (large)" in repr(found)
    assert texts(found._repr_html_())[1:3] == [
        "0 (3 rows)",
        "low size (large), <kind>: a (large)",
    ]
    table = found.to_arrow()
    assert isinstance(table, pa.Table)
    names = ["cluster", "size", "name", "column", "effect", "kind", "value", "inside", "outside"]
    assert table.column_names == names
    values = (0, 3, "low size, <kind>: a", "<kind>", 2 / 3, "category", "a", 2 / 3, 0.0)
    assert tuple(table.to_pylist()[1].values()) == values
    assert table.num_rows == 4
    assert found[1].differences[0].sentence == "higher in 100% of pairs; median 8, outside 2"
    assert found[0].differences[1].sentence == "a: 67% inside, 0% outside"
    assert describe_clusters({"x": [1.0]}, [0]).to_arrow().num_rows == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((TABLE, LABELS[1:]), r"labels must have shape \(400,\).*skipped"),
        ((TABLE, np.full(N, -1)), "labels has no cluster"),
        ((TABLE, np.zeros(N, bool)), "labels has no cluster"),
        ((TABLE, LABELS + 0.5), "labels must be whole numbers, text or booleans, got dtype float"),
        ((TABLE[["id"]], LABELS), "X must have rows, and columns of numbers or text"),
        ((["a", "b"], [0, 1]), r"X must be a table of numbers .* got shape \(2,\)"),
        ((TABLE, LABELS, np.full(N, 1.5)), "probabilities must be 400 numbers from 0 to 1"),
        ((TABLE, LABELS, np.ones(3)), r"probabilities must be 400 .* of shape \(3,\)"),
    ],
)
def test_bad_input_says_what_arrived(arguments, message):
    X, labels, *probabilities = arguments
    with pytest.raises(ValueError, match=message):
        describe_clusters(X, labels, probabilities=probabilities[0] if probabilities else None)


def test_sparse_matrices_are_refused_with_what_to_give_instead():
    with pytest.raises(TypeError, match=r"X is a sparse matrix of 3 columns; give .*DataFrame"):
        describe_clusters(scipy.sparse.eye_array(3), [0, 1, 1])
