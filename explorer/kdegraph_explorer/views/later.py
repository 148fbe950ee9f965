"""Make parts of a page when they are first needed.

Most controls and messages are not seen at first, and the browser takes long to build each of them.
"""

import itertools

import panel as pn
from panel_material_ui.base import MaterialComponent

from ..patches.panel import growing


def put(place, parts, session):
    """Put parts into a layout that may be on the screen already."""
    if session.dark is not None:  # else the parts would be light at first
        for part in parts:
            for component in pn.panel(part).select(MaterialComponent):
                component.dark_theme = session.dark
    with growing(place):
        place.extend(parts)


class Later(pn.Column):
    """Hold parts that are made when they are first shown.

    ``make()`` returns the parts. Before they are put into the page, ``prepare(part)`` is called
    with each of them and of theirs.
    """

    def __init__(self, session, make, **options):
        super().__init__(visible=False, **{"sizing_mode": "stretch_width", "margin": 0, **options})
        self._session, self._make, self.prepare = session, make, lambda part: None
        self.param.watch(lambda event: event.new and self.fill(), "visible")

    def fill(self):
        """Make the parts, unless they are there."""
        if self._make is None:
            return
        make, self._make = self._make, None
        parts = list(map(pn.panel, make()))
        for part in itertools.chain.from_iterable(part.select() for part in parts):
            self.prepare(part)
        put(self, parts, self._session)
