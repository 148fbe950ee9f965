"""One's own files, untouched: a session finds their clusters, or says that it does not know."""

import own_files
import pytest
from explorer_actions import export, give_file
from kdegraph_explorer.views.status import Status
from own_files import File, check_clusters

FILES = (
    File("cancer.csv", own_files.bundled("breast_cancer"), 2, 0.65),
    File("iris.csv", own_files.iris, 2, 1.0),
    File("seeds.csv", own_files.seeds, 3, 0.6, overlaps=True),
    File("customers.csv", own_files.customers, 4, 0.99),
    File("expression.csv", own_files.expression, 6, 0.99),
    File("track.csv", own_files.track, 3, 0.99),
)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_files_open_with_their_clusters(sessions, tmp_path, file):
    session, path = sessions(), tmp_path / file.name
    known = file.write(path)
    give_file(session, path.read_bytes(), file.name)
    check_clusters(file, known, Status(session).sentence(), export(session, "table-csv"))
