"""The controls: where the data come from, the parameters, and what is drawn."""

import math

import panel as pn
import panel_material_ui as pmui
import param
from panel.viewable import Viewer

SIGMA_DECADES = 2.0  # the slider reaches this far to both sides of the automatic value


def heading(text):
    """The title of a group of controls."""
    return pn.pane.HTML(
        f"<h2>{text}</h2>",
        stylesheets=[":host h2 { font-size: 11.5px; font-weight: 700; letter-spacing: 0.08em; text-transform: uppercase; opacity: 0.6; margin: 0; }"],
        margin=(8, 8, 0, 8),
        sizing_mode="stretch_width",
    )


def control(parameterized, name, hint=None):
    """A widget for a parameter, with its sentence as the tooltip.

    Parameters
    ----------
    parameterized : param.Parameterized
    name : str
    hint : str, optional
        "steps": a slider over the values to choose from; "file": a drop area for a file.
    """
    parameter = parameterized.param[name]
    common = {"description": parameter.doc, "sizing_mode": "stretch_width", "margin": (3, 8), "size": "small"}
    if hint == "steps":
        options = {f"{value:,}": value for value in parameter.objects}
        widget = pmui.DiscreteSlider(options=options, value=getattr(parameterized, name), label=parameter.label, **common)
        return _link(widget, "value", parameterized, name)
    if isinstance(parameter, param.Boolean):
        common.pop("size")
        return pmui.Switch.from_param(parameter, **common)
    if isinstance(parameter, param.Selector):
        return pmui.Select.from_param(parameter, **common)
    if isinstance(parameter, param.Integer) and parameter.bounds[1] > 1000:
        return pmui.IntInput.from_param(parameter, **common)
    if isinstance(parameter, param.Integer):
        return pmui.IntSlider.from_param(parameter, **common)
    return pmui.FloatSlider.from_param(parameter, **{"step": parameter.step or 0.01, **common})


def _link(widget, attribute, parameterized, name):
    widget.param.watch(lambda event: setattr(parameterized, name, event.new), attribute)
    parameterized.param.watch(lambda event: setattr(widget, attribute, event.new), name)
    return widget


class DataControls(Viewer):
    """Choice of the source, and the source's own parameters."""

    def __init__(self, session, **params):
        super().__init__(**params)
        self.session = session
        self._panels = {}
        options = {}
        for key, source in session.sources.items():
            options[source.label] = key
            widgets = [control(source, name, source.widgets.get(name)) for name in source.controls]
            self._panels[key] = pn.Column(*widgets, visible=False, sizing_mode="stretch_width", margin=0)
            source.param.watch(lambda *events, key=key: self._changed(key), list(source.controls))
        self._choice = pmui.Select(
            label="Source", options=options, size="small", sizing_mode="stretch_width", margin=(4, 8), description="Where the points come from."
        )
        self._choice.param.watch(lambda event: self._choose(event.new), "value")
        self._body = pn.Column(heading("Data"), self._choice, *self._panels.values(), sizing_mode="stretch_width", margin=0)
        self._choose(self._choice.value, load=False)

    def __panel__(self):
        return self._body

    def _choose(self, key, load=True):
        for other, panel in self._panels.items():
            panel.visible = other == key
        if load:
            self._changed(key)

    def _changed(self, key):
        if key == self._choice.value:
            self.session.load_from(self.session.sources[key])


class ParameterControls(Viewer):
    """Parameters of the graphs and of the clustering; sigma, L and k have an automatic value beside them."""

    def __init__(self, session, **params):
        super().__init__(**params)
        state = self.state = session.state
        self._moving = False  # whether the sliders follow the state, as against the user's hand
        self._sigma = pmui.FloatSlider(
            label=state.param.sigma.label, description=state.param.sigma.doc, start=-2, end=2, step=0.01, value=0, value_label="", size="small", sizing_mode="stretch_width", margin=(3, 8)
        )
        self._exact = pmui.FloatInput(label="σ exactly", description="Type any positive number.", value=1.0, size="small", width=104, margin=(8, 4, 0, 0))
        self._rounds = self._slider("n_rounds")
        self._clusters = self._slider("n_clusters")
        self._sigma.param.watch(lambda event: self._choose("sigma", 10.0**event.new), "value")
        self._exact.param.watch(lambda event: self._choose("sigma", event.new), "value")
        self._body = pn.Column(
            heading("KDE graph"),
            pn.Row(self._sigma, self._exact, sizing_mode="stretch_width", margin=0),
            self._automatic("sigma_auto"),
            self._with_automatic(self._rounds, "rounds_auto"),
            heading("k-NN graph"),
            control(state, "n_neighbors"),
            heading("Clusters"),
            self._with_automatic(self._clusters, "clusters_auto"),
            control(state, "seed"),
            sizing_mode="stretch_width",
            margin=0,
        )
        state.param.watch(lambda *events: self._follow(), ["sigma", "n_rounds", "n_clusters", "result"])
        self._follow()

    def __panel__(self):
        return self._body

    def _slider(self, name):
        parameter = self.state.param[name]
        start, end = parameter.get_soft_bounds()
        slider = pmui.IntSlider(label=parameter.label, description=parameter.doc, start=start, end=end, value=getattr(self.state, name), size="small", sizing_mode="stretch_width", margin=(3, 8))  # fmt: skip
        slider.param.watch(lambda event: self._choose(name, event.new), "value")
        return slider

    def _automatic(self, name):
        parameter = self.state.param[name]
        return pmui.Checkbox.from_param(parameter, label=parameter.label, description=parameter.doc, size="small", margin=(0, 8))

    def _with_automatic(self, slider, name):
        return pn.Column(slider, self._automatic(name), sizing_mode="stretch_width", margin=0)

    def _choose(self, name, value):
        if self._moving:
            return
        try:
            self.state.choose(**{name: value})
        except (ValueError, TypeError):
            self.state.error = f"{name} must be a positive number, got {value!r}"

    def _follow(self):
        """Set the sliders to the state's values without this counting as a choice."""
        state, self._moving = self.state, True
        try:
            exponent = math.log10(state.sigma)
            if state.sigma_auto:
                centre = round(exponent, 2)
                self._sigma.param.update(start=centre - SIGMA_DECADES, end=centre + SIGMA_DECADES)
            elif not self._sigma.start <= exponent <= self._sigma.end:
                self._sigma.param.update(start=min(self._sigma.start, exponent), end=max(self._sigma.end, exponent))
            self._sigma.param.update(value=exponent, value_label=f"{state.sigma:.3g}")
            self._exact.value = float(f"{state.sigma:.6g}")
            self._rounds.param.update(value=state.n_rounds, end=max(self._rounds.end, state.n_rounds))
            self._clusters.param.update(value=state.n_clusters, end=max(self._clusters.end, state.n_clusters))
        finally:
            self._moving = False


class DisplayControls(Viewer):
    """What is drawn; nothing here computes anything."""

    def __init__(self, session, **params):
        super().__init__(**params)
        self.state = session.state
        self._axes = pn.Row(control(self.state, "horizontal"), control(self.state, "vertical"), sizing_mode="stretch_width", margin=0)
        self._overlay = control(self.state, "overlay")
        self._body = pn.Column(heading("Display"), control(self.state, "show_edges"), self._axes, self._overlay, sizing_mode="stretch_width", margin=0)
        self.state.param.watch(lambda *events: self._update(), "dataset")
        self._update()

    def __panel__(self):
        return self._body

    def _update(self):
        dataset = self.state.dataset
        self._axes.visible = dataset is not None and len(dataset.axes) > 2
        self._overlay.visible = dataset is not None and dataset.picture is not None
