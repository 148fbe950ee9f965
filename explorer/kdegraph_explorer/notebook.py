"""Showing an explorer in a notebook, without a network."""

from contextlib import contextmanager
from functools import partial

from bokeh.document import Document
from bokeh.models import UIElement
from panel.io.notebook import patch_inline_stylesheets


def widget_of(viewable, post):
    """A Jupyter widget that shows a Panel object.

    Panel's own way into a notebook waits seconds between two messages of a page in JupyterLab;
    those of a widget arrive at once.

    Parameters
    ----------
    viewable : panel.viewable.Viewable
    post : callable
        ``post(callback)`` has a callback run on the thread that the Panel object belongs to; see
        `Mailbox.post`.

    Raises
    ------
    ImportError
        Without `jupyter_bokeh`.

    Notes
    -----
    The widget does not combine events. It would hold them back until the kernel reports to be
    idle, which a kernel that handles two messages at a time does not always do.
    """
    from jupyter_bokeh.widgets import BokehModel

    root = viewable.get_root(Document())
    _inline_styles(root)
    widget = BokehModel(root)
    # Kernels hand over the messages of the page in threads of their own.
    handle = widget._sync_model
    widget.on_msg(handle, remove=True)
    widget.on_msg(lambda *message: post(partial(handle, *message)))
    return widget


@contextmanager
def growing(viewable):
    """Within this context, the layout `viewable` may get new parts. They are sent at its end, in a
    notebook together with their style sheets.
    """
    documents = {model.document for model, _ in viewable._models.values()}
    # Documents that are held already send their changes when their holder releases them.
    held = [document for document in documents if document.callbacks.hold_value is None]
    for document in held:
        document.hold("collect")
    try:
        yield
    finally:
        for document in documents:
            if document.session_context is None:
                for root in document.roots:
                    _inline_styles(root)
        for document in held:
            document.unhold()


def _inline_styles(root):
    """Replace links to style sheets on the network by their text, which is part of the installed
    packages.
    """
    for model in root.references():
        if isinstance(model, UIElement):
            patch_inline_stylesheets(model)
