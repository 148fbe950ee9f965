"""Colors of points by label and by column, and what the legend says of them."""

import datetime
import io

import numpy as np
import pytest
from explorer_actions import PATIENCE, explorer_of_file, put, settle
from explorer_objects import source, view
from files import csv_table, parquet_bytes
from kdegraph import datasets
from kdegraph_explorer.coloring import SCALE, choices, coloring_of
from kdegraph_explorer.drawing.palette import BETWEEN, CLUSTER_COLORS, packed, rgb
from kdegraph_explorer.exports import html_page
from kdegraph_explorer.exports.figure import draw
from kdegraph_explorer.exports.still import png, still_of
from kdegraph_explorer.point_columns import TableDataset, columns_of, row_in_words, values_of
from matplotlib.collections import PathCollection
from PIL import Image

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=N)
TEXT = b"x,size,kind\n" + b"\n".join(
    b"%f,%f,%s" % (x, 10 * x, b"uvw"[i % 3 : i % 3 + 1]) for i, x in enumerate(X)
)


def points(text, **options):
    table = csv_table(text)
    return TableDataset.of(table.to_dataset(**options), table)


def column_of(values, kind="x"):
    text = "x,c\n" + "\n".join(f"{i},{v}" for i, v in enumerate(values))
    return coloring_of(points(text, columns=["x"]), kind)


def colors(values):
    """The colors of points by a column with these values, #rrggbb."""
    found = column_of(values, "column:c")
    return ["#{:02X}{:02X}{:02X}".format(*found.palette[code]) for code in found.codes], found


# ---- what colors mean


def test_categories_have_the_colors_of_the_legend():
    shown, found = colors(["u", "v", "u", "w"])
    legend = dict(found.entries)
    assert legend == dict(zip("uvw", CLUSTER_COLORS, strict=False))
    assert shown == [legend[name] for name in ["u", "v", "u", "w"]]
    assert found.limits is None


def test_few_whole_numbers_are_categories_and_many_are_a_scale():
    assert [name for name, _ in column_of([3, 1, 2, 1], "column:c").entries] == ["1", "2", "3"]
    assert column_of(range(100, 140), "column:c").entries == ()
    assert column_of([0.5, 1.5, 2.5], "column:c").entries == ()


def test_a_scale_rises_with_the_values_and_an_outlier_does_not_set_it():
    values = RNG.normal(size=500)
    found = column_of(values, "column:c")
    order = np.argsort(values)
    assert (np.diff(found.codes[order]) >= 0).all()
    assert (found.codes.min(), found.codes.max()) == (0, len(SCALE) - 1)
    low, high = np.quantile(values, [0.01, 0.99], method="nearest")
    assert found.limits == (f"{float(f'{low}'):.5g}", f"{float(f'{high}'):.5g}")
    assert len(np.unique(column_of(np.r_[values, 1e6], "column:c").codes)) > len(SCALE) / 2


def test_what_is_missing_is_neutral():
    for missing in ("", "inf"):
        shown, _ = colors([0.5, missing, 2.5])
        assert [color == BETWEEN for color in shown] == [False, True, False]


def test_more_categories_than_colors_are_counted():
    names = [f"n{i % 30}" for i in range(90)] + ["n7", "n7"]
    shown, found = colors(names)
    assert found.entries[-1] == ("18 others", BETWEEN)
    assert len(found.entries) == len(CLUSTER_COLORS) + 1
    assert shown[7] != BETWEEN
    assert shown[29] == BETWEEN


def test_dates_are_a_scale():
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(i) for i in range(50)]
    columns = {"x": np.arange(50.0) ** 2, "day": [*days[:-1], None]}
    table = datasets.read(parquet_bytes(columns), filename="t.parquet")
    found = coloring_of(TableDataset.of(table.to_dataset(), table), "column:day")
    assert found.limits == ("2020-01-01", "2020-02-18")
    assert (np.diff(found.codes[:-1]) >= 0).all()
    assert found.codes[-1] == len(SCALE)


def test_columns_and_rows_in_words_follow_the_rows_that_are_left():
    data = points("x,c\n1,u\n,v\n5,w\n", columns=["x"], dropna=True)
    assert values_of(data, columns_of(data)["c"]).tolist() == ["u", "w"]
    assert row_in_words(data, 1) == ["c: w", "x: 5"]


def test_generated_points_are_colored_by_label_and_coordinates():
    data = datasets.make("moons", n=50, seed=0)
    assert list(choices(data)) == ["Cluster", *data.feature_names, "true label"]
    found = coloring_of(data, "column:true label")
    np.testing.assert_array_equal(found.codes, data.y)
    assert coloring_of(data, "cluster") is None
    assert coloring_of(data, "column:nothing") is None
    assert list(choices(datasets.photo("flower", max_pixels=100))) == ["Cluster"]


# ---- in the explorer


@pytest.fixture
def explorer(explore):
    explorer = explorer_of_file(explore, TEXT)
    put(explorer, "upload", label_column="none")
    return explorer


def drawn(explorer):
    figure = view(explorer, "points").figures()[0]
    return np.asarray(source(figure, "points").data["color"])


def test_points_get_the_colors_of_a_column_and_nothing_is_computed(explorer):
    state, before = explorer.session.state, explorer.session.state.result
    put(explorer, color="column:kind")
    expected = packed(np.array([rgb(CLUSTER_COLORS[i % 3]) for i in range(N)]))
    np.testing.assert_array_equal(drawn(explorer), expected)
    assert [name in explorer.layout.color.legend.content for name in "uvw"] == [True] * 3
    put(explorer, color="column:size")
    assert "linear-gradient" in explorer.layout.color.legend.content
    assert state.result is before
    put(explorer, color="cluster")
    assert len(np.unique(drawn(explorer))) == before.outcomes["kde"].n_clusters
    # The choice stands where plots follow it.
    color = explorer.layout.color
    assert color.choice.options == choices(state.shown)
    color.choice.value = "column:kind"
    assert state.color == "column:kind"
    for key, visible in (("rounds", False), ("spectral", True), ("points", True)):
        state.view = key
        assert color.__panel__().visible is visible
    # Other points without the column are colored by cluster.
    session = explorer.session
    session.state.color = "column:kind"
    put(session, source="generators")
    settle(explorer)
    assert (session.state.color, session.state.coloring) == ("cluster", None)
    assert explorer.layout.color.choice.value == "cluster"


def test_a_column_gets_the_role_of_the_color(explorer):
    session, upload = explorer.session, explorer.session.sources["upload"]
    upload.assign(["size"], "color")
    session.wait(PATIENCE)
    settle(explorer)
    assert session.state.color == "column:size"
    assert session.state.dataset.feature_names == ("x",)
    assert session.state.coloring.name == "size"
    assert [upload.role(name) for name in ("x", "size", "kind")] == ["feature", "color", "ignore"]
    explorer.layout.color.choice.value = "column:kind"
    assert [upload.role(name) for name in ("x", "size", "kind")] == ["feature", "ignore", "color"]
    upload.assign(["kind"], "ignore")
    assert session.state.color == "cluster"
    explorer.layout.color.choice.value = "column:x"
    assert upload.role("x") == "feature"


def saved(session):
    """The colors of the points in the HTML file and in a figure, and what its legend says."""
    now = still_of(session.state)
    figure = draw(now, "", 1)
    marks = next(
        part for part in figure.subfigs[1].axes[0].collections if isinstance(part, PathCollection)
    )
    page = html_page.points_of(now, np.arange(N)).data["kde_color"]
    legend = [text.get_text() for text in figure.subfigs[2].legends[0].get_texts()]
    return page, marks.get_facecolors()[:, :3], legend


def test_files_have_the_chosen_colors(explorer):
    state = explorer.session.state
    state.color = "column:kind"
    expected = np.array([rgb(CLUSTER_COLORS[i % 3]) for i in range(N)])
    page, marks, legend = saved(explorer.session)
    np.testing.assert_array_equal(page, packed(expected))
    np.testing.assert_allclose(marks, expected / 255)
    picture = np.asarray(Image.open(io.BytesIO(png(still_of(state)))).convert("RGB"))
    assert set(map(tuple, expected.tolist())) <= set(map(tuple, picture.reshape(-1, 3).tolist()))
    assert legend == ["u", "v", "w", "edge between colors"]
    assert still_of(state).title.endswith("nearest neighbors; colors: kind")
    state.color = "column:size"
    page, *_, legend = saved(explorer.session)
    found = state.coloring
    np.testing.assert_array_equal(page, packed(found.palette[found.codes]))
    low, high = found.limits
    assert legend == [f"size: {low} or less", f"{high} or more", "edge between colors"]
    state.color = "cluster"
    page, *_, legend = saved(explorer.session)
    assert len(np.unique(page)) == state.outcome("kde").n_clusters
    assert legend[0] == "cluster 1"
    assert "colors" not in still_of(state).title
