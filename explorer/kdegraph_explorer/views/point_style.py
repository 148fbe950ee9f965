"""Size and opacity of the points, behind a button beside the choice of their color."""

import param
from panel.custom import JSComponent

from ..assets import script, style_sheet
from .widgets import link


class PointStyle(JSComponent):
    """A button that opens two sliders.

    Parameters
    ----------
    state : State
    """

    size = param.Number(1.0)
    opacity = param.Number(1.0)
    sizes = param.List(doc="The smallest and the largest size, powers of 2.")
    least = param.Number(doc="The smallest opacity.")

    _esm = script("point-style")

    def __init__(self, state, **params):
        bounds = state.param.point_size.bounds
        super().__init__(
            size=state.point_size,
            opacity=state.point_opacity,
            sizes=list(bounds),
            least=state.param.point_opacity.bounds[0],
            stylesheets=[style_sheet("fields"), style_sheet("point-style")],
            **params,
        )
        link(self, "size", state, "point_size")
        link(self, "opacity", state, "point_opacity")
