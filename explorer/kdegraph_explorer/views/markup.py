"""Text that changes often."""

import param
from panel.custom import JSComponent


class Markup(JSComponent):
    """A piece of HTML that can change many times a second: unlike `panel.pane.HTML`, a change does not lay out the whole page anew."""

    html = param.String(doc="What is shown. Trusted: escape what comes from users.")

    _esm = """
    export function render({model}) {
      const element = document.createElement("div")
      const show = () => { element.innerHTML = model.html }
      model.on("html", show)
      show()
      return element
    }
    """


class Beacon(Markup):
    """Tells when it has appeared in the browser: from then on, what is sent arrives."""

    beats = param.Integer(default=0, doc="Grows until it is heard; the first beats of a notebook may be lost.")
    heard = param.Boolean(default=False, doc="Whether Python has heard it. It must stay in the page even then: beats may be under way.")

    _esm = """
    export function render({model}) {
      const element = document.createElement("div")
      element.innerHTML = model.html
      const timer = setInterval(() => model.heard ? clearInterval(timer) : model.beats += 1, 200)
      return element
    }
    """


TABLE_STYLE = """
:host { overflow-y: auto; font-size: 12px; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; line-height: 1.15; }
th, td { padding: 2.5px 4px; text-align: right; font-weight: 400; white-space: nowrap; border: 0; }
th[scope=row] { text-align: left; color: color-mix(in srgb, currentColor 78%, transparent); }
table + table { margin-top: 10px; }
thead th { font-weight: 600; padding-bottom: 4px; white-space: normal; vertical-align: bottom; }
thead th:first-child { text-align: left; }
p { margin: 6px 0 8px; line-height: 1.4; }
th i { display: inline-block; width: 8px; height: 8px; border-radius: 50%; margin-right: 5px; }
tbody tr { border-top: 1px solid rgba(128, 128, 128, 0.18); }
tbody tr:hover { background: rgba(128, 128, 128, 0.10); }
"""


def html_table(columns, rows):
    """A table, as HTML; all texts are HTML, too: escape what comes from users.

    Parameters
    ----------
    columns : sequence of str
        The first is that of the names of the rows.
    rows : iterable of (name, values, explanation)
        The name and the values are shown, the explanation when the mouse rests on the row.
    """
    head = "".join(f'<th scope="col">{name}</th>' for name in columns)
    body = "".join(
        f'<tr title="{explanation}"><th scope="row">{name}</th>{"".join(f"<td>{value}</td>" for value in values)}</tr>'
        for name, values, explanation in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
