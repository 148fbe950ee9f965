"""The public names, those that went, and the parameters that several of them share."""

import inspect

import kdegraph
import pytest
from kdegraph.graph_parameters import ESTIMATOR_PARAMETERS, GraphParameters, KeptParameters

GONE = {
    "Clustering": "from kdegraph.clustering import Clustering",
    "GraphWarning": "from kdegraph.diagnosis import GraphWarning",
    "Kernel": "from kdegraph.kde import Kernel",
    "Spectrum": "from kdegraph.spectral import Spectrum",
    "count_clusters": "from kdegraph.automatic import count_clusters",
    "estimate_n_clusters": "suggest_n_clusters",
    "moderate_bandwidths": 'local_bandwidths(X, rule="moderate")',
    "suggest_n_segments": "suggest_n_clusters(eigenvalues, photograph=True)",
    "vertices_in_clusters": "from kdegraph.clustering import vertices_in_clusters",
}


def test_a_name_that_went_says_what_to_use_instead():
    for name, instead in GONE.items():
        assert name not in kdegraph.__all__
        with pytest.raises(AttributeError) as refusal:
            getattr(kdegraph, name)
        assert instead in str(refusal.value)
        if instead.startswith("from"):
            exec(instead, {})
    with pytest.raises(AttributeError):
        kdegraph.similarity_grpah  # noqa: B018


@pytest.mark.parametrize(
    "public",
    [
        kdegraph.similarity_graph,
        kdegraph.KDESpectralClustering,
        kdegraph.SimilarityGraphTransformer,
    ],
)
def test_parameters_of_graphs_have_the_names_and_defaults_of_the_one_list(public):
    found = {name: one.default for name, one in inspect.signature(public).parameters.items()}
    expected = dict(GraphParameters._field_defaults)
    if inspect.isclass(public):
        del expected["seed"]  # scikit-learn's `random_state` takes its place
    if public is kdegraph.KDESpectralClustering:
        expected["sigma"] = None  # the bandwidths that suit the points
    assert [name for name in found if name in expected] == list(expected)
    assert {name: found[name] for name in expected} == expected
    assert set(ESTIMATOR_PARAMETERS) == set(GraphParameters._fields) - {"seed"}


def test_graphs_keep_their_parameters():
    kept = set(KeptParameters.__dataclass_fields__)
    assert kept - {"timings"} <= set(GraphParameters._fields)
    for kind in (kdegraph.SimilarityGraph, kdegraph.TiledGraph):
        assert kept <= set(kind.__dataclass_fields__)
