"""Show explorers in notebooks: as Jupyter widgets, or in a frame."""

import asyncio
import base64

import panel as pn
from markupsafe import Markup
from panel.io.notebook import load_notebook

from .assets import style_sheet
from .exports.still import png, still_of
from .jobs import Latest
from .patches.panel import growing
from .serving.access import Access
from .serving.page import page_of, take_files_from_the_server
from .serving.servers import hidden_server_of
from .views.browser import Connection
from .views.markup import Beacon

FOREVER = 2**50  # milliseconds, or seconds


class Snapshots:
    """Show a picture of the present result above a live explorer in a notebook.

    It is hidden while the explorer is live. A saved notebook shows it without a kernel.
    """

    def __init__(self, session):
        from IPython.display import DisplayHandle

        self._state, self._handle = session.state, DisplayHandle()
        self._job = Latest(
            lambda still, progress, publish: png(still),
            mailbox=session.mailbox,
            deliver=lambda still, picture: self._handle.update(
                mime_bundle(still, picture), raw=True
            ),
        )
        self._state.param.watch(lambda event: event.new or self._request(), "busy")

    def display(self):
        """Put the picture into the output of the cell, an empty one if there is no result."""
        still = still_of(self._state)
        self._handle.display(mime_bundle(still, still and png(still)), raw=True)

    def _request(self):
        still = still_of(self._state)
        if still is not None:
            self._job.request(still)


def mime_bundle(still, picture):
    """Return what a notebook keeps of a `Still` and its picture, a PNG file; both may be None.

    A page shows it unless the explorer is live below it.
    """
    style = Markup("<style>{}</style>").format(style_sheet("snapshot"))
    if still is None:
        return {"text/html": style + Markup('<div class="kg-snapshot"></div>'), "text/plain": ""}
    words = "; ".join([still.title, *(graph.title for graph in still.graphs)])
    content = base64.b64encode(picture).decode()
    image = Markup('<img class="kg-snapshot" alt="{}" src="data:image/png;base64,{}">')
    return {
        "text/html": style + image.format(words, content),
        "image/png": content,
        "text/plain": words,
    }


def place_for(appear, mailbox, height):
    """Return a place in a notebook that ``appear(place)`` fills as soon as the browser listens.

    What is sent earlier would be lost. From then on, `mailbox` sends changes to the place, too.
    """
    beacon = Beacon("Starting …", height=height, sizing_mode="stretch_width")
    place = pn.Column(beacon, sizing_mode="stretch_width", margin=0, css_classes=["kg-explorer"])

    def heard():
        if not beacon.heard:
            beacon.param.update(heard=True, visible=False)
            with growing(place):
                appear(place)
            mailbox.pushes.append(lambda: pn.io.push_notebook(place))

    beacon.param.watch(lambda event: mailbox.post(heard), "beats")
    return place


def place_of(view):
    """Return a place with a new view of the same kind and session as the given one."""
    session, other = view.session, type(view)(view.session)
    other.pinned = True
    session.state.extra_methods = tuple(
        dict.fromkeys([*session.state.extra_methods, *other.extra_methods])
    )
    height = {"top": 460, "bottom": 280}[other.area]  # pixels

    def appear(place):
        other.appear()
        measured = {"stylesheets": [style_sheet("measured")], "sizing_mode": "stretch_width"}
        place.append(pn.Column(other, height=height, margin=0, **measured))

    return place_for(appear, session.mailbox, height)


def show(session, viewable):
    """Show an explorer, or a part of it, below the cell of a notebook that is being run.

    A picture of it stays when the kernel has ended.
    """
    from IPython.display import display

    try:
        from .patches.jupyter_bokeh import widget_of
    except ImportError:  # Panel's own way
        load_notebook(inline=True)
        data, metadata = viewable._repr_mimebundle_()
        display(data, metadata=metadata, raw=True)
        return
    Snapshots(session).display()
    display(widget_of(viewable, session.mailbox.post))


class FramedPage:
    """Serve a page of this process at 127.0.0.1, in a frame of another page.

    This is for notebooks such as marimo, where neither Panel nor Jupyter's widgets work well. The
    server ends with the event loop that makes this object, and with `close`. All frames show the
    same document: changes in one of them, or in Python, appear in all, and a page that is loaded
    again shows the present state. `browser` knows whether the page is dark; `document` is what the
    frames show, or None before the first one.
    """

    def __init__(self, viewable, browser, height):
        self._viewable, self._browser, self._height = viewable, browser, height
        self.document = None
        server, self._address = hidden_server_of(
            self._make,
            Access(),
            one_session=True,
            unused_session_lifetime_milliseconds=FOREVER,
            session_token_expiration=FOREVER,  # all pages get the token of the first one
        )
        server.start()
        # At its end, a loop cancels what still waits.
        self._end = asyncio.ensure_future(asyncio.Event().wait())
        self._end.add_done_callback(lambda task: server.stop())

    def _repr_html_(self):
        frame = Markup(
            '<iframe class="kg-frame" title="kdegraph explorer" src="{}" '
            'style="display: block; width: 100%; height: {}px; border: 0"></iframe>'
        )
        return str(frame.format(self._address, self._height))

    def _make(self):
        take_files_from_the_server()
        self.document = pn.state.curdoc
        no_bar = {"& header.MuiAppBar-root, & .MuiToolbar-root": {"display": "none"}}
        page = page_of(self._viewable, sx=no_bar)
        page.main.append(Connection(afterwards="Run the cell again to have another one."))
        self._browser.param.watch(lambda event: page.param.update(dark_theme=event.new), "dark")
        return page

    def close(self):
        """End the server."""
        self._end.cancel()
