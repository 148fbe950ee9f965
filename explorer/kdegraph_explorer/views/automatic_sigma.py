"""Boxes to tick for a sigma that is not chosen by hand."""

import panel as pn
from panel.viewable import Viewer

from .widgets import box


class AutomaticSigma(Viewer):
    """Two boxes, of which at most one is ticked: the library's rule, and the value that is stored
    with the points, which is there only where they have one.
    """

    def __init__(self, state, **params):
        super().__init__(**params)
        self._state, self._following = state, False
        self._rule = box(state.param.sigma_auto)
        self._preset = box(state.param.sigma_preset)
        self._body = pn.Row(self._rule, self._preset, margin=0)
        self._rule.param.watch(lambda event: self._choose_rule(event.new), "value")
        self._preset.param.watch(lambda event: self._choose_preset(event.new), "value")
        state.param.watch(lambda *events: self._follow(), ["sigma_auto", "sigma_preset", "dataset"])
        self._follow()

    def __panel__(self):
        return self._body

    def _choose_rule(self, ticked):
        if not self._following:
            instead = {"sigma_preset": False} if ticked and self._preset.visible else {}
            self._state.param.update(sigma_auto=ticked, **instead)

    def _choose_preset(self, ticked):
        if not self._following:
            self._state.param.update(sigma_auto=True, sigma_preset=ticked)

    def _follow(self):
        chosen, dataset = self._state.sigma_chosen, self._state.dataset
        self._following = True
        try:
            self._rule.value = chosen == "auto"
            self._preset.value = chosen == "preset"
            self._preset.visible = dataset is not None and dataset.sigma is not None
        finally:
            self._following = False
