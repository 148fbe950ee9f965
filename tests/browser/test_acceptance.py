"""One's own files, untouched: the page finds their clusters, or says that it does not know.

`tests/explorer/test_own_files.py` opens more files, without a page.
"""

import own_files
from browser.saving import save
from own_files import File, check_clusters
from sklearn.metrics import adjusted_rand_score, homogeneity_score

FILES = {  # and what stands above the plots
    File("wine.csv", own_files.bundled("wine"), 3, 0.8, overlaps=True): (
        "All columns are standardized"
    ),
    File("penguins.csv", own_files.penguins, 2, 0.98, overlaps=True): (
        "2 rows with missing cells are left out"
    ),
    File("export.csv", own_files.export, 3, 0.99): "",
    File("blobs.npy", own_files.blobs, 7, 0.99): "",
}


def test_files_open_with_their_clusters(explorer, tmp_path):
    page = explorer()
    page.choose_source("File")
    for file, said in FILES.items():
        known = file.write(tmp_path / file.name)
        page.change(lambda file=file: open_file(page, tmp_path / file.name))
        table = save(page, "Table with clusters, CSV").path().read_bytes()
        check_clusters(file, known, page.status(), table)
        if said:
            page.page.get_by_text(said).wait_for()
    check_photograph(page, tmp_path)


def check_photograph(page, folder):
    """The segments are parts of what is in it, and the page calls their number no sure one."""
    known = own_files.photograph(folder / "beach.png")
    page.change(lambda: open_file(page, folder / "beach.png"))
    parts = known.reshape(80, 110)[::-1].ravel()  # the lowest row first, as segments are drawn
    segments = page.segments()
    assert homogeneity_score(parts, segments) > 0.95
    assert adjusted_rand_score(parts, segments) > 0.7
    assert "confidence" not in page.status()


def open_file(page, path):
    page.upload(path)
    page.expect_status(f"{path.name}: ")
