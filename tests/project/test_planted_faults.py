"""The faults of `planted_faults.py` still fit the source; the program itself takes many minutes."""

import shutil

import pytest
from planted_faults import FAULTS, ROOT, plant


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_can_be_planted_and_named_tests_exist(fault, tmp_path):
    copy = tmp_path / fault.path
    copy.parent.mkdir(parents=True)
    shutil.copy(ROOT / fault.path, copy)
    plant(fault, tmp_path)
    compile(copy.read_text(), fault.path, "exec")
    assert copy.read_text() != (ROOT / fault.path).read_text()
    assert all((ROOT / "tests" / name).is_file() for name in fault.tests.split())
