"""The secret that signs session ids and cookies, and its file."""

import os
import stat
import subprocess
import sys

import pytest
from kdegraph_explorer.serving import user_secret as module
from kdegraph_explorer.serving.user_secret import FILE, SIZE, user_secret

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files have no mode elsewhere")
# Without the rest of the package, which takes seconds to import.
READ = f"import runpy; print(runpy.run_path({module.__file__!r})['user_secret']().hex())"


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Where the secret will be."""
    monkeypatch.setenv("KDEGRAPH_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state" / FILE


def test_it_outlives_the_process_and_only_its_user_can_read_it(path):
    umask = os.umask(0)
    try:
        secret = user_secret()
    finally:
        os.umask(umask)
    assert len(secret) == SIZE == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert os.listdir(path.parent) == [FILE]
    assert user_secret() == secret
    again = subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True, check=True)
    assert again.stdout.strip() == secret.hex()


def test_processes_that_start_together_have_the_same(path):
    processes = [
        subprocess.Popen([sys.executable, "-c", READ], stdout=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    assert len({process.communicate()[0] for process in processes}) == 1
    assert os.listdir(path.parent) == [FILE]


def test_one_that_others_could_read_or_write_or_that_is_damaged_is_replaced(path):
    for mode in (0o640, 0o604, 0o666, 0o620):
        secret = user_secret()
        path.chmod(mode)
        with pytest.warns(UserWarning, match="could be read by other users and is replaced"):
            other = user_secret()
        assert other != secret
        assert user_secret() == other
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for content in (b"", b"00" * 31, b"00" * 33, b"x" * 64, b"\xff" * 64):
        path.write_bytes(content)
        with pytest.warns(UserWarning, match="was damaged and is replaced"):
            secret = user_secret()
        assert user_secret() == secret
        assert len(set(secret)) > 1


def test_where_no_file_can_be_kept_there_is_one_for_the_process(path, tmp_path):
    path.parent.write_text("in the way")
    with pytest.warns(UserWarning, match=f"cannot keep the secret .*{FILE}.*KDEGRAPH_STATE_DIR"):
        secrets = user_secret(), user_secret()
    assert secrets[0] != secrets[1]
    assert {len(secret) for secret in secrets} == {SIZE}


def test_the_folder_is_that_of_the_user(tmp_path, monkeypatch):
    monkeypatch.delenv("KDEGRAPH_STATE_DIR", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    user_secret()
    assert (tmp_path / ".local" / "state" / "kdegraph" / FILE).exists()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    user_secret()
    assert (tmp_path / "elsewhere" / "kdegraph" / FILE).exists()
