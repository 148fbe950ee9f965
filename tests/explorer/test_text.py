"""Text from files, addresses and session files stays text, wherever it is shown or written."""

import json
import re
from pathlib import Path

import kdegraph_explorer
import numpy as np
import panel as pn
import pytest
from bokeh.document import Document
from bokeh.models import Axis
from explorer_actions import give_file, put, settle
from explorer_objects import view, widget
from hostile import NAME, TEXTS, bad_cell, table
from kdegraph_explorer.exports import session_file
from kdegraph_explorer.uploads import StoredFile
from kdegraph_explorer.views.markup import Markup, Text, each, html_table

PACKAGE = Path(kdegraph_explorer.__file__).parent
# Where foreign text may stand as it is: what shows it makes text of it. (Model, property).
AS_TEXT = {
    ("Browser", "said"),
    ("ColumnTable", "rows"),
    ("NamedClusters", "heads"),
    ("PlainText", "text"),
    ("RowList", "names"),
    ("RowList", "page"),
    ("Select", "options"),
    ("Select", "value"),
}


def model_of(viewable):
    """Return the model that is sent to the browser."""
    return viewable.get_root(Document())


def strings(value):
    """All strings in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for pair in value.items():
            yield from strings(pair)
    elif isinstance(value, (list, tuple, set)):
        for part in value:
            yield from strings(part)


def sent(viewable):
    """(model, property, string) for all that is sent to the browser."""
    for model in model_of(viewable).references():
        kind = re.sub(r"\d+$", "", type(model).__name__)
        for name, value in model.properties_with_values(include_defaults=False).items():
            for string in strings(value):
                yield kind, name, string


@pytest.fixture
def explorer(explore):
    """An explorer of the hostile table."""
    explorer = explore([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0]])
    give_file(explorer.session, table(), NAME)
    settle(explorer)
    return explorer


def test_text_is_escaped_unless_it_is_markup():
    text = Text("a < b")
    model = model_of(text)
    assert model.data.content == "a &lt; b"
    text.content = Markup("<b>{}</b>").format("a < b")
    assert model.data.content == "<b>a &lt; b</b>"
    text.content = "<b>a</b>"
    assert model.data.content == "&lt;b&gt;a&lt;/b&gt;"


def test_tables_hold_text():
    for text in TEXTS.values():
        found = html_table((text, text), [(text, [text], text)])
        assert set(re.findall(r"</?(\w+)", found)) <= {"table", "thead", "tbody", "tr", "th", "td"}
        assert found.count(str(each(Markup("{}"), [text]))) == 5
        assert not re.search(r"""title="[^"]*["'][^>]*on\w+=""", found)


def test_foreign_text_reaches_the_browser_in_known_places_only(explorer):
    state = explorer.session.state
    names = list(state.shown.feature_names)
    page = pn.Column(*explorer.sections())
    seen = set()
    for name in names:
        put(explorer, horizontal=name, vertical=names[0], tables=True)
    for key in state.param.view.objects:
        put(explorer, view=key)
    state.error = f"this cannot be: {' '.join(TEXTS.values())}"
    for kind, name, string in sent(page):
        if kind == "Text":
            assert not re.search(r"<(img|iframe|script|svg|a)\b|<style class", string), string
        elif any(foreign in string for foreign in (*TEXTS.values(), NAME)):
            seen.add((kind, name))
    assert seen == AS_TEXT


def test_messages_are_text(explorer):
    state = explorer.session.state
    put(explorer.session, "upload", file=StoredFile.of("a" + NAME, bad_cell()))
    put(explorer.session, "upload", incomplete=False)
    settle(explorer)
    assert repr(TEXTS["frame"]) in state.error
    shown = {string for kind, _, string in sent(pn.Column(*explorer.sections())) if kind == "Text"}
    assert str(Markup("{}").format(state.error)) in shown


def test_choices_are_shown_without_icons_and_names_of_axes_are_no_formulas(explorer):
    state = explorer.session.state
    axis = widget(explorer, "Horizontal axis")
    model = model_of(axis)
    assert not any(":material/" in option for option in model.data.options)
    (option,) = (option for option in model.data.options if "material/" in option)
    axis._process_events({"value": option})
    assert state.horizontal == TEXTS["icon"]
    put(explorer, horizontal=TEXTS["tex"], vertical=TEXTS["image"])
    figures = view(explorer, state.view).figures()
    labels = {axis.axis_label for figure in figures for axis in figure.select(Axis)}
    assert {type(label).__name__ for label in labels} == {"PlainText"}
    assert {label.text for label in labels} == {TEXTS["tex"], TEXTS["image"]}


MAKES_HTML = (
    r"\.pane\.(HTML|Markdown|Alert|Str)\b",
    r"pmui\.(Typography|StaticText|Tooltip)\b",
    r"pmui\.Alert\(\s*[\"'f]",
    r"innerHTML|insertAdjacentHTML",
)


def test_no_module_makes_html_of_text_by_other_means():
    texts = {
        path.relative_to(PACKAGE).as_posix(): path.read_text() for path in PACKAGE.rglob("*.py")
    }
    found = {name for name, text in texts.items() if re.search("|".join(MAKES_HTML), text)}
    assert found == {"views/markup.py"}


# Values from outside


TOO_MUCH = (
    (lambda: b"[" + b"[]," * 200_000 + b"[]]", "200,002 lists and objects, the limit is 100,000"),
    (lambda: b"[" + b"1," * 7_000_000 + b"1]", "7,000,000 values, the limit is 6,000,000"),
    (lambda: bytes(2**28 + 1), "too large: 268,435,457 bytes, the limit is 268,435,456"),
)


def test_session_file_with_too_much_in_it_is_not_parsed(sessions, monkeypatch):
    session = sessions(start=False)
    monkeypatch.setattr(session_file.json, "loads", None)
    for make, message in TOO_MUCH:
        with pytest.raises(ValueError, match=message):
            session_file.read(session, make())


def test_longest_selection_is_left_out_of_a_session_file(sessions, monkeypatch):
    session = sessions()
    session.state.selection = np.array([1, 2, 3])
    assert json.loads(session_file.write(session))["selection"] == [1, 2, 3]
    monkeypatch.setattr(session_file, "MAX_SAVED_SELECTION", 2)
    assert json.loads(session_file.write(session))["selection"] == []
