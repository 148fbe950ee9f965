"""Change what Panel (written for 1.9) does where it offers no public way."""

import json
import sys
from collections import Counter
from contextlib import ExitStack, contextmanager, nullcontext

import panel as pn
import panel_material_ui as pmui
from bokeh.document import Document
from bokeh.models import InlineStyleSheet, UIElement
from panel.io import document as messages
from panel.io.notebook import patch_inline_stylesheets
from panel.models.esm import ReactComponent
from panel.reactive import Syncable

from .bokeh import counted_once

HAS_WIDGETS = "kg-has-widgets"  # tag of a root in a page that has run `widgets_code`


def quietly():
    """Return a context in which Panel is set up without output.

    Without this, its scripts, 6 MB, are in the output of a notebook's cell. Explorers bring them.
    """
    if "IPython" not in sys.modules:
        return nullcontext()
    from IPython import get_ipython
    from IPython.utils.capture import capture_output

    if get_ipython() is None:
        return nullcontext()
    return capture_output(stdout=False, stderr=False, display=True)


def lock_events():
    """Have events that come while a change waits be processed with the lock of the document.

    Panel processes such a key or click in a coroutine together with the change. This draws, and
    without the lock, the event is lost.
    """
    Syncable._event_coroutine = pn.io.with_lock(Syncable._event_coroutine)


def send_all():
    """Have Panel send also the messages that come while it waits until others are sent.

    Without this, such a message may wait for the next change. Meanwhile the page says that
    something is computed, and later an older state may replace a newer one.
    """
    dispatch = messages._dispatch_msgs

    async def dispatch_all(document):
        await dispatch(document)
        while document in messages._WRITE_MSGS and document not in messages._WRITE_BLOCK:
            messages._WRITE_BLOCK[document] = True
            await dispatch(document)

    messages._dispatch_msgs = dispatch_all


def at_once(widget):
    """Send what the user does with a widget at once; return the widget.

    Without this, Panel waits 50 ms for further changes. `Latest` drops requests that come too fast.
    """
    widget._debounce = 0
    return widget


def forget(page):
    """Remove the page of an ended session from Panel's table of views.

    Without this, Panel keeps the page with all its data.
    """
    views = pn.state._views
    for reference in [reference for reference, (view, *_) in views.items() if view is page]:
        del views[reference]


@contextmanager
def growing(viewable):
    """Allow the layout `viewable` to get new parts within this context, and send them at its end.

    In a notebook, the style sheets of the parts are sent, too. Without this, they would come from
    the network.
    """
    documents = {model.document for model, _ in viewable._models.values()}
    # Documents that are held already send their changes when their holder releases them.
    held = [document for document in documents if document.callbacks.hold_value is None]
    with ExitStack() as stack:
        for document in held:
            stack.enter_context(_held(document))
        with counted_once(model for model, _ in viewable._models.values()):
            yield
            for document in documents:
                if document.session_context is None:
                    for root in document.roots:
                        prepare_for_notebook(root)


@contextmanager
def _held(document):
    """Send the changes of a document at the end of this context."""
    if document.session_context is not None:
        # Bokeh's own way would send them after those that Panel sends later.
        with pn.io.hold(document, "collect"):
            yield
        return
    document.hold("collect")
    try:
        yield
    finally:
        document.unhold()


def prepare_for_notebook(root):
    """Have what a notebook shows bring its style sheets, which would come from the network.

    Widgets of a root with the tag `HAS_WIDGETS` bring no code of their own; see `widgets_code`.
    """
    has_widgets = HAS_WIDGETS in root.tags
    for model in root.references():
        if isinstance(model, UIElement):
            patch_inline_stylesheets(model)
        is_widget = isinstance(model, ReactComponent) and model.bundle not in (None, "url")
        if has_widgets and is_widget:
            model.esm = ""
    _share_style_sheets([model for model in root.references() if isinstance(model, UIElement)])


def _share_style_sheets(models):
    """Have the models share style sheets of the same text.

    Without this, each component brings its own copies, 25 kB.
    """
    uses = Counter(
        sheet
        for model in models
        for sheet in model.stylesheets
        if isinstance(sheet, InlineStyleSheet)
    )
    kept = {}
    for sheet, _ in uses.most_common():  # those that are shared already stay
        kept.setdefault(sheet.css, sheet)
    for model in models:
        sheets = [kept[sheet.css] if sheet in uses else sheet for sheet in model.stylesheets]
        if sheets != model.stylesheets:
            model.stylesheets = sheets


def widgets_code():
    """Return a script that gives a page the code of all widgets, 1.5 MB.

    Without this, each of the 25 widgets of an explorer brings all of it, and a page that is loaded
    again needs the 4 s for it after which JupyterLab says "model not found".
    """
    widget = pmui.Button().get_root(Document())
    code = json.dumps({"bundle": widget.bundle, "esm": widget.esm, "class_name": "Button"})
    return f'new Bokeh.Models["{widget.__qualified_model__}"]({code});'
