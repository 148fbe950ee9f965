"""Addresses and session files bring back what was chosen."""

import json

import numpy as np
import pytest
from explorer_actions import (
    PATIENCE,
    TABLE,
    choose,
    give_file,
    put,
    reopened,
    restored,
)
from explorer_objects import Visit
from kdegraph import datasets
from kdegraph_explorer import address
from kdegraph_explorer.address import AddressBar
from kdegraph_explorer.exports import session_file
from kdegraph_explorer.history import take

GIVEN = datasets.make("blobs", n=90, seed=0)


@pytest.fixture
def begin(sessions, tmp_path):
    """Make sessions of generated or of given points, or of a file with which the page begins, each
    time of the same one.
    """
    path = tmp_path / "animals.csv"
    path.write_bytes(TABLE)

    def begin(kind="file", query=""):
        session = sessions(given=GIVEN if kind == "given" else None, start=False)
        if kind == "file":
            session.open(path)
        snapshot = address.read(session, query)
        session.start() if snapshot is None else session.restore(snapshot)
        session.wait(PATIENCE)
        return session

    return begin


def test_address_of_a_fresh_session_is_empty(sessions):
    session = sessions()
    put(session, "generators", n=2000)
    assert address.query(session, take(session)) == ""
    assert address.read(session, "") is None


def of_generated(session):
    put(session, "generators", shape="rings", noise=0.5, seed=3)
    choose(session, sigma=0.25, n_rounds=9, n_clusters=4, n_neighbors=6, seed=5)
    choose(session, bandwidth="local", perplexity=9)
    session.state.param.update(
        vertical="z",
        show_edges=False,
        edges="strongest",
        color="column:z",
        point_size=0.5,
        point_opacity=0.4,
        fade=False,
        selection=np.array([2, 7]),
    )


def of_file(session):
    put(session, "upload", columns=["height", "weight"], label_column="none")
    put(session, "upload", standardize=["height"], weights={"height": 0.5})
    session.sources["upload"].choose_part(range(2, 38))
    session.wait(PATIENCE)
    session.state.name_cluster(0, "the first")


def a_part(session):
    session.sources[session.state.source].choose_part([*range(5, 25), 60])
    session.wait(PATIENCE)


KEPT = {
    "generated": ("generated", of_generated),
    "a part of the generated": ("generated", a_part),
    "file": ("file", of_file),
    "a part of the given": ("given", a_part),
}


@pytest.mark.parametrize(("kind", "prepare"), KEPT.values(), ids=KEPT)
def test_address_and_session_file_restore_the_choices(begin, sessions, kind, prepare):
    session = begin(kind)
    prepare(session)
    state, query = session.state, address.query(session, take(session))
    by_address = begin(kind, "?" + query)
    for other in (by_address, reopened(session, sessions(start=False))):
        assert other.state.error == ""
        np.testing.assert_array_equal(other.state.shown.X, state.shown.X)
        np.testing.assert_array_equal(other.state.dataset.y, state.dataset.y)
        outcomes = other.state.outcome("kde"), state.outcome("kde")
        np.testing.assert_array_equal(*(outcome.labels for outcome in outcomes))
        assert other.state.selection.tolist() == state.selection.tolist()
        assert other.state.named == state.named
        if kind != "given":  # whose columns have no names in a session file
            assert take(other).choices == take(session).choices
    assert take(by_address) == take(session)
    assert address.query(by_address, take(by_address)) == query
    source = by_address.sources[by_address.state.source]
    source.choose_part(None)
    by_address.wait(PATIENCE)
    assert by_address.state.dataset.n_points == {"generated": 200, "file": 40, "given": 90}[kind]


BAD_ADDRESSES = (
    ("source=moon", "source must be one of"),
    ("data.shape=cube", "shape cannot be 'cube'"),
    ("data.n=3.5", "n cannot be 3.5"),
    ("sigma=-1", "sigma cannot be -1: it must be a number above 0"),
    ("n_rounds=5000", "5000: it must be a whole number from 1 to 1,000"),
    ("bandwidth=two", "bandwidth cannot be 'two': it must be one of auto, one, local"),
    ("show_edges=3", "show_edges cannot be 3: it must be true or false"),
    ("sigma=NaN", "sigma cannot be nan"),
    ("seed=1e400", "seed cannot be inf"),
    ("n_rounds=many", "n_rounds cannot be 'many'"),
    ("result=1", "nothing called 'result'"),
    ("hue=red", "nothing called 'hue'"),
    ("selection=[-1]", "selection must be"),
    ('cluster_names=[["a"]]', "cluster_names must be"),
    ("sigma=" + "[" * 50_000, "sigma cannot be '"),
    ("horizontal=[1]", r"horizontal cannot be \[1\]"),
    ("selection=[18446744073709551615]", "selection must be"),
    ("selection=[9223372036854775808]", "selection must be"),
    ("selection=[[1],[1,2]]", "selection must be"),
    ("source=[1]", r"source must be one of .*, got \[1\]"),
    ("x" * 5000 + "=1", "there is nothing called 'xxx"),
)


def test_bad_address_says_why_and_messages_stay_short(sessions):
    session = sessions(start=False)
    for query, message in BAD_ADDRESSES:
        with pytest.raises(ValueError, match=message) as refused:
            address.read(session, "?" + query)
        assert len(str(refused.value)) < 600


def test_indices_beyond_the_data_are_no_selection(sessions):
    session = sessions(start=False)
    restored(session, address.read(session, "data.n=100&selection=[5,500]"))
    assert session.state.error == ""
    assert session.state.selection.tolist() == []


def test_an_address_says_the_size_of_a_selection_that_it_cannot_hold(sessions):
    session = sessions()
    for size in (address.MAX_ADDRESSED_SELECTION, address.MAX_ADDRESSED_SELECTION + 1):
        choose(session, selection=np.arange(size))
        query = address.query(session, take(session))
        snapshot, notice = address.read(session, query), address.left_out(query)
        if size == 200:
            assert snapshot.selection.tolist() == list(range(200))
            assert notice == ""
        else:
            assert snapshot.selection.tolist() == []
            assert "The selection of 201 points could not be restored" in notice


def test_a_session_file_takes_the_place_of_a_file_of_the_same_name(begin, sessions):
    kept = sessions()
    give_file(kept, b"a,b\n1,2\n3,4\n5,7\n", "animals.csv")
    other = reopened(kept, begin())
    assert other.state.dataset.X.tolist() == [[1, 2], [3, 4], [5, 7]]


def test_large_file_is_referred_to_by_its_checksum(sessions, monkeypatch):
    monkeypatch.setattr("kdegraph_explorer.sources.user_files.MAX_PACKED", 10)
    session = sessions()
    give_file(session, TABLE, "zoo.csv")
    content = session_file.write(session)
    assert b"sha256" in content
    with pytest.raises(ValueError, match=r"zoo\.csv, which is too large"):
        session_file.read(sessions(start=False), content)
    choose(session, sigma=2.0)
    restored(session, session_file.read(session, content))
    assert session.state.sigma_auto


BAD_FILES = (
    (lambda values: b"words", "not JSON"),
    (lambda values: b"[" * 100_000, "not JSON"),
    (lambda values: b"[1]", "not a session"),
    (lambda values: {**values, "format": "zip"}, "not a session"),
    (lambda values: {**values, "version": 99}, "version 99"),
    (lambda values: {**values, "choices": 3}, "damaged: choices is 3"),
    (lambda values: {**values, "source": "web"}, "source 'web'"),
    (lambda values: {**values, "source": "upload", "data": {"file": "x"}}, "damaged"),
    (
        lambda values: {
            **values,
            "source": "upload",
            "data": {"file": {"name": "x.csv", "content": "?"}},
        },
        "cannot be read",
    ),
    (lambda values: {**values, "data": {"shape": "__class__"}}, "shape cannot be"),
    (lambda values: {**values, "choices": {"sigma": [1]}}, "sigma cannot be"),
    (lambda values: {**values, "selection": [0.5]}, "selection must be"),
)


def test_bad_session_file_says_why(sessions):
    session = sessions()
    before, content = take(session), session_file.write(session)
    for change, message in BAD_FILES:
        changed = change(json.loads(content))
        changed = changed if isinstance(changed, bytes) else json.dumps(changed).encode()
        with pytest.raises(ValueError, match=message):
            session_file.read(session, changed)
    assert take(session) == before


# ---- a page that begins with a file


def present(session):
    """Return the data that are explored, and their bandwidth."""
    state = session.state
    names = state.dataset.feature_names
    return state.dataset.name, tuple(names), state.result.request.sigma, state.bandwidth


def test_reload_brings_the_file_back_with_the_choices(begin):
    first = begin()
    assert present(first)[:2] == ("animals.csv", ("width", "height", "weight"))
    assert address.query(first, take(first)) != ""
    again = begin("file", address.query(first, take(first)))
    assert present(again) == present(first)
    first.sources["upload"].columns = ["width", "weight"]
    choose(first, sigma=3.0)
    again = begin("file", address.query(first, take(first)))
    assert present(again) == present(first) == ("animals.csv", ("width", "weight"), 3.0, "one")
    assert again.state.error == ""
    # An address without a source means the file.
    assert present(begin("file", "?sigma=2.5")) == (
        "animals.csv",
        ("width", "height", "weight"),
        2.5,
        "one",
    )
    # Other data were chosen in place of the file.
    put(first, source="generators")
    query = address.query(first, take(first))
    assert "source=generators" in query
    again = begin("file", query)
    assert again.state.dataset.name == "moons"
    put(again, source="upload")  # the file is still there
    assert again.state.dataset.name == "animals.csv"


def test_addresses_lead_to_no_file_but_the_one_that_is_open(begin, sessions):
    for name in ("other.csv", "../animals.csv", "/etc/passwd", "", 3):
        query = "source=upload&data.file=" + json.dumps(name)
        with pytest.raises(ValueError, match=r"cannot be part of an address: choose it under Data"):
            begin("file", query)
    with pytest.raises(ValueError, match=r"animals\.csv.* cannot be part of an address"):
        address.read(sessions(), "source=upload&data.file=animals.csv")


def test_a_page_without_a_query_begins_with_the_first_page(sessions):
    session, browser = sessions(start=False), Visit()
    session.state.param.view.objects = ["points", "start"]
    AddressBar(session, browser).begin("")
    session.wait(PATIENCE)
    assert session.state.dataset.name == "clumps"
    assert session.state.view == "start"
    assert "data.shape=clumps" in browser.query
    assert "view=start" in browser.query
    # The usual choices have an address that brings them back, too.
    session, browser = sessions(start=False), Visit()
    session.sources["generators"].n = 2000
    AddressBar(session, browser).begin("?source=generators")
    session.wait(PATIENCE)
    assert session.state.dataset.name == "moons"
    assert browser.query == "source=generators"


def test_back_goes_to_the_step_of_an_entry(sessions):
    session, browser = sessions(start=False), Visit()
    AddressBar(session, browser).begin("?n_rounds=7")
    session.wait(PATIENCE)
    entries = [(browser.step, browser.query)]
    for n_rounds in (8, 9):
        choose(session, n_rounds=n_rounds)
        entries.append((browser.step, browser.query))
    assert [step for step, _ in entries] == [0, 1, 2]
    assert "n_rounds=9" in browser.query
    browser.on_return(*entries[0])
    session.wait(PATIENCE)
    assert session.state.n_rounds == 7
    assert (browser.step, browser.query) == entries[0]
    browser.on_return(*entries[2])
    session.wait(PATIENCE)
    assert session.state.n_rounds == 9
    # An entry of the page before it was loaded again: its address says what was chosen.
    browser.on_return(None, "?n_rounds=5")
    session.wait(PATIENCE)
    assert session.state.n_rounds == 5
    assert session.history.can_undo
    browser.on_return(None, "?n_rounds=none")
    assert "n_rounds cannot be" in session.state.notice
