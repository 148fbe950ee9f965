"""The explorer as a web page."""

import warnings
from pathlib import Path

import panel as pn
import panel_material_ui as pmui
from panel.io.resources import LOCAL_DIST
from panel.util import edit_readonly

from . import compiling
from .explorer import SIDEBAR_WIDTH, Explorer
from .policy import Headers, page_template
from .typography import SIZES

TITLE = "kdegraph explorer"


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
    # The location comes first, as Panel also sets the place of style sheets when it makes that.
    if pn.state.location is not None and (document := pn.state.curdoc) is not None:
        # Panel does this when it sends a page. If a page takes so long to load that its session has
        # ended, it begins another one when it connects, whose style sheets would come from the
        # network without this.
        document.template_variables["dist_url"] = (
            f"{pn.state.rel_path}/{LOCAL_DIST}" if pn.state.rel_path else LOCAL_DIST
        )
    try:
        explorer = Explorer(file)  # with the file from the beginning, the page has its first view
    except ValueError:
        explorer = Explorer()
        explorer.open(file)  # which says on the page what is wrong
    sidebar, header, main = explorer.sections()
    page = pmui.Page(
        title=TITLE,
        template=page_template(),
        sidebar=[sidebar],
        header=[header],
        main=[main],
        sidebar_width=SIDEBAR_WIDTH,
        theme_config=THEME,
        favicon=Path(__file__).with_name("favicon.svg"),
        busy_indicator=None,
        sx=STYLE,
        meta_description="Similarity graphs sampled in nearly linear time, beside k-NN graphs",
    )
    with edit_readonly(page):
        # By default, Panel's state, which outlives the page, would refer to it and keep it forever.
        page.busy = pn.rx(False)
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


def server_of(file, path="/", **options):
    """A server of the explorer that has not been started yet.

    Parameters
    ----------
    file : str, path or None
        Data to begin with, as for `create_app`.
    path : str
        Of the page.
    **options
        For `panel.serve`.
    """
    return pn.serve(
        {path: lambda: create_app(file)},
        title=TITLE,
        start=False,
        verbose=False,
        transforms=[Headers],
        **{"show": False, **options},
    )


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
    server = server_of(file, address=host, port=port, websocket_origin=origins, show=show)
    # Users wait for the address.
    words = f"kdegraph explorer: http://{name}:{server.port}/  (Ctrl+C stops it)"
    print(words, flush=True)  # noqa: T201
    server.start()
    server.io_loop.start()


THEME = {
    mode: {
        "palette": {"primary": {"main": primary}},
        "typography": {"fontFamily": "Roboto, system-ui, sans-serif"},
        "shape": {"borderRadius": 8},
    }
    for mode, primary in (("light", "#2F6690"), ("dark", "#7FB2D6"))
}
HEADER_HEIGHT = "48px"
STYLE = {  # a low, quiet bar in the page's own colors
    "containerType": "inline-size",  # as in static/measured.css
    "& .MuiToolbar-root": {"minHeight": f"{HEADER_HEIGHT} !important", "height": HEADER_HEIGHT},
    # Tells the page that widgets in the bar keep their colors.
    ".MuiAppBar-root": {"bgcolor": "primary.contrastText", "color": "primary.main"},
    "& header.MuiAppBar-root": {
        "backgroundColor": "background.paper",
        "backgroundImage": "none",
        "color": "text.primary",
        "boxShadow": "none",
        "borderBottom": "1px solid",
        "borderColor": "divider",
    },
    "& .MuiAppBar-root .MuiIconButton-root": {"color": "text.secondary"},
    "& .title": {
        "color": "text.primary",
        "fontSize": SIZES["large"],
        "fontWeight": 600,
        "letterSpacing": "0.01em",
    },
    "@media (max-width: 599px)": {
        "& .title": {"display": "none"},
        "& .MuiIconButton-edgeStart": {"marginRight": "0 !important"},
    },
    "& .MuiDrawer-paper": {"borderRight": "1px solid", "borderColor": "divider"},
}
