"""Attack the explorer: addresses, session files, and walks through its choices."""

import json
from urllib.parse import urlencode

import numpy as np
import pytest
from attack.contract import REFUSED, attempt
from explorer_objects import PATIENCE
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kdegraph_explorer import address
from kdegraph_explorer.exports import session_file
from kdegraph_explorer.history import take
from kdegraph_explorer.session import Session
from kdegraph_explorer.state import State

FEWER = settings(
    max_examples=max(1, settings.default.max_examples // 10),
    suppress_health_check=[HealthCheck.too_slow],
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 300),
    st.sampled_from([2**31, 2**63, -(2**64), 1e308, -0.0, 5e-324]),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["0-5,7", "5-0", "0-999999999999", "column:x", "auto", "one", "generators"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def session():
    """A session of 100 points, which has its first results."""
    session = Session()
    session.sources["generators"].n = 100
    session.start()
    session.wait(PATIENCE)
    yield session
    session.close()


def names_of(session):
    data = [f"data.{name}" for source in session.sources.values() for name in source.kept]
    return [*State.KEPT, *data, "source", "selection", "view", "token"]


@given(data=st.data())
def test_an_address_is_read_or_refused(session, data):
    known = st.one_of(st.sampled_from(names_of(session)), st.text(max_size=5))
    written = st.one_of(st.text(max_size=8), VALUES.map(json.dumps))
    pairs = data.draw(st.lists(st.tuples(known, written), max_size=4))
    query = data.draw(st.one_of(st.just(urlencode(pairs, errors="replace")), st.text(max_size=20)))
    before = take(session)
    found = attempt(lambda: address.read(session, query))
    attempt(lambda: address.left_out(query))
    assert take(session) == before
    if found is not REFUSED and found is not None:
        again = address.read(session, address.query(session, found))
        assert again is None or again == found or len(found.selection) > 200


def leaves(values, path=()):
    """Yield the paths to all values within lists and dicts."""
    yield path
    if isinstance(values, (dict, list)):
        for key in values if isinstance(values, dict) else range(len(values)):
            yield from leaves(values[key], (*path, key))


@given(data=st.data())
def test_a_session_file_is_read_or_refused(session, data):
    content = session_file.write(session)
    values = [json.loads(content)]
    for _ in range(data.draw(st.integers(1, 3))):
        *path, last = data.draw(st.sampled_from(list(leaves(values))[1:]))
        place = values
        for key in path:
            place = place[key]
        place[last] = data.draw(VALUES)
    changed = json.dumps(values[0]).encode()
    if data.draw(st.booleans()):
        changed = changed[: data.draw(st.integers(0, len(changed)))]
    before = take(session)
    attempt(lambda: session_file.read(session, changed))
    assert take(session) == before


STEPS = {
    "n_clusters": st.integers(1, 100),
    "clusters_auto": st.booleans(),
    "n_rounds": st.integers(1, 50),
    "rounds_auto": st.booleans(),
    "sigma": st.floats(1e-12, 1e12),
    "bandwidth": st.sampled_from(["auto", "one", "local", "moderate"]),
    "perplexity": st.integers(2, 200),
    "n_neighbors": st.integers(1, 200),
    "seed": st.integers(0, 2**32 - 1),
    "selection": st.lists(st.integers(0, 99), max_size=5).map(
        lambda chosen: np.unique(chosen).astype(np.intp)
    ),
    "color": st.sampled_from(["cluster", "column:x", "column:none", "label"]),
    "n": st.sampled_from([100, 200]),
    "undo": st.none(),
    "redo": st.none(),
}
STEP = st.sampled_from(sorted(STEPS)).flatmap(lambda name: st.tuples(st.just(name), STEPS[name]))


@FEWER
@given(steps=st.lists(STEP, min_size=1, max_size=6))
def test_any_walk_through_the_choices_has_results_and_can_be_undone(session, steps):
    state, history = session.state, session.history
    session.sources["generators"].n = 100
    session.wait(PATIENCE)
    history.forget()
    before = take(session)
    for name, value in steps:
        if name in ("undo", "redo"):
            getattr(history, name)()
        elif name == "n":
            session.sources["generators"].n = value
        else:
            state.choose(**{name: value})
        session.wait(PATIENCE)
        history.end_step()
        n = len(state.dataset.X)
        if not state.error:
            assert all(len(outcome.labels) == n for outcome in state.result.outcomes.values())
        else:
            assert "Error" not in state.error, state.error
        assert (state.selection < n).all()
    while history.can_undo:
        history.undo()
        session.wait(PATIENCE)
    assert take(session) == before
