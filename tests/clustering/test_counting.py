"""The number of clusters of points, by a graph of its own."""

import numpy as np
import pytest
from kdegraph import Cancelled, KDESpectralClustering, count_clusters, datasets


@pytest.mark.parametrize(
    ("name", "n_clusters"), [("blobs", 3), ("blobs20d", 5), ("circles", 2), ("uniform", 1)]
)
def test_clusters_are_counted(name, n_clusters):
    found = count_clusters(datasets.make(name, n=600, seed=0).X, seed=0)
    assert found.n_clusters == n_clusters
    assert 0 <= found.confidence < 1


def test_estimator_counts_in_the_same_way():
    X = datasets.make("blobs", n=300, seed=0).X
    seed = int(np.random.RandomState(3).randint(2**31 - 1))
    model = KDESpectralClustering("auto", random_state=3).fit(X)
    assert (model.n_clusters_, model.confidence_) == count_clusters(X, seed=seed)


def test_segments_of_a_picture_have_no_confidence():
    found = count_clusters(datasets.photo("china", max_pixels=1000).X, seed=0)
    assert found.n_clusters > 1
    assert found.confidence == 0.0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_few_points_are_one_cluster(n):
    assert count_clusters(np.arange(float(n))[:, None], seed=0) == (1, 0.0)


def test_progress_is_reported_and_stops_it():
    X = datasets.make("blobs", n=300, seed=0).X
    stages = set()
    count_clusters(X, seed=0, progress=lambda stage, fraction: stages.add(stage))
    assert {"samples", "eigenvectors"} <= stages

    def stop(stage, fraction):
        raise Cancelled

    with pytest.raises(Cancelled):
        count_clusters(X, seed=0, progress=stop)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="X"):
        count_clusters([[np.nan, 1.0]])
    with pytest.raises((ValueError, TypeError), match="seed"):
        count_clusters([[0.0], [1.0]], seed=-1)
