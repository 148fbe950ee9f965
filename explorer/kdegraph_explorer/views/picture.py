"""Show the segmentation of a photograph."""

from functools import partial

from ..drawing.figures import Frame, plain_figure
from ..drawing.marks import no_marks, set_marks
from ..drawing.segments import packed_image, segments
from ..results import METHODS
from .base import View, beside, figure_pane
from .describe import segments as describe_segments


class PictureView(View):
    """Show the picture with the clusters of its pixels laid over it, for both graphs."""

    key, label, area = "picture", "Segmentation", "top"

    def __init__(self, session):
        super().__init__(session)
        self.frame = Frame()
        self._pictures = {
            method: SegmentedPicture(self.state, self.frame, f"{name}: segmentation")
            for method, name in METHODS.items()
        }
        cards = [
            self.card(
                name,
                "each color is one cluster of pixels",
                figure_pane(self._pictures[method].figure, f"{method}-picture"),
                describe=partial(describe_segments, self.state, method),
            )
            for method, name in METHODS.items()
        ]
        self._body = beside(*cards, min_height=240)
        self.follow(self._update, "shown", "result", "segments")

    @staticmethod
    def applies(state):
        """Return whether the points are the pixels of an image."""
        return state.shown is not None and state.shown.image is not None

    def _update(self):
        if not self.applies(self.state):
            return
        dataset = self.state.shown
        for method, picture in self._pictures.items():
            picture.show(dataset)
            outcome = self.state.outcome(method)
            if outcome is not None and len(outcome.colors) == dataset.n_points:
                picture.lay(outcome.colors, self.state.segments)


class SegmentedPicture:
    """Show a picture in a figure, and segments above it, as opaque as the state says."""

    def __init__(self, state, frame, name):
        self.frame, self._dataset = frame, None
        self.figure = plain_figure(
            tools="pan,wheel_zoom,zoom_in,zoom_out,reset",
            description=name,
            x_range=frame.x_range,
            y_range=frame.y_range,
        )
        self.figure.axis.visible = self.figure.grid.visible = False
        self._picture, self._overlay = (no_marks("image", "dw", "dh") for _ in "ab")
        self.figure.image_rgba(x=0, y=0, source=self._picture, name="picture")
        look = {"global_alpha": state.overlay, "name": "segments"}
        glyph = self.figure.image_rgba(x=0, y=0, source=self._overlay, **look).glyph
        state.param.watch(lambda event: glyph.update(global_alpha=event.new), "overlay")
        frame.add(self.figure)

    def show(self, dataset):
        """Show the picture of a dataset, unless it is there."""
        if dataset is self._dataset:
            return
        self._dataset = dataset
        height, width = dataset.image.shape[:2]
        set_marks(self._picture, [(packed_image(dataset.image), width, height)])
        set_marks(self._overlay)
        self.frame.fit((0, width, 0, height))

    def lay(self, labels, style):
        """Lay the segments of the pixels over the picture; see `segments`."""
        dataset = self._dataset
        height, width = dataset.image.shape[:2]
        image = segments(labels.reshape(dataset.shape), style, dataset.image)
        set_marks(self._overlay, [(image, width, height)])
