"""Distances of uploaded tables: angles, and places on the Earth, recognized by their names."""

import numpy as np
import pytest
from explorer_actions import PATIENCE, csv, give_file, put, reopened, run_script
from kdegraph.metrics import points_of
from kdegraph_explorer.projection import positions
from kdegraph_explorer.views.alerts import standardized

RNG = np.random.default_rng(0)
N = 120
GROUP = np.arange(N) % 2
LATITUDE = RNG.normal(-17 - GROUP, 0.2)
LONGITUDE = (RNG.normal(180 - 5 * GROUP, 0.2) + 180) % 360 - 180  # across the date line


PLACES = csv(lon=LONGITUDE, lat=LATITUDE, label=GROUP)


def agreement(session):
    return session.state.outcome("kde").scores["Adjusted Rand index"]


def test_places_are_recognized_and_lie_on_a_map(sessions, tmp_path, monkeypatch):
    session = sessions()
    source = give_file(session, PLACES)
    state = session.state
    assert source.metric == "haversine"
    assert (state.horizontal, state.vertical) == ("lon", "lat")
    assert agreement(session) == 1.0
    np.testing.assert_array_equal(state.dataset.X, np.c_[LATITUDE, LONGITUDE])
    expected = points_of(np.c_[LATITUDE, LONGITUDE], "haversine")
    np.testing.assert_array_equal(state.outcome("kde").graph.points, expected)
    assert state.outcome("kde").graph.metric == "haversine"
    assert state.outcome("kde").graph.points is state.dataset.embedded

    shown = positions(state.dataset, "lon", "lat")
    assert np.ptp(shown[:, 0]) < 10  # the date line does not divide the map
    np.testing.assert_allclose((shown[:, 0] - LONGITUDE) % 360, 0, atol=1e-9)
    np.testing.assert_array_equal(shown[:, 1], LATITUDE)

    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_bytes(PLACES)
    found = run_script(session, tmp_path)
    again = reopened(session, sessions()).state
    assert again.dataset.metric == "haversine"
    np.testing.assert_array_equal(again.outcome("kde").labels, found["labels"])


def test_places_are_recognized_when_other_columns_are_ignored(sessions):
    session = sessions()
    content = csv(lon=LONGITUDE, lat=LATITUDE, price=1e6 * RNG.random(N))
    source = give_file(session, content)
    assert source.metric == "euclidean"
    assert standardized(session.state, source)
    source.assign(["price"], "color")  # it is no longer a feature
    session.wait(PATIENCE)
    assert not standardized(session.state, source)  # degrees stay as they are
    assert (source.metric, session.state.dataset.metric) == ("haversine", "haversine")
    np.testing.assert_array_equal(session.state.dataset.X, np.c_[LATITUDE, LONGITUDE])
    source.metric = "euclidean"
    source.assign(["price"], "ignore")  # the features stay, and so does what was chosen
    assert source.metric == "euclidean"
    source.metric = "haversine"
    source.assign(["price"], "feature")
    session.wait(PATIENCE)
    assert (source.metric, session.state.error) == ("euclidean", "")
    session.history.undo()
    session.wait(PATIENCE)
    assert (source.metric, source.columns) == ("haversine", ["lon", "lat"])


def test_the_distance_is_chosen_and_begins_anew_with_another_file(sessions):
    session = sessions()
    length = np.exp(RNG.normal(size=N))
    angle = RNG.normal(0.8 * GROUP, 0.1)
    content = csv(x=length * np.cos(angle), y=length * np.sin(angle), label=GROUP)
    source = give_file(session, content)
    assert source.metric == "euclidean"
    put(session, "upload", metric="cosine")
    session.state.n_clusters, session.state.clusters_auto = 2, False
    session.wait(PATIENCE)
    assert agreement(session) > 0.95
    give_file(session, content + b"\n1,1,0", "other.csv")
    assert source.metric == "euclidean"


@pytest.mark.parametrize(
    ("columns", "metric", "words"),
    [
        ({"x": GROUP * 200.0, "y": GROUP}, "haversine", "which is not from -90 to 90"),
        ({"x": GROUP, "y": 2 * GROUP}, "cosine", "has only zeros"),
    ],
)
def test_a_distance_that_does_not_suit_keeps_what_is_shown(sessions, columns, metric, words):
    session = sessions()
    give_file(session, csv(**columns))
    before = session.state.result
    put(session, "upload", metric=metric)
    assert words in session.state.error
    assert session.state.result is before


def test_names_without_degrees_are_no_places(sessions):
    source = give_file(sessions(), csv(lat=100 + GROUP, lon=LONGITUDE))
    assert source.metric == "euclidean"


def test_longitudes_that_do_not_jump_are_shown_as_they_are(sessions):
    session = sessions()
    give_file(session, csv(lat=LATITUDE, lon=RNG.normal(10 * GROUP, 1)))
    shown = positions(session.state.dataset, "lon", "lat")
    np.testing.assert_array_equal(shown[:, 0], session.state.dataset.X[:, 1])
