"""Docstrings of public functions and classes: sections, types, and examples that are right."""

import doctest
import importlib
import inspect
import re
import warnings
from pathlib import Path
from types import FunctionType

import kdegraph
import kdegraph_explorer
import pytest
from kdegraph import datasets
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

PUBLIC = {
    f"{prefix}{name}": getattr(module, name)
    for prefix, module in (("", kdegraph), ("datasets.", datasets))
    for name in module.__all__
    if callable(getattr(module, name))
}


def sections(obj):
    """The sections of a docstring; what numpydoc cannot read is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return NumpyDocString(inspect.getdoc(obj))


def parameters(obj):
    """The parameters of a function or of a class."""
    if inspect.isclass(obj) and issubclass(obj, BaseException):
        return []  # a message, which needs no words
    return list(inspect.signature(obj).parameters.values())


def documented(section):
    """The names that a section describes; one entry may describe several."""
    return [name.strip("* ") for entry in section for name in entry.name.split(",")]


def faults(obj):
    """Return what the sections of a docstring lack, as sentences."""
    try:
        found = sections(obj)
    except (ValueError, UserWarning) as error:
        return [f"numpydoc cannot read it: {error}"]
    expected = [parameter.name for parameter in parameters(obj)]
    described = documented(found["Parameters"])
    lacking = []
    if inspect.isclass(obj):
        if not described:  # only functions make objects of this class: attributes are enough
            attributes = documented(found["Attributes"])
            described = [name for name in expected if name in attributes]
    else:
        if inspect.signature(obj).return_annotation is not None and not found["Returns"]:
            lacking.append("the section Returns is missing")
        if expected and not found["Raises"]:
            lacking.append("the section Raises is missing")
    if described != expected:
        lacking.append(f"it describes the parameters {described}, not {expected}")
    if not "".join(found["Summary"]).endswith("."):
        lacking.append("the summary is not a sentence")
    if re.search(r"^-{3,} +\S", inspect.getdoc(obj), flags=re.MULTILINE):
        lacking.append("text follows the underline of a heading")
    return lacking


def lacks_types(obj):
    """The names of the parameters without a type; "return" stands for the result."""
    untyped = [p.name for p in parameters(obj) if p.annotation is p.empty]
    if not inspect.isclass(obj):
        signature = inspect.signature(obj)
        untyped += ["return"] * (signature.return_annotation is signature.empty)
    return untyped


def test_sections_types_and_examples():
    lacking = {name: faults(obj) + lacks_types(obj) for name, obj in PUBLIC.items()}
    assert {name: found for name, found in lacking.items() if found} == {}
    for name, obj in PUBLIC.items():
        assert ">>> " in inspect.getdoc(obj).partition("\nExamples\n--------\n")[2], name


# numpydoc asks for all sections in all docstrings, also where there is nothing to say.
NOT_EVERYWHERE = {"SA01", "ES01", "EX01"}
MADE_BY_FUNCTIONS = {"kdegraph.SimilarityGraph", "kdegraph.TiledGraph"}  # attributes are enough


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


def test_numpydoc_has_no_objection():
    names = list(public_names())
    assert len(names) > 60
    found = [(name, *error) for name in names for error in validate(name)["errors"]]
    assert [
        (name, code, words)
        for name, code, words in found
        if code not in NOT_EVERYWHERE and not (code == "PR01" and name in MADE_BY_FUNCTIONS)
    ] == []


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


def test_faults_are_found():
    def function(x):
        return x + 1

    for docstring in (
        "Add one.\n\nParameters\n----------\ny : int\n\nReturns\n-------\nint\n",
        "Add one.\n\nParameters\n----------\nx : int\n",
        "Add one\n\nParameters\n----------\nx : int\n\nReturns\n-------\nint\n",
    ):
        function.__doc__ = docstring
        assert faults(function)
    assert lacks_types(function) == ["x", "return"]
