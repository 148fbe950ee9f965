"""The faults of `planted_faults.txt` still fit the source; planting all of them takes long."""

import shutil

from planted_faults import FAULTS, ROOT, plant


def test_faults_can_be_planted_and_named_tests_exist(tmp_path):
    for fault in FAULTS:
        original, copy = ROOT / fault.path, tmp_path / fault.path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(original, copy)
        plant(fault, tmp_path)
        compile(copy.read_text(), fault.path, "exec")
        assert copy.read_text() != original.read_text()
        assert all((ROOT / "tests" / name).is_file() for name in fault.tests.split())
