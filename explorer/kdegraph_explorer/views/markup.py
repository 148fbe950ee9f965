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
