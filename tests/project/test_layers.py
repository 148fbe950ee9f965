"""Imports follow the data, and the library does not depend on a user interface."""

import ast
import functools
import importlib
import inspect
import re
from pathlib import Path

import kdegraph
import kdegraph_explorer
import programs

CORE = Path(kdegraph.__file__).parent
MODULES = sorted(CORE.rglob("*.py"))
INTERFACE = {
    "panel",
    "panel_material_ui",
    "holoviews",
    "hvplot",
    "bokeh",
    "matplotlib",
    "IPython",
    "ipywidgets",
    "kdegraph_explorer",
}

# From what is imported by all to what imports all: a module imports from its own layer's folder and
# from the lines above it.
LAYERS = (
    {"manual", "sparse_checks"},
    {"validation", "findings", "summary"},
    {"runtime"},
    {"metrics"},
    {"eigengap"},
    {"costs"},
    {"geometry"},
    {"bandwidth", "principal"},
    {"local_bandwidth"},
    {"scaled_kernel"},
    {"kde"},
    {"sampling"},
    {"edge_weights"},
    {"adjacency"},
    {"npy_files"},
    {"graph_parameters"},
    {"graph_files", "foreign_graphs"},
    {"sampled_graph"},
    {"spectral"},
    {"layout"},
    {"clustering"},
    {"tiles"},
    {"baselines", "dispatch", "graph"},
    {"diagnosis", "exchange", "explain"},
    {"neighbor_layout", "votes"},
    {"stability"},
    {"automatic"},
    {"decision"},
    {"bands"},
    {"ribbon"},
    {"over_numbers", "over_scales"},
    {"distance_rows", "precomputed"},
    {"estimators", "transformer"},
    {"io"},
    {"datasets", "descriptions", "table_transformer"},
    {"warmup"},
    {"cli"},
    {"__main__"},
)
LAYER = {room: number for number, rooms in enumerate(LAYERS) for room in rooms}


def imported(tree):
    """Top-level names of the packages that a module imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.partition(".")[0]


def test_core_modules_import_no_interface():
    # The command line starts the explorer, inside the one command that does so, and Matplotlib is
    # imported by the method that makes a figure.
    allowed = {
        CORE / "cli" / "explore.py": {"kdegraph_explorer"},
        CORE / "ribbon.py": {"matplotlib"},
    }
    for path in MODULES:
        found = set(imported(ast.parse(path.read_text()))) & INTERFACE
        assert found <= allowed.get(path, set()), path


def imported_rooms(tree):
    """First names below `kdegraph` of all modules that a module imports; public names have none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "kdegraph":
            names = node.module.split(".")[1:2] or [alias.name for alias in node.names]
            yield from (name for name in names if name in LAYER)


def room_of(path):
    """The first name of a module below `kdegraph`."""
    return path.relative_to(CORE).with_suffix("").parts[0]


def test_imports_follow_the_data():
    assert {room_of(path) for path in MODULES} == {*LAYER, "__init__"}
    for path in MODULES:
        room = room_of(path)
        for other in imported_rooms(ast.parse(path.read_text())) if room in LAYER else ():
            assert other == room or LAYER[other] < LAYER[room], f"{path} imports {other}"


def test_only_public_functions_choose_between_memory_and_tiles():
    importing = {
        room_of(path) for path in MODULES if "tiles" in imported_rooms(ast.parse(path.read_text()))
    }
    assert importing == {"tiles", "graph", "dispatch", "estimators"}


# Steps of one process, and packages that none of it has loaded by then.
COMPILERS = {"numpy", "scipy", "numba", "llvmlite", "sklearn", "pyarrow", "PIL"}
STEPS = (
    ('main(["cluster", "--help"], standalone_mode=False)', COMPILERS | INTERFACE),
    (
        "graph = kdegraph.similarity_graph([[0.0], [1.0], [2.0]], sigma=1.0, n_rounds=2)\n"
        "kdegraph.spectrum(graph, 2)",
        {"sklearn", "scipy.spatial"},
    ),
    (  # clusters that are components
        'command = ["cluster", "points.csv", "-k", "2", "--sigma", "0.8", "-o", "labels.csv"]\n'
        "main(command, standalone_mode=False)",
        {"sklearn", "pandas"},
    ),
    ("from kdegraph import *", INTERFACE),
)


def test_packages_are_loaded_when_they_are_used(tmp_path):
    """The command line answers before compilers are loaded, for instance."""
    points, labels = tmp_path / "points.csv", tmp_path / "labels.csv"
    points.write_text("x,y\n" + "".join(f"{i // 20 * 9 + i % 5},{i % 4}.5\n" for i in range(40)))
    code = "import sys, kdegraph\nfrom kdegraph.cli import main\n"
    for step, _ in STEPS:
        code += f"{step}\nprint('LOADED', *sys.modules)\n"
    said = programs.run(code, cwd=tmp_path).stdout
    loaded = [set(line.split()) for line in said.splitlines() if line.startswith("LOADED")]
    for (step, others), modules in zip(STEPS, loaded, strict=True):
        assert not others & modules, step
    assert "numba" in modules
    assert "Examples:" in said
    assert "of 20 20 points" in said
    assert len(labels.read_text().split()) == 41


# ---- the explorer

EXPLORER = Path(kdegraph_explorer.__file__).parent
EXPLORER_MODULES = sorted(EXPLORER.rglob("*.py"))
PUBLIC_MODULES = (
    "kdegraph",
    "kdegraph.clustering",
    "kdegraph.datasets",
    "kdegraph.diagnosis",
    "kdegraph.automatic",
    "kdegraph.decision",
    "kdegraph.explain",
    "kdegraph.kde",
    "kdegraph.principal",
    "kdegraph.runtime.jit",
    "kdegraph.runtime.replacing",
    "kdegraph.spectral",
    "kdegraph.validation",
    "kdegraph.votes",
)


def names_of_the_core(tree):
    """Pairs (module, name) of all that a module of the explorer takes from the core."""
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.split(".")[0] == "kdegraph"]
            modules |= {name: name for name in names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            for alias in node.names if node.module.split(".")[0] == "kdegraph" else ():
                if f"{node.module}.{alias.name}" in PUBLIC_MODULES:
                    modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                else:
                    yield node.module, alias.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in modules:
            yield modules[ast.unparse(node.value)], node.attr


def test_explorer_uses_public_names_of_the_core_only():
    found = []
    for path in EXPLORER_MODULES:
        for module, name in names_of_the_core(ast.parse(path.read_text())):
            found.append((module, name))
            assert module in PUBLIC_MODULES, f"{module}, which {path} imports, is not public"
            public = importlib.import_module(module).__all__
            assert name in public, f"{module}.{name}, which {path} uses, is not public"
    assert {("kdegraph.explain", "halvings"), ("kdegraph", "similarity_graph")} <= set(found)


# Every private name of a library that the explorer uses, its files, and the reason. Names without
# any documentation are used in the folder `patches` only, which states what is lost without each.
COMPONENTS = {
    f"views/{name}.py"
    for name in ("base", "browser", "color", "columns", "kept", "markup", "rows", "widgets")
}
PRIVATE_NAMES = {
    "_esm": (COMPONENTS, "This is Panel's documented place for the JavaScript of a component."),
    "_handle_msg": (
        COMPONENTS - {"views/base.py", "views/markup.py"},
        "This is Panel's documented way to receive the messages of a component.",
    ),
    "_send_msg": (
        {"views/browser.py", "views/widgets.py"},
        "This is Panel's documented way to send a message to a component.",
    ),
    "_repr_mimebundle_": ({"notebook.py"}, "This is the protocol of IPython."),
    "_process_param_change": (
        {"views/markup.py"},
        "Text is escaped on its way to the browser; in Python it stays as it is.",
    ),
    "_debounce": ({"patches/panel.py"}, "No parameter turns off the wait for further events."),
    "_event_coroutine": ({"patches/panel.py"}, "Panel processes it without the document's lock."),
    "_dispatch_msgs": ({"patches/panel.py"}, "Panel may forget messages that come meanwhile."),
    "_WRITE_MSGS": ({"patches/panel.py"}, "See `_dispatch_msgs`."),
    "_WRITE_BLOCK": ({"patches/panel.py"}, "See `_dispatch_msgs`."),
    "_models": ({"patches/panel.py"}, "No public name gives the documents of a layout."),
    "_views": ({"patches/panel.py"}, "Panel has no way to release the page of an ended session."),
    "_tornado": ({"patches/bokeh.py"}, "Bokeh names the application of a server in no other way."),
    "_sync_model": (
        {"patches/jupyter_bokeh.py"},
        "A widget processes messages on whatever thread the kernel calls it.",
    ),
    "_model": ({"patches/jupyter_bokeh.py"}, "See `_model_to_traits`."),
    "_model_to_traits": (
        {"patches/jupyter_bokeh.py"},
        "A widget describes its model once, and not for each page that shows it.",
    ),
}
LIBRARIES = ("panel", "panel_material_ui", "bokeh", "holoviews", "param", "tornado")


def private_names(module, tree):
    """The private names of libraries that a module uses: of other objects, and those that its
    classes share with their bases.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) not in ("self", "super()"):
            if re.fullmatch(r"_[a-zA-Z]\w*", node.attr):
                yield node.attr
        elif isinstance(node, ast.ClassDef):
            yield from names_in(ast.unparse(node)) & names_of_bases(getattr(module, node.name))


def names_in(source):
    """The private names that the source of a class defines, and those that it uses of `self`."""
    used = re.findall(r"(?:self|super\(\))\.(_[a-z]\w*)", source)
    return {*used, *re.findall(r"^    (?:async )?(?:def )?(_[a-z]\w*)(?:\(| = |: )", source, re.M)}


@functools.cache  # as many classes have the same bases
def names_of(kind):
    in_library = kind.__module__.split(".")[0] in LIBRARIES
    return names_in(inspect.getsource(kind)) if in_library else set()


def names_of_bases(kind):
    return set().union(*map(names_of, kind.__mro__))


def test_private_names_of_libraries_are_few_and_have_a_reason():
    used = {}
    for path in EXPLORER_MODULES:
        file = path.relative_to(EXPLORER).as_posix()
        name = ".".join(("kdegraph_explorer", *Path(file).with_suffix("").parts))
        module = importlib.import_module(name.removesuffix(".__init__"))
        for name in private_names(module, ast.parse(path.read_text())):
            used.setdefault(name, set()).add(file)
    assert used == {name: files for name, (files, _) in PRIVATE_NAMES.items()}


# What the core uses of numba without a documentation, the files, and what is lost without it: see
# `ANOTHER_NUMBA` in tests/runtime/test_first_use.py for the calls that do without.
UNDOCUMENTED = {
    "numba.core.serialize": {"runtime/cache.py"},  # machine code would not be kept
    "numba.core.compiler.CompileResult": {"runtime/cache.py"},
    "_rebuild": {"runtime/cache.py"},
    "_reduce": {"runtime/cache.py"},
    "_cache": {"runtime/jit.py"},
    "numba.core.options.DefaultOptions": {"runtime/jit.py"},  # references would be counted
    "numba.core.codegen.JITCodeLibrary": {"runtime/jit.py"},  # the first use would be slower
    "numba.core.compiler.Compiler": {"runtime/jit.py"},  # loops would not be vectorized
    "numba.core.compiler_lock.global_compiler_lock": {"runtime/jit.py"},  # Ctrl+C while compiling
    "numba.core.types": {"runtime/jit.py"},  # also `numba.types`
    # Loops over vectors would be built by hand.
    "numba.core.cgutils": {"geometry/lanes.py", "spectral/products.py"},
}
OF_PYTHON = {"_asdict", "_fields", "_make", "_getframe"}


def test_what_numba_does_not_document_is_used_in_few_places():
    trees = {path.relative_to(CORE).as_posix(): ast.parse(path.read_text()) for path in MODULES}
    defined = set(
        re.findall(
            r"(?:def |class |self\.|^ *)(_[a-z]\w*)",
            "\n".join(path.read_text() for path in MODULES),
            re.MULTILINE,
        )
    )
    used = {}
    for file, tree in trees.items():
        for node in ast.walk(tree):
            names = []
            if isinstance(node, ast.ImportFrom) and node.module.startswith("numba.core"):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Attribute) and re.fullmatch(r"_[a-z]\w*", node.attr):
                names = {node.attr} - defined - OF_PYTHON
            for name in names:
                used.setdefault(name, set()).add(file)
    assert used == UNDOCUMENTED
