"""The rules by which clusters are decided, each switched off, with batteries of sets left out."""

from contextlib import ExitStack
from unittest import mock

import kdegraph
import numpy as np
from kdegraph import decision, stability, votes
from kdegraph.graph_parameters import Scale
from sklearn.metrics import adjusted_rand_score

from benchmarks.experiment import experiment
from benchmarks.experiments.reference_sets import names, read
from benchmarks.table import mean

MOST = 2_000  # points of a set; a random part stands for more


def vote_of_one(labelings, identical=None):
    """The labels of the first graph at the most stable scale."""
    return votes.vote(labelings[:1], identical)


# What is put in place of the values of modules.
RULES = {
    "the default": [],
    "no vote": [(decision, "vote", vote_of_one)],
    "perplexity 20 alone": [(stability, "SCALES", (Scale("moderate", 20.0),))],
    "most stable scale alone": [(stability, "tolerance", lambda stable: 0.0)],
    "fewer scales vote": [(stability, "tolerance", lambda stable: 0.01 + (1 - stable) / 4)],
    "degenerate clusters count": [(stability, "MIN_EFFECTIVE", 1e-9)],
    "two replicates": [(stability, "N_REPLICATES", 2)],
    "one embedding": [(decision, "embeddings_for", lambda *points: ("soft",))],
    "two embeddings in the plane": [(stability, "MAX_PLAIN_DIMENSIONS", 0)],
    "votes start from a labeling": [(votes, "MAX_MATCHED", 10**9)],
    "votes start from a consensus": [(votes, "MAX_MATCHED", 0)],
}


def by_rule(rows):
    """The mean of each rule over each battery, and that of the rule which the others choose.

    Each battery counts as much as another in this choice.
    """
    of = [row["set"].partition("/")[0] for row in rows]
    batteries = list(dict.fromkeys(of))
    scores = np.array([
        [mean([row for row, one in zip(rows, of, strict=True) if one == battery], rule)
         for battery in batteries]
        for rule in RULES
    ])  # fmt: skip
    for rule, score in zip(RULES, scores, strict=True):
        yield {"rule": rule} | dict(zip(batteries, score, strict=True)) | {"mean": score.mean()}
    chosen = np.argmax(scores.sum(axis=1, keepdims=True) - scores, axis=0)
    left_out = scores[chosen, np.arange(len(batteries))]
    for name, score in (
        ("chosen by the other batteries", left_out),
        ("chosen by the battery itself", scores.max(axis=0)),
    ):
        yield {"rule": name} | dict(zip(batteries, score, strict=True)) | {"mean": score.mean()}
    found = [list(RULES)[i] for i in chosen]
    yield {"rule": "which the others choose"} | dict(zip(batteries, found, strict=True))


@experiment(
    lambda *, sets: [{"set": name} for name in names(sets)],
    source="The method: several scales, replicates of each, two embeddings in many dimensions and "
    "a vote decide about the clusters.",
    summary=by_rule,
    limit=3600.0,
)
def rules(set, *, sets):
    """Clusters with the known number, by the default and with one of its rules switched off.

    Adjusted Rand indices with the reference that fits best, for one random state and at most 2,000
    random points of a set. "Chosen by the other batteries" is the score of each battery with the
    rule that is best on average over all others.
    """
    X, references = read(sets, set)
    part = np.sort(np.random.default_rng(0).permutation(len(X))[:MOST])
    X, references = X[part], [reference[part] for reference in references]
    found = {"points": len(X)}
    for rule, changes in RULES.items():
        with ExitStack() as changed:
            for module, name, value in changes:
                changed.enter_context(mock.patch.object(module, name, value))
            found[rule] = max(score(X, reference) for reference in references)
    return found


def score(X, reference):
    """The adjusted Rand index of the clusters of points, without those of noise, which is 0."""
    counts = reference > 0
    k = len(np.unique(reference[counts]))
    labels = kdegraph.KDESpectralClustering(k, random_state=0).fit_predict(X)
    return adjusted_rand_score(reference[counts], labels[counts])
