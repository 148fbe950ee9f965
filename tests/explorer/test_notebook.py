"""The example notebooks run from top to bottom."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
from kdegraph.runtime.cache import COMPILING
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.name)
def test_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), (
        "examples are kept without outputs"
    )
    client = NotebookClient(
        notebook,
        timeout=240,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    with ThreadPoolExecutor(1) as pool:  # its event loop must not meet one of another test
        pool.submit(
            asyncio.run, client.async_execute()
        ).result()  # closes its loop, which client.execute does not
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert outputs
    errors = [
        output.text
        for output in outputs
        if output.output_type == "stream" and output.name == "stderr"
    ]
    assert set("".join(errors).splitlines()) <= {COMPILING}
