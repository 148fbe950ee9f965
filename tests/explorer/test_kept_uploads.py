"""Uploaded files that are kept on the server: the folder, addresses that name them, the page."""

import datetime
import hashlib
import json
import os
import random
import stat
import threading
import time

import pytest
from explorer_actions import TABLE, give_file, settle, undo
from explorer_objects import Visit, controls
from kdegraph_explorer import address
from kdegraph_explorer.address import AddressBar
from kdegraph_explorer.history import take
from kdegraph_explorer.kept_files import DAY, MAX_FILES, KeptFiles
from kdegraph_explorer.uploads import StoredFile
from kdegraph_explorer.views.controls import DataControls
from kdegraph_explorer.views.kept import KeptList

SECRET = b"s" * 32


@pytest.fixture
def folder(tmp_path):
    """Where the files will be."""
    return tmp_path / "state" / "files"


@pytest.fixture
def kept(folder):
    return KeptFiles(folder, SECRET, days=7)


def on_disk(folder):
    """The names of all files in the folder."""
    return sorted(os.listdir(folder)) if folder.exists() else []


def age(folder, seconds):
    """Let time pass for all files."""
    for path in folder.iterdir():
        modified = path.stat().st_mtime - seconds
        os.utime(path, (modified, modified))


def keep(kept, content=TABLE, name="zoo.csv"):
    """Keep a new file, and return it with its key."""
    file = StoredFile.of(name, content)
    kept.keep(file)
    return file, kept.key_of(file)


class Model:
    """The kept files as a list of (name, content, seconds since it was opened), newest first."""

    def __init__(self, days, most):
        self.files, self._seconds, self._most = [], days * DAY, most

    def open(self, name, content):
        self.files = [(name, content, 0), *(f for f in self.files if f[:2] != (name, content))]
        sizes = [self.size(*file[:2]) for file in self.listed()]
        n = max(i for i in range(len(sizes) + 1) if sum(sizes[:i]) <= self._most)
        self.files = self.listed()[: min(n, MAX_FILES)]

    @staticmethod
    def size(name, content):
        header = [name, len(content), hashlib.sha256(content).hexdigest()]
        return len(json.dumps(header)) + 1 + len(content)

    def age(self, seconds):
        self.files = [(name, content, age + seconds) for name, content, age in self.files]

    def listed(self):
        return [file for file in self.files if file[2] < self._seconds]


@pytest.mark.parametrize("seed", range(3))
def test_a_random_walk_agrees_with_a_list(folder, limit, seed):
    limit(kept_bytes=5_000)
    draw, model = random.Random(seed), Model(days=2, most=5_000)
    servers = [KeptFiles(folder, SECRET, days=2) for _ in range(2)]
    contents = [(f"t{i % 3}.csv", bytes([i]) * draw.randrange(1, 2_500)) for i in range(6)]
    for _ in range(150):
        kept, (name, content) = draw.choice(servers), draw.choice(contents)
        key = kept.key_of(StoredFile.of(name, content))
        found = kept.find(key)
        assert (found is not None) == ((name, content) in [f[:2] for f in model.listed()])
        action = draw.choice(["upload", "open", "delete", "wait"])
        if action == "upload":
            keep(kept, content, name)
            model.open(name, content)
        elif action == "open" and found is not None:
            assert (found.name, found.size, found.read()) == (name, len(content), content)
            kept.keep(found)  # as the page does
            model.files.sort(key=lambda file: file[:2] != (name, content))
            model.files[0] = (name, content, 0)
        elif action == "delete":
            kept.delete(key)
            model.files = [file for file in model.files if file[:2] != (name, content)]
        seconds = draw.choice([60, 60, 60, DAY])
        model.age(seconds)
        if folder.exists():
            age(folder, seconds)
        listed = [(file.name, file.size) for file in draw.choice(servers).files()]
        assert listed == [(name, len(content)) for name, content, _ in model.listed()]


def test_what_is_over_goes_when_a_server_starts_and_the_number_is_limited(folder, kept):
    for i in range(MAX_FILES + 3):
        keep(kept, b"%d" % i)
    assert len(kept.files()) == len(on_disk(folder)) == MAX_FILES
    age(folder, 8 * DAY)
    (folder / ".f00-left-by-a-crash").touch()
    age(folder, DAY)
    (folder / "note.txt").touch()
    (folder / ".f00-being-written").touch()
    assert kept.files() == []
    KeptFiles(folder, SECRET, days=7)
    assert on_disk(folder) == [".f00-being-written", "note.txt"]


@pytest.mark.skipif(os.name != "posix", reason="files have no mode elsewhere")
def test_only_the_user_can_read_them(folder, kept):
    umask = os.umask(0)
    try:
        _, key = keep(kept)
    finally:
        os.umask(umask)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / key).stat().st_mode) == 0o600


def test_another_secret_finds_none_and_names_all_differently(folder, kept):
    file, key = keep(kept)
    other = KeptFiles(folder, b"t" * 32, days=7)
    assert other.files() == []
    assert other.find(key) is None
    assert other.find(other.key_of(file)) is None
    assert other.key_of(file) != key
    assert key != "f" + hashlib.sha256(TABLE).hexdigest()[:24]


KEYS = ("../server-secret", "..", "", ".", "/etc/passwd", "f" * 5000, "f\0", 3, None, [], "F" * 25)


def test_what_is_no_key_leads_nowhere(folder, kept):
    keep(kept)
    secret = folder.parent / "server-secret"
    secret.write_text("secret")
    for key in KEYS:
        assert kept.find(key) is None
        kept.delete(key)
    assert secret.exists()
    assert len(kept.files()) == 1


def replace_by_folder(path):
    path.unlink()
    path.mkdir()


def replace_by_link(path):
    path.unlink()
    path.symlink_to("/etc/passwd")


DAMAGE = (
    replace_by_folder,
    replace_by_link,
    lambda path: path.rename(path.with_name("f" + "0" * 24)),
    lambda path: path.write_bytes(path.read_bytes()[:-1]),
    lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(b'["a", 1, "b"]\nx'),
)


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files_are_not_found(folder, kept, damage):
    _, key = keep(kept)
    damage(folder / key)
    assert kept.files() == []
    assert all(kept.find(name) is None for name in (key, *on_disk(folder)))
    keep(kept, b"another")
    assert [file.size for file in kept.files()] == [len(b"another")]


def test_servers_that_use_a_folder_at_once_do_not_disturb_each_other(folder, limit):
    limit(kept_bytes=20_000)
    errors = []

    def work(seed):
        draw, kept = random.Random(seed), KeptFiles(folder, SECRET, days=7)
        try:
            for _ in range(40):
                content = bytes([draw.randrange(9)]) * 4_000
                _, key = keep(kept, content)
                found = kept.find(key)
                assert found is None or found.read() == content
                for file in kept.files()[: draw.randrange(3)]:
                    kept.delete(file.key)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    KeptFiles(folder, SECRET, days=7)  # which removes what they have written at the same time
    assert sum((folder / name).stat().st_size for name in on_disk(folder)) <= 20_000


# ---- which server keeps files


@pytest.mark.parametrize(
    ("variable", "one_user", "days"),
    [(None, True, 7), (None, False, 0), (3, True, 3), (3, False, 3), (0, True, 0)],
)
def test_a_server_for_others_keeps_files_only_when_it_is_told_to(
    tmp_path, monkeypatch, limit, variable, one_user, days
):
    monkeypatch.setenv("KDEGRAPH_STATE_DIR", str(tmp_path))
    limit(**({} if variable is None else {"kept_days": variable}))
    kept = KeptFiles.of_user(SECRET, one_user)
    if days == 0:
        with pytest.raises(ValueError, match="this server keeps no files"):
            keep(kept)
        assert on_disk(tmp_path) == []
        keep(KeptFiles(tmp_path / "files", SECRET, days=7))
        kept = KeptFiles.of_user(SECRET, one_user)  # which leaves the files of other servers alone
        assert (kept.files(), len(on_disk(tmp_path / "files"))) == ([], 1)
    else:
        keep(kept)
        (file,) = kept.files()
        assert file.until == datetime.date.fromtimestamp(time.time() + days * DAY)


# ---- addresses


@pytest.fixture
def served(sessions, kept):
    """Make sessions of a server that keeps files."""

    def make(query=None, storage=kept):
        session = sessions(start=query is None, bandwidth="one")  # which is quick
        session.sources["upload"].storage = storage
        if query is not None:
            session.restore(address.read(session, query))
            session.wait()
        return session

    return make


def address_of(session):
    return address.query(session, take(session))


def test_an_address_finds_the_file_in_another_session(served, kept):
    first = served()
    source = give_file(first, TABLE, "zoo.csv")
    source.columns = ["width", "weight"]
    first.wait()
    query = address_of(first)
    assert "data.kept=f" in query
    give_file(served(), TABLE.replace(b"ant", b"fly"), "zoo.csv")  # another file of this name
    again = served(query)
    assert again.state.error == again.state.notice == ""
    assert again.sources["upload"].file.read() == TABLE
    assert again.state.dataset.feature_names == ("width", "weight")
    assert address_of(again) == query
    assert len(kept.files()) == 2


def test_an_address_names_the_file_that_is_missing_and_the_present_state_stays(served, kept):
    first = served()
    give_file(first, TABLE, "zoo.csv")
    query = address_of(first)
    kept.delete(kept.files()[0].key)
    session = served()
    give_file(session, TABLE.replace(b"ant", b"fly"), "zoo.csv")
    before, dataset = take(session), session.state.dataset

    browser = Visit()
    AddressBar(session, browser).begin("?" + address_of(session))
    session.wait()
    browser.on_return(None, query)  # Back, to the entry of an earlier visit
    session.wait()
    assert "the file 'zoo.csv' is not on this server: choose it under Data" in session.state.notice
    assert take(session) == before
    assert session.state.dataset.n_points == dataset.n_points


def test_hostile_keys_in_an_address_are_refused(served, folder):
    session = served()
    give_file(session, TABLE, "zoo.csv")
    (folder.parent / "server-secret").write_text("1,2\n3,4\n5,6\n")
    query = "source=upload&data.file=zoo.csv&data.kept="
    for key in KEYS:
        if key is not None:
            with pytest.raises(ValueError, match=r"the file 'zoo\.csv' is not on this server"):
                address.read(session, query + json.dumps(key))
    assert address.read(session, query + "null").data["file"] is session.sources["upload"].file


def test_a_file_that_was_damaged_meanwhile_is_named_and_can_be_sent_again(served, folder, kept):
    session = served()
    give_file(session, TABLE, "zoo.csv")
    query, (path,) = address_of(session), folder.iterdir()
    path.write_bytes(path.read_bytes()[:-5] + b"4,ant")
    again = served(query)
    assert again.state.error == "zoo.csv was damaged on the server; choose it again"
    give_file(session, TABLE, "zoo.csv")
    assert served(query).state.dataset.n_points == 40


def test_sessions_without_a_server_write_nothing(sessions, folder):
    session = sessions()
    give_file(session, TABLE, "zoo.csv")
    assert "kept" not in address_of(session)
    shown = KeptList(session.sources["upload"], lambda key: None)
    for message in ({"open": "x"}, {"delete": "x"}):
        shown._handle_msg(message)
    assert on_disk(folder) == []


# ---- the page


def test_the_page_lists_opens_and_deletes_kept_files(explore, kept):
    _, flies = keep(kept, TABLE.replace(b"ant", b"fly"), "flies.csv")
    explorer = explore()
    session, shown = explorer.session, controls(explorer, DataControls)._kept
    session.sources["upload"].storage = kept
    assert not shown.visible
    source = give_file(session, TABLE, "zoo.csv")
    settle(explorer)
    assert shown.visible
    assert [row["name"] for row in shown.rows] == ["zoo.csv", "flies.csv"]
    assert shown.rows[0]["about"].startswith(f"{len(TABLE)} bytes, until ")
    assert shown.warning == ""
    session.history.end_step()
    assert not shown.unfolded
    shown._handle_msg({"open": flies})
    settle(explorer)
    assert session.state.shown.name == "flies.csv"
    assert [row["name"] for row in shown.rows] == ["flies.csv", "zoo.csv"]
    shown._handle_msg({"delete": flies})
    assert [row["name"] for row in shown.rows] == ["zoo.csv"]
    assert shown.warning == "The file is not kept, and lost with this page: it was deleted."
    undo(explorer)
    assert source.file.name == "zoo.csv"
    assert shown.warning == ""
    session.history.redo()  # what was deleted is not kept again
    settle(explorer)
    assert session.state.shown.name == "flies.csv"
    assert [row["name"] for row in shown.rows] == ["zoo.csv"]
    shown._handle_msg({"open": flies})
    assert session.state.notice == "This file is not kept any more: choose it again."
    for message in ({}, {"open": 3}, {"delete": None}, {"delete": "../server-secret"}):
        shown._handle_msg(message)
    assert [row["name"] for row in shown.rows] == ["zoo.csv"]


@pytest.mark.parametrize(
    ("columns", "label", "words"),
    [('["width","weight"]', "nothing", "nothing"), ('["height","depth"]', "kind", "depth")],
)
def test_columns_that_the_file_in_an_address_does_not_have_are_named(served, columns, label, words):
    session = served()
    give_file(session, TABLE, "zoo.csv")
    key = session.sources["upload"].storage.key_of(session.sources["upload"].file)
    query = f"data.file=zoo.csv&data.kept={key}&data.columns={columns}&data.label_column={label}"
    again = served(f"source=upload&{query}")
    assert words in again.state.error
    assert again.sources["upload"].label_column in ("none", "kind")
