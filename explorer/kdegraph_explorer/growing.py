"""Layouts that get new parts while they are on the screen, without a network."""

from contextlib import contextmanager

from bokeh.models import UIElement
from panel.io.notebook import patch_inline_stylesheets


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
                    inline_styles(root)
        for document in held:
            document.unhold()


def inline_styles(root):
    """Replace links to style sheets on the network by their text, which is part of the installed
    packages.
    """
    for model in root.references():
        if isinstance(model, UIElement):
            patch_inline_stylesheets(model)
