"""Showing an explorer in a notebook, without a network."""

from contextlib import contextmanager

from bokeh.document import Document
from bokeh.models import UIElement
from panel.io.notebook import patch_inline_stylesheets


def widget_of(viewable):
    """A Jupyter widget that shows a Panel object.

    Panel's own way into a notebook waits seconds between two messages of a page in JupyterLab;
    those of a widget arrive at once.

    Raises
    ------
    ImportError
        Without `jupyter_bokeh`.
    """
    from jupyter_bokeh.widgets import BokehModel

    root = viewable.get_root(Document())
    _inline_styles(root)
    return BokehModel(root, combine_events=True)


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
