"""Earlier files stay whole at Ctrl+C, and errors name the file.

Full disks: tests/attack/test_writers.py, for all writers.
"""

import errno
import os
import stat
import threading

import numpy as np
import pytest
from files import full_disk
from kdegraph import export_graph, similarity_graph
from kdegraph.npy_files import write_npy
from kdegraph.runtime.replacing import new_folder, writing

X = np.random.default_rng(0).normal(size=(1000, 2))
GRAPH = similarity_graph(X, sigma=0.3, n_rounds=10, seed=0)
WRITERS = {
    "graph.npz": GRAPH.save,
    "graph.graphml": lambda path: export_graph(path, GRAPH),
    "graph.gexf": lambda path: export_graph(path, GRAPH, attributes={"x": X[:, 0]}),
}


def check_untouched(path, content):
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(("name", "write"), WRITERS.items(), ids=WRITERS)
def test_an_interrupt_leaves_the_earlier_file(name, write, tmp_path, monkeypatch):
    path = tmp_path / name
    write(path)
    content = path.read_bytes()

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    monkeypatch.setattr("pathlib.Path.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(path)
    check_untouched(path, content)


def test_files_of_the_explorer_replace_earlier_ones_when_they_are_whole(explore, tmp_path):
    explorer = explore(X[:100], n_clusters=2)
    for ending in ("html", "png", "npz", "graphml"):
        path = tmp_path / f"result.{ending}"
        path.write_bytes(b"earlier")
        with full_disk(1000), pytest.raises(OSError, match="File too large"):
            explorer.save(path)
        check_untouched(path, b"earlier")
        explorer.save(path)
        assert len(path.read_bytes()) > 1000
        path.unlink()


def test_arrays_are_whole_or_an_error_says_why(tmp_path):
    """NumPy loses the error of the last bytes, which the system's library writes at the end."""
    path = tmp_path / "a.npy"
    for array in (np.arange(12).reshape(3, 4)[:, ::-1], np.zeros((0, 2)), np.array([1, 2], ">i4")):
        write_npy(path, array)
        found = np.load(path)
        np.testing.assert_array_equal(found, array)
        assert found.dtype == array.dtype
    with full_disk(path.stat().st_size - 1), pytest.raises(OSError, match="File too large"):
        write_npy(path, array)


def test_errors_of_libraries_without_a_name_or_a_number_get_them(tmp_path):
    for raised in (OSError("8192 requested and 0 written"), OSError(errno.ENOSPC, "No space left")):
        with pytest.raises(OSError, match=r"written|space") as caught, writing(tmp_path / "a"):
            raise raised
        assert caught.value.filename == str(tmp_path / "a")
        assert caught.value.errno == (raised.errno or errno.EIO)
    with pytest.raises(OSError, match="space"), new_folder(tmp_path / "b"):
        raise OSError(errno.ENOSPC, "No space left")
    with pytest.raises(FileNotFoundError) as caught, writing(tmp_path / "none" / "a"):
        pass
    assert caught.value.filename == str(tmp_path / "none" / "a")
    assert list(tmp_path.iterdir()) == []


def test_links_are_followed_and_modes_kept(tmp_path):
    target, link = tmp_path / "target.npz", tmp_path / "link.npz"
    target.write_bytes(b"earlier")
    target.chmod(0o640)
    link.symlink_to(target)
    GRAPH.save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert target.stat().st_size > 1000
    mask = os.umask(0o022)
    try:
        GRAPH.save(tmp_path / "new.npz")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new.npz").stat().st_mode) == 0o644


def test_devices_and_pipes_are_written_to_and_stay(tmp_path):
    with writing(os.devnull) as device:
        device.write_bytes(b"nothing")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with writing(pipe) as written:
        written.write_bytes(b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_folder_into_which_a_thread_still_writes_after_an_error_is_removed(tmp_path):
    threads = []

    def write(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "late").touch()

    def fail(folder):
        threads.append(threading.Timer(0.02, write, [folder]))
        threads[0].start()
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="space"), new_folder(tmp_path / "a") as folder:
        fail(folder)
    threads[0].join()
    assert list(tmp_path.iterdir()) == []
