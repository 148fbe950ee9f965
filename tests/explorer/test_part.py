"""A part of the points explored alone: its graph, the way back, and what keeps it."""

import numpy as np
import pytest
from explorer_actions import (
    PATIENCE,
    TABLE,
    choose,
    give_file,
    put,
    restored,
    undo,
)
from explorer_objects import press
from kdegraph.datasets import Dataset
from kdegraph.decision import Settings, decide, seed_of
from kdegraph_explorer import address
from kdegraph_explorer.checks import as_code, as_indices, as_text, at, count, holds, runs
from kdegraph_explorer.history import take
from kdegraph_explorer.uploads import StoredFile

RNG = np.random.default_rng(0)


def test_indices_survive_as_text_and_as_code():
    for indices in ([], [0], [3, 4, 5], [9, 2, 3, 7, 0], range(1000), [0, 2, 4]):
        found = as_text(indices)
        assert as_indices(found, 1000).tolist() == sorted(indices)
        assert count(found) == len(indices)
        places = np.arange(0, len(indices), 3)
        assert at(found, places).tolist() == sorted(indices)[::3]
        assert np.flatnonzero(holds(found, np.arange(1200))).tolist() == sorted(indices)
        assert eval(as_code(found)) == sorted(indices)  # what a script does
    assert as_text(range(1000)) == "0-999"
    wrong = ["1;2", "-1", "1--2", "a", "4-2", "3,1", "0-5,5", "²", 5, "1,", "0-9999999999999"]
    for text in wrong:
        with pytest.raises(ValueError, match="points must be"):
            runs(text)


def test_a_short_text_for_many_indices_takes_no_memory():
    """Its numbers are listed only if there are enough points."""
    text = "0-999999999999"
    assert count(text) == 10**12
    assert at(text, np.array([5 * 10**11])).tolist() == [5 * 10**11]
    assert holds(text, np.arange(3)).all()
    with pytest.raises(ValueError, match="points must be indices from 0 to 999"):
        as_indices(text, 1000)


# ---- the subset of a data set


def test_a_subset_has_what_is_known_of_its_points():
    data = Dataset(RNG.normal(size=(5, 2)), y=np.array([0, 1, 0, 1, 1]), sigma=0.3, n_clusters=2)
    found = data.subset([4, 1])
    np.testing.assert_array_equal(found.X, data.X[[4, 1]])
    assert (found.y.tolist(), found.rows.tolist()) == ([1, 1], [4, 1])
    assert (found.sigma, found.n_clusters) == (None, None)
    assert found.subset([1]).rows.tolist() == [1]
    for points in ([], [5], [-1], [1, 1], [0.5], [[1]]):
        with pytest.raises(ValueError, match="points must be"):
            data.subset(points)


# ---- in the explorer


@pytest.fixture
def explorer(explore):
    return explore()


def test_the_selection_gets_a_graph_of_its_own_and_all_points_come_back(explorer):
    session, state = explorer.session, explorer.session.state
    whole = state.dataset
    chosen = np.flatnonzero(state.outcome("kde").colors == 0)
    choose(session, selection=chosen)
    press(explorer, "Recluster these")
    kde = state.outcome("kde")
    np.testing.assert_array_equal(state.dataset.X, whole.X[chosen])
    np.testing.assert_array_equal(state.dataset.rows, chosen)
    expected = decide(whole.X[chosen], Settings(), seed_of(state.seed)).graph
    assert (kde.graph.adjacency != expected.adjacency).nnz == 0
    assert len(state.selection) == 0
    choose(session, selection=np.array([5, 7, 8]))
    press(explorer, "Recluster these")
    np.testing.assert_array_equal(state.dataset.rows, chosen[[5, 7, 8]])
    undo(explorer)
    assert state.dataset.n_points == len(chosen)
    assert state.selection.tolist() == [5, 7, 8]
    press(explorer, "All points")
    np.testing.assert_array_equal(state.dataset.X, whole.X)


def test_other_points_have_no_part_and_other_columns_keep_it(sessions):
    session = sessions(bandwidth="one")
    upload = give_file(session, TABLE)
    upload.choose_part(np.arange(10, 20))
    session.wait(PATIENCE)
    upload.standardize_all(True)
    session.wait(PATIENCE)
    assert session.state.dataset.rows.tolist() == list(range(10, 20))
    assert session.state.dataset.feature_names[0] == "width (standardized)"
    put(session, "upload", file=StoredFile.of("other.csv", TABLE))
    assert upload.part == ""
    assert session.state.dataset.n_points == 40
    generators = session.sources["generators"]
    put(session, source="generators")
    generators.choose_part([1, 2, 3, 4])
    session.wait(PATIENCE)
    generators.noise = 0.5
    session.wait(PATIENCE)
    assert (generators.part, session.state.dataset.n_points) == ("", 200)


def test_an_address_says_that_a_part_is_too_long_for_it(sessions):
    session = sessions()
    put(session, "generators", n=5000)
    session.sources["generators"].choose_part(np.arange(0, 5000, 2))
    session.wait(PATIENCE)
    query = address.query(session, take(session))
    assert address.read(session, query).data["part"] == ""
    assert "The part of 2,500 points could not be restored" in address.left_out(query)
    # A part beyond the points is an error.
    before = session.state.dataset
    restored(session, address.read(session, "data.n=100&data.part=5-500"))
    assert "indices from 0 to 99" in session.state.error
    assert session.state.dataset is before
