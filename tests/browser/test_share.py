"""Files saved in a real browser."""

import pyarrow as pa
from browser.saving import save
from kdegraph import SimilarityGraph
from pyarrow import csv


def test_files_hold_what_is_shown(first_view, tmp_path):
    page = first_view
    table = csv.read_csv(pa.OSFile(str(save(page, "Labels, CSV").path())))
    colors = page.colors()
    labels = table["kde_cluster"].to_pylist()
    assert len({*zip(labels, colors, strict=True)}) == len(set(labels)) == 2
    save(page, "Graph, NPZ").save_as(tmp_path / "graph.npz")
    assert f"{SimilarityGraph.load(tmp_path / 'graph.npz').n_edges:,}" == page.scores()["Edges"][0]
    script = save(page, "Python script")
    assert script.suggested_filename == "moons.py"
    assert "kdegraph.similarity_graph" in script.path().read_text()
