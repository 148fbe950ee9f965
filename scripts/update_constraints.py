"""Write constraints.txt: the newest versions of all packages that `.[dev,bench]` needs.

Pip resolves them for each Python that is given, or for the one that runs this program.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
OLDEST = "3.11.0"
HEADER = """\
# The exact versions that this project is developed and tested with, on Python 3.11, 3.12 and 3.13.
# Everything that any extra needs is here, directly or not.
# Use: pip install -c constraints.txt -e '.[explorer]'
# To move on: `make update-constraints`, then `make test`.
"""


def resolve(python):
    """Return the version of a Python, and {name: version} of what it would install."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--dry-run",
            "--ignore-installed",
            "--report",
            report,
            f"{ROOT}[dev,bench]",
        ]
        subprocess.run(command, check=True)
        found = json.loads(report.read_text())
    pins = {}
    for package in (item["metadata"] for item in found["install"]):
        pins[package["name"]] = package["version"]
        # On such a Python, pip would try older versions for minutes: pin one by hand.
        if OLDEST not in SpecifierSet(package.get("requires_python", "")):
            release = f"{package['name']} {package['version']}"
            print(
                f"{release} does not install on Python {OLDEST}: pin an older one", file=sys.stderr
            )
    pins.pop("kdegraph")
    return found["environment"]["python_version"], pins


def merge(resolved):
    """Return the lines of a constraints file; a marker says which Pythons a version is for."""
    for name in sorted({name for pins in resolved.values() for name in pins}, key=str.lower):
        versions = {}
        for python, pins in resolved.items():
            if name in pins:
                versions.setdefault(pins[name], []).append(python)
        for version, pythons in versions.items():
            markers = " or ".join(f'python_version == "{python}"' for python in pythons)
            for_all = len(pythons) == len(resolved)
            yield f"{name}=={version}{'' if for_all else f' ; {markers}'}\n"


if __name__ == "__main__":
    resolved = dict(resolve(python) for python in sys.argv[1:] or [sys.executable])
    (ROOT / "constraints.txt").write_text(HEADER + "".join(merge(resolved)))
