"""What a release needs: versions that agree, a description whose links work, a recipe for conda."""

import shutil
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from scripts import build_hooks, release

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_versions_agree():
    assert release.faults(ROOT, PROJECT["version"]) == []


@pytest.mark.parametrize(
    ("file", "before", "after", "tag", "fault"),
    [
        ("CITATION.cff", "", "", "v9.9.9", "the tag is v9.9.9"),
        ("CITATION.cff", "version: {}", "version: 9.9.9", "", "CITATION.cff"),
        ("packaging/conda/recipe.yaml", "version: {}", "version: 9.9.9", "", "recipe.yaml"),
        ("CHANGELOG.md", "## {}", "## 9.9.9", "", "first heading"),
        ("CHANGELOG.md", "", "", "v{}", "no date"),
    ],
)
def test_a_release_is_refused(tmp_path, file, before, after, tag, fault):
    version = PROJECT["version"]
    for name in ("CITATION.cff", "packaging/conda/recipe.yaml", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    text = (tmp_path / file).read_text()
    (tmp_path / file).write_text(text.replace(before.format(version), after, 1))
    found = release.faults(tmp_path, version, tag.format(version))
    assert fault in found[0]


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
