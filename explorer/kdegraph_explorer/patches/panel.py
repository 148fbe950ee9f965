"""Change what Panel (written for 1.9) does where it offers no public way."""

import sys
from contextlib import ExitStack, contextmanager, nullcontext

import panel as pn
from bokeh.models import UIElement
from panel.io.notebook import patch_inline_stylesheets
from panel.reactive import Syncable


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
        yield
        for document in documents:
            if document.session_context is None:
                for root in document.roots:
                    inline_styles(root)


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


def inline_styles(root):
    """Replace links to style sheets on the network by their text in the installed packages."""
    for model in root.references():
        if isinstance(model, UIElement):
            patch_inline_stylesheets(model)
