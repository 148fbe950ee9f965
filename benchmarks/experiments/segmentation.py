"""Photographs."""

from dataclasses import replace

from benchmarks import photographs
from benchmarks.experiment import experiment
from benchmarks.graphs import FULL, PAPER, cluster
from benchmarks.table import mean

SMALL = 20_000  # pixels to which photographs are scaled down
LARGE = 154_401  # pixels of those of BSDS500
HUMANS = "other humans"
N_LARGE = 50  # photographs at full resolution
# Here a graph compares all pairs of pixels, which takes a minute: there are fewer photographs. The
# full kernel of all pixels would take 190 GB.
ALL_PAIRS = {SMALL: FULL, LARGE: "k-NN, FAISS exact"}
N_ALL_PAIRS = 12


def rows(*, images, n_images):
    names = photographs.names(images, n_images)
    for n, chosen in ((SMALL, names), (LARGE, photographs.evenly_spaced(names, N_LARGE))):
        methods = [method for method in PAPER if method not in (FULL, ALL_PAIRS[n])]
        for image in chosen:
            for method in methods if n == SMALL else (*methods, HUMANS):
                yield {"image": image, "n": n, "method": method}
        for image in photographs.evenly_spaced(chosen, N_ALL_PAIRS):
            yield {"image": image, "n": n, "method": ALL_PAIRS[n]}


def summary(rows):
    """Means over all photographs of one method, by each method that was measured on these; the most
    photographs come first.
    """
    for n in sorted({row["n"] for row in rows}):
        of_size = [row for row in rows if row["n"] == n]
        images = {row["method"]: set() for row in of_size}
        for row in of_size:
            images[row["method"]].add(row["image"])
        for shared in sorted(set(map(frozenset, images.values())), key=len, reverse=True):
            for method in (method for method, found in images.items() if found >= shared):
                some = [r for r in of_size if r["method"] == method and r["image"] in shared]
                values = {"n": n, "photographs": len(shared), "method": method}
                for name in ("rand index", "graph seconds", "graph cpu", "seconds"):
                    values[f"mean {name}"] = mean(some, name)
                yield values


@experiment(
    rows,
    source="The paper, segmentation of BSDS500, mean Rand index over 25 photographs at full "
    "resolution: this algorithm 0.702, k-NN graphs 0.677 to 0.682.",
    why="These are other photographs of the same collection. The paper's program weights every "
    "sampled edge by its kernel value; here the weights make the expected graph the full one. "
    "Eigensolver, embedding and rounding (cluster_qr) are the defaults of `spectral_clustering`, "
    "for every graph. The experiment `photographs` measures what the package does with "
    "photographs by itself.",
    better={"rand index": "more", "graph cpu": "less"},
    summary=summary,
)
def segmentation(image, n, method, *, images):
    """Photographs segmented by the six algorithms, scored against segmentations by humans.

    The paper's protocol: a blur of one pixel, points (r, g, b, row, column), sigma = 0.2, the
    median number of human segments, the Rand index against the segmentation whose number of
    segments is closest to that; scaled down to 20,000 pixels, and for up to 50 photographs at full
    resolution. Graphs that compare all pairs of pixels, which takes a minute, are measured on up to
    12 photographs of each size; lines with the same number of photographs are means over the same
    ones. "Other humans" is the mean score of the other segmentations of the same photograph.
    """
    humans = photographs.segmentations(images, image)
    k, closest = photographs.protocol(humans)
    if method == HUMANS:
        return {"k": k, "rand index": photographs.agreement(humans, closest)}
    data = replace(photographs.pixels(images, image, None if n == LARGE else n), n_clusters=k)
    labels, values = cluster(data, method, runs=1)
    return {"k": k, "rand index": photographs.score(data, labels, humans[closest])} | values
