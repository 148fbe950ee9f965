"""Show words and a picture beside the point under the mouse."""

from bokeh.models import Label, PlainText

from ..drawing.figures import TEXT
from ..drawing.marks import no_marks, set_marks
from ..drawing.segments import packed_image

THUMBNAIL = 64  # pixels of the longer side of the picture of a point, at most
DISTANCE = 8  # pixels between a point and the box beside it
MARGIN = 4  # pixels between the edge of the box and what is in it
BOX = {  # around words on points
    "text_color": "#FFFFFF",
    "background_fill_color": "#3C434C",
    "background_fill_alpha": 0.92,
    "padding": MARGIN,
    "border_radius": 4,
}
IMAGE = ("image", "x", "y", "dw", "dh")  # columns of a source


class PointNote:
    """Show a box beside a point, on the side where there is more room.

    The figure gets a label with the name "note" and a renderer with the name "thumbnail".
    """

    def __init__(self, figure, frame):
        self._frame = frame
        self._label = Label(x=0, y=0, text=PlainText(text=""), visible=False, name="note")
        self._label.update(**TEXT, **BOX)
        figure.add_layout(self._label)
        self._picture = no_marks(*IMAGE)
        self._glyph = figure.image_rgba(
            dw_units="screen",
            dh_units="screen",
            level="overlay",  # above the box
            source=self._picture,
            name="thumbnail",
        ).glyph

    def hide(self):
        """Hide the box."""
        if self._label.visible:
            self._label.visible = False
            set_marks(self._picture)

    def show(self, place, words, picture):
        """Show words beside a place, and between them a (height, width, 3) picture, or None."""
        if self._label.visible and self._label.text.text == words:
            return
        x_range, y_range = self._frame.x_range, self._frame.y_range
        left = place[0] > (x_range.start + x_range.end) / 2
        below = place[1] > (y_range.start + y_range.end) / 2
        height, width = (0, 0) if picture is None else thumbnail_size(picture)
        room = height + MARGIN if height else 0
        self._label.update(
            x=place[0],
            y=place[1],
            text=PlainText(text=words),  # a str may be TeX
            visible=True,
            text_align="right" if left else "left",
            x_offset=-DISTANCE if left else DISTANCE,
            text_baseline="top" if below else "bottom",
            y_offset=-DISTANCE if below else DISTANCE,
            padding={
                "left": MARGIN,
                "right": MARGIN,
                "top": MARGIN + room * below,
                "bottom": MARGIN + room * (not below),
            },
        )
        if picture is None:
            set_marks(self._picture)
            return
        across, up = self._frame.pixel
        away = DISTANCE + MARGIN
        self._glyph.anchor = f"{'top' if below else 'bottom'}_{'right' if left else 'left'}"
        x = place[0] + (-away if left else away) * across
        y = place[1] + (-away if below else away) * up
        set_marks(self._picture, [(packed_image(picture), x, y, width, height)])


def thumbnail_size(picture):
    """Return the height and the width of a picture on the screen, in pixels.

    A small picture is shown at a multiple of its size.
    """
    longer = max(picture.shape[:2])
    scale = THUMBNAIL // longer or THUMBNAIL / longer
    return tuple(scale * side for side in picture.shape[:2])
