"""Features on other scales: the logarithm, standardizing, weights."""

import numpy as np
import pytest
from kdegraph import datasets
from kdegraph.datasets import Dataset, rescale
from sklearn.preprocessing import StandardScaler

RNG = np.random.default_rng(0)
DATA = Dataset(
    RNG.lognormal(size=(50, 3)) * [1, 1e3, 1e-3], feature_names=("a", "b", "c"), sigma=0.2
)


def test_standardized_as_scikit_learn_does():
    scaled = rescale(DATA, standardize=["a", "c"])
    expected = StandardScaler().fit_transform(DATA.X)
    np.testing.assert_allclose(scaled.X[:, [0, 2]], expected[:, [0, 2]], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(scaled.X[:, 1], DATA.X[:, 1])
    assert scaled.feature_names == ("a (standardized)", "b", "c (standardized)")
    assert scaled.sigma is None


def test_logarithm_then_standardizing_then_weight():
    scaled = rescale(DATA, log=["b"], standardize=["b"], weights={"b": 2.5, "a": 1})
    expected = 2.5 * StandardScaler().fit_transform(np.log10(DATA.X[:, 1:2]))
    np.testing.assert_allclose(scaled.X[:, 1:2], expected, rtol=1e-12, atol=1e-12)
    assert scaled.feature_names == ("a", "b (log10, standardized, × 2.5)", "c")
    np.testing.assert_array_equal(scaled.X[:, [0, 2]], DATA.X[:, [0, 2]])


def test_without_a_change_it_is_the_same_data():
    assert rescale(DATA, weights={"a": 1.0}) is DATA


@pytest.mark.parametrize("values", [[7.0, 7.0, 7.0], [1e308, -1e308, 0.0], [1e-300, 2e-300, 0]])
def test_unusual_values_are_standardized(values):
    found = rescale(Dataset(np.array(values)[:, None]), standardize=["x1"]).X[:, 0]
    same = min(values) == max(values)
    assert found.mean() == pytest.approx(0, abs=1e-12)
    assert found.std() == pytest.approx(0.0 if same else 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"log": ["x"]}, "column 'x' cannot be on a log scale: row 2 holds -2"),
        ({"standardize": ["z"]}, "no feature 'z' to rescale; the features are 'x', 'y'"),
        ({"weights": {"y": 0}}, "the weight of 'y' must be positive"),
        ({"weights": {"y": float("nan")}}, "the weight of 'y'"),
        ({"weights": {"y": 1e308}}, "the weight of 'y' is too large"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    table = datasets.read(b"x,y\n3,10\n,20\n-2,30\n", filename="t.csv")
    with pytest.raises(ValueError, match=message):
        rescale(table.to_dataset(dropna=True), **options)
