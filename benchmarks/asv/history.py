"""Write `docs/results/history.csv` from the results of asv: `python -m benchmarks.asv.history`.

Each row has the processor time of all steps at one commit, as multiples of those at the last one.
"""

import csv
import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def measured(folder):
    """Yield the commit and its seconds by step from each of the files of a machine."""
    for path in folder.glob("*/*-*.json"):
        content = json.loads(path.read_text())
        steps = {
            name.partition("time_")[2].replace("_", " "): found[0][0]
            for name, found in content["results"].items()
            if found[0]  # it did not fail
        }
        yield content["commit_hash"], steps


def count(commit):
    """Return the number of commits up to one."""
    command = ["git", "rev-list", "--count", commit]
    return int(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)


def write(folder, path):
    """Write the table, with the commits in order."""
    rows = sorted((count(commit), commit[:7], steps) for commit, steps in measured(folder))
    last = rows[-1][2]
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["commits", "commit", *last])
        for number, commit, steps in rows:
            ratios = [round(steps[name] / last[name], 3) if name in steps else "" for name in last]
            writer.writerow([number, commit, *ratios])


if __name__ == "__main__":
    write(ROOT / "build" / "asv" / "results", ROOT / "docs" / "results" / "history.csv")
