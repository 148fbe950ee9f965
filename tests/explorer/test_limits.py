"""Limits that environment variables set, and what the page says when they are reached."""

import concurrent.futures
import gc
import re
from dataclasses import fields

import kdegraph_explorer.pipeline as pipeline
import numpy as np
import pytest
from attacks import Client
from bokeh.util.token import generate_jwt_token, generate_session_id
from click.testing import CliRunner
from explorer_actions import PATIENCE, TABLE, TWO_PAIRS, put, settle
from explorer_objects import alert, controls
from explorer_servers import EXPLORE, QUICK, Served
from files import npy_bytes, picture_bytes
from kdegraph.cli import main
from kdegraph_explorer import app
from kdegraph_explorer.limits import UPLOADS, Limits, limits
from kdegraph_explorer.serving.access import Access
from kdegraph_explorer.serving.user_secret import user_secret
from kdegraph_explorer.uploads import StoredFile
from kdegraph_explorer.views.controls import DataControls
from kdegraph_explorer.views.widgets import FileButton


def said(explorer):
    """What the alert on the page says."""
    settle(explorer)
    found = alert(explorer, "kg-error")
    assert found
    return found


def test_a_value_that_is_wrong_is_named(limit):
    wrong = [(field.name, "many") for field in fields(Limits)]
    wrong += [("points", text) for text in ("0", "-1", "1.5", "½", "1e3")]
    for field, text in (*wrong, ("kept_days", "-1")):
        limit(**{field: text})
        least = 0 if field in ("kept_days", "kept_bytes") else 1
        words = f"KDEGRAPH_MAX_{field.upper()} must be a whole number of at least {least}, not "
        with pytest.raises(ValueError, match=re.escape(f"{words}{text!r}")):
            limits()
        limit(**{field: ""})


def test_without_variables_only_the_size_of_files_is_limited(limit):
    limit()
    assert limits() == Limits(bytes=2**30)
    limit(bytes=2**40, points=7)
    assert limits() == Limits(bytes=2**30, points=7)


def test_more_points_than_allowed_are_refused_and_the_earlier_ones_stay(explore, limit):
    limit(points=500)
    explorer = explore(TWO_PAIRS, sigma=1.0)
    labels = explorer.labels
    put(explorer, source="generators")
    explorer.session.wait(PATIENCE)
    assert said(explorer) == (
        "there are 2,000 points, and the limit of this server is 500 points "
        "(KDEGRAPH_MAX_POINTS); choose fewer points"
    )
    state = explorer.session.state
    assert state.dataset.n_points == 4
    np.testing.assert_array_equal(state.outcome("kde").labels, labels)
    put(explorer, "generators", n=500)
    assert (state.error, state.shown.n_points) == ("", 500)


def test_all_sessions_together_have_a_number_of_points(explore, limit):
    limit(points_in_all=1000)
    first, second = (explore(np.random.default_rng(0).random((400, 2)), sigma=1.0) for _ in "12")
    settle(first), settle(second)
    put(second, source="generators")
    assert said(second) == (
        "with these, all sessions have 2,400, and the limit of this server is 1,000 points "
        "(KDEGRAPH_MAX_POINTS_IN_ALL); choose fewer points, or try again later"
    )
    put(second, "generators", n=500)  # in place of its 400
    assert second.session.state.error == ""
    put(second, "generators", n=1000)
    assert "1,400" in said(second)
    first.close()
    second.session.retry()
    put(second, "generators", noise=1.05)
    assert (second.session.state.error, second.session.state.dataset.n_points) == ("", 1000)


def test_files_have_a_size_in_bytes(explore, limit):
    limit(bytes=len(TABLE) - 1)
    explorer = explore(TWO_PAIRS, sigma=1.0)
    explorer.session.state.source = "upload"
    (button,) = controls(explorer, DataControls).__panel__().select(FileButton)
    assert button.label == f"Choose or drop a file, up to {len(TABLE) - 1} bytes"
    button._handle_msg({"file": "1", "name": "zoo.csv", "size": len(TABLE)})
    explorer.session.wait(PATIENCE)
    assert said(explorer) == (
        f"zoo.csv is too large: it has {len(TABLE)} bytes, and the limit of this server is "
        f"{len(TABLE) - 1} bytes (KDEGRAPH_MAX_BYTES); choose a smaller one"
    )
    assert explorer.session.state.dataset.n_points == 4


def test_the_files_of_all_sessions_together_have_a_size(limit):
    limit(bytes_in_all=1000)
    before = sum(UPLOADS._held.values())
    limit(bytes_in_all=before + 1000)
    first = StoredFile.of("a.csv", b"x" * 600)
    wrong = r"all sessions have .*limit of this server is .* bytes \(KDEGRAPH_MAX_BYTES_IN_ALL\)"
    with pytest.raises(ValueError, match=wrong):
        StoredFile.of("a.csv", b"x" * 300, b"x" * 101)
    second = StoredFile.of("b.csv", b"x" * 400)
    del first
    assert StoredFile.of("c.csv", b"x" * 600).size == second.size + 200


@pytest.mark.parametrize("kind", ["png", "npy"])
def test_pictures_have_a_number_of_pixels(explore, limit, kind):
    limit(pixels=2000)
    explorer = explore(TWO_PAIRS, sigma=1.0)
    pixels = np.zeros((50, 41, 3), np.uint8)
    content = {"png": picture_bytes, "npy": npy_bytes}[kind](pixels)
    put(explorer, source="upload")
    put(explorer, "upload", file=StoredFile.of(f"large.{kind}", content))
    assert re.search(r"large.* 2,?000 pixels.*; scale it down first", said(explorer))
    assert explorer.session.state.dataset.n_points == 4
    put(explorer, "upload", file=StoredFile.of("small.png", picture_bytes(pixels[:, :40])))
    assert explorer.session.state.error == ""
    assert explorer.session.state.dataset.n_points == 2000


def test_a_computation_that_takes_too_long_ends_and_the_last_result_stays(
    explore, limit, monkeypatch
):
    limit(seconds=1)
    explorer = explore(TWO_PAIRS, sigma=1.0)
    state = explorer.session.state
    settle(explorer)
    before, compute = state.result, pipeline.similarity_graph

    def slow(*args, progress, **options):
        while True:
            progress("samples", 0.0)

    monkeypatch.setattr(pipeline, "similarity_graph", slow)
    put(explorer, sigma=2.0)
    assert said(explorer) == (
        "this takes too long: the limit of this server is 1 seconds (KDEGRAPH_MAX_SECONDS); "
        "choose fewer points or fewer rounds"
    )
    assert (state.result, state.shown) == (before, before.request.dataset)
    put(explorer, source="generators")  # instead, the earlier points are shown again
    assert "KDEGRAPH_MAX_SECONDS" in said(explorer)
    assert state.shown is before.request.dataset
    monkeypatch.setattr(pipeline, "similarity_graph", compute)
    limit(seconds=1000)
    explorer.session.retry()
    settle(explorer)
    assert (state.error, state.shown.n_points) == ("", 2000)


def test_a_view_that_takes_too_long_ends(explore, limit):
    limit(seconds=1)
    explorer = explore(TWO_PAIRS, sigma=1.0)

    def work(request, progress, publish):
        while True:
            progress("forever", 0.0)

    explorer.session.latest(work, deliver=print).request(None)
    assert "KDEGRAPH_MAX_SECONDS" in said(explorer)


def test_a_server_does_not_start_with_a_limit_that_is_wrong(limit, monkeypatch):
    limit(sessions="many")
    monkeypatch.setattr(app, "server_of", None)
    done = CliRunner().invoke(main, ["explore", "--no-browser", "--port", "0"])
    gc.unfreeze()  # what the command has spared
    wrong = "Error: KDEGRAPH_MAX_SESSIONS must be a whole number of at least 1, not 'many'"
    assert (done.output.strip(), done.exit_code) == (wrong, 2)


@pytest.fixture
def full(limit, tmp_path):
    """The address of a server for two sessions."""
    limit(sessions=2)
    with Served(("-c", QUICK, *EXPLORE), tmp_path / "log.txt") as served:
        yield served.address


def test_a_server_that_is_full_says_so(full):
    pages = [Client(full) for _ in range(8)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(Client.send, pages))
    opened = [answer for answer in answers if answer.status == 200]
    refused = [answer for answer in answers if answer.status == 503]
    assert (len(opened), len(refused)) == (2, 6)
    for answer in refused:
        assert int(answer.headers["Retry-After"]) == 30
        assert "limit of this server is 2 sessions (KDEGRAPH_MAX_SESSIONS)" in answer.text
        assert "Bokeh" not in answer.text
    client, token = pages[0], opened[0].token()
    assert client.send(path="/autoload.js", query="x=1").status == 503
    assert client.send(path="/health").status == 200
    assert client.send(path="/static/js/bokeh.min.js").status == 200
    assert client.connects(token, Origin=f"http://{client.host}")  # a page that it has already
    # A page whose session has ended by now would begin another one.
    key = {"secret_key": Access(user_secret()).key("sessions"), "signed": True}
    ended = generate_jwt_token(generate_session_id(**key), **key)
    headers = {"Upgrade": "websocket", "Sec_WebSocket_Protocol": f"bokeh, {ended}"}
    assert client.send(path="/ws", **headers).status == 503
