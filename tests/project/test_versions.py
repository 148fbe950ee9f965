"""The script that tries versions of packages: what it runs and how it judges."""

import argparse

import pytest

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


def test_a_report_is_counted():
    suite = {"tests": "10", "failures": "2", "errors": "1", "skipped": "3", "time": "61.7"}
    assert versions.counts(suite) == {"passed": 4, "failed": 3, "seconds": 62}


RAN = {"passed": 9, "failed": 0}


def test_one_failure_or_no_trial_is_a_failure():
    missing = {"passed": "missing"}
    for rows in ([RAN, RAN], [RAN, missing]):
        assert versions.succeeded(rows)
    for rows in ([RAN, {"passed": 8, "failed": 1}], [RAN, {"failed": "not run"}], [missing], []):
        assert not versions.succeeded(rows)


def test_environments_stay_out_of_the_repository(tmp_path):
    assert versions.folder_outside(str(tmp_path)) == tmp_path
    with pytest.raises(argparse.ArgumentTypeError, match="outside"):
        versions.folder_outside(str(versions.ROOT / "environments"))
