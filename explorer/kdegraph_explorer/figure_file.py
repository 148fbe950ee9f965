"""The present result as a figure for a paper: PNG at a chosen size, or SVG and PDF with lines and
letters that stay sharp.
"""

from .still import still_of

FORMATS = ("png", "svg", "pdf")
SCALES = (2, 3, 4)
PIXELS = 150  # of an inch at scale 1
MAX_LINES = 20_000  # edges of a graph that are drawn as lines; of more, an image is made
MAX_MARKS = 20_000  # points that are drawn as marks


def write(session, kind="png", *, scale=2, title=None):
    """The present result of a session as a figure: points, edges and eigenvalues of every graph
    that is shown, with a title, the parameters and a legend.

    Parameters
    ----------
    session : Session
    kind : str
        One of `FORMATS`.
    scale : int
        For PNG, one of `SCALES`: times the size on the screen; 2 are 300 dots per inch.
    title : str, optional
        By default the name of the data.

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        For another format or scale.
    """
    if kind not in FORMATS:
        raise ValueError(f"a figure is one of {', '.join(FORMATS)}, got {kind!r}")
    if scale not in SCALES:
        raise ValueError(f"scale must be one of {', '.join(map(str, SCALES))}, got {scale!r}")
    # It takes a second to load.
    from .paper_figure import drawn

    still = still_of(session.state)
    return drawn(still, still.name if title is None else title, kind, scale)
