"""The largest memory of a process, as Linux reports it: for programs that tests run."""

from pathlib import Path

import pytest

MEASURE = """
import re
from pathlib import Path

def memory(name):
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(name + r":\\s*(\\d+)", status).group(1))

def begin():
    Path("/proc/self/clear_refs").write_text("5")  # the peak (VmHWM) begins anew
    return memory("VmRSS")

def taken(before):
    return memory("VmHWM") - before
"""


def skip_unless_reported():
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("the system does not report the largest memory of a process")
