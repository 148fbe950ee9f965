"""How fast earlier commits were: the table that asv's results become."""

import json
from pathlib import Path

from benchmarks.asv import history
from benchmarks.asv.benchmarks.steps import Steps

ROOT = Path(__file__).parents[2]


def test_times_are_multiples_of_those_at_the_last_commit(tmp_path, monkeypatch):
    seconds = {
        "aaaaaaaaaa": ([6.0], [1.0]),
        "bbbbbbbbbb": ([2.0], None),
        "cccccccccc": ([3.0], [4.0]),
    }
    numbers = {"aaaaaaaaaa": 10, "bbbbbbbbbb": 200, "cccccccccc": 1000}
    monkeypatch.setattr(history, "count", numbers.get)
    folder = tmp_path / "machine"
    folder.mkdir()
    (folder / "machine.json").write_text("{}")
    for commit, (graph, sums) in seconds.items():
        results = {
            "steps.Steps.time_graph": [graph, []],
            "steps.Steps.time_kernel_sums": [sums, []],
        }
        content = {"commit_hash": commit, "results": results}
        (folder / f"{commit[:8]}-env.json").write_text(json.dumps(content))
    history.write(tmp_path, tmp_path / "history.csv")
    assert (tmp_path / "history.csv").read_text().splitlines() == [
        "commits,commit,graph,kernel sums",
        "10,aaaaaaa,2.0,0.25",
        "200,bbbbbbb,0.667,",
        "1000,ccccccc,1.0,1.0",
    ]


def test_all_steps_run_and_are_in_the_table():
    steps = Steps()
    steps.setup()
    names = [name for name in dir(steps) if name.startswith("time_")]
    for name in names:
        getattr(steps, name)()
    header = (ROOT / "docs" / "results" / "history.csv").read_text().splitlines()[0]
    assert header.split(",")[2:] == [name.removeprefix("time_").replace("_", " ") for name in names]
