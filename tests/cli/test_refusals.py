"""Commands refuse wrong usage in one line."""

import shlex

import pytest
from cli.results import assert_refused

REFUSED = {
    "cluster": ("Missing argument 'FILE'", "kdegraph cluster --help"),
    "clusters moons.csv": ("No such command 'clusters'", "kdegraph --help"),
    "cluster nope.csv": ("'nope.csv' does not exist",),
    "cluster moons.csv -k 0": ("-k", "0 is not in the range"),
    "cluster moons.csv -k 301": ("301",),
    "cluster moons.csv --sigma nan": ("sigma must be positive and finite, got nan",),
    "cluster moons.csv --perplexity 5": ("--perplexity goes with --sigma local",),
    "cluster moons.csv --metric haversine --scale standardize": (
        "--metric haversine takes degrees",
    ),
    "cluster moons.csv --method knn --alpha 0.5": ("--alpha goes with --method kde",),
    "cluster moons.csv --method knn --sigma local": ("--sigma local goes with --method kde",),
    "cluster moons.csv --kernel cosine": ("--kernel", "gaussian"),
    "cluster moons.csv --sigma Local": ("is not a valid number or auto or local or moderate",),
    "cluster moons.csv -k two": ("'two' is not a valid number or auto.",),
    "cluster moons.csv --perplexity foo": ("'foo' is not a valid number.",),
    "cluster moons.csv --neighbors foo": ("'foo' is not a valid integer.",),
    "sample moons --noise foo": ("'foo' is not a valid number.",),
    "cluster moons.csv --max-pixels 20000": ("moons.csv is not a picture", "--max-pixels"),
    "graph moons.csv -o g.npz --blur 0": ("moons.csv is not a picture", "--blur"),
    "cluster moons.csv --store s --blur 0": ("--blur does not go with --store",),
    "cluster moons.csv --store moons.csv": ("'--store'", "'moons.csv' is a file"),
    "cluster moons.csv --id x --columns x,y": ("--id", "'x' is also one of --columns"),
    "cluster moons.csv --id x --categories x": ("--id", "'x' is also one of", "--categories"),
    "cluster moons.csv --method knn --rounds 5": ("--rounds goes with --method kde",),
    "cluster moons.csv --neighbors 5": ("--neighbors goes with --method knn",),
    "cluster moons.csv --columns x,w": ("no column 'w'", "'x', 'y', 'label'"),
    "cluster moons.csv -o labels.txt": ("'labels.txt' must end in .csv, .parquet, .npy",),
    "cluster moons.csv -o labels.png": ("must end in .csv, .parquet, .npy",),
    "cluster moons.csv -o none/labels.csv": ("folder", "does not exist"),
    "cluster moons.csv -o folder.csv": ("is a folder",),
    "cluster moons.csv -o folder.csv/../moons.csv": ("'moons.csv' is FILE itself",),
    "graph moons.csv -o moons.csv": ("'moons.csv' is FILE itself",),
    "cluster moons.csv --noise 0.9 --sigma auto": ("noise needs several graphs",),
    "cluster moons.csv --noise 0.9 --method knn": ("noise needs several graphs", "k-NN graph"),
    "cluster halves.png --columns x": ("is a picture",),
    "cluster halves.png --scale standardize": ("is a picture", "no columns to standardize"),
    "cluster halves.png --noise 0.9": ("noise needs several graphs", "pixels of a picture"),
    "cluster halves.png --label x": ("is a picture",),
    "cluster halves.png --id x": ("is a picture",),
    "cluster halves.png --categories auto": ("is a picture",),
    "cluster moons.csv --store s --id x": ("--id does not go with --store",),
    "graph moons.csv": ("Missing option", "--output"),
    "graph moons.csv -o g.npy": ("'g.npy' must end in .npz, .csv, .parquet",),
    "explore nope.csv": ("'nope.csv' does not exist",),
    "explore bad.xls": ("unknown type '.xls'; save the sheet as CSV",),
    "explore --window --port 80": ("'--port'", "cannot be given with --window"),
    "explore --window --token": ("'--token'", "cannot be given with --window"),
    "explore --window --allow-origin a": ("'--allow-origin'", "with --window"),
    "explore --window --no-browser": ("'--browser'", "cannot be given with"),
    "explore --allow-origin '*'": ("--allow-origin: '*' is not an origin", "HOST:PORT"),
    "explore --prefix 'a b'": ("--prefix: 'a b' is not a path",),
    "explore --password-file nope": ("--password-file", "does not exist"),
    "explore --token --password-file bad.txt": ("--token: cannot be given with --password-file",),
    "explore --password-file bad.txt": ("--password-file: ", "chmod 600"),
}


@pytest.mark.parametrize(("command", "words"), REFUSED.items(), ids=REFUSED)
def test_wrong_usage_is_refused_in_one_line(run, moons, picture, tmp_path, command, words):
    (tmp_path / "folder.csv").mkdir()
    for name in ("bad.txt", "bad.xls"):
        (tmp_path / name).write_text("words")
    before = sorted(tmp_path.iterdir())
    assert_refused(run(*shlex.split(command)), *words)
    assert sorted(tmp_path.iterdir()) == before


def test_a_bad_file_is_refused_in_one_line(run, tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,2\n3,nan\n")
    for command in ("cluster", "graph"):
        refused = run(command, "t.csv", "-o", "out.csv")
        assert_refused(refused, "row 1 (line 3 of the file)", "'b' is missing", "--dropna")
        assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
