"""A content security policy: what the browser allows the served page to do.

The page runs its own scripts and no others, loads nothing from other hosts, and is framed only by
what runs on the same machine or server. The text of files and addresses never becomes HTML (see
`views.markup`); were it to happen all the same, no script in it would run.
"""

import secrets

from jinja2 import Environment
from panel_material_ui.base import BASE_TEMPLATE
from tornado.web import OutputTransform

from .assets import script

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
# JupyterLab, VS Code and the like show the page in a frame.
FRAMES = "'self' http://localhost:* http://127.0.0.1:* https://localhost:* vscode-webview:"
# Nothing in the page comes from a user (the document follows through the websocket), so that every
# script in it is one of Panel's or the explorer's: each gets the nonce.
TEMPLATE = """
{%- extends base %}
{%- block inner_head %}
    <meta http-equiv="Content-Security-Policy" content="{{ policy }}">
    {%- filter replace("<script", tag) %}{{ super() }}<script>{{ layout }}</script>{% endfilter %}
{%- endblock %}
{%- block body %}
    {%- filter replace("<script", tag) %}{{ super() }}{% endfilter %}
{%- endblock %}
"""


def page_template():
    """The template of a page with the policy, for one rendering.

    Returns
    -------
    jinja2.Template
        For `panel_material_ui.Page`.
    """
    nonce = secrets.token_urlsafe(16)
    policy = "; ".join(f"{name} {sources}" for name, sources in DIRECTIVES.items())
    values = {
        "base": BASE_TEMPLATE,
        "policy": policy.format(nonce=nonce),
        "tag": f'<script nonce="{nonce}"',
        "layout": script("one-layout").read_text(encoding="utf-8"),
    }
    return Environment().from_string(TEMPLATE, values)


class Headers(OutputTransform):
    """Adds headers to every answer of a server, for what a page cannot declare in itself."""

    def transform_first_chunk(self, status_code, headers, chunk, finishing):
        """See `tornado.web.OutputTransform`."""
        headers["Content-Security-Policy"] = f"frame-ancestors {FRAMES}"
        headers["X-Content-Type-Options"] = "nosniff"
        return status_code, headers, chunk
