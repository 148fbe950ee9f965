"""Text from files, addresses and session files stays text, wherever it is shown or written."""

import ast
import json
import os
import re
import runpy
from pathlib import Path

import kdegraph_explorer
import numpy as np
import panel as pn
import pytest
from bokeh.document import Document
from bokeh.models import Axis
from explorer_objects import PATIENCE, settle, view, widget
from hostile import NAME, TEXTS, bad_cell, quoted, table
from kdegraph_explorer import address
from kdegraph_explorer.exports import EXPORTS, session_file
from kdegraph_explorer.uploads import StoredFile
from kdegraph_explorer.views.markup import Markup, Text, each, html_table

PACKAGE = Path(kdegraph_explorer.__file__).parent
# Where foreign text may stand as it is: what shows it makes text of it. (Model, property).
AS_TEXT = {
    ("Browser", "said"),
    ("ColumnTable", "rows"),
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


def give(explorer, name, content):
    """Have the explorer read a file, and wait until all is drawn."""
    explorer.session.state.source = "upload"
    explorer.session.sources["upload"].file = StoredFile.of(name, content)
    explorer.session.wait(PATIENCE)
    settle(explorer)
    return explorer.session.state


@pytest.fixture
def explorer(explore):
    """An explorer of the hostile table."""
    explorer = explore([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0]])
    assert give(explorer, NAME, table()).error == ""
    return explorer


def test_text_is_escaped_unless_it_is_markup():
    text = Text("a < b")
    model = model_of(text)
    assert model.data.content == "a &lt; b"
    text.content = Markup("<b>{}</b>").format("a < b")
    assert model.data.content == "<b>a &lt; b</b>"
    text.content = "<b>a</b>"
    assert model.data.content == "&lt;b&gt;a&lt;/b&gt;"


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_tables_hold_text(text):
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
        state.param.update(horizontal=name, vertical=names[0], tables=True)
        settle(explorer)
    for key in state.param.view.objects:
        state.view = key
        settle(explorer)
    state.error = f"this cannot be: {' '.join(TEXTS.values())}"
    for kind, name, string in sent(page):
        if kind == "Text":
            assert not re.search(r"<(img|iframe|script|svg|a)\b|<style class", string), string
        elif any(foreign in string for foreign in (*TEXTS.values(), NAME)):
            seen.add((kind, name))
    assert seen == AS_TEXT


def test_messages_are_text(explorer):
    state = give(explorer, "a" + NAME, bad_cell())
    assert repr(TEXTS["frame"]) in state.error
    shown = {string for kind, _, string in sent(pn.Column(*explorer.sections())) if kind == "Text"}
    assert str(Markup("{}").format(state.error)) in shown


def test_choices_are_shown_without_icons(explorer):
    state = explorer.session.state
    axis = widget(explorer, "Horizontal axis")
    model = model_of(axis)
    assert not any(":material/" in option for option in model.data.options)
    (option,) = (option for option in model.data.options if "material/" in option)
    axis._process_events({"value": option})
    assert state.horizontal == TEXTS["icon"]


def test_names_of_axes_are_no_formulas(explorer):
    state = explorer.session.state
    state.param.update(horizontal=TEXTS["tex"], vertical=TEXTS["image"])
    settle(explorer)
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


# Files that are written


def export(session, key):
    done = []
    session.reproduce(lambda: done.append(True))
    session.wait(PATIENCE)
    assert done
    return next(export for export in EXPORTS if export.key == key).make(session)


CODE = (
    "'); import os; os.environ['PWN'] = '1'; ('",
    '"); import os; os.environ["PWN"] = "1"; ("',
    '""" + str(globals().update(PWN=1)) + """',
    "\\'); PWN = 1 #",
)
ROWS = b"".join(b"%d,%d\n" % (i % 7, i % 5) for i in range(40))


@pytest.mark.parametrize("code", CODE)
def test_script_quotes_names(sessions, tmp_path, monkeypatch, code):
    monkeypatch.delenv("PWN", raising=False)
    name, content = f"{code}.csv", f"{quoted(code)},b\n".encode() + ROWS
    (tmp_path / name).write_bytes(content)
    session = sessions()
    session.state.source = "upload"
    session.sources["upload"].file = StoredFile.of(name, content)
    session.wait(PATIENCE)
    assert session.state.error == ""
    session.state.choose(sigma=1.0)
    (tmp_path / "again.py").write_bytes(export(session, "script"))
    monkeypatch.chdir(tmp_path)
    found = runpy.run_path("again.py")
    np.testing.assert_array_equal(found["X"], session.state.shown.X)
    assert "PWN" not in found
    assert "PWN" not in os.environ


def test_script_of_a_session_file_names_no_folder(sessions):
    session = sessions()
    session.state.source = "upload"
    session.sources["upload"].file = StoredFile.of("zoo.csv", b"a,b\n" + ROWS)
    session.wait(PATIENCE)
    values = json.loads(session_file.write(session))
    values["data"]["file"]["name"] = "../../etc/zoo.csv"
    session.restore(session_file.read(session, json.dumps(values).encode()))
    session.wait(PATIENCE)
    assert session.state.error == ""
    nodes = ast.walk(ast.parse(export(session, "script")))
    texts = [str(node.value) for node in nodes if isinstance(node, ast.Constant)]
    assert "zoo.csv" in texts
    assert not any(".." in text for text in texts)


# Values from outside


INVALID = (
    ("sigma=" + "[" * 50_000, "sigma cannot be '"),
    ("horizontal=[1]", r"horizontal cannot be \[1\]"),
    ("selection=[18446744073709551615]", "selection must be"),
    ("selection=[9223372036854775808]", "selection must be"),
    ("selection=[[1],[1,2]]", "selection must be"),
    ("source=[1]", r"source must be one of .*, got \[1\]"),
    ("x" * 5000 + "=1", "there is nothing called 'xxx"),
)


def test_values_are_checked_and_messages_stay_short(sessions):
    session = sessions(start=False)
    for query, message in INVALID:
        with pytest.raises(ValueError, match=message) as refused:
            address.read(session, "?" + query)
        assert len(str(refused.value)) < 600


TOO_MUCH = {
    "parts": (
        lambda: b"[" + b"[]," * 200_000 + b"[]]",
        "200,002 lists and objects, the limit is 100,000",
    ),
    "values": (
        lambda: b"[" + b"1," * 7_000_000 + b"1]",
        "7,000,000 values, the limit is 6,000,000",
    ),
    "bytes": (lambda: bytes(2**28 + 1), "too large: 268,435,457 bytes, the limit is 268,435,456"),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_session_file_with_too_much_in_it_is_not_parsed(sessions, monkeypatch, name):
    make, message = TOO_MUCH[name]
    session = sessions(start=False)
    monkeypatch.setattr(session_file.json, "loads", None)
    with pytest.raises(ValueError, match=message):
        session_file.read(session, make())


def test_longest_selection_is_left_out_of_a_session_file(sessions, monkeypatch):
    session = sessions()
    session.state.selection = np.array([1, 2, 3])
    assert json.loads(session_file.write(session))["selection"] == [1, 2, 3]
    monkeypatch.setattr(session_file, "MAX_SAVED_SELECTION", 2)
    assert json.loads(session_file.write(session))["selection"] == []
