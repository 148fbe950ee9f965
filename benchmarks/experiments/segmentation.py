"""Photographs."""

from dataclasses import replace

from benchmarks import photographs
from benchmarks.experiment import experiment
from benchmarks.graphs import FULL, PAPER, cluster
from benchmarks.table import mean

SMALL = 20_000  # pixels to which photographs are scaled down
LARGE = 154_401  # pixels of those of BSDS500
HUMANS = "other humans"


def rows(*, images, n_images):
    for image in photographs.names(images, n_images):
        for n in (SMALL, LARGE):
            for method in PAPER:
                if method != FULL or n == SMALL:
                    yield {"image": image, "n": n, "method": method}
        yield {"image": image, "n": LARGE, "method": HUMANS}


def summary(rows):
    """Means over all photographs that every method has been measured on."""
    for n in sorted({row["n"] for row in rows}):
        some = [row for row in rows if row["n"] == n]
        methods = list(dict.fromkeys(row["method"] for row in some))
        images = [{row["image"] for row in some if row["method"] == m} for m in methods]
        shared = set.intersection(*images)
        for method in methods:
            found = [r for r in some if r["method"] == method and r["image"] in shared]
            values = {"n": n, "method": method, "photographs": len(found)}
            for name in ("rand index", "graph seconds", "graph cpu", "seconds"):
                values[f"mean {name}"] = mean(found, name)
            yield values


@experiment(
    rows,
    source="The paper, segmentation of BSDS500, mean Rand index over 25 photographs at full "
    "resolution: this algorithm 0.702, k-NN graphs 0.677 to 0.682.",
    why="These are other photographs of the same collection, evenly spaced among those of the "
    "folder. The paper's program weights every sampled edge by its kernel value; here the weights "
    "make the expected graph the full one. The embedding is the package's default. The experiment "
    "`photographs` measures what the package does with photographs by itself.",
    better={"rand index": "more", "graph cpu": "less"},
    summary=summary,
)
def segmentation(image, n, method, *, images):
    """Photographs segmented by the six algorithms, scored against segmentations by humans.

    The paper's protocol: a blur of one pixel, points (r, g, b, row, column), sigma = 0.2, the
    median number of human segments, the Rand index against the segmentation whose number of
    segments is closest to that; at full resolution, and scaled down to 20,000 pixels. "Other
    humans" is the mean score of the other segmentations of the same photograph.
    """
    humans = photographs.segmentations(images, image)
    k, closest = photographs.protocol(humans)
    if method == HUMANS:
        return {"k": k, "rand index": photographs.agreement(humans, closest)}
    data = replace(photographs.pixels(images, image, None if n == LARGE else n), n_clusters=k)
    labels, values = cluster(data, method)
    return {"k": k, "rand index": photographs.score(data, labels, humans[closest])} | values
