"""Compiled code: made at first use, kept, made anew when a kernel changes, and announced."""

import ast
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import kdegraph
import programs
import pytest
from kdegraph.runtime import cache
from kdegraph.runtime.jit import COMPILING

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
    """Run a program with a cache folder that is empty at first; gives (stdout, stderr)."""

    def run(program, *arguments, **environment):
        environment = {"KDEGRAPH_CACHE_DIR": str(tmp_path / "cache")} | environment
        done = programs.run(program, *arguments, cwd=tmp_path, timeout=1780, **environment)
        return done.stdout, done.stderr

    return run


IMPORT_ALL = """
import importlib, pkgutil, sys
import kdegraph
for module in pkgutil.walk_packages(kdegraph.__path__, "kdegraph."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
FORBID_WRITING = """
import os
def refuse(*args, **options):
    raise PermissionError(30, "Read-only file system")
os.makedirs = os.mkdir = os.replace = refuse
"""


def test_import_compiles_nothing_and_writes_nothing(run, tmp_path):
    assert run(COUNT + IMPORT_ALL + "print(compiled)") == ("[]\n", "")
    assert not (tmp_path / "cache").exists()


def test_first_use_is_announced_once_and_later_ones_only_read(run, tmp_path):
    assert run(SUM) == (RESULT, COMPILING + "\n")
    kept = sorted((tmp_path / "cache").rglob("*.nbc"))
    assert len(kept) > 1
    for code in (COUNT + SUM, COUNT + FORBID_WRITING + SUM):
        assert run(code + "\nprint(compiled)") == (RESULT + "[]\n", "")
        assert sorted((tmp_path / "cache").rglob("*.nbc")) == kept


def test_a_folder_that_cannot_be_written(run, tmp_path):
    (tmp_path / "file").touch()
    out, err = run(SUM, KDEGRAPH_CACHE_DIR=str(tmp_path / "file"))
    assert out == RESULT
    compiling, kept = err.splitlines()
    assert compiling == COMPILING
    assert str(tmp_path / "file") in kept
    assert "set KDEGRAPH_CACHE_DIR" in kept


def test_a_full_disk(run, tmp_path):
    fill = """
import pathlib
def write_half(path, data):
    with path.open("wb") as file:
        file.write(data[: len(data) // 2])
    raise OSError(28, "No space left on device")
pathlib.Path.write_bytes = write_half
"""
    out, err = run(fill + SUM)
    assert out == RESULT
    assert "cannot keep compiled code" in err
    assert "(No space left on device)" in err
    assert not list((tmp_path / "cache").rglob("*.nbc"))


DAMAGES = (
    lambda content: b"",
    lambda content: b"nonsense",
    lambda content: content[: len(content) // 2],
    lambda content: content[:-500] + bytes([content[-500] ^ 1]) + content[-499:],
)


def test_damaged_files_are_replaced(run, tmp_path):
    run(SUM)
    for first in (0, 2):  # each file is damaged in two ways, one after the other
        for number, path in enumerate(sorted((tmp_path / "cache").rglob("*.nbc")), start=first):
            path.write_bytes(DAMAGES[number % len(DAMAGES)](path.read_bytes()))
        assert run(SUM)[0] == RESULT
    assert run(COUNT + SUM + "\nprint(compiled)") == (RESULT + "[]\n", "")


# What another version of numba may do to its private names that are used here, and whether code is
# kept nevertheless.
ANOTHER_NUMBA = {
    "from numba.core import options; del options.DefaultOptions._nrt": True,
    "from numba.core import codegen; del codegen.JITCodeLibrary": True,
    "from numba.core.compiler import CompileResult; del CompileResult._reduce": False,
}


@pytest.mark.parametrize(("change", "kept"), ANOTHER_NUMBA.items())
def test_with_another_numba_kernels_work(run, change, kept):
    code = f"{change}\n{SUM}"
    out, err = run(code)
    assert out == RESULT
    assert err.startswith(COMPILING)
    assert ("cannot keep compiled code" in err) == (not kept)
    out, err = run(f"{COUNT}\n{code}\nprint(compiled)")
    assert out.startswith(RESULT)
    assert (out == RESULT + "[]\n") == (err == "") == kept


SHARED = """
import sys
from kdegraph.runtime.jit import jit

@jit
def half(x):
    return x / 2

def multiply_by(factor):
    @jit
    def product(x):
        return factor * x
    return product

for name in sys.argv[1:]:
    x = {"int": 7, "float": 7.0, "complex": 7j}[name]
    print(half(x), multiply_by(2)(x), multiply_by(3)(x))
"""
TYPES = {"int": "3.5 14 21\n", "float": "3.5 14.0 21.0\n", "complex": "3.5j 14j 21j\n"}


@pytest.fixture
def program(tmp_path):
    """Write a program to a file, as the code of its kernels is kept with the file."""

    def write(code):
        path = tmp_path / "program.py"
        path.write_text(code)
        return path

    return write


def test_processes_that_start_at_once_share_a_folder(run, program, tmp_path):
    """Functions may have the same name and different code."""
    shared, results = program(COUNT + SHARED + "\nprint(len(compiled))"), "".join(TYPES.values())
    with ThreadPoolExecutor() as threads:
        runs = [threads.submit(run, shared, name) for name in TYPES]
    for name, one in zip(TYPES, runs, strict=True):
        assert one.result() == (TYPES[name] + "3\n", "")
    assert run(shared, *TYPES) == (results + "0\n", "")

    # Code of another signature is never used.
    files = sorted((tmp_path / "cache").rglob("*.nbc"))
    assert len(files) == 3 * len(TYPES)
    contents = [path.read_bytes() for path in files]
    for path, content in zip(files, contents[1:] + contents[:1], strict=True):
        path.write_bytes(content)
    assert run(shared, *TYPES) == (f"{results}{len(files)}\n", "")
    assert run(shared, *TYPES) == (results + "0\n", "")


CALLED_BY_OTHERS = """
import numba
from kdegraph.runtime.jit import jit

@jit(reassociate=True)
def double(x):
    return 2 * x

@numba.njit
def kernel_of_another_package(x):
    return double(x)

print(kernel_of_another_package(3.0), double(4))
double.recompile()
print(double(5), double.stats.cache_hits.total())
try:
    double(None)
except numba.TypingError:
    print("an error")
"""


def test_kernels_can_be_used_as_those_of_numba(run, program):
    assert run(program(CALLED_BY_OTHERS)) == ("6.0 8\n10 0\nan error\n", "")


PARTS = """
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
    print(total(np.empty(4), 3.0), total(np.empty(4), 3), half(3.0), len(half.overloads))
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


def test_what_kernels_call_has_no_machine_code_of_its_own(run, program, tmp_path):
    parts, result = program(PARTS), "6.0 6.0 1.5 1\n"
    assert run(parts) == (result, "")
    kept = {path.name.split("-")[0] for path in (tmp_path / "cache").rglob("*.nbc")}
    assert kept == {"__main__.total", "__main__.half"}  # the latter for the call from Python
    assert len(list((tmp_path / "cache").rglob("*.nbc"))) == 3
    assert run(parts) == (result, "")


def test_what_kernels_call_is_compiled_once_for_all_constants(run, program):
    assert run(program(COUNT + CONSTANTS)) == ("76\n", "")


def modules_that_kernels_import():
    """Paths, below the package, of the modules that a module with kernels imports directly."""
    for kernel in KERNELS:
        for node in ast.walk(ast.parse((PACKAGE / kernel).read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("kdegraph."):
                folder = PACKAGE.parent / node.module.replace(".", "/")
                names = [folder / alias.name for alias in node.names]
                files = [path.with_suffix(".py") for path in (folder, *names)]
                yield from (f.relative_to(PACKAGE).as_posix() for f in files if f.exists())


def test_the_key_covers_kernels_and_what_they_import_and_nothing_else(tmp_path, monkeypatch):
    root = tmp_path / "kdegraph"
    shutil.copytree(PACKAGE, root, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(cache, "_ROOT", root)
    key = cache.CACHE_DIR.name
    covered = {*KERNELS, *modules_that_kernels_import()}
    others = {"cli/__init__.py", "io/files.py", "estimators.py"}
    assert not covered & others
    for name in (*covered, *others):
        source = (root / name).read_text()
        (root / name).write_text(source + "# changed\n")
        assert (cache._fingerprint() != key) == (name in covered)
        (root / name).write_text(source)
    assert cache._fingerprint() == key


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


WARM_UP = """
from kdegraph.cli import main
from numba.core.dispatcher import Dispatcher

main(["warmup"], standalone_mode=False)
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
    out, err = run(COUNT + IMPORT_ALL + WARM_UP)
    assert err == ""  # not a terminal, and the command is there to compile
    seconds, cache, found = out.splitlines()
    assert re.fullmatch(r"seconds +\d+\.\d", seconds)
    assert str(tmp_path / "cache") in cache
    n_kernels, left_out = found.split(maxsplit=1)
    assert int(n_kernels) > 50
    assert left_out == "[]"  # otherwise it would depend on chance which ones a call needs
    use = """
import kdegraph
import numpy as np
import scipy.sparse

rng = np.random.default_rng(1)
for n, d in ((30, 2), (700, 2), (5000, 3), (2000, 5), (500, 12)):
    X = rng.random((n, d))
    fixed = X.copy()
    fixed.flags.writeable = False
    others = (fixed, X.astype(np.float32), np.asfortranarray(X)) if n < 1000 else ()
    for Z in (X, *others):
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
    sparse = scipy.sparse.csr_array(np.where((Z := rng.random((n, 20))) < 0.7, 0.0, Z))
    for given in (sparse, sparse.astype(np.float32), sparse.tocsc()):
        kdegraph.knn_graph(given, 5, mode="kernel", sigma="local")
        kdegraph.SimilarityGraphTransformer(mode="distance", n_neighbors=9).fit_transform(given)
        kdegraph.KDESpectralClustering(2, sigma="auto", random_state=1).fit(given).predict(given)
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
from kdegraph import kernel_sum, warm_up, warmup
from kdegraph.kde.direct import _direct_range as kernel
warmup.STEPS["kernel sums"] = lambda X: kernel_sum(X, X[:1], sigma=1.0, method="direct")
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
