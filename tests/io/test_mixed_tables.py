"""Points of tables with numbers, booleans and categories, from frames of several packages."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from files import csv_table
from kdegraph import KDESpectralClustering, TableTransformer
from kdegraph.datasets import table_points
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler

RNG = np.random.default_rng(0)
COLORS, SIZES, CODES = (
    RNG.choice(list(choices), 60) for choices in ("abcde", ["s", "m"], "0123456789")
)
SMOKES, HEIGHT = RNG.random(60) < 0.3, RNG.normal(170, 10, 60)
CATEGORIES = pd.DataFrame({"color": COLORS, "size": SIZES, "smokes": SMOKES})
CATEGORIES["code"] = pd.Categorical(CODES.astype(int))
MIXED = CATEGORIES.assign(height=HEIGHT)


def squared_distances(X):
    return squareform(pdist(X, "sqeuclidean"))


def mismatches(frame):
    """The numbers of columns in which two rows differ: Gower's distance of categories, times their
    number.
    """
    rows = frame.to_numpy(dtype=object)
    return np.array([[np.count_nonzero(one != other) for other in rows] for one in rows])


class Streamed:
    """A frame with Arrow's interface alone, with the types of text that polars has."""

    def __init__(self, frame):
        table = pa.Table.from_pandas(frame, preserve_index=False)
        views = [
            pa.array(column.to_pylist(), pa.string_view()) if column.type == pa.string() else column
            for column in table.columns
        ]
        self.table = pa.table(dict(zip(table.column_names, views, strict=True)))

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_the_squared_distance_of_categories_is_the_number_of_mismatches():
    np.testing.assert_allclose(
        squared_distances(table_points(CATEGORIES).X), mismatches(CATEGORIES), atol=1e-12
    )
    with_numbers = squared_distances(table_points(MIXED).X)
    numbers = squared_distances(table_points(MIXED[["height"]]).X)
    np.testing.assert_allclose(with_numbers, numbers + mismatches(CATEGORIES), atol=1e-12)


@pytest.mark.parametrize("kind", ["arrow", "stream", "index", "dict", "csv"])
def test_all_kinds_of_frames_give_the_same_points(kind):
    frames = {
        "arrow": lambda: pa.Table.from_pandas(MIXED),
        "stream": lambda: Streamed(MIXED),
        "index": lambda: MIXED.set_index(pd.Index([f"row {i}" for i in range(60)], name="who")),
        "dict": lambda: dict(MIXED.items()),
        "csv": lambda: csv_table(MIXED.to_csv(index=False)),
    }
    points, expected = table_points(frames[kind](), categories=["code"]), table_points(MIXED)
    order = [points.feature_names.index(name) for name in expected.feature_names]
    assert len(order) == points.X.shape[1] == 5 + 2 + 1 + 10 + 1
    np.testing.assert_allclose(points.X[:, order], expected.X, rtol=1e-12)


def test_numbers_are_scaled_without_the_influence_of_outliers():
    frame = pd.DataFrame({"a": RNG.normal(5, 2, 200), "b": RNG.exponential(9.0, 200)})
    scaler = RobustScaler(quantile_range=(5, 95), unit_variance=True)
    expected = scaler.fit_transform(frame)
    np.testing.assert_allclose(table_points(frame).X, expected, rtol=1e-9, atol=1e-12)
    frame.loc[frame.a > frame.a.quantile(0.96), "a"] = 1e9
    outlying = table_points(frame).X
    kept = frame.a < 1e9
    np.testing.assert_allclose(outlying[kept], expected[kept], rtol=1e-9, atol=1e-12)
    rare = table_points({"a": [0.0] * 99 + [50.0]}).X  # equal quantiles
    np.testing.assert_allclose(np.ptp(rare), 50 / np.std([0.0] * 99 + [50.0]))


def test_numbers_whose_differences_overflow_are_scaled():
    values = np.array([1e308, -1e308, 5e307, 0.0, -5e307])
    found = table_points({"x": values, "": values}).X[:, 0]
    expected = table_points({"x": values / 1e300}).X[:, 0]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("value", [5e-324, -1e308, 0.0, 7.0])
def test_a_column_of_equal_numbers_has_the_scale_1(value):
    transformer = TableTransformer().fit({"x": np.array([value, value])})
    np.testing.assert_array_equal(transformer.transform({"x": np.array([value])}), [[0.0]])
    if abs(value) < 1e10:
        np.testing.assert_allclose(transformer.transform({"x": np.array([value + 2])}), [[2.0]])


def test_one_hot_columns_count_as_the_column_that_they_are_made_of():
    one_hot = pd.get_dummies(MIXED[["height", "smokes", "color", "size"]]).astype(float)
    assert one_hot.shape == (60, 9)
    expected = table_points(MIXED[["height", "smokes", "color", "size"]]).X
    np.testing.assert_allclose(table_points(one_hot).X, expected, atol=1e-12)


def test_missing_cells_by_choice():
    frame = MIXED.astype({"smokes": object})
    frame.loc[3, "height"] = frame.loc[7, "color"] = frame.loc[9, "smokes"] = None
    with pytest.raises(ValueError, match=r"row 3, column 'height' is missing .* missing='impute'"):
        table_points(frame)
    rows = np.setdiff1d(np.arange(60), [3, 7, 9])
    dropped = table_points(frame, missing="drop")
    np.testing.assert_array_equal(dropped.rows, rows)
    np.testing.assert_allclose(
        squared_distances(dropped.X[:, :-1]), mismatches(CATEGORIES.loc[rows]), atol=1e-12
    )
    filled = frame.assign(
        height=SimpleImputer(strategy="median").fit_transform(frame[["height"]])[:, 0],
        color=frame.color.fillna(frame.color.mode()[0]),
        smokes=frame.smokes.fillna(value=False).astype(bool),
    )
    imputed, expected = table_points(frame, missing="impute").X, table_points(filled).X
    np.testing.assert_allclose(imputed[:, :-1], expected[:, :-1], atol=1e-12)
    assert imputed[3, -1] == pytest.approx(0, abs=1e-12)  # the median


def test_columns_that_say_nothing_and_labels_are_not_features():
    frame = CATEGORIES.assign(
        id=range(60), name=[f"p{i}" for i in range(60)], born="1990-01-01", species=list("xyz") * 20
    )
    points = table_points(frame[["id", "name", "born", "size", "species"]])
    assert points.feature_names == ("size=m", "size=s")
    assert points.label_names == ("x", "y", "z")
    for told in ("'id' (an identifier)", "'name' (text)", "'born' (a date)"):
        assert told in points.description
    assert table_points(frame, ["name", "size"]).X.shape == (60, 62)
    assert table_points(frame, categories=["species"]).feature_names[-1] == "species=z"


@pytest.mark.parametrize(
    ("frame", "options", "error", "words"),
    [
        (np.eye(3), {}, TypeError, "got ndarray; for an array take pandas.DataFrame"),
        (pd.DataFrame({"a": [1, "x", {}]}), {}, ValueError, "cannot be read: .* make such columns"),
        (pd.DataFrame({"a": []}), {}, ValueError, "has no rows"),
        (
            MIXED,
            {"missing": "zero"},
            ValueError,
            "unknown missing 'zero'; choose one of 'error', 'drop', 'impute'",
        ),
        (MIXED, {"categories": "town"}, ValueError, "categories: there is no column 'town'"),
        (
            {"a": [1.0, np.inf, 2.0]},
            {"missing": "impute"},
            ValueError,
            r"row 1, column 'a' is infinite; correct it, choose other columns, or leave out",
        ),
        ({"a": [np.nan] * 3, "b": [1.0, 2, 3]}, {}, ValueError, "'a' has no numbers; leave it out"),
        ({"when": pd.date_range("2020", periods=3)}, {"columns": 0}, ValueError, "holds dates"),
    ],
)
def test_what_is_no_table_is_refused(frame, options, error, words):
    with pytest.raises(error, match=words):
        table_points(frame, **options)


def people(levels, agreement, seed):
    """900 people in three groups: standardized numbers, and categories that agree with the groups
    in a share of the rows.
    """
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=900)
    numbers = rng.normal(size=(900, 3)) + 4.5 * np.eye(3)[group]
    frame = pd.DataFrame(
        (numbers - numbers.mean(axis=0)) / numbers.std(axis=0), columns=list("xyz")
    )
    for name, n in zip(("color", "size"), levels, strict=True):
        agrees = rng.random(900) < agreement
        codes = np.where(agrees, group % n, rng.integers(n, size=900))
        frame[name] = [f"{name} {code}" for code in codes]
    return frame, group


@pytest.mark.parametrize(("levels", "agreement"), [((2, 2), 0.0), ((2, 3), 0.8)])
def test_clear_groups_of_people_are_found(levels, agreement):
    frame, group = people(levels, agreement, seed=0)
    found = KDESpectralClustering(3, random_state=0).fit_predict(table_points(frame))
    assert adjusted_rand_score(group, found) >= 0.99


def test_columns_of_zeros_and_ones_that_are_not_encoded_hide_groups():
    frame, group = people((2, 2), 0.0, seed=0)
    one_hot = pd.get_dummies(frame).astype(float).to_numpy()
    found = KDESpectralClustering(3, random_state=0).fit_predict(one_hot)
    assert adjusted_rand_score(group, found) < 0.5


def test_a_pipeline_encodes_new_rows_as_the_fitted_ones():
    frame, group = people((2, 3), 0.8, seed=1)
    found = make_pipeline(TableTransformer(), KDESpectralClustering(3, random_state=0))
    found.fit(frame[:800])
    new = found.predict(frame[800:].iloc[:, ::-1])  # the order of columns does not matter
    assert adjusted_rand_score(group[800:], new) >= 0.97
    whole = TableTransformer().fit(frame)
    np.testing.assert_array_equal(whole.transform(frame[:5]), table_points(frame).X[:5])
    assert list(whole.get_feature_names_out()) == list(table_points(frame).feature_names)
    assert (
        list(whole.set_output(transform="pandas").transform(frame[:5]).columns)[-1] == "size=size 2"
    )


def test_the_transformer_imputes_what_was_fitted_and_refuses_what_is_new():
    fitted = TableTransformer(missing="impute").fit(
        {"a": [1.0, 2, 2, 9], "b": ["u", "v", "v", None]}
    )
    row = fitted.transform(pd.DataFrame({"a": [np.nan], "b": pd.Series([None], dtype="str")}))
    np.testing.assert_allclose(row, [[0, 0, np.sqrt(0.5)]], atol=1e-12)
    with pytest.raises(ValueError, match=r"'b' has a new category, 'w'; those .* are 'u', 'v'"):
        fitted.transform({"a": [1.0], "b": ["w"]})
    with pytest.raises(ValueError, match="column 'a' must hold numbers"):
        fitted.transform({"a": ["x", "y"], "b": ["u", "u"]})
    with pytest.raises(ValueError, match="there is no column 'b'"):
        fitted.transform({"a": [1.0]})
    strict = clone(fitted).set_params(missing="error").fit({"a": [1.0, 2, 9]})
    with pytest.raises(ValueError, match="row 0, column 'a' is missing"):
        strict.transform({"a": [np.nan]})
