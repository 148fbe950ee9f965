"""Files on their way from the browser: asked for part by part, and stored by a worker thread."""

import gc
import hashlib
import io
import tempfile
import threading

import kdegraph_explorer.uploads as uploads
import numpy as np
import pytest
from explorer_actions import PATIENCE, TABLE, TWO_PAIRS, give_file, settle, until
from explorer_objects import controls
from kdegraph import datasets
from kdegraph_explorer import projection
from kdegraph_explorer.exports import session_file
from kdegraph_explorer.jobs import Latest
from kdegraph_explorer.kept_files import KeptFiles
from kdegraph_explorer.sources import upload
from kdegraph_explorer.uploads import StoredFile
from kdegraph_explorer.views.controls import DataControls
from kdegraph_explorer.views.widgets import FileButton

PART = 100  # bytes


class Page:
    """Sends files as the page does (see static/file-button.js).

    Attributes
    ----------
    asked : list of (start, stop)
        The parts that the server has asked for.
    """

    def __init__(self, button, monkeypatch):
        self._button, self.asked = button, []
        monkeypatch.setattr(button, "_send_msg", self._answer)

    def send(self, content, name="zoo.csv", size=None, answers=True, key="1"):
        """Offer a file; `answers` limits how many parts are sent, True stands for all."""
        self._content, self._answers = content, answers
        size = len(content) if size is None else size
        self._button._handle_msg({"file": key, "name": name, "size": size})

    def _answer(self, message):
        start, stop = message["start"], message["stop"]
        self.asked.append((start, stop))
        if self._answers is True or len(self.asked) <= self._answers:
            self.answer(message["file"], start, data=self._content[start:stop])

    def answer(self, key, start, **rest):
        """Send one message about a part."""
        self._button._handle_msg({"file": key, "start": start, **rest})


@pytest.fixture
def small_parts(monkeypatch):
    """Files are asked for in small parts, and all of them are kept in temporary files; returns
    these.
    """
    files, make = [], tempfile.SpooledTemporaryFile

    def note(*args):
        files.append(make(*args))
        return files[-1]

    monkeypatch.setattr(uploads, "PART_BYTES", PART)
    monkeypatch.setattr(uploads, "MEMORY_BYTES", 1)
    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", note)
    return files


@pytest.fixture
def explorer(explore, small_parts):
    """An explorer of four points whose source is a file that is yet to come."""
    explorer = explore(TWO_PAIRS, sigma=1.0)
    explorer.session.state.source = "upload"
    return explorer


@pytest.fixture
def page(explorer, monkeypatch):
    (button,) = controls(explorer, DataControls).__panel__().select(FileButton)
    return Page(button, monkeypatch)


def test_a_file_arrives_in_the_parts_that_were_asked_for_and_progress_is_shown(
    explorer, page, monkeypatch
):
    monkeypatch.setattr(Latest, "REPORT_AFTER", 0.0)
    monkeypatch.setattr(Latest, "REPORT_EVERY", 0.0)
    state, fractions = explorer.session.state, []
    state.param.watch(
        lambda event: state.stage == uploads.UPLOADING and fractions.append(event.new), "fraction"
    )
    page.send(TABLE)
    explorer.session.wait(PATIENCE)
    assert (state.dataset.name, state.dataset.n_points) == ("zoo.csv", 40)
    stored = explorer.session.sources["upload"].file
    assert stored.read() == TABLE
    assert (stored.size, stored.sha256) == (len(TABLE), hashlib.sha256(TABLE).hexdigest())
    starts, stops = zip(*page.asked, strict=True)
    assert starts == tuple(range(0, len(TABLE), PART))
    assert stops == (*starts[1:], len(TABLE))
    assert fractions == [start / len(TABLE) for start in starts]
    assert state.stage is None


def test_a_session_file_given_as_data_opens_as_a_session(explorer, page, sessions):
    other = sessions(n_clusters=4)
    page.send(session_file.write(other), name="moons-session.json")
    state = explorer.session.state
    until(explorer, lambda: state.shown.n_points == 200)
    settle(explorer)
    assert (state.source, state.n_clusters, state.error) == ("generators", 4, "")
    np.testing.assert_array_equal(state.shown.X, other.state.shown.X)
    assert explorer.session.sources["upload"].file is None


def test_storing_and_reading_is_the_work_of_other_threads(explorer, page, monkeypatch):
    worked = {}

    def watch(module, name):
        function = getattr(module, name)

        def noted(*args, **options):
            worked.setdefault(name, set()).add(threading.get_ident())
            return function(*args, **options)

        monkeypatch.setattr(module, name, noted)

    for module, name in (
        (uploads, "_store"),
        (hashlib, "sha256"),
        (upload, "read"),
        (upload, "facts"),
        (projection, "principal_components"),
    ):
        watch(module, name)
    page.send(TABLE)
    explorer.session.wait(PATIENCE)
    settle(explorer)
    assert explorer.session.state.shown.name == "zoo.csv"
    assert set(worked) == {"_store", "sha256", "read", "facts", "principal_components"}
    assert all(threading.get_ident() not in threads for threads in worked.values()), worked


def test_cancel_ends_an_upload(explorer, page, small_parts):
    page.send(TABLE, answers=2)
    session = explorer.session
    until(explorer, lambda: len(page.asked) == 3)
    assert session.state.busy
    session.cancel()
    session.wait(PATIENCE)
    page.answer("1", *page.asked[-1][:1], data=TABLE[slice(*page.asked[-1])])
    settle(explorer)
    assert len(page.asked) == 3
    assert session.state.dataset.n_points == 4
    assert (session.state.stage, session.state.error) == (None, "")
    assert [file.closed for file in small_parts] == [True]


def test_an_upload_that_stands_still_ends(explorer, page, small_parts, monkeypatch):
    monkeypatch.setattr(uploads, "STALL_LIMIT", 0.3)
    page.send(TABLE, answers=2)
    explorer.session.wait(PATIENCE)
    error = explorer.session.state.error
    assert f"nothing came for 0.3 seconds after 200 of {len(TABLE):,} bytes" in error
    assert "choose the file again" in error
    assert [file.closed for file in small_parts] == [True]
    assert explorer.session.state.stage is None
    page.send(TABLE)  # The next one is taken.
    explorer.session.wait(PATIENCE)
    assert explorer.session.state.error == ""
    assert explorer.session.state.dataset.n_points == 40


def test_a_second_file_takes_the_place_of_one_that_is_arriving(explorer, page, small_parts):
    page.send(TABLE, answers=1)
    session = explorer.session
    until(explorer, lambda: len(page.asked) == 2)
    page.asked.clear()
    page.send(b"a,b\n1,2\n3,4\n5,7\n", name="few.csv", key="2")
    page.answer("1", 0, data=b"x" * 16)  # of the first file
    session.wait(PATIENCE)
    assert session.state.dataset.name == "few.csv"
    assert session.state.dataset.n_points == 3
    assert [file.closed for file in small_parts] == [True, False]


def test_a_session_that_ends_drops_what_is_arriving(explorer, page, small_parts):
    page.send(TABLE, answers=1)
    until(explorer, lambda: small_parts)
    explorer.session.close()
    explorer.session.wait(PATIENCE)
    assert small_parts[0].closed


REFUSED = (
    (b"", None, "zoo.csv is empty: it has no bytes"),
    (TABLE, datasets.MAX_BYTES + 1, "the limit is 1,073,741,824 bytes"),
    (TABLE, len(TABLE) + 1, "bytes arrived instead of"),
)


def test_the_size_is_checked(explorer, page):
    for number, (content, size, message) in enumerate(REFUSED):
        page.send(content, size=size, key=str(number))
        explorer.session.wait(PATIENCE)
        assert message in explorer.session.state.error
        assert explorer.session.state.dataset.n_points == 4
    page.send(TABLE + b"1", size=len(TABLE), key="last")
    explorer.session.wait(PATIENCE)  # No more is asked for than was announced.
    assert explorer.session.sources["upload"].file.read() == TABLE


def test_parts_that_nobody_asked_for_are_not_kept(explorer, page):
    page.answer("1", 0, data=TABLE)  # before any file
    page.send(TABLE, answers=0)
    until(explorer, lambda: page.asked)
    page.answer("1", PART, data=TABLE[PART : 2 * PART])
    page.answer("2", 0, data=TABLE[:PART])
    page.answer("1", 0, data="text")
    for _ in range(2):
        page.answer("1", 0, data=TABLE[:PART])
    until(explorer, lambda: len(page.asked) == 2)
    assert page.asked == [(0, PART), (PART, 2 * PART)]


def test_a_file_that_the_browser_cannot_read_is_an_error(explorer, page):
    page.send(TABLE, answers=0)
    until(explorer, lambda: page.asked)
    page.answer("1", 0, failed=True)
    explorer.session.wait(PATIENCE)
    assert "zoo.csv could not be sent: the browser cannot read it" in explorer.session.state.error


def test_a_full_disk_is_an_error(explorer, page, monkeypatch):
    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", lambda size: Full())
    page.send(TABLE)
    explorer.session.wait(PATIENCE)
    assert explorer.session.state.error == (
        "the server cannot store zoo.csv: No space left on device"
    )


def test_a_stored_file_is_dropped_with_the_last_reference(small_parts):
    stored = StoredFile.of("zoo.csv", TABLE[:9], TABLE[9:])
    assert stored.read() == stored.read() == TABLE
    assert not small_parts[0].closed
    del stored
    gc.collect()
    assert small_parts[0].closed


# ---- files that cannot be kept on the server


def full_disk(monkeypatch, limit):
    def fail(file, target):
        target.write(b"a part")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(StoredFile, "copy_to", fail)
    return "the server cannot write it: No space left on device"


def readable(monkeypatch, limit):
    monkeypatch.setattr(
        "kdegraph_explorer.serving.user_secret.readable_by_others", lambda file: True
    )
    return "the server cannot write it: files there can be read by other users"


def too_large(monkeypatch, limit):
    limit(kept_bytes=300)
    return "it is too large: the server keeps up to 300 bytes (KDEGRAPH_MAX_KEPT_BYTES)"


@pytest.mark.parametrize("trouble", [full_disk, readable, too_large])
def test_an_upload_that_cannot_be_kept_works_and_says_so(
    explore, limit, monkeypatch, tmp_path, trouble
):
    reason = trouble(monkeypatch, limit)
    explorer, folder = explore(TWO_PAIRS, sigma=1.0), tmp_path / "files"
    explorer.session.sources["upload"].storage = KeptFiles(folder, b"s" * 32, days=7)
    source = give_file(explorer.session, TABLE, "zoo.csv")
    settle(explorer)
    assert explorer.session.state.shown.n_points == 40
    assert source.unkept == reason
    shown = controls(explorer, DataControls)._kept
    assert shown.warning == f"The file is not kept, and lost with this page: {reason}."
    assert shown.visible
    assert not folder.exists() or not any(folder.iterdir())
