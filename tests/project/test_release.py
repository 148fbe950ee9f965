"""What a release needs: versions that agree, a description whose links work, a recipe for conda."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from scripts import build_hooks, release

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


CHANGELOG = "# Changelog\n\n## 1.2.0, 2030-02-01\n\n- News.\n"


def test_the_changelog_begins_with_a_version():
    assert release.faults((ROOT / "CHANGELOG.md").read_text(), "1.2.0") == []


@pytest.mark.parametrize(
    ("before", "after", "built", "tag", "fault"),
    [
        ("", "", "1.2.0", "v1.2.0", None),
        ("", "", "1.3.dev4", "", None),
        ("", "", "1.3.dev4", "v1.2.0", "the tag is v1.2.0"),
        ("## 1.2.0", "## 1.3.0", "1.2.0", "v1.2.0", "that of 1.3.0, not 1.2.0"),
        ("2030-02-01", "unreleased", "1.2.0", "v1.2.0", "no date for 1.2.0"),
        ("## 1.2.0, ", "## News of ", "1.3.dev4", "", "not a version and a date"),
    ],
)
def test_what_speaks_against_a_release(before, after, built, tag, fault):
    found = release.faults(CHANGELOG.replace(before, after), built, tag)
    assert bool(found) == bool(fault)
    assert fault is None or fault in found[0]


def git(*arguments, cwd):
    identity = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("tag", "version"), [("v1.2.3", r"1\.2\.3"), ("", r"0\.0\.1\.dev1\+g\w+"), (None, r"0\.0\.0")]
)
def test_the_version_is_that_of_the_tag(tmp_path, tag, version):
    for name in ("pyproject.toml", "README.md", "LICENSE", "scripts/build_hooks.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    if tag is not None:
        git("init", cwd=tmp_path)
        git("add", ".", cwd=tmp_path)
        git("commit", "-m", "All", cwd=tmp_path)
    if tag:
        git("tag", tag, cwd=tmp_path)
    command = [sys.executable, "-m", "hatchling", "metadata", "version"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert re.fullmatch(version, found.stdout.strip())


def test_links_of_the_description_lead_to_the_tag():
    text = "![P](docs/p.png) [a](docs/a.md#b) [c](https://example.org) [d](#d)"
    assert build_hooks.with_absolute_links(text, "", "1.2") == text
    assert build_hooks.with_absolute_links(text, "https://example.org/x", "1.2") == (
        "![P](https://example.org/x/raw/v1.2/docs/p.png) "
        "[a](https://example.org/x/blob/v1.2/docs/a.md#b) [c](https://example.org) [d](#d)"
    )


def test_links_of_the_readme_are_files():
    found = build_hooks.RELATIVE.findall((ROOT / "README.md").read_text())
    assert len(found) > 5
    assert [path for _, _, path in found if not (ROOT / path.partition("#")[0]).exists()] == []


def test_the_recipe_for_conda_requires_what_the_project_does():
    text = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text()
    names = {"matplotlib-base": "matplotlib"}
    run = yaml.safe_load(text)["requirements"]["run"]
    found = {(names.get(name, name), bounds) for name, _, bounds in (r.partition(" ") for r in run)}
    required = map(
        Requirement, PROJECT["dependencies"] + PROJECT["optional-dependencies"]["explorer"]
    )
    expected = {(one.name, _sorted(str(one.specifier))) for one in required}
    expected.add(("python", PROJECT["requires-python"]))
    assert {(name, _sorted(bounds)) for name, bounds in found} == expected


def _sorted(bounds):
    return ",".join(sorted(bounds.split(",")))
