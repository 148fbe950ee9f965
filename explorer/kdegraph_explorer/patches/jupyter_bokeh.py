"""Change what jupyter_bokeh (written for 4.0) does, for Jupyter widgets that show an explorer.

No widget uses the network. This module needs `ipywidgets` and `jupyter_bokeh`.
"""

import asyncio
from contextlib import suppress
from functools import cache, partial

from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from bokeh.document.events import MessageSentEvent
from bokeh.resources import INLINE
from ipywidgets import Output
from jupyter_bokeh.widgets import BokehModel
from panel.io.resources import Resources, bundle_resources, set_resource_mode
from traitlets import Dict

from .panel import HAS_WIDGETS, prepare_for_notebook, widgets_code

# A script for a page that takes no import maps after it has been loaded. Without it, each component
# warns of that in the console; those of the explorer need none.
NO_IMPORT_MAPS = """
try {
  importShim.addImportMap({});
} catch {
  importShim.addImportMap = () => {};
}
"""


class PresentBokehModel(BokehModel):
    """Show a Bokeh model as it is when a browser asks for it.

    Without this, a page that is loaded again shows the model as it was when the widget was made.
    """

    render_bundle = Dict().tag(sync=True, to_json=lambda bundle, widget: present_state(widget))
    made = None  # the state in this turn of the event loop, if it has been asked for


def present_state(widget):
    """Return the state of a `PresentBokehModel` as JSON.

    This takes .4 s for an explorer, and ipywidgets asks twice before it answers a page.
    """
    if widget.made is not None:
        return widget.made
    state = serialize_json(widget._model_to_traits(widget._model))
    with suppress(RuntimeError):  # outside an event loop
        asyncio.get_running_loop().call_soon(setattr, widget, "made", None)
        widget.made = state
    return state


def widget_of(viewable, post):
    """Make a Jupyter widget that shows a Panel object: an `ipywidgets.Output`.

    It first runs the scripts that the object needs, 4.5 MB. Its content is not saved with a
    notebook. Panel's own way into a notebook waits seconds between two messages of a page in
    JupyterLab; those of a widget arrive at once. ``post(callback)`` runs a callback on the thread
    of the object; see `Mailbox.post`.
    """
    model = live_model(viewable, post)
    view = {"version_major": 2, "version_minor": 0, "model_id": model.model_id}
    return Output(
        outputs=(
            _displayed({"application/javascript": scripts()}),
            _displayed({"application/vnd.jupyter.widget-view+json": view}),
        )
    )


def live_model(viewable, post):
    """Make the widget for the Panel object alone; arguments as of `widget_of`.

    The widget does not combine events. It would hold them back until the kernel reports to be
    idle, which a kernel that handles two messages at a time does not always do.
    """
    document = Document()
    root = viewable.get_root(document)
    root.tags = [HAS_WIDGETS]
    prepare_for_notebook(root)
    model = PresentBokehModel(root)

    # The widget has put the model into another document. Panel sends messages for components, such
    # as a file to save, to the document that it was given.
    def forward(event):
        if isinstance(event, MessageSentEvent):
            root.document.callbacks.send_event(event.msg_data)

    document.on_change(forward)
    model.add_class("kg-live")  # as opposed to a picture of it
    # Without this, kernels hand over the messages of the page in threads of their own.
    handle = model._sync_model
    model.on_msg(handle, remove=True)
    model.on_msg(lambda *message: post(partial(handle, *message)))
    return model


def _displayed(data):
    return {"output_type": "display_data", "data": data, "metadata": {}}


@cache
def scripts():
    """Return the code of Bokeh, Panel and all widgets as one script, which a page runs once."""
    with set_resource_mode("inline"):
        resources = Resources.from_bokeh(INLINE, notebook=True)
        bundle = bundle_resources(None, resources, notebook=True, enable_mathjax=False)
    parts = "\n".join(
        f"(function(Bokeh) {{\n{part}\n}}).call(window, window.Bokeh);"
        for part in [*bundle.js_raw, NO_IMPORT_MAPS, widgets_code()]
    )
    return f"if (!window.kdegraph_scripts) {{\n{parts}\nwindow.kdegraph_scripts = true;\n}}"
