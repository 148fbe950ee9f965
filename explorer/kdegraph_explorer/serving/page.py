"""Make pages of the explorer, which begin and end their sessions.

A content security policy lets a page run its own scripts only, and load nothing from other hosts.
The text of files and addresses never becomes HTML (see `views.markup`). If it did, no script in it
would run.
"""

import re
import secrets
from typing import ClassVar
from weakref import WeakMethod, WeakValueDictionary

import panel as pn
import panel_material_ui as pmui
from jinja2 import Environment
from panel.io.resources import LOCAL_DIST
from panel.util import edit_readonly
from panel_material_ui.base import BASE_TEMPLATE

from .. import process
from ..address import AddressBar, is_first_page
from ..assets import SIZES, STATIC, style_sheet, template
from ..limits import limits
from ..patches.bokeh import SCRIPT
from ..sources.generators import Generators

TITLE = "kdegraph explorer"
DIRECTIVES = {
    "default-src": "'none'",
    "script-src": "'nonce-{nonce}'",  # no eval, no attributes such as onerror, no other script
    "style-src": "'self' 'unsafe-inline'",  # Bokeh and Material UI write styles into the page
    "img-src": "'self' data:",  # the icon of the page
    "font-src": "'self'",
    "connect-src": "'self' blob:",  # the websocket; components are fetched from memory
    "base-uri": "'none'",
    "form-action": "'none'",
    "object-src": "'none'",
}
# Nothing in the page comes from a user (the document follows through the websocket), so that every
# script in it is one of Panel's or the explorer's: each gets the nonce. The skeleton comes before
# the scripts, as the browser shows nothing that comes after a script that it has to load.
TEMPLATE = """
{%- extends base %}
{%- block inner_head %}
    {%- for address in addresses(bokeh_js) %}
    <link rel="preload" as="script" href="{{ address }}">
    {%- endfor %}
    <meta http-equiv="Content-Security-Policy" content="{{ policy }}">
    {%- filter replace("<script", tag) %}{{ super() }}{% endfilter %}
{%- endblock %}
{%- block js_resources %}{% endblock %}
{%- block loader_css %}{{ skeleton_style }}{% endblock %}
{%- block body %}
    {%- filter replace("<script", tag) %}{{ super() }}{% endfilter %}
{%- endblock %}
{%- block loader %}
{%- if plots %}<style id="kg-first-plots">{{ plots }}</style>{% endif %}
{{ skeleton }}{{ bokeh_js }}<script>{{ patch }}</script>
{%- endblock %}
"""


def page_of(main, plots="", **options):
    """Make a page; `options` are those of `panel_material_ui.Page`.

    `plots` is a style sheet with pictures of plots, which stand there until they are drawn.
    """
    page = pmui.Page(
        title=TITLE,
        template=page_template(plots),
        main=[main],
        theme_config=THEME,
        favicon=STATIC / "favicon.svg",
        busy_indicator=None,
        meta_description="Similarity graphs sampled in nearly linear time, beside k-NN graphs",
        **options,
    )
    with edit_readonly(page):
        # By default, Panel's state would refer to the page and keep it forever.
        page.busy = pn.rx(False)
    return page


def page_template(plots):
    """Return the template of a page with the policy, for one rendering."""
    nonce = secrets.token_urlsafe(16)
    policy = "; ".join(f"{name} {sources}" for name, sources in DIRECTIVES.items())
    values = {
        "addresses": re.compile(r'(?<=src=")[^"]+').findall,
        "base": BASE_TEMPLATE,
        "policy": policy.format(nonce=nonce),
        "tag": f'<script nonce="{nonce}"',
        "patch": SCRIPT.read_text(encoding="utf-8"),
        "plots": plots,
        "skeleton": template("skeleton"),
        "skeleton_style": style_sheet("skeleton"),
    }
    return Environment().from_string(TEMPLATE, values)


def take_files_from_the_server():
    """Have the page that is being made load style sheets from its server."""
    # The location comes first, as Panel also sets the place of style sheets when it makes that.
    if pn.state.location is not None and (document := pn.state.curdoc) is not None:
        # Panel does this when it sends a page. If a page takes so long to load that its session has
        # ended, it begins another one when it connects, whose style sheets would come from the
        # network without this.
        document.template_variables["dist_url"] = (
            f"{pn.state.rel_path}/{LOCAL_DIST}" if pn.state.rel_path else LOCAL_DIST
        )


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


def query_of_page():
    """Return the query in the address of the page."""
    return (pn.state.location.search or "") if pn.state.location else ""


class ServedPage:
    """Start a session when the browser has built the page, and close it with the page.

    The session of a page that nobody has asked for yet may start before; see `begin_ahead`.
    """

    # The identifier of a server's session to its page.
    made: ClassVar[WeakValueDictionary[str, "ServedPage"]] = WeakValueDictionary()

    def __init__(self, session, browser):
        self.session, self._browser = session, browser
        self._begun = self._asked_for = False
        self.made[pn.state.curdoc.session_context.id] = self
        session.sources[Generators.key].shared = True
        pn.state.on_session_destroyed(lambda context: self._end())
        # The server has nothing else to do while the browser builds the page.
        pn.state.curdoc.add_next_tick_callback(process.import_libraries)
        # Panel keeps callbacks that wait for a page, even if it never appears.
        show = WeakMethod(self._show)
        # What is sent before the browser has built the page would be lost.
        pn.state.onload(lambda: show()())

    def begin_ahead(self):
        """Start the session before anyone asks for the page, if all begin with the same data.

        Call it on the session's thread. The page then comes with its first result.
        """
        first = is_first_page(self.session, "") and limits().points_in_all is None
        if first and not self._asked_for:
            self._begin("")

    def expect(self):
        """Keep results back until the browser has built the page, which it begins now."""
        self._asked_for = True
        self.session.mailbox.pause()

    def _show(self):
        """Accept input, now that the browser has built the page."""
        self._browser.built = True
        self.session.mailbox.resume()
        if not self._begun:
            self._begin(query_of_page())

    def _begin(self, query):
        self._begun = True
        AddressBar(self.session, self._browser).begin(query)

    def _end(self):
        """Close the session, now that the page has been closed."""
        self.session.close(page_gone=True)
        process.give_back_soon()
