"""Points in many dimensions are reduced to principal components before they are clustered."""

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse
from kdegraph import KDESpectralClustering
from kdegraph.diagnosis import GraphWarning
from kdegraph.metrics import points_of
from kdegraph.principal import PrincipalComponents, reduced
from sklearn.metrics import adjusted_rand_score


def groups(n_columns, seed=0):
    """Four groups whose distance is small compared with the noise in all columns."""
    rng = np.random.default_rng(seed)
    known = rng.integers(4, size=500)
    centers = 10 / np.sqrt(n_columns) * rng.normal(size=(4, n_columns))
    return centers[known] + rng.normal(size=(500, n_columns)), known


def test_coordinates_are_those_of_a_singular_value_decomposition():
    X, _ = groups(300)
    centered = X - X.mean(axis=0)
    vectors, values, _ = np.linalg.svd(centered, full_matrices=False)
    expected = vectors[:, :50] * values[:50]
    np.testing.assert_allclose(reduced(X).std(axis=0)[:3], expected.std(axis=0)[:3], rtol=1e-3)
    for points in (points_of(scipy.sparse.csr_array(X)), 1e-200 * X, 1e200 * X):
        found = reduced(points)
        found = found / np.abs(found).max() * np.abs(reduced(X)).max()
        cosines = np.abs(np.sum(found[:, :3] * expected[:, :3], axis=0))
        lengths = np.linalg.norm(found[:, :3], axis=0) * np.linalg.norm(expected[:, :3], axis=0)
        np.testing.assert_allclose(cosines, lengths, rtol=1e-3)


@pytest.mark.parametrize("shape", [(200, 50), (50, 200)])
def test_few_columns_or_points_stay_as_they_are(shape):
    X = np.random.default_rng(0).normal(size=shape)
    assert reduced(X) is X
    assert PrincipalComponents.of_points(X) == PrincipalComponents()


def test_identical_points_stay_identical():
    X = np.repeat(groups(201)[0][:101], 3, axis=0)[np.random.default_rng(0).permutation(303)]
    assert len(np.unique(reduced(X), axis=0)) == 101


def test_groups_are_found_in_noise_of_thousands_of_columns():
    """By the distances in all columns, the index is below 0.3."""
    X, known = groups(2000)
    model = KDESpectralClustering(random_state=0).fit(X)
    assert adjusted_rand_score(known, model.labels_) > 0.99
    assert model.graph_.points.shape == (500, 50)
    assert model.n_features_in_ == 2000


def test_new_points_are_reduced_in_the_same_way():
    X, known = groups(300)
    model = KDESpectralClustering(4, random_state=0).fit(X[:400])
    anew = KDESpectralClustering(4, random_state=0).fit(model.graph_.points)
    np.testing.assert_array_equal(model.labels_, anew.labels_)
    assert adjusted_rand_score(known[400:], model.predict(X[400:])) > 0.99
    queries = model._components.transform(X[400:])
    np.testing.assert_allclose(model.transform(X[400:]), anew.transform(queries))


def test_a_bandwidth_or_an_l1_distance_leaves_all_columns():
    X = groups(80)[0][:120]
    for options in ({"sigma": "moderate"}, {"kernel": "laplacian"}):
        model = KDESpectralClustering(4, random_state=0, **options).fit(X)
        np.testing.assert_array_equal(model.graph_.points, X)


def test_warnings_name_the_columns_of_the_points():
    X = groups(80)[0][:120]
    X[:, 7] *= 1000
    frame = pa.table({f"gene{i}": column for i, column in enumerate(X.T)})
    with pytest.warns(GraphWarning, match="gene7"):
        KDESpectralClustering(4, random_state=0).fit(frame)
