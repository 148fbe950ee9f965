"""Build wheel and sdist into dist/ and check them, as a release does; nothing is published.

    python scripts/release.py

The version is that of the last tag, which is "v" and the version; at a commit without a tag this is
a dry run.
"""

import datetime
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def faults(changelog, built, tag=""):
    """Return what speaks against a release, as sentences.

    Parameters
    ----------
    changelog : str
        The text of CHANGELOG.md.
    built : str
        The version of the wheel.
    tag : str
        That of the commit; without one, it is a dry run, and the version is not that of a release.
    """
    heading = re.search(r"^## (\S+), (\S+)$", changelog, re.MULTILINE)
    if heading is None:
        return ["the first heading of CHANGELOG.md is not a version and a date"]
    if not tag:
        return []
    found = []
    if tag != f"v{built}":
        found.append(f"the tag is {tag}, and what was built has the version {built}")
    if heading[1] != built:
        found.append(f"the first heading of CHANGELOG.md is that of {heading[1]}, not {built}")
    if not _is_date(heading[2]):
        found.append(f"CHANGELOG.md has no date for {heading[1]}, but {heading[2]!r}")
    return found


def tag_of_commit():
    """Return the tag of the present commit, or "" if it has none."""
    command = ["git", "describe", "--exact-match", "--tags", "--match", "v*"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()


def _is_date(text):
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def faults_of_sdist(path):
    """Return the files in an sdist that belong to the repository alone."""
    with tarfile.open(path) as archive:
        names = [Path(name).name for name in archive.getnames()]
    return [f"the sdist has a {name}" for name in names if name.startswith(".git")]


def main():
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--outdir", dist, ROOT], check=True)
    (sdist,), (wheel,) = dist.glob("*.tar.gz"), dist.glob("*.whl")
    built = wheel.name.split("-")[1]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = faults(changelog, built, tag_of_commit()) + faults_of_sdist(sdist)
    for check in (["twine", "check", "--strict", wheel, sdist], ["check_wheel_contents", wheel]):
        subprocess.run([sys.executable, "-m", *check], cwd=ROOT, check=True)
    print("\n".join(found) or f"{built} is as it should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
