"""Show a session. To add a view, write a module here and add its class to `VIEWS`."""

from .base import View
from .compare import CompareView
from .convergence import RoundsView
from .one_point import OnePointView
from .paint import PaintView
from .picture import PictureView
from .points import PointsView
from .ribbon import RibbonView
from .rows import RowsView
from .scaling import ScalingView
from .scores import ScoresView
from .spectral import SpectralView
from .spectrum import SpectrumView
from .start import StartView

VIEWS = [  # of those on top that apply and open by themselves, the first is shown to begin with
    StartView,
    PaintView,
    PictureView,
    PointsView,
    RibbonView,
    OnePointView,
    RoundsView,
    SpectralView,
    CompareView,
    ScalingView,
    RowsView,
    SpectrumView,
    ScoresView,
]

__all__ = ["VIEWS", "View"]
