"""Serve the explorer as a web page."""

import argparse
import sys
import warnings
import webbrowser
from contextlib import suppress
from urllib.parse import parse_qs

import panel as pn
from bokeh.settings import settings

from . import process
from .address import is_first_page
from .assets import style_sheet
from .explorer import Explorer
from .kept_files import KeptFiles
from .limits import limits
from .patches.bokeh import application_of
from .patches.panel import forget
from .serving.access import Access, chooses_session, read_password
from .serving.origins import Origins, read_origin
from .serving.page import STYLE, page_of, query_of_page, take_files_from_the_server
from .serving.servers import LOCAL, Place, read_prefix, server_of
from .serving.spare import keep_spare
from .serving.user_secret import user_secret
from .views.markup import Text


def create_app(file=None, checked=False, kept=None):
    """Return a page with a new session of the explorer, a `panel_material_ui.Page`: in a script for
    `panel serve`, call ``.servable()`` on it.

    `file` is the path of the data to begin with, and the `KeptFiles` `kept` are where uploaded ones
    are kept. Unless the server has `checked` where the request comes from, the page only says so if
    it comes from elsewhere.
    """
    warnings.filterwarnings("ignore", "the eigenvalues did not converge")  # the page says so
    refusal = None if checked else refusal_of_session()
    if refusal is not None:
        pn.state.rel_path = ""  # instead of a path from the address
        return page_of(Text(refusal))
    take_files_from_the_server()
    try:
        explorer = Explorer(file)  # with the file from the beginning, the page has its first view
    except ValueError:
        explorer = Explorer()
        explorer.open(file)  # which says on the page what is wrong
    explorer.session.sources["upload"].storage = kept
    sidebar, header, main = explorer.sections()
    first = is_first_page(explorer.session, query_of_page())
    page = page_of(
        main,
        plots=style_sheet("first-plots") if first else "",
        sidebar=[sidebar],
        header=[header],
        sidebar_width=320,
        sx=STYLE,
    )
    browser = explorer.layout.toolbar.browser

    def follow(*events):
        if browser.built:
            page.param.update(dark_theme=browser.dark, sidebar_open=not browser.narrow)

    browser.param.watch(follow, ["dark", "narrow", "built"])
    if browser.own_address:
        pn.state.on_session_destroyed(lambda context: forget(page))
    return page


def refusal_of_session():
    """Return why the session that begins must not show anything, or None if it may.

    This is for servers that do not check that.
    """
    document = pn.state.curdoc
    request = document and document.session_context and document.session_context.request
    if not request:
        return None
    # The header `Host` would come from a token, which may be forged.
    host = getattr(request, "host", None) or request.headers.get("Host", "")
    query = getattr(request, "query", "") or ""
    if chooses_session(parse_qs(query, keep_blank_values=True), request.headers):
        return "This page chooses sessions itself: open the address without its query."
    origins = Origins(origins_of_panel(), option="--allow-websocket-origin")
    return origins.refusal(host, request.headers.get("Origin"))


def origins_of_panel():
    """Return the origins that `panel serve` got by its flag or by a variable of Bokeh.

    Patterns with * are ignored.
    """
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--allow-websocket-origin", action="append", default=[])
    told, _ = parser.parse_known_args(sys.orig_argv)
    origins = []
    for text in [*told.allow_websocket_origin, *settings.allowed_ws_origin()]:
        with suppress(ValueError):
            origins.append(read_origin(text))
    return origins


def serve(
    file=None,
    host=LOCAL,
    port=5006,
    show=False,
    *,
    allow_origin=(),
    token=False,
    password_file=None,
    prefix="",
):
    """Serve the explorer until interrupted; every browser tab is a session of its own.

    The arguments are the options of `kdegraph explore`, which explains them; `show` opens a
    browser. A ValueError says which of them, or which variable of `limits`, is wrong.
    """
    if token and password_file is not None:
        raise ValueError("--token: cannot be given with --password-file, which asks for that")
    limits()  # says at once if one is wrong
    place = Place(host)
    named = [read_origin(text) for text in allow_origin]
    secret = user_secret()
    kept = KeptFiles.of_user(secret, alone=place.is_local and not named)
    access = Access(
        secret,
        named=[*named, place.origin],
        password=None if password_file is None else read_password(password_file),
        token=token or not (place.is_local or password_file is not None),
    )
    options = {"address": host, "port": port, "prefix": read_prefix(prefix)}
    process.start()  # while the browser opens
    server = server_of(lambda: create_app(file, checked=True, kept=kept), access, **options)
    address, _ = place.addresses(server)
    words = f"kdegraph explorer: {access.invitation(address)}  (Ctrl+C stops it)"
    # Users wait for the address.
    print(f"{words}\n{place.who(server, access, named)}", flush=True)  # noqa: T201
    if show:
        server.io_loop.add_callback(webbrowser.open, access.invitation(address, once=True))
    if limits().sessions is None:  # a session that nobody uses yet would count
        keep_spare(application_of(server))
    with process.only_serving():
        server.start()
        server.io_loop.start()
