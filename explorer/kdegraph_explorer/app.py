"""The explorer as a web page."""

import warnings

import panel as pn

from . import compiling
from .explorer import Explorer
from .page import STYLE, page_of, take_files_from_the_server
from .servers import server_of, sparing_old_objects

SIDEBAR_WIDTH = 320  # pixels


def create_app(file=None):
    """A new session of the explorer as a page.

    Parameters
    ----------
    file : str or path, optional
        Data to begin with: CSV, TSV, Parquet, NPY, NPZ, PNG or JPEG.

    Returns
    -------
    panel_material_ui.Page
        Call ``.servable()`` on it in a script for `panel serve`.
    """
    warnings.filterwarnings("ignore", "the eigenvalues did not converge")  # the page says so
    take_files_from_the_server()
    try:
        explorer = Explorer(file)  # with the file from the beginning, the page has its first view
    except ValueError:
        explorer = Explorer()
        explorer.open(file)  # which says on the page what is wrong
    sidebar, header, main = explorer.sections()
    page = page_of(main, sidebar=[sidebar], header=[header], sidebar_width=SIDEBAR_WIDTH, sx=STYLE)
    browser = explorer.layout.toolbar.browser

    def follow(*events):
        if browser.built:
            page.param.update(dark_theme=browser.dark, sidebar_open=not browser.narrow)

    browser.param.watch(follow, ["dark", "narrow", "built"])
    if browser.own_address:
        pn.state.on_session_destroyed(lambda context: _forget(page))
    return page


def _forget(page):
    """Remove the page of an ended session from Panel's table of views, which would keep it with all
    its data.
    """
    views = pn.state._views
    for reference in [reference for reference, (view, *_) in views.items() if view is page]:
        del views[reference]


def serve(file=None, host="127.0.0.1", port=5006, show=False):
    """Serve the explorer until interrupted; every browser tab is a session of its own.

    Parameters
    ----------
    file : str or path, optional
        Data to begin with, as for `create_app`.
    host : str
    port : int
        0 takes any that is free.
    show : bool
        Open a browser.
    """
    compiling.start()  # while the browser opens
    everywhere = host in ("0.0.0.0", "::")
    local = everywhere or host in ("127.0.0.1", "::1", "localhost")
    name = "localhost" if local else host
    origins = None  # Bokeh's default is localhost with whatever port is free
    if everywhere:
        origins = ["*"]
    elif port:
        origins = [
            f"{origin}:{port}" for origin in ({"localhost", "127.0.0.1"} if local else {host})
        ]
    server = server_of(
        lambda: create_app(file), address=host, port=port, websocket_origin=origins, show=show
    )
    # Users wait for the address.
    words = f"kdegraph explorer: http://{name}:{server.port}/  (Ctrl+C stops it)"
    print(words, flush=True)  # noqa: T201
    with sparing_old_objects():
        server.start()
        server.io_loop.start()
