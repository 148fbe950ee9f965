"""Build wheel and sdist into dist/ and check them, as a release does; nothing is published.

    python scripts/release.py

A release is a tag: "v" and the version. In GitHub's actions the tag is compared with the version.
"""

import datetime
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def version():
    """Return the version in pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def faults(root, released, tag=""):
    """Return what speaks against a release, as sentences.

    Parameters
    ----------
    root : Path
        The folder of the project.
    released : str
        The version.
    tag : str
        That of the commit; without one, it is a dry run, and the changelog need not have a date.
    """
    found = []
    if tag and tag != f"v{released}":
        found.append(f"the tag is {tag}, the version in pyproject.toml {released}")
    if f"\nversion: {released}\n" not in (root / "CITATION.cff").read_text():
        found.append(f"CITATION.cff has another version than {released}")
    if f"\n  version: {released}\n" not in (root / "packaging/conda/recipe.yaml").read_text():
        found.append(f"packaging/conda/recipe.yaml has another version than {released}")
    heading = re.search(r"^## (\S+), (\S+)$", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    if heading is None or heading[1] != released:
        found.append(f"the first heading of CHANGELOG.md is not that of {released}")
    elif tag and not _is_date(heading[2]):
        found.append(f"CHANGELOG.md has no date for {released}, but {heading[2]!r}")
    return found


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
    tag = os.environ["GITHUB_REF_NAME"] if os.environ.get("GITHUB_REF_TYPE") == "tag" else ""
    found = faults(ROOT, version(), tag)
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--outdir", dist, ROOT], check=True)
    (sdist,), (wheel,) = dist.glob("*.tar.gz"), dist.glob("*.whl")
    found += faults_of_sdist(sdist)
    for check in (["twine", "check", "--strict", wheel, sdist], ["check_wheel_contents", wheel]):
        subprocess.run([sys.executable, "-m", *check], cwd=ROOT, check=True)
    print("\n".join(found) or f"{version()} can be released")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
