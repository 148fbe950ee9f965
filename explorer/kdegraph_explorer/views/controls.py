"""Control where the data come from, the parameters, and what is drawn."""

import math
from functools import partial

import panel as pn
import panel_material_ui as pmui
from kdegraph.principal import MAX_COMPONENTS
from kdegraph.validation import check_positive

from ..assets import style_sheet
from ..coloring import CLUSTER, PREFIX
from ..during import During
from ..patches.panel import at_once
from ..projection import axes
from ..results import DECIDED
from ..sources.upload import Upload
from .base import Part
from .decided import cluster_words, scale_words
from .kept import KeptList
from .later import Later
from .markup import styled_text
from .widgets import (
    automatic,
    box,
    button,
    column,
    control,
    group,
    link,
    named,
    open_choice,
    paired,
    row,
    slider_style,
    toggle,
    toggle_style,
)

SIGMA_DECADES = 1.5  # powers of ten between the automatic value and either end of the slider


class AutomaticSigma(Part):
    """Offer two boxes, of which at most one is ticked, for a sigma not chosen by hand.

    They are the library's rule, and the value that is stored with the points, if they have one.
    """

    def __init__(self, session):
        super().__init__(session)
        state, self._following = self.state, During()
        self._rule = box(state.param.sigma_auto)
        self._preset = box(state.param.sigma_preset)
        self._body = pn.Row(self._rule, self._preset, margin=0)
        self._rule.param.watch(lambda event: self._choose_rule(event.new), "value")
        self._preset.param.watch(lambda event: self._choose_preset(event.new), "value")
        self.keep_up(self._follow, "sigma_auto", "sigma_preset", "bandwidth", "dataset")

    def _choose_rule(self, ticked):
        if not self._following:
            instead = {"sigma_preset": False} if ticked and self._preset.visible else {}
            self.state.choose(sigma_auto=ticked, **instead)

    def _choose_preset(self, ticked):
        if not self._following:
            self.state.choose(sigma_auto=True, sigma_preset=ticked)

    def _follow(self):
        chosen, dataset = self.state.sigma_chosen, self.state.dataset
        with self._following:
            self._rule.value = chosen == "auto" and not self.state.decides
            self._preset.value = chosen == "preset"
            self._preset.visible = dataset is not None and dataset.sigma is not None


class DataControls(Part):
    """Choose the source and its own parameters, with a sentence on the data.

    ``take(file)`` opens a file that has arrived.
    """

    def __init__(self, session, take):
        super().__init__(session)
        self._take = take
        choice = pmui.Select(
            options={source.label: key for key, source in session.sources.items()},
            value=self.state.source,
            **named(self.state.param.source),
            sizing_mode="stretch_width",
            margin=(6, 8),
        )
        link(choice, "value", self.state, "source")
        self.widgets = {"source": choice}
        self._widgets = {}  # (key of the source, name of the parameter) -> widget
        self._kept = KeptList(session.sources[Upload.key], self._open)
        self._places = {
            key: Later(session, partial(self._controls_of, source))
            for key, source in session.sources.items()
        }
        for source in session.sources.values():
            if "color_column" in source.param:
                self._share_color(source)
        self._sentence = styled_text("data-sentence", margin=(2, 10, 0, 10))
        self._body = group("Data", choice, *self._places.values(), self._sentence)
        self.keep_up(self._update, "source", "dataset", "error")

    def _controls_of(self, source):
        """Return the controls of a source."""
        hints = {name: source.widgets.get(name) for name in source.controls}
        widgets = {
            name: control(source, name, hint, self.session.receive, self._take)
            for name, hint in hints.items()
            if hint != "none"
        }
        self._widgets |= {(source.key, name): widget for name, widget in widgets.items()}
        self._show_applicable()
        lines = paired(widgets.values())
        if source.key == Upload.key:
            lines.insert(1, self._kept)  # below the button for a file
        return lines

    def _open(self, key):
        """Open a kept file as data, unless it was removed in the meantime."""
        source = self.session.sources[Upload.key]
        if (file := source.storage.find(key)) is None:
            self.state.notice = "This file is not kept any more: choose it again."
        else:
            source.file = file

    def _share_color(self, source):
        """Tie the column that a source colors by to the choice above the plots, both ways."""

        def take(event):
            self.state.color = PREFIX + event.new if event.new else CLUSTER

        def tell(event):
            by_column = event.new.startswith(PREFIX)
            source.color_column = event.new.removeprefix(PREFIX) if by_column else ""

        source.param.watch(take, "color_column")
        self.state.param.watch(tell, "color")

    def _update(self):
        self._show_applicable()
        for key, place in self._places.items():
            place.visible = key == self.state.source
        self._kept.update(self.state.source == Upload.key)
        self._sentence.content = self._about()

    def _about(self):
        """Describe the data; if they are not from the chosen source, only say which are shown."""
        dataset = self.state.dataset
        if dataset is None:
            return ""
        source, _ = self.session.origin
        if source.key == self.state.source:
            return about(dataset)
        return f"The plots still show “{dataset.name}”."

    def _show_applicable(self):
        """Show those of the controls that are meaningful at present."""
        for (key, name), widget in self._widgets.items():
            widget.visible = name in self.session.sources[key].applicable()


def about(dataset):
    """Describe data in a sentence or two."""
    if min(dataset.X.shape) <= MAX_COMPONENTS:
        return dataset.description
    return f"{dataset.description} Their first {MAX_COMPONENTS} principal components are clustered."


class ParameterControls(Part):
    """Choose the parameters of the graphs and of the clustering.

    Sigma, L and k have a switch for the automatic value beside them.
    """

    def __init__(self, session):
        super().__init__(session)
        state = self.state
        self._following = During()  # the widgets are set to the state, and not by the user
        self._sliders = {
            "sigma": pmui.FloatSlider(
                step=0.01,
                start=-SIGMA_DECADES,
                end=SIGMA_DECADES,
                value=0,
                value_label="",
                **slider_style(state.param.sigma),
            ),
            "n_rounds": self._slider("n_rounds"),
            "n_clusters": self._slider("n_clusters"),
            "perplexity": self._slider("perplexity"),
        }
        self._exact = pmui.TextInput(
            label="σ typed",
            description="Any positive number.",
            size="small",
            width=104,
            margin=(6, 4, 2, 8),
        )
        self.widgets = {
            **self._sliders,
            "n_neighbors": control(state, "n_neighbors"),
            "bandwidth": self._kinds(),
        }
        self._decided = styled_text("data-sentence", margin=(2, 10, 2, 10))
        self._sure = styled_text("data-sentence", margin=(2, 10, 2, 10))
        self._more_rounds = automatic(state, "rounds_auto")
        self._count = Later(session, self._counting)
        at_once(self._sliders["sigma"]).param.watch(
            lambda event: self._choose("sigma", 10.0**event.new), "value"
        )
        self._exact.param.watch(lambda event: self._type(event.new), "value")
        self._one, self._body = self._lay_out(session)
        self._centered_for = self  # the data for which the slider of sigma was centered; none yet
        self.keep_up(self._follow, *self._sliders, "shown", "result")
        self.keep_up(self._offer, "bandwidth", "dataset", "result")
        self.keep_up(self._enable, "result")

    def _lay_out(self, session):
        """Return the controls of the one bandwidth, and all controls."""
        one = column(self._sliders["sigma"], row(self._exact, AutomaticSigma(session)))
        body = column(
            group(
                "KDE graph",
                self.widgets["bandwidth"],
                self._decided,
                one,
                self.widgets["perplexity"],
                row(self._sliders["n_rounds"], self._more_rounds),
            ),
            group("k-NN graph", row(self.widgets["n_neighbors"], control(self.state, "seed"))),
            group(
                "Clusters",
                row(self._sliders["n_clusters"], automatic(self.state, "clusters_auto")),
                self._sure,
                self._count,
            ),
        )
        return one, body

    def _kinds(self):
        """Return a button for each kind of bandwidth; which ones there are depends on the data."""
        parameter = self.state.param.bandwidth
        style = toggle_style(parameter) | {"sizing_mode": "stretch_width"}
        style["stylesheets"] = [*style["stylesheets"], style_sheet("beside-its-label")]
        kinds = pmui.RadioButtonGroup(options=dict(parameter.names), value=DECIDED, **style)

        def choose(event):
            if not self._following:
                usual = event.new == "one" and self.state.has_sigma
                self.state.bandwidth = DECIDED if usual else event.new

        kinds.param.watch(choose, "value")
        return kinds

    def _counting(self):
        """Return a row with a button that counts the clusters, beside what it has found."""
        found = styled_text("data-sentence", margin=(6, 0, 0, 10))

        def show(*events):
            counted = self.state.counted
            if counted is None:
                found.content = "Or count them in a separate graph:"
            elif self.state.shown.image is not None:
                found.content = f"Counted: {counted} segments"
            else:
                found.content = f"Counted: {counted}, with confidence {counted.confidence:.2f}"

        self.state.param.watch(show, "counted")
        show()
        count = button(
            "Count",
            "Set k to the number of clusters that graphs of several scales show, with more "
            "eigenvalues than are plotted. It does not depend on σ and L, and takes a few seconds.",
            self.session.count,
            width=70,
            margin=(2, 8),
        )
        return [row(found, count)]

    def _offer(self):
        """Show the kinds of bandwidth, and what decides the bandwidth of the kind that is chosen.

        Points with a sigma of their own take that for “One” as long as nothing else is chosen.
        """
        state = self.state
        kinds = dict(state.param.bandwidth.names)
        if state.has_sigma:
            del kinds["Auto"]
        chosen = state.kind if state.has_sigma else state.bandwidth
        with self._following:
            self.widgets["bandwidth"].param.update(options=kinds, value=chosen)
        self._one.visible = not state.is_local
        self.widgets["perplexity"].visible = state.is_local
        self._more_rounds.visible = self._count.visible = not state.decides
        for text, words in (
            (self._decided, scale_words(state)),
            (self._sure, cluster_words(state)),
        ):
            text.content, text.visible = words, bool(words)

    def _enable(self):
        """Enable what may be chosen automatically from the first result on."""
        for widget in (*self._sliders.values(), self._exact):
            widget.disabled = self.state.result is None

    def _slider(self, name):
        parameter, value = self.state.param[name], getattr(self.state, name)
        start, end = parameter.get_soft_bounds()
        slider = pmui.IntSlider(start=start, end=end, value=value, **slider_style(parameter))
        at_once(slider)
        slider.param.watch(lambda event: self._choose(name, event.new), "value")
        return slider

    def _choose(self, name, value):
        if not self._following:
            with pn.io.hold():  # one message to the browser for all that follows
                self.state.choose(**{name: value})

    def _type(self, text):
        if self._following or text == self._text():  # the rounded value may come back
            return
        try:
            self.state.choose(sigma=check_positive(float(text), "sigma"))
        except ValueError:
            self.state.error = (
                f"sigma must be a positive number, got {text!r}; type one such as 0.1"
            )

    def _text(self):
        return f"{self.state.sigma:.5g}"

    def _follow(self):
        """Set the sliders to the state's values, without this counting as a choice of the user."""
        state, sliders = self.state, self._sliders
        with self._following:
            exponent = math.log10(state.sigma)
            # A value that only comes back rounded to five digits would pull the handle back while
            # it is dragged.
            if abs(sliders["sigma"].value - exponent) > 3e-5:
                sliders["sigma"].value = exponent
            if state.sigma_auto or state.shown is not self._centered_for:
                self._centered_for = state.shown
                center = round(exponent, 2)
                ends = (center - SIGMA_DECADES, center + SIGMA_DECADES)
            else:
                start, end = sliders["sigma"].start, sliders["sigma"].end
                ends = (min(start, exponent), max(end, exponent))
            sliders["sigma"].param.update(start=ends[0], end=ends[1])
            label = f"{state.sigma:.3g}"
            # The browser draws the label again only if the format changes, too.
            sliders["sigma"].param.update(value_label=label, format=label)
            self._exact.value = self._text()
            values = {"n_rounds": state.rounds, "n_clusters": state.n_clusters}
            for name, value in {**values, "perplexity": state.perplexity}.items():
                sliders[name].param.update(value=value, end=max(sliders[name].end, value))


class DisplayControls(Part):
    """Choose what is drawn; nothing here computes anything."""

    def __init__(self, session):
        super().__init__(session)
        self._choices = {}  # of the axes, once there are some to choose from
        self._axes = Later(session, self._make_choices)
        photograph = ("segments", "overlay")
        self._overlay = Later(session, lambda: [control(self.state, name) for name in photograph])
        self._which = control(self.state, "edges")
        self._fade = control(self.state, "fade")
        self.widgets = {}
        self._body = group(
            "Display",
            self._overlay,  # first, as photographs open with it
            row(control(self.state, "show_edges"), toggle(self.state, "drag")),
            self._which,
            self._fade,
            self._axes,
        )
        self.keep_up(self._update, "shown", "result", "horizontal", "vertical", "show_edges")

    def _make_choices(self):
        """Return the choices of the axes."""
        for name in ("horizontal", "vertical"):
            style = {"sizing_mode": "stretch_width", "margin": (6, 8)}
            self._choices[name] = open_choice(self.state, name, **style)
        return self._choices.values()

    def _update(self):
        dataset, outcome = self.state.shown, self.state.outcome("kde")
        self._which.visible = self.state.show_edges
        self._fade.visible = outcome is not None and outcome.vote is not None
        self._axes.visible = dataset is not None and len(axes(dataset)) > 2
        self._overlay.visible = dataset is not None and dataset.image is not None
        if dataset is not None:
            for name, widget in self._choices.items():
                widget.param.update(options=list(axes(dataset)), value=getattr(self.state, name))
