"""One's own files, untouched: the page finds their clusters, or says that it does not know."""

import io
import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow.csv
from browser import own_files
from browser.saving import save
from sklearn.metrics import adjusted_rand_score, homogeneity_score

SCALED = "All columns are standardized"


class File(NamedTuple):
    """A file, what the page finds in it, and how well that agrees with the known classes."""

    name: str
    write: Callable
    n_clusters: int | None  # None if the page says that its number may be wrong
    agreement: float  # at least
    says: str = ""  # what stands above the plots


FILES = (
    File("wine.csv", own_files.bundled("wine"), None, 0.8, SCALED),
    File("cancer.csv", own_files.bundled("breast_cancer"), 2, 0.65, SCALED),
    File("iris.csv", own_files.iris, 2, 1.0),
    File("seeds.csv", own_files.seeds, None, 0.0),
    File("penguins.csv", own_files.penguins, 2, 0.98, "2 rows with missing cells are left out"),
    File("customers.csv", own_files.customers, 4, 0.99, SCALED),
    File("export.csv", own_files.export, 3, 0.99, SCALED),
    File("expression.csv", own_files.expression, 6, 0.99),
    File("track.csv", own_files.track, 3, 0.99),
    File("blobs.npy", own_files.blobs, 7, 0.99),
)


def test_files_open_with_their_clusters(explorer, tmp_path):
    page = explorer()
    page.choose_source("File")
    for file in FILES:
        known = file.write(tmp_path / file.name)
        page.change(lambda file=file: open_file(page, tmp_path / file.name))
        check_number(page.status(), file)
        found = clusters(page)
        explored = ~np.isnan(found)
        agreement = adjusted_rand_score(known[explored], found[explored])
        assert agreement >= file.agreement, (file.name, agreement)
        if file.says:
            page.page.get_by_text(file.says).wait_for()


def test_a_photograph_opens_with_its_segments(explorer, tmp_path):
    """The segments are parts of what is in it, and the page calls their number no sure one."""
    page = explorer()
    page.choose_source("File")
    known = own_files.photograph(tmp_path / "beach.png")
    page.change(lambda: open_file(page, tmp_path / "beach.png"))
    parts = known.reshape(80, 110)[::-1].ravel()  # the lowest row first, as segments are drawn
    segments = page.segments()
    assert homogeneity_score(parts, segments) > 0.95
    assert adjusted_rand_score(parts, segments) > 0.7
    assert "confidence" not in page.status()


def open_file(page, path):
    page.upload(path)
    page.expect_status(f"{path.name}: ")


def check_number(status, file):
    number = re.search(r", ([0-9]+) clusters? \(automatic, (low )?confidence", status)
    assert number, status
    unsure = number.group(2) is not None
    assert unsure if file.n_clusters is None else int(number.group(1)) == file.n_clusters, status


def clusters(page):
    """Return the clusters in the table that the page saves, in the order of the file."""
    saved = save(page, "Table with clusters, CSV").path().read_bytes()
    column = pyarrow.csv.read_csv(io.BytesIO(saved))["cluster"]
    return np.array(column.to_pylist(), dtype=np.float64)
