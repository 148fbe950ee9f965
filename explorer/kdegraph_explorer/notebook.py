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

VIEW_HEIGHT = {"top": 460, "bottom": 280}  # pixels of a view that is shown by itself
FRAME = Markup(
    '<iframe class="kg-frame" title="kdegraph explorer" src="{}" '
    'style="display: block; width: 100%; height: {}px; border: 0"></iframe>'
)
# The page is a frame's, which has no room for a bar.
STYLE = {"& header.MuiAppBar-root, & .MuiToolbar-root": {"display": "none"}}
AFTER_THE_END = "Run the cell again to have another one."
FOREVER = 2**50  # milliseconds, or seconds


class Snapshots:
    """A picture of the present result above a live explorer in a notebook. It is hidden while the
    explorer is live, and is what a saved notebook shows without a kernel.

    Parameters
    ----------
    session : Session
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
        """Put the picture into the output of the cell; without a result, an empty one."""
        still = still_of(self._state)
        self._handle.display(mime_bundle(still, still and png(still)), raw=True)

    def _request(self):
        still = still_of(self._state)
        if still is not None:
            self._job.request(still)


def mime_bundle(still, picture):
    """What a notebook keeps of a picture: a page shows it unless the explorer is live below it.

    Parameters
    ----------
    still : Still or None
    picture : bytes or None
        A PNG file.
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
    """A place in a notebook: as soon as its browser listens, ``appear(place)`` fills it. What is
    sent earlier would be lost.

    Parameters
    ----------
    appear : callable
    mailbox : Mailbox
        From now on, it sends changes to the place, too.
    height : int
        Pixels.
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
    """A place with a view of its own, linked to the one that is given: both watch the same
    session.
    """
    session, other = view.session, type(view)(view.session)
    other.pinned = True
    session.state.extra_methods = tuple(
        dict.fromkeys([*session.state.extra_methods, *other.extra_methods])
    )
    height = VIEW_HEIGHT[other.area]

    def appear(place):
        other.appear()
        measured = {"stylesheets": [style_sheet("measured")], "sizing_mode": "stretch_width"}
        place.append(pn.Column(other, height=height, margin=0, **measured))

    return place_for(appear, session.mailbox, height)


def show(session, viewable):
    """Show an explorer, or a part of it, below the cell of a notebook that is being run, with a
    picture that stays when the kernel has ended.

    Parameters
    ----------
    session : Session
    viewable : panel.viewable.Viewable
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
    """A page on a server of this process, at 127.0.0.1. The server ends with the event loop that
    makes this object, and with `close`.

    All frames show the same document: what is done in one of them, or in Python, is seen in all,
    and a page that is loaded again finds what was there.

    Parameters
    ----------
    viewable : panel.viewable.Viewable
        What the page shows.
    browser : Browser
        Tells whether the page is to be dark.
    height : int
        Pixels.

    Attributes
    ----------
    document : bokeh.document.Document or None
        What the frames show, once there was one.
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
        return str(FRAME.format(self._address, self._height))

    def _make(self):
        take_files_from_the_server()
        self.document = pn.state.curdoc
        page = page_of(self._viewable, sx=STYLE)
        page.main.append(Connection(afterwards=AFTER_THE_END))
        self._browser.param.watch(lambda event: page.param.update(dark_theme=event.new), "dark")
        return page

    def close(self):
        """End the server."""
        self._end.cancel()
