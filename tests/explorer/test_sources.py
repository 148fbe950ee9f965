"""Sources of data: generators, photographs, files."""

import numpy as np
import pytest
from explorer_actions import PATIENCE, choose, put
from explorer_objects import widget
from files import picture_bytes, png_header
from kdegraph import datasets
from kdegraph_explorer.sources.generators import Generators
from kdegraph_explorer.uploads import StoredFile
from kdegraph_explorer.views.status import Status

TABLE = b"width,height,kind,weight\n1,2,ant,3\n2,3,bee,4\n3,1,ant,5\n8,9,bee,6\n"


@pytest.fixture
def session(sessions):
    session = sessions(start=False, bandwidth="one")
    session.sources["generators"].n = 100
    session.start()
    session.wait(PATIENCE)
    return session


def give(session, name, content):
    """Give the session a file as the browser does, whether or not it can be read."""
    session.state.source = "upload"
    put(session, "upload", file=StoredFile.of(name, content))
    return session.state


def test_every_generator_stands_below_one_heading(explore):
    choice = widget(explore(), "Shape")
    shapes = [name for options in choice.groups.values() for name in options.values()]
    assert sorted(shapes) == sorted(datasets.names())
    assert list(Generators.param.shape.objects) == shapes


def test_nothing_is_loaded_before_the_session_starts(sessions):
    session = sessions(start=False)
    give(session, "zoo.csv", TABLE)
    assert session.state.dataset is None
    assert not any(job.busy for job in session.jobs)
    session.start()
    session.wait(PATIENCE)
    assert session.state.dataset.name == "zoo.csv"


def test_a_file_that_does_not_exist_is_an_error_until_it_does(sessions, tmp_path):
    session = sessions(start=False)
    source, path = session.sources["upload"], tmp_path / "zoo.csv"
    source.file, session.state.source = path, "upload"
    session.start()
    session.wait(PATIENCE)
    assert session.state.error == (
        f"the file {str(path)!r} cannot be read: No such file or directory; "
        "under Data, choose another file or another source"
    )
    assert Status(session).sentence() == "There is no result yet."
    assert not any(job.busy for job in session.jobs)
    path.write_bytes(TABLE)
    session.retry()
    session.wait(PATIENCE)
    assert session.state.error == ""
    assert session.state.dataset.n_points == 4


def test_picture_becomes_pixels(session):
    pixels = np.zeros((20, 30, 3), dtype=np.uint8)
    pixels[:, 15:] = 255
    state = give(session, "half.png", picture_bytes(pixels))
    assert state.dataset.shape == (20, 30)
    assert session.sources["upload"].applicable() == ("file", "pixels")
    labels = state.outcome("kde").labels.reshape(20, 30)
    assert np.intersect1d(labels[:, :14], labels[:, 16:]).size == 0  # no segment has both colors
    choose(session, n_clusters=2)
    labels = state.outcome("kde").labels.reshape(20, 30)
    assert len(np.unique(labels[:, :14])) == len(np.unique(labels[:, 16:])) == 1


BAD = {
    "notes.txt": b"hello",
    "words.csv": b"a,b\nx,y\n",
    "cut.png": picture_bytes(np.zeros((9, 9, 3), dtype=np.uint8))[:40],
    "huge.png": png_header(100_000, 100_000),
}


def test_bad_file_says_why_and_keeps_the_data(session):
    before, result = session.state.dataset, session.state.result
    for name, content in BAD.items():
        state = give(session, name, content)
        assert state.dataset is before
        assert state.result is result
        assert name in state.error
        assert "Traceback" not in state.error
