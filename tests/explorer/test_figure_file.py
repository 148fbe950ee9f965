"""Figures for papers: what is in them, and that lines stay lines."""

import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from explorer_actions import settle
from explorer_objects import part
from kdegraph import datasets
from kdegraph_explorer.exports import figure
from kdegraph_explorer.exports.still import still_of
from kdegraph_explorer.views.toolbar import SAVE_FIGURE
from PIL import Image

SVG = "{http://www.w3.org/2000/svg}"
NAME = "a $x_1$ <b>name</b>"


def named():
    """Two moons whose name would be a formula and an element, if it were read as such."""
    moons = datasets.make("moons", n=200, seed=0)
    return datasets.Dataset(moons.X, y=moons.y, name=NAME)


@pytest.fixture
def session(sessions):
    return sessions(named(), sigma=0.2, n_rounds=15, n_clusters=2, seed=3)


def svg(session):
    return ElementTree.fromstring(figure.write(session, "svg"))


def words(root):
    """All that is written in an SVG."""
    return [" ".join("".join(text.itertext()).split()) for text in root.iter(f"{SVG}text")]


def n_lines(root):
    """How many edges are lines."""
    groups = [g for g in root.iter(f"{SVG}g") if g.get("id", "").startswith("LineCollection")]
    return [len(list(group.iter(f"{SVG}path"))) for group in groups]


def test_svg_says_what_is_shown_and_how_it_was_made(session):
    found = words(svg(session))
    edges = session.state.outcome("kde").graph.n_edges
    for expected in (
        NAME,
        "200 points in 2 dimensions; sigma 0.2, L = 15, seed 3; 10 nearest neighbors",
        f"KDE graph: {edges:,} edges, 2 clusters, adjusted Rand index 1.000",
        "cluster 1",
        "cluster 2",
        "edge between clusters",
        "eigenvalue",
    ):
        assert expected in found
    # Clusters have their names in the legend.
    session.state.name_cluster(1, "_the lower moon, $x_1$")
    found = words(svg(session))
    assert "_the lower moon, $x_1$" in found
    assert "cluster 1" in found
    assert "cluster 2" not in found


def test_long_numbers_leave_room_for_the_words_beside_them(session, monkeypatch):
    still = still_of(session.state)
    values = np.linspace(0, 0.07, 10)
    graphs = [graph._replace(eigenvalues=values) for graph in still.graphs]
    monkeypatch.setattr(figure, "still_of", lambda state: still._replace(graphs=graphs))
    (label,) = (text for text in svg(session).iter(f"{SVG}text") if text.text == "eigenvalue")
    assert float(label.get("x")) > figure.NORMAL  # it is turned, and as high as that


def test_edges_are_lines_and_points_are_marks_up_to_the_stated_numbers(session, monkeypatch):
    kde, knn = (session.state.outcome(m).adjacency.nnz // 2 for m in ("kde", "knn"))
    assert kde > knn
    sentence = f"Where a graph has more than {kde - 1:,} edges, they are drawn as an image."
    for limit, lines, images in ((kde, [kde, knn], 0), (kde - 1, [knn], 1)):
        monkeypatch.setattr(figure, "MAX_LINES", limit)
        root = svg(session)
        # The other collections of lines are the stems of eigenvalues.
        assert [n for n in n_lines(root) if n > 10] == lines
        assert (sentence in words(root)) == (images > 0)
        assert len(list(root.iter(f"{SVG}image"))) == images
    monkeypatch.undo()
    monkeypatch.setattr(figure, "MAX_MARKS", 199)
    root = svg(session)
    assert "More than 199 points are drawn as an image." in words(root)
    assert len(list(root.iter(f"{SVG}image"))) == 2


def test_png_has_the_size_that_is_asked_for_and_pdf_holds_lines(session):
    before = figure.write(session)
    for content, scale in ((before, 2), (figure.write(session, scale=3), 3)):
        assert Image.open(io.BytesIO(content)).size == (1080 * scale, 735 * scale)
    session.state.selection = np.arange(50)
    assert figure.write(session) != before
    content = figure.write(session, "pdf")
    assert content.startswith(b"%PDF-")
    assert b"/Subtype /Image" not in content


def test_explorer_saves_by_the_ending(explore, tmp_path):
    explorer = explore(named(), sigma=0.2)
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "npz": b"PK", "gexf": b"<?xml"}
    for ending, start in starts.items():
        explorer.save(tmp_path / f"saved.{ending}")
        assert (tmp_path / f"saved.{ending}").read_bytes().startswith(start)
    explorer.save(tmp_path / "titled.svg", title="Two moons")
    assert "Two moons" in words(ElementTree.parse(tmp_path / "titled.svg").getroot())
    with pytest.raises(ValueError, match=re.escape(".html, .graphml, .gexf, .npz, got 'x.docx'")):
        explorer.save(tmp_path / "x.docx")
    with pytest.raises(ValueError, match="scale must be one of 2, 3, 4, got 9"):
        explorer.save(tmp_path / "x.png", scale=9)
    with pytest.raises(ValueError, match="title are for figures"):
        explorer.save(tmp_path / "x.gexf", title="none")


def test_dialog_asks_for_title_format_and_size(explore, monkeypatch):
    explorer = explore(named(), sigma=0.2)
    toolbar, saved = explorer.layout.toolbar, {}
    monkeypatch.setattr(toolbar.browser, "save", saved.__setitem__)
    toolbar.choose({"label": SAVE_FIGURE})
    dialog = toolbar.figure_dialog
    assert dialog.__panel__().open
    assert dialog.title.value == NAME
    dialog.size.value = 3
    part(dialog, "Save").clicks += 1
    settle(explorer)
    assert dialog.__panel__().open  # for other formats
    dialog.format.value = "svg"
    dialog.title.value = "Two moons"
    assert dialog.size.disabled
    part(dialog, "Save").clicks += 1
    settle(explorer)
    picture, drawing = saved.values()
    assert Image.open(io.BytesIO(picture)).size == (3240, 2205)

    def refuse(*given):
        raise OSError("the disk is full")

    monkeypatch.setattr(toolbar.browser, "save", refuse)
    part(dialog, "Save").clicks += 1
    settle(explorer)
    assert "the disk is full" in explorer.session.state.error
    assert not dialog.__panel__().open  # it would lie over the message
    assert "Two moons" in words(ElementTree.fromstring(drawing))
