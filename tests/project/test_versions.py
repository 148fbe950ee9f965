"""The script that tries versions of packages: what it runs and how it judges."""

from scripts import versions


def test_every_file_of_the_subset_exists():
    missing = [path for path in versions.SUBSET if not (versions.ROOT / path).is_file()]
    assert not missing


def test_bounds_below_what_was_installed_are_named(monkeypatch):
    extras = {
        "explorer": ["a>=1.0"],
        "notebook": ["kdegraph[explorer]"],
        "dask": ["B_c[x]>=2"],
        "excel": [],
    }
    project = {"dependencies": ["d>=3,<4"], "optional-dependencies": extras}
    monkeypatch.setattr(versions, "PROJECT", project)
    installed = {"a": "1", "b-c": "2.0.8", "d": "3.0"}
    assert list(versions.above_bounds(installed)) == ["B_c[x]>=2 (2.0.8)"]


def test_pre_releases_are_those_of_packages_that_users_install(monkeypatch):
    given = []
    monkeypatch.setattr(versions, "uv", lambda *arguments: given.extend(arguments))
    versions.coming("python3.11")
    allowed = {text.split("=")[1] for text in given if text.endswith("=allow")}
    assert allowed == set(versions.COMING)
    texts = [*versions.PROJECT["dependencies"]]
    texts += versions.PROJECT["optional-dependencies"]["explorer"]
    assert allowed <= {versions.Requirement(text).name for text in texts}


RAN = {"passed": 9, "failed": 0}


def test_one_failure_or_no_trial_is_a_failure():
    missing = {"passed": "missing"}
    for rows in ([RAN, RAN], [RAN, missing]):
        assert versions.succeeded(rows)
    for rows in ([RAN, {"passed": 8, "failed": 1}], [RAN, {"failed": "not run"}], [missing], []):
        assert not versions.succeeded(rows)
