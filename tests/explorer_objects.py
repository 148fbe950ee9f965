"""Explorers as tests see them: objects, without a browser."""

PATIENCE = 240  # seconds: kernels may have to be compiled beside other work
TWO_PAIRS = [[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]]
TABLE = b"width,height,kind,weight\n" + b"".join(
    b"%d,%d,%s,%d\n" % (i % 7, i % 5, (b"ant", b"bee")[i % 2], i * i % 37) for i in range(40)
)


def settle(explorer):
    """Wait until nothing is computed or painted any more."""
    for _ in range(2):  # a result makes views paint
        for job in explorer.session.jobs:
            job.wait(PATIENCE)


def choose(session, **values):
    """Set parameters of a session by hand and wait for the result, as a step of its own."""
    session.state.choose(**values)
    session.wait(PATIENCE)
    session.history.end_step()  # as if a while had passed


def give_file(session, content, name="t.csv"):
    """Open an uploaded file in a session, wait for the result, and return the source."""
    from kdegraph_explorer.uploads import StoredFile

    session.state.source = "upload"
    session.sources["upload"].file = StoredFile.of(name, content)
    session.wait(PATIENCE)
    assert session.state.error == ""
    return session.sources["upload"]


def explorer_of_file(explore, content, view="points"):
    """An explorer with an uploaded file, and one of its large views on the screen."""
    explorer = explore()
    give_file(explorer.session, content)
    explorer.session.state.view = view
    settle(explorer)
    return explorer


def view(explorer, key):
    """The view of this name."""
    return explorer.views[key]


def controls(explorer, kind):
    """The controls of this class."""
    (found,) = (part for part in explorer.layout.controls if isinstance(part, kind))
    return found


def widgets(explorer):
    """All controls."""
    return [
        w
        for control in explorer.layout.controls
        for w in control.__panel__().select(
            lambda w: "label" in w.param and "description" in w.param
        )
    ]


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
