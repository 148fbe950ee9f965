"""The bars of the stages: what computations report, and what is shown of it."""

from dataclasses import replace

import kdegraph_explorer.pipeline as pipeline
import pytest
from explorer_actions import PATIENCE, silent
from kdegraph import datasets
from kdegraph_explorer.pipeline import Pipeline
from kdegraph_explorer.results import DECIDED, ROWS, ProgressRows, Request
from kdegraph_explorer.session import Session
from kdegraph_explorer.views.status import StageBars


def bars(stages, row):
    return dict(dict(stages.rows())[row])


def test_stages_before_the_present_one_are_done_and_those_after_it_are_not():
    stages = ProgressRows()
    stages.note("KDE graph: samples", 0.25)
    assert bars(stages, "KDE graph") == {
        "tree": 1,
        "degrees": 1,
        "samples": 0.25,
        "graph": 0,
        "spectrum": 0,
        "clusters": 0,
    }
    assert set(bars(stages, "k-NN graph").values()) == {0.0}
    stages.note("k-NN graph: nearest neighbors", 0.5)
    assert set(bars(stages, "KDE graph").values()) == {1.0}
    assert bars(stages, "k-NN graph") == {"neighbors": 0.5, "spectrum": 0, "clusters": 0}
    # Bars never shrink.
    stages = ProgressRows()
    stages.note("KDE graph: k-means", 0.5)
    before = stages.rows()
    stages.note("KDE graph: components", 0.1)  # reported again while the clusters are found
    stages.note("First look: tree", 0.1)
    assert dict(stages.rows())["KDE graph"] == dict(before)["KDE graph"]


def test_all_that_computations_report_has_its_bar(monkeypatch):
    monkeypatch.setattr(pipeline, "MANY_DRAWS", 1000)
    monkeypatch.setattr(pipeline, "MANY_POINTS", 1000)
    reported = set()
    request = Request(
        datasets.make("moons", n=1500, seed=0),
        sigma=0.1,
        n_rounds=20,
        extra_methods=("other", "full"),
    )
    for one in (request, replace(request, bandwidth=DECIDED)):
        Pipeline().run(one, lambda stage, fraction: reported.add(stage), silent)
    rows = {f"{row}: {stage}" for row, stages in ROWS.items() for stage in stages}
    assert reported <= rows
    assert {stage.split(": ")[0] for stage in reported} == set(ROWS) - {"File", "Data"}


@pytest.fixture
def held(monkeypatch, hold):
    """A session whose work stops at the spectrum, and the event that lets it go on."""
    go_on = hold("find_spectrum")
    monkeypatch.setattr(pipeline, "MANY_DRAWS", 1000)
    monkeypatch.setattr(pipeline, "SLOW_DRAWS", 1000)
    monkeypatch.setattr("kdegraph_explorer.views.status.SHOWN_AFTER", 0.0)
    session = Session(given=datasets.make("moons", n=300, seed=1))
    yield session, go_on
    go_on.set()
    session.close()


def test_first_graph_of_slow_work_is_shown_before_its_clusters(held):
    session, go_on = held
    view, seen, built = StageBars(session), [], 'aria-label="First look: graph" value="1.00"'

    def look(*events):
        bar = view.__panel__()
        seen.append(
            (
                session.state.early is not None,
                session.state.outcome("kde") is not None,
                bar.visible and bar.content,
            )
        )
        if session.state.early is not None and built in bar.content:
            go_on.set()

    session.state.param.watch(look, ["result", "early", "stages"])
    session.start()
    session.wait(PATIENCE)
    early, clustered, _ = next(entry for entry in seen if entry[0])
    assert early
    assert not clustered
    html = next(text for early, _, text in seen if early and text and built in text)
    assert html.count("<progress") == 1 + 6 + 6 + 3  # data, first look, KDE graph, k-NN graph
    assert 'aria-label="KDE graph: tree" value="0.00"' in html
    assert session.state.early is None
    assert session.state.outcome("knn") is not None
    assert not view.__panel__().visible
    assert session.state.stages == ()
