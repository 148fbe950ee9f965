"""Docstrings of public functions and classes: sections, types, and examples that are right."""

import doctest
import importlib
import inspect
from pathlib import Path
from pkgutil import resolve_name
from types import FunctionType

import kdegraph
import kdegraph_explorer
import pytest
from kdegraph import datasets
from numpydoc.validate import validate

PUBLIC = {
    f"{prefix}{name}": getattr(module, name)
    for prefix, module in (("", kdegraph), ("datasets.", datasets))
    for name in module.__all__
    if callable(getattr(module, name))
}


def lacking(obj):
    """Return what the docstring lacks, for which numpydoc does not ask."""
    if inspect.isclass(obj) and issubclass(obj, BaseException):
        return []  # a message, which needs no words
    parameters, text = inspect.signature(obj).parameters, inspect.getdoc(obj)
    found = []
    if parameters and not inspect.isclass(obj) and "\nRaises\n------\n" not in text:
        found.append("the section Raises")
    if ">>> " not in text.partition("\nExamples\n--------\n")[2]:
        found.append("an example")
    return found


def test_errors_and_examples():
    assert {name: lacking(obj) for name, obj in PUBLIC.items() if lacking(obj)} == {}


# numpydoc asks for all sections in all docstrings, also where there is nothing to say.
NOT_EVERYWHERE = {"SA01", "ES01", "EX01"}


def public_names():
    """The functions, the classes, and the methods and properties that these define."""
    defined = FunctionType | property | classmethod | staticmethod
    for module in (kdegraph, datasets, kdegraph_explorer):
        for name in filter(lambda name: callable(getattr(module, name)), module.__all__):
            yield f"{module.__name__}.{name}"
            members = vars(getattr(module, name)) if inspect.isclass(getattr(module, name)) else {}
            for member, value in members.items():
                if isinstance(value, defined) and not member.startswith("_"):
                    yield f"{module.__name__}.{name}.{member}"


def untyped(name):
    """Return the parameters of a public name, and "return", that have no type."""
    obj = resolve_name(name)
    if inspect.isclass(obj) and issubclass(obj, BaseException):
        return []
    signature = inspect.signature(obj.fget if isinstance(obj, property) else obj)
    given = {one.name: one.annotation for one in signature.parameters.values()}
    if not inspect.isclass(obj):
        given["return"] = signature.return_annotation
    return [one for one, kind in given.items() if kind is inspect.Parameter.empty and one != "self"]


def test_types_of_all_parameters_and_results():
    assert {name: untyped(name) for name in public_names() if untyped(name)} == {}


@pytest.mark.filterwarnings("error")  # what it cannot read
def test_numpydoc_has_no_objection():
    names = list(public_names())
    assert len(names) > 60
    found = [(name, *error) for name in names for error in validate(name)["errors"]]
    assert [row for row in found if row[1] not in NOT_EVERYWHERE] == []


CORE = Path(kdegraph.__file__).parent
MODULES_WITH_EXAMPLES = [
    ".".join(path.relative_to(CORE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(CORE.rglob("*.py"))
    if ">>> " in path.read_text()
]


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """Examples may write files, and may set the number of threads."""
    monkeypatch.chdir(tmp_path)
    yield
    kdegraph.set_num_threads(None)


@pytest.mark.parametrize("name", MODULES_WITH_EXAMPLES)
def test_examples_are_right(name, own_folder):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    report = doctest.testmod(importlib.import_module(name), optionflags=flags)
    assert report.attempted > 0
    assert report.failed == 0  # doctest has printed which example is wrong, and how
