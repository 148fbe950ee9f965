"""What is shown. To add a view: a module here, and its class in `VIEWS`."""

from .base import View
from .one_point import OnePointView
from .picture import PictureView
from .points import PointsView
from .rounds import RoundsView
from .scores import ScoresView
from .spectrum import SpectrumView

VIEWS = [
    PictureView,
    PointsView,
    OnePointView,
    RoundsView,
    SpectrumView,
    ScoresView,
]  # of those on top that apply, the first is shown to begin with

__all__ = ["VIEWS", "View"]
