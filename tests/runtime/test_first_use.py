"""Compiled code: made at first use, kept, made anew when a kernel changes, and announced."""

import ast
import re
import runpy
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import kdegraph
import numba.core.event
import programs
import pytest
from kdegraph import warmup
from kdegraph.runtime import cache
from kdegraph.runtime import jit as compiling
from kdegraph.runtime.jit import COMPILING
from numba.core import compiler, options

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
import importlib, os, pkgutil, sys
import kdegraph
for module in pkgutil.walk_packages(kdegraph.__path__, "kdegraph."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
NOTHING_YET = """
assert compiled == [], compiled
assert not os.path.exists(os.environ["KDEGRAPH_CACHE_DIR"])
"""
FORBID_WRITING = """
import os
def refuse(*args, **options):
    raise PermissionError(30, "Read-only file system")
os.makedirs = os.mkdir = os.replace = refuse
"""


def test_import_does_nothing_first_use_is_announced_and_later_ones_only_read(run, tmp_path):
    assert run(COUNT + IMPORT_ALL + NOTHING_YET + SUM) == (RESULT, COMPILING + "\n")
    kept = sorted((tmp_path / "cache").rglob("*.nbc"))
    assert len(kept) > 1
    assert run(COUNT + FORBID_WRITING + SUM + "\nprint(compiled)") == (RESULT + "[]\n", "")
    assert sorted((tmp_path / "cache").rglob("*.nbc")) == kept


BANDWIDTHS = """
import kdegraph
import numpy as np
X = np.random.default_rng(0).normal(size=(200, 7))
print(kdegraph.local_bandwidths(X, perplexity=20.0).tobytes().hex())
"""


def test_the_first_use_has_the_same_bits_as_later_ones(run):
    assert run(BANDWIDTHS)[0] == run(BANDWIDTHS)[0]


def test_a_changed_callee_in_another_file_counts(run, tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "kdegraph", ignore=shutil.ignore_patterns("__pycache__"))
    path = {"PYTHONPATH": str(tmp_path)}
    assert run(SUM, **path)[0] == RESULT
    kernels = tmp_path / "kdegraph" / "geometry" / "kernels.py"
    source = kernels.read_text()
    assert "out[j] = delta * delta" in source
    kernels.write_text(source.replace("out[j] = delta * delta", "out[j] = 2.0 * delta * delta"))
    assert run(SUM, **path)[0] == "1.1353352832366128\n"


# ---- programs with kernels of their own, which are compiled anew each time that they are run

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


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache folder of this process."""
    monkeypatch.setattr(cache, "CACHE_DIR", tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def again(program, capsys, monkeypatch):
    """Run a program in this process; gives (stdout, stderr) and how much has been compiled."""

    def again(code, *arguments):
        path = program(code)
        monkeypatch.setattr("sys.argv", [str(path), *arguments])
        with numba.core.event.install_recorder("numba:compile") as recorder:
            runpy.run_path(str(path), run_name="__main__")
        n_compiled = sum(event.is_start for _, event in recorder.buffer)
        return tuple(capsys.readouterr()), n_compiled

    return again


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*.nbc"))}


def test_a_folder_that_cannot_be_written(folder, again):
    folder.touch()
    (out, err), _ = again(SHARED, "int")
    assert out == TYPES["int"]
    assert f"cannot keep compiled code in {folder}" in err
    assert "set KDEGRAPH_CACHE_DIR" in err
    assert err.count("\n") == 1


def test_a_full_disk(folder, again, monkeypatch):
    def write_half(path, data):
        with path.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", write_half)
        (out, err), _ = again(SHARED, "int")
    assert out == TYPES["int"]
    assert "cannot keep compiled code" in err
    assert "(No space left on device)" in err
    assert not contents(folder)


DAMAGES = (
    lambda content: b"",
    lambda content: b"nonsense",
    lambda content: content[: len(content) // 2],
    lambda content: content[:-500] + bytes([content[-500] ^ 1]) + content[-499:],
)


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_replaced(folder, again, damage):
    again(SHARED, "int")
    for path, content in contents(folder).items():
        path.write_bytes(damage(content))
    assert again(SHARED, "int") == ((TYPES["int"], ""), 3)
    assert again(SHARED, "int") == ((TYPES["int"], ""), 0)


PARTS = """
from kdegraph.runtime.jit import jit

@jit
def half(x):
    return x / 2

@jit(distinct=True)
def fill(out, x):
    for i in range(out.size):
        out[i] = half(x)

@jit(borrow=True)
def total(out, x):
    fill(out, x)
    return out.sum()

if __name__ == "__main__":
    import numpy as np
    print(total(np.empty(4), 3.0), total(np.empty(4), 3), half(3.0), len(half.overloads))
"""
PARTS_RESULT = "6.0 6.0 1.5 1\n"  # `half` is compiled once for calls from Python
# What another version of numba may do to its private names that are used here, and whether code is
# kept nevertheless.
ANOTHER_NUMBA = {
    "no option": (lambda patch: patch.delattr(options.DefaultOptions, "_nrt"), True),
    "no library": (lambda patch: patch.setattr(compiling, "JITCodeLibrary", None), True),
    "no reduction": (lambda patch: patch.delattr(compiler.CompileResult, "_reduce"), False),
}


@pytest.mark.parametrize(("change", "kept"), ANOTHER_NUMBA.values(), ids=ANOTHER_NUMBA)
def test_with_another_numba_kernels_work(folder, again, monkeypatch, change, kept):
    change(monkeypatch)
    (out, err), compiled = again(PARTS)
    assert out.startswith("6.0 6.0 1.5 ")
    assert compiled > 0
    assert ("cannot keep compiled code" in err) == (not kept)
    (out, _), compiled = again(PARTS)
    assert out.startswith("6.0 6.0 1.5 ")
    assert (compiled == 0) == kept


def test_without_a_private_name_of_numba_the_package_is_imported(run):
    code = """
from numba.core import codegen; del codegen.JITCodeLibrary
from kdegraph.runtime import jit
print(jit.JITCodeLibrary)
"""
    assert run(code) == ("None\n", "")


def test_processes_that_start_at_once_share_a_folder(run, program, tmp_path):
    """Functions may have the same name and different code."""
    shared = program(COUNT + SHARED + "\nprint(len(compiled))")
    with ThreadPoolExecutor() as threads:
        runs = [threads.submit(run, shared, name) for name in TYPES]
    for name, one in zip(TYPES, runs, strict=True):
        assert one.result() == (TYPES[name] + "3\n", "")
    assert run(shared, *TYPES) == ("".join(TYPES.values()) + "0\n", "")
    assert len(list((tmp_path / "cache").rglob("*.nbc"))) == 3 * len(TYPES)


def test_code_of_another_signature_is_never_used(folder, again):
    again(SHARED, *TYPES)
    kept, results = contents(folder), ("".join(TYPES.values()), "")
    for path, content in zip(kept, [*kept.values()][1:] + [*kept.values()][:1], strict=True):
        path.write_bytes(content)
    assert again(SHARED, *TYPES) == (results, len(kept))
    assert again(SHARED, *TYPES) == (results, 0)


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


def test_kernels_can_be_used_as_those_of_numba(folder, again):
    assert again(CALLED_BY_OTHERS)[0] == ("6.0 8\n10 0\nan error\n", "")


def test_what_kernels_call_has_no_machine_code_of_its_own(folder, again):
    assert again(PARTS)[0] == (PARTS_RESULT, "")
    kept = {path.name.split("-")[0] for path in contents(folder)}
    assert kept == {"__main__.total", "__main__.half"}  # the latter for the call from Python
    assert len(contents(folder)) == 3
    assert again(PARTS) == ((PARTS_RESULT, ""), 0)


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
"""


def test_what_kernels_call_is_compiled_once_for_all_constants(folder, again):
    assert again(CONSTANTS) == (("76\n", ""), 2)  # `steps` and, once, `double`


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


SIGNATURES = """
import sys
from numba.core.dispatcher import Dispatcher

def kernels():
    return {
        value
        for name, module in list(sys.modules.items()) if name.startswith("kdegraph")
        for value in vars(module).values() if isinstance(value, Dispatcher)
    }

def print_signatures():
    for kernel in kernels():
        for signature in kernel.signatures:
            print("used", f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}", signature)
"""
WARM_UP = """
from types import FunctionType
from kdegraph.cli import main

def with_callees(kernel):
    yield kernel
    function = getattr(kernel, "py_func", kernel)  # a function with an overload has none
    for name in function.__code__.co_names:
        callee = function.__globals__.get(name)
        if isinstance(callee, Dispatcher | FunctionType) and callee is not kernel:
            yield from with_callees(callee)

main(["warmup"], standalone_mode=False)
reached = {each for one in kernels() if one.signatures for each in with_callees(one)}
print(len(reached), sorted(kernel.py_func.__qualname__ for kernel in kernels() - reached))
print_signatures()
"""


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_after_a_warm_up_nothing_is_compiled():
    """What the warm-up has loaded or compiled is all that calls need, in the folder that other
    tests use, too: what is in there already need not be compiled for this one.
    """
    warm = programs.run(IMPORT_ALL + SIGNATURES + WARM_UP, timeout=1780)
    assert warm.stderr == ""  # not a terminal, and the command is there to compile
    seconds, folder, found, *prepared = warm.stdout.splitlines()
    assert re.fullmatch(r"seconds +\d+\.\d", seconds)
    assert str(cache.CACHE_DIR) in folder
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
print_signatures()
"""
    used = programs.run(COUNT + SIGNATURES + use, timeout=1780)
    assert used.stderr == ""
    assert set(used.stdout.splitlines()) - set(prepared) == set()


def test_what_is_compiled_need_not_be_loaded(tmp_path, monkeypatch):
    """Nothing is loaded where a note says that the step has ended, and only there."""
    calls = []
    monkeypatch.setattr(warmup, "CACHE_DIR", tmp_path)
    monkeypatch.setitem(warmup.STEPS, "kernel sums", lambda X: calls.append(X.shape))

    def fractions(load):
        reports = []
        kdegraph.warm_up(["kernel sums"], load=load, progress=lambda *one: reports.append(one))
        assert len(calls) == len(reports)
        calls.clear()
        return [fraction for _, fraction in reports]

    assert fractions(load=False) == [0.0, 0.5]
    (note,) = tmp_path.iterdir()
    assert note.name.split(",")[0] == "kernel sums"
    assert fractions(load=False) == []
    assert fractions(load=True) == [0.0, 0.5]
    note.rename(tmp_path / "kernel sums, of another processor")
    assert fractions(load=False) == [0.0, 0.5]
