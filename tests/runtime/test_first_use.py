"""Compiled code: made when it is first called, kept from run to run, made anew when a kernel
changes, and announced to whoever waits.
"""

import ast
import gc
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import kdegraph
import numba
import pytest
from kdegraph.cli._progress import ProgressLine
from kdegraph.runtime import cache, garbage, notices

PACKAGE = Path(kdegraph.__file__).parent
KERNELS = [
    path.relative_to(PACKAGE).as_posix()
    for path in sorted(PACKAGE.rglob("*.py"))
    if "runtime.jit import" in path.read_text()
]

# A kernel with callees in another file, which compiles in about a second.
SUM = """
import kdegraph
print(kdegraph.kernel_sum([[0.0], [1.0]], [[0.0]], sigma=1.0, method="direct")[0])
"""
RESULT = "1.3678794411714423\n"

COUNT = """
import numba.core.event
compiled = []
class Listener(numba.core.event.Listener):
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        compiled.append(f"{function.__module__}.{function.__qualname__} {event.data['args']}")
    def on_end(self, event):
        pass
numba.core.event.register("numba:compile", Listener())
"""


@pytest.fixture
def run(tmp_path):
    """Run Python code in a process of its own, with a cache folder that is empty at first; gives
    (stdout, stderr).
    """

    def run(code, *arguments, **environment):
        command = [sys.executable, "-W", "error", *(["-c", code] if code else []), *arguments]
        environment = os.environ | {"KDEGRAPH_CACHE_DIR": str(tmp_path / "cache")} | environment
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=1780
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    return run


def test_import_compiles_nothing_and_writes_nothing(run, tmp_path):
    code = """
import importlib, pkgutil, kdegraph
for module in pkgutil.walk_packages(kdegraph.__path__, "kdegraph."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print(compiled)
"""
    assert run(COUNT + code) == ("[]\n", "")
    assert not (tmp_path / "cache").exists()


def test_first_use_is_announced_once_and_later_ones_are_silent(run, tmp_path):
    assert run(SUM) == (RESULT, cache.COMPILING + "\n")
    kept = sorted((tmp_path / "cache").rglob("*.nbc"))
    assert len(kept) > 1
    assert run(COUNT + SUM + "\nprint(compiled)") == (RESULT + "[]\n", "")
    assert sorted((tmp_path / "cache").rglob("*.nbc")) == kept


def test_a_folder_that_was_filled_is_only_read(run):
    run(SUM)
    forbid = """
import os
def refuse(*args, **options):
    raise PermissionError(30, "Read-only file system")
os.makedirs = os.mkdir = os.replace = refuse
"""
    assert run(COUNT + forbid + SUM + "\nprint(compiled)") == (RESULT + "[]\n", "")


def test_a_folder_that_cannot_be_written(run, tmp_path):
    (tmp_path / "file").touch()
    out, err = run(SUM, KDEGRAPH_CACHE_DIR=str(tmp_path / "file"))
    assert out == RESULT
    compiling, kept = err.splitlines()
    assert compiling == cache.COMPILING
    assert str(tmp_path / "file") in kept
    assert "set KDEGRAPH_CACHE_DIR" in kept


@pytest.mark.parametrize("content", [b"", b"nonsense"])
def test_damaged_files_are_replaced(run, tmp_path, content):
    run(SUM)
    for number, path in enumerate(sorted((tmp_path / "cache").rglob("*.nb?"))):
        if number % 2 == 0 or content:
            path.write_bytes(content)
    assert run(SUM)[0] == RESULT
    assert run(COUNT + SUM + "\nprint(compiled)") == (RESULT + "[]\n", "")


# What another version of numba may do to its private names that are used here.
ANOTHER_NUMBA = {
    "an option is missing": "from numba.core import options; del options.DefaultOptions._nrt",
    "a class is missing": "del caching._CacheLocator",
    "another class is missing": "del caching.CompileResultCacheImpl",
    "a class of libraries is missing": "from numba.core import codegen; del codegen.JITCodeLibrary",
    "a class has another interface": """
def refuse(cls):
    raise TypeError("something else is asked for")
caching._CacheLocator.__init_subclass__ = classmethod(refuse)
""",
}


@pytest.mark.parametrize("change", ANOTHER_NUMBA.values(), ids=ANOTHER_NUMBA)
def test_with_another_numba_kernels_work_and_are_kept(run, tmp_path, change):
    code = f"from numba.core import caching\n{change}\n{SUM}"
    assert run(code) == (RESULT, cache.COMPILING + "\n")
    kept = sorted((tmp_path / "cache").rglob("*.nbc"))
    assert len(kept) > 1
    assert run(f"{COUNT}\n{code}\nprint(compiled)") == (RESULT + "[]\n", "")
    assert sorted((tmp_path / "cache").rglob("*.nbc")) == kept


def test_a_dispatcher_of_another_numba_uses_its_own_cache(monkeypatch):
    class Dispatcher:
        def enable_caching(self):
            self.folder = numba.config.CACHE_DIR
            raise RuntimeError("no folder can be written to")

    monkeypatch.setattr(numba.config, "CACHE_DIR", "mine")
    compiled = Dispatcher()
    cache.keep_machine_code(compiled)  # it compiles in every run, and works
    assert compiled.folder == str(cache.CACHE_DIR)
    assert numba.config.CACHE_DIR == "mine"


PARTS = """
import gc
from kdegraph.runtime.jit import jit

@jit
def half(x):
    return x / 2

@jit(distinct=True)
def fill(out, x):
    for i in range(out.size):
        out[i] = half(x)

@jit
def total(out, x):
    fill(out, x)
    return out.sum()

if __name__ == "__main__":
    import numpy as np
    before = gc.get_threshold()
    print(total(np.empty(4), 3.0), total(np.empty(4), 3), half(3.0), len(half.overloads))
    assert gc.get_threshold() == before
"""

CONSTANTS = """
from kdegraph.runtime.jit import jit

@jit
def double(x):
    return 2 * x

@jit
def steps(n):
    x, k = 1, 0
    while k < n:
        x, k = double(x) + double(7) + double(x=5), k + 1
    return x

print(steps(2))
assert sum("double" in name for name in compiled) == 1, compiled
"""


def test_what_kernels_call_has_no_machine_code_of_its_own(run, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PARTS)
    result = "6.0 6.0 1.5 1\n"
    assert run(None, str(program)) == (result, "")
    kept = {path.name.split("-")[0] for path in (tmp_path / "cache").rglob("*.nbc")}
    assert kept == {"program.total", "program.half"}  # the latter for the call from Python
    # Each signature has its own files: two processes may write at the same time.
    for kind in ("nbc", "nbi"):
        assert len(list((tmp_path / "cache").rglob(f"*.{kind}"))) == 3
    assert run(None, str(program)) == (result, "")


def test_what_kernels_call_is_compiled_once_for_all_constants(run, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(COUNT + CONSTANTS)
    assert run(None, str(program)) == ("76\n", "")


def test_garbage_is_searched_for_less_often_only_while_kernels_are_compiled(monkeypatch):
    listener = garbage._FewerSearches()
    before = gc.get_threshold()
    try:
        for often, meanwhile in ((700, 50_000), (0, 0), (90_000, 90_000)):
            gc.set_threshold(often, 11, 12)
            listener.on_start(None)
            listener.on_start(None)  # a kernel that the first one calls
            listener.on_end(None)
            assert gc.get_threshold()[:2] == (meanwhile, 11)
            listener.on_end(None)
            assert gc.get_threshold()[:2] == (often, 11)
    finally:
        gc.set_threshold(*before)


def modules_that_kernels_import():
    """Paths, below the package, of the modules that a module with kernels imports directly."""
    for kernel in KERNELS:
        for node in ast.walk(ast.parse((PACKAGE / kernel).read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("kdegraph."):
                folder = PACKAGE.parent / node.module.replace(".", "/")
                names = [folder / alias.name for alias in node.names]
                files = [path.with_suffix(".py") for path in (folder, *names)]
                yield from (f.relative_to(PACKAGE).as_posix() for f in files if f.exists())


@pytest.fixture(scope="module")
def copied_package(tmp_path_factory):
    """A copy of the package, whose sources may be changed."""
    root = tmp_path_factory.mktemp("copy") / "kdegraph"
    shutil.copytree(PACKAGE, root, ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.mark.parametrize("name", sorted({*KERNELS, *modules_that_kernels_import()}))
def test_the_key_covers_every_kernel_and_what_it_imports(name, copied_package, monkeypatch):
    monkeypatch.setattr(cache, "_ROOT", copied_package)
    before = cache._fingerprint()
    assert before == cache.CACHE_DIR.name
    source = (copied_package / name).read_text()
    try:
        (copied_package / name).write_text(source + "# changed\n")
        assert cache._fingerprint() != before
    finally:
        (copied_package / name).write_text(source)


@pytest.mark.parametrize("name", ["cli/__init__.py", "io/files.py", "estimators.py"])
def test_the_key_covers_nothing_else(name, copied_package, monkeypatch):
    monkeypatch.setattr(cache, "_ROOT", copied_package)
    with (copied_package / name).open("a") as file:
        file.write("# changed\n")
    assert cache._fingerprint() == cache.CACHE_DIR.name


def test_a_changed_callee_in_another_file_counts(run, tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "kdegraph", ignore=shutil.ignore_patterns("__pycache__"))
    path = {"PYTHONPATH": str(tmp_path)}
    assert run(SUM, **path)[0] == RESULT
    kernels = tmp_path / "kdegraph" / "geometry" / "kernels.py"
    source = kernels.read_text()
    assert "out[j] = delta * delta" in source
    kernels.write_text(source.replace("out[j] = delta * delta", "out[j] = 2.0 * delta * delta"))
    assert run(SUM, **path)[0] == "1.1353352832366128\n"
    kernels.write_text(source)
    assert run(COUNT + SUM + "\nprint(compiled)", **path) == (RESULT + "[]\n", "")


def test_notices_are_told_once_and_can_be_shown_elsewhere(capsys, monkeypatch):
    monkeypatch.setattr(notices, "_told", set())
    notices.tell("one")
    notices.tell("one")
    shown = []
    with notices.shown_by(shown.append):
        notices.tell("one")
        notices.tell("two")
    notices.tell("three")
    assert shown == ["two"]
    assert capsys.readouterr() == ("", "one\nthree\n")
    monkeypatch.setattr("sys.stderr", None)
    notices.tell("four")


def test_notices_have_a_line_of_their_own_beside_progress():
    stream = io.StringIO()
    with ProgressLine(stream) as line:
        line("samples", 0.5)
        line.say("a notice")
        line._next = 0.0
        line("samples", 0.7)
    assert re.fullmatch(r"\rsamples .* 50%\ra notice +\n\rsamples .* 70%\r +\r", stream.getvalue())


BESIDE = """
import numpy as np
from kdegraph import similarity_graph, warmup

X = np.random.default_rng(0).random((500, 2))
warmup._edges(X)
warmup._samples(X)
beside = set(compiled)
compiled.clear()
similarity_graph(X, sigma=0.3, sampler="rejection", n_rounds=10, seed=0)
for module in ("adjacency", "drawn", "sampling.rejection"):
    name = f"kdegraph.{module}."
    assert any(kernel.startswith(name) for kernel in beside)
    assert not any(kernel.startswith(name) for kernel in compiled), compiled
"""


def test_the_second_process_begins_with_the_last_kernels_of_the_usual_graph(run):
    assert run(COUNT + BESIDE)[0] == ""


WARM_UP = """
import importlib, pkgutil, sys
import kdegraph
from kdegraph.warmup import warm_up
from numba.core.dispatcher import Dispatcher

for module in pkgutil.walk_packages(kdegraph.__path__, "kdegraph."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
warm_up()
kernels = {
    value
    for name, module in list(sys.modules.items()) if name.startswith("kdegraph")
    for value in vars(module).values() if isinstance(value, Dispatcher)
}
used = {name.split()[0] for name in compiled}
names = {f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}" for kernel in kernels}
print(len(kernels), sorted(names - used))
"""


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_after_a_warm_up_nothing_is_compiled(run, tmp_path):
    n_kernels, left_out = run(COUNT + WARM_UP)[0].split(maxsplit=1)
    assert int(n_kernels) > 50
    assert left_out == "[]\n"  # so that it is no matter of chance which ones a call needs
    out, err = run(None, "-m", "kdegraph", "warmup")
    assert err == ""  # not a terminal, and compiling is what was asked for
    seconds, cache = out.splitlines()
    assert re.fullmatch(r"seconds +\d+\.\d", seconds)
    assert str(tmp_path / "cache") in cache
    use = """
import kdegraph
import numpy as np
import scipy.sparse

rng = np.random.default_rng(1)
for n, d in ((30, 2), (700, 2), (5000, 3), (2000, 5), (500, 12)):
    X = rng.random((n, d))
    fixed = X.copy()
    fixed.flags.writeable = False
    for Z in (X, fixed, X.astype(np.float32), np.asfortranarray(X)):
        for kernel in ("gaussian", "laplacian", "exponential"):
            graph = kdegraph.similarity_graph(Z, kernel=kernel, sigma=0.2, seed=1)
        kdegraph.similarity_graph(Z, seed=1)
        kdegraph.similarity_graph(Z, seed=1, sampler="rejection")
        kdegraph.similarity_graph(Z, seed=1, sampler="near", n_rounds=80)
        kdegraph.similarity_graph(Z, seed=1, weighting="paper")
        kdegraph.estimate_sigma(Z, seed=1)
        kdegraph.local_bandwidths(Z)
        kdegraph.knn_graph(Z, 5, mode="kernel")
        if n <= 2000:
            options = dict(sampler="recursive", draws="independent", seed=1)
            kdegraph.similarity_graph(Z, sigma=0.5, **options)
            kdegraph.full_graph(Z, sigma=0.2)
            options = dict(weights=rng.normal(size=n), sigma=0.1, eps=1e-4)
            for method in ("direct", "tree", "fgt"):
                kdegraph.kernel_sum(Z, Z[:50], method=method, **options)
    kdegraph.spectral_clustering(graph, 2, seed=0)
    kdegraph.spectrum(kdegraph.knn_graph(X, 4), 3, tol=1e-8)
    for sigma in (0.3, "local", "moderate"):
        kdegraph.KDESpectralClustering(2, sigma=sigma, random_state=1).fit(X).predict(X[:9] + 0.01)
    for kind in ("csr", "csc", "coo"):
        matrix = kdegraph.similarity_graph(X, seed=1).adjacency.asformat(kind)
        if kind != "coo":
            matrix.indices = matrix.indices.astype(np.int64)
            matrix.indptr = matrix.indptr.astype(np.int64)
        for given in (matrix, matrix.astype(np.float32), matrix != 0):
            clusters = kdegraph.spectral_clustering(given, 2, seed=0)
            kdegraph.conductance(given, clusters.labels)
            kdegraph.diagnose(given, n_clusters=2)
ours = [name for name in compiled if name.startswith("kdegraph")]
assert not ours, ours
"""
    assert run(COUNT + use) == ("", "")


def test_what_is_compiled_need_not_be_loaded(run, tmp_path):
    """Nothing is loaded where a note says that the step has ended, and only there."""
    warm = """
from kdegraph import warm_up
from kdegraph.kde.direct import _direct_range as kernel
reports = []
warm_up(["kernel sums"], load={}, progress=lambda *report: reports.append(report))
print(len(kernel.signatures) > 0, [fraction for _, fraction in reports])
"""
    notes = tmp_path / "cache" / cache.CACHE_DIR.name
    assert run(warm.format(False))[0] == "True [0.0, 0.5]\n"
    assert [path.name.split(",")[0] for path in notes.glob("*,*")] == ["kernel sums"]
    assert run(warm.format(False)) == ("False []\n", "")
    assert run(warm.format(True)) == ("True [0.0, 0.5]\n", "")
    (note,) = notes.glob("*,*")
    note.rename(notes / "kernel sums, of another processor")
    assert run(warm.format(False)) == ("True [0.0, 0.5]\n", "")
