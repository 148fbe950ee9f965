"""Keys, the buttons in the bar, and plots in words: what can be done and read without a mouse and
without eyes.
"""

import numpy as np
import pytest
from explorer_actions import choose, settle
from explorer_objects import part
from kdegraph import datasets
from kdegraph_explorer.exports import EXPORTS
from kdegraph_explorer.views.keys import SHORTCUTS, help_text
from kdegraph_explorer.views.later import put
from kdegraph_explorer.views.toolbar import OPEN, SAVE_FIGURE


@pytest.fixture
def explorer(explore):
    return explore(datasets.make("blobs", n=90, seed=0).X, sigma=0.8, n_clusters=3)


def press(explorer, key):
    """Press a key, as the browser reports it."""
    browser = explorer.layout.toolbar.browser
    browser._handle_msg({"action": browser.keys[key]})
    settle(explorer)


def test_every_key_does_something_and_is_explained(explorer):
    for key in explorer.layout.toolbar.browser.keys:
        press(explorer, key)
    assert explorer.session.state.error == ""
    browser = explorer.layout.toolbar.browser
    assert sum(len(shortcut.keys) for shortcut in SHORTCUTS) == len(browser.keys)
    assert set(browser.keys.values()) <= set(explorer.layout.toolbar.actions)
    assert all(shortcut.sentence for shortcut in SHORTCUTS if shortcut.shown)
    assert all(shortcut.shown in help_text() for shortcut in SHORTCUTS)


def test_dialogs_are_open_before_they_come_into_the_page_and_come_once(explorer, monkeypatch):
    toolbar, came = explorer.layout.toolbar, []

    def note(place, parts, session):
        came.extend((part.title, part.open) for part in parts)
        put(place, parts, session)

    monkeypatch.setattr("kdegraph_explorer.views.toolbar.put", note)
    for expected in (True, False, True):
        press(explorer, "?")
        assert toolbar.help.open == expected
    for label in (OPEN, SAVE_FIGURE, OPEN, SAVE_FIGURE):
        toolbar.choose({"label": label})
    assert came == [("Help", True), ("Open a session", True), ("Save a figure", True)]


def test_undo_and_redo_by_key(explorer):
    state = explorer.session.state
    assert part(explorer.layout.toolbar, "Undo").disabled
    choose(explorer, n_clusters=5)
    assert not part(explorer.layout.toolbar, "Undo").disabled
    press(explorer, "ctrl+z")
    assert state.n_clusters == 3
    assert explorer.labels.max() == 2
    press(explorer, "ctrl+shift+z")
    assert state.n_clusters == 5
    assert part(explorer.layout.toolbar, "Redo").disabled
    frame = explorer.views["points"].frame
    x0, x1, y0, y1, *_ = frame.viewport
    press(explorer, "+")
    near = frame.viewport
    assert x0 < near[0] < near[1] < x1
    press(explorer, "shift+ArrowRight")
    assert frame.viewport[0] > near[0]
    assert frame.viewport[2] == near[2]
    press(explorer, "0")
    np.testing.assert_allclose(frame.viewport[:4], (x0, x1, y0, y1))
    press(explorer, "e")
    assert not state.show_edges
    press(explorer, "t")
    assert state.tables
    before = state.view
    press(explorer, "v")
    assert state.view != before or len(state.param.view.objects) == 1


def test_clusters_and_points_are_selected_by_key_and_screen_readers_hear_it(explorer):
    state, colors = explorer.session.state, explorer.session.state.outcome("kde").colors
    seen = []
    for _ in range(4):
        press(explorer, "c")
        (cluster,) = np.unique(colors[state.selection])
        assert len(state.selection) == np.count_nonzero(colors == cluster)
        seen.append(cluster)
    assert seen == [0, 1, 2, 0]
    press(explorer, "Escape")
    assert len(state.selection) == 0
    press(explorer, "[")
    press(explorer, "[")
    assert state.selection.tolist() == [89]
    press(explorer, "]")
    assert state.selection.tolist() == [0]
    # Screen readers hear what has come out.
    browser = explorer.layout.toolbar.browser
    press(explorer, "Escape")
    assert browser.said == "KDE graph: 3 clusters; k-NN graph: 3 clusters"
    press(explorer, "c")
    assert browser.said.endswith("30 points selected")
    explorer.session.state.error = "too large"
    assert browser.said.startswith("too large")


def test_files_are_handed_to_the_browser(explorer, monkeypatch):
    saved = {}
    monkeypatch.setattr(
        explorer.layout.toolbar.browser, "save", lambda name, content: saved.update({name: content})
    )
    for item in explorer.layout.toolbar.menu.items[: len(EXPORTS)]:
        explorer.layout.toolbar.choose(item)
        settle(explorer)
    assert set(saved) == {export.filename(explorer.session) for export in EXPORTS}
    assert all(saved.values())
