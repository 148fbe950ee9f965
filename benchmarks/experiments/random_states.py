"""How far clusters depend on the random state, and what their probabilities are worth."""

from itertools import combinations

import kdegraph
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from benchmarks.experiment import experiment
from benchmarks.experiments.reference_sets import MAX_POINTS, names, read
from benchmarks.table import mean

SEEDS = 3
OF_POINTS = [f"{kind}{what}" for kind in ("sure", "doubtful") for what in ("", " kept", " right")]
MEASURED = ("ARI", "NMI", "agreement", *OF_POINTS)


def same(labels, others):
    """Where points are in the cluster that stands for theirs, one to one, in other labels."""
    of_labels, of_others = (np.unique(each, return_inverse=True)[1] for each in (labels, others))
    rows, columns = linear_sum_assignment(-contingency_matrix(labels, others))
    found = np.full(of_labels.max() + 1, -1)
    found[rows] = columns
    return found[of_labels] == of_others


def judge(models, reference):
    """The agreement of models with each other and with a reference, whose 0 is noise."""
    counts = reference > 0
    truth, labels = reference[counts], [model.labels_[counts] for model in models]
    values = {
        "ARI": np.mean([adjusted_rand_score(truth, each) for each in labels]),
        "NMI": np.mean([normalized_mutual_info_score(truth, each) for each in labels]),
        "agreement": np.mean([adjusted_rand_score(*two) for two in combinations(labels, 2)]),
    }
    probabilities = np.concatenate([model.probabilities_[counts] for model in models])
    right = np.concatenate([same(each, truth) for each in labels])
    kept = [
        np.mean([same(labels[i], labels[j]) for j in range(SEEDS) if j != i], axis=0)
        for i in range(SEEDS)
    ]
    kept = np.concatenate(kept)
    for word, some in (("sure", probabilities > 0.95), ("doubtful", probabilities < 0.6)):
        values[word] = some.mean()
        if some.any():
            values |= {f"{word} kept": kept[some].mean(), f"{word} right": right[some].mean()}
    return values


def by_battery(rows):
    """Means over the sets of each battery, of shares over those that have such points."""
    batteries = [row["set"].partition("/")[0] for row in rows]
    for battery in (*dict.fromkeys(batteries), "all"):
        some = [row for row, of in zip(rows, batteries, strict=True) if battery in (of, "all")]
        means = {name: mean(some, name) for name in MEASURED}
        yield {"battery": battery, "sets": len(some)} | means


@experiment(
    lambda *, sets: [{"set": name} for name in names(sets)],
    source="Results: two random states give the same clusters, and sure points are mostly right.",
    summary=by_battery,
)
def random_states(set, *, sets):
    """Clusters by three random states, with the known number, and what probabilities are worth.

    "agreement" is the adjusted Rand index of two random states. Points whose probability is above
    0.95 are sure, those below 0.6 doubtful; "kept" is the share of them that another random state
    puts into the same cluster, and "right" that which is in the class that stands for the cluster.
    Of several references, that which fits best counts.
    """
    X, references = read(sets, set)
    if len(X) > MAX_POINTS:
        raise ValueError(f"the set has more than {MAX_POINTS:,} points")
    found = []
    for reference in references:
        k = len(np.unique(reference[reference > 0]))
        model = kdegraph.KDESpectralClustering(k)
        models = [clone(model).set_params(random_state=seed).fit(X) for seed in range(SEEDS)]
        found.append(judge(models, reference))
    return {"points": len(X)} | max(found, key=lambda values: values["ARI"])
