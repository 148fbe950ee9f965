"""The parts of an explorer as tests see them: objects, without a browser."""

from explorer_actions import *  # noqa: F403


def view(explorer, key):
    """The view of this name."""
    return explorer.views[key]


def opened(explorer, key):
    """A view that is shown."""
    put(explorer, view=key)  # noqa: F405
    return view(explorer, key)


def alert(explorer, css_class):
    """The text of an alert above the plots; empty where it is not shown."""
    from kdegraph_explorer.views.markup import Text

    (frame,) = explorer.sections()[2].select(lambda p: css_class in getattr(p, "css_classes", ()))
    if not frame.visible:
        return ""
    (message,) = frame.select(Text)
    assert message.content
    return message.content


def controls(explorer, kind):
    """The controls of this class."""
    (found,) = (part for part in explorer.layout.controls if isinstance(part, kind))
    return found


def widgets(explorer):
    """All controls that have been shown."""
    return [
        w
        for control in explorer.layout.controls
        for w in control.__panel__().select(
            lambda w: "label" in w.param and "description" in w.param
        )
    ]


def seen(explorer):
    """The labels of all controls that are shown now."""
    from kdegraph_explorer.views.widgets import shown

    return [w.label for control in explorer.layout.controls for w in shown(control.__panel__())]


def part(viewable, label):
    """The widget of a view or a bar that a user knows by its label."""
    (found,) = viewable.__panel__().select(lambda w: getattr(w, "label", None) == label)
    return found


def text(viewable, css_class):
    """Return the text in one place of a view or a bar."""
    (found,) = viewable.__panel__().select(
        lambda w: "content" in w.param and css_class in w.css_classes
    )
    return found.content


def source(figure, name):
    """Return the ColumnDataSource of the renderer with a name."""
    (renderer,) = (renderer for renderer in figure.renderers if renderer.name == name)
    return renderer.data_source


def image(figure):
    """The image of edges, and of many points, in a plot of a graph."""
    return source(figure, "image").data["image"][0]


def happen(figure, kind, **values):
    """Trigger a `bokeh.events.Event` of a figure, as the browser does."""
    figure._trigger_event(kind(figure, **values))


def widget(explorer, label):
    """The widget that a user knows by its label."""
    found = [w for w in widgets(explorer) if w.label == label]
    assert len(found) == 1, f"{len(found)} widgets are labeled {label!r}"
    return found[0]


def press(explorer, label):
    """Press a button of the bar of the selection, and wait."""
    from kdegraph_explorer.views.selection_controls import SelectionControls

    part(controls(explorer, SelectionControls), label).clicks += 1
    settle(explorer)  # noqa: F405


class Visit:
    """A browser as the address bar sees it."""

    def __init__(self):
        self.query, self.step, self.visit = "", 0, ""
        self.param = self

    def update(self, query, step):
        """Remember what would be written."""
        self.query, self.step = query, step
