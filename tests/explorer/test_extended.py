"""The view and the source that CONTRIBUTING.md adds."""

import re
from pathlib import Path

import numpy as np
import pytest
from explorer_actions import choose, settle, undo
from explorer_objects import view, widget
from kdegraph_explorer.address import query
from kdegraph_explorer.history import take
from kdegraph_explorer.session import SOURCES
from kdegraph_explorer.sources import base as source_base
from kdegraph_explorer.views import VIEWS, markup
from kdegraph_explorer.views import base as view_base

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


def example(name):
    """The class of this name, as the page writes it."""
    import param
    from kdegraph.datasets import Dataset

    known = {
        **vars(view_base),
        **vars(markup),
        **vars(source_base),
        "np": np,
        "param": param,
        "Dataset": Dataset,
    }
    exec(next(text for text in EXAMPLES if f"class {name}(" in text), known)
    return known[name]


def shown(explorer):
    """Return the text of the view of the page."""
    (text,) = view(explorer, "count").__panel__().select(markup.Text)
    return text.content


def test_view_of_the_page(explore, monkeypatch):
    monkeypatch.setattr("kdegraph_explorer.views.layout.VIEWS", [*VIEWS, example("CountView")])
    explorer = explore([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0]], sigma=1.0, n_clusters=2)
    assert shown(explorer) == "[2 1]"
    choose(explorer, n_clusters=1)
    assert shown(explorer) == "[3]"


def test_source_of_the_page(explore, monkeypatch):
    monkeypatch.setattr("kdegraph_explorer.session.SOURCES", [*SOURCES, example("Line")])
    explorer = explore([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0]], sigma=1.0)
    widget(explorer, "Source").value = "line"
    widget(explorer, "Points on the line").value = 50
    settle(explorer)
    assert explorer.X.ravel() == pytest.approx(np.linspace(0, 1, 50))
    assert "data.n=50" in query(explorer.session, take(explorer.session))
    undo(explorer)
    assert len(explorer.X) == 100
