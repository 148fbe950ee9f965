"""Steps of tests with sessions and explorers: choices, files, undo, exports, and waiting."""

import runpy
import time

import numpy as np

PATIENCE = 240  # seconds: kernels may have to be compiled beside other work
TWO_PAIRS = [[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]]
TABLE = b"width,height,kind,weight\n" + b"".join(
    b"%d,%d,%s,%d\n" % (i % 7, i % 5, (b"ant", b"bee")[i % 2], i * i % 37) for i in range(40)
)


# An explorer or a session may stand for `shown`: of a session only the result is waited for.


def settle(shown):
    """Wait until nothing is computed or painted any more, also after the result."""
    for _ in range(2):  # a result makes views paint, and clusters be judged
        for job in session_of(shown).jobs:
            job.wait(PATIENCE)


def session_of(shown):
    return getattr(shown, "session", shown)


def wait(shown):
    """Wait for the result, and for what an explorer paints of it."""
    settle(shown) if hasattr(shown, "session") else shown.wait(PATIENCE)


def until(shown, holds):
    """Deliver what has been computed until something holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it does not come about"
        session_of(shown).mailbox.drain()
        time.sleep(0.001)


def choose(shown, **values):
    """Set parameters by hand and wait for the result, as a step of its own."""
    session_of(shown).state.choose(**values)
    wait(shown)
    session_of(shown).history.end_step()  # as if a while had passed


def put(shown, source=None, /, **values):
    """Set parameters of the state, or of the source with a key, and wait for the result."""
    session = session_of(shown)
    target = session.state if source is None else session.sources[source]
    target.param.update(**values)
    wait(shown)


def undo(shown):
    session_of(shown).history.undo()
    wait(shown)


def redo(shown):
    session_of(shown).history.redo()
    wait(shown)


def restored(session, snapshot):
    """Restore choices in a session, wait for the result, and return the session."""
    session.restore(snapshot)
    session.wait(PATIENCE)
    return session


def reopened(session, other):
    """Open the session file of a session in another one, and return that."""
    from kdegraph_explorer.exports import session_file

    return restored(other, session_file.read(other, session_file.write(session)))


def reproduce(session):
    """Wait for a result that depends on the choices alone."""
    done = []
    session.reproduce(lambda: done.append(True))
    session.wait(PATIENCE)
    assert done


def silent(*args, **options):
    """Progress that nobody follows, and results that nobody is shown."""


def computed(request):
    """Return what a fresh pipeline finds."""
    from kdegraph_explorer.pipeline import Pipeline

    return Pipeline().run(request, silent, silent)


def export(session, key):
    """Return the content of an exported file."""
    from kdegraph_explorer.exports import EXPORTS

    return next(export for export in EXPORTS if export.key == key).make(session)


def run_script(session, folder):
    """Run the exported script in a folder; returns its names, after a check of its result."""
    (folder / "again.py").write_bytes(export(session, "script"))
    found, outcome = runpy.run_path(str(folder / "again.py")), session.state.outcome("kde")
    np.testing.assert_array_equal(found["labels"], outcome.labels)
    # LAPACK's last bits depend on where in memory its arrays lie.
    np.testing.assert_allclose(
        found["spectrum"].eigenvectors, outcome.spectrum.eigenvectors, rtol=0, atol=1e-12
    )
    return found


def csv(**columns):
    """Return a CSV file with these columns."""
    rows = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    return "\n".join([",".join(columns), *rows]).encode()


def give_file(session, content, name="t.csv"):
    """Open an uploaded file in a session, wait for the result, and return the source."""
    from kdegraph_explorer.uploads import StoredFile

    session.state.source = "upload"
    session.sources["upload"].file = StoredFile.of(name, content)
    session.wait(PATIENCE)
    assert session.state.error == ""
    return session.sources["upload"]


def explorer_of_file(explore, content, view="points"):
    """An explorer with an uploaded file, one sigma, and one of its large views on the screen."""
    explorer = explore()
    explorer.session.state.bandwidth = "one"  # what the library would decide takes longer
    give_file(explorer.session, content)
    explorer.session.state.view = view
    settle(explorer)
    return explorer
