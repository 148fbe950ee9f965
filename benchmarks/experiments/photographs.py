"""What the package does with photographs by itself."""

import time

import numpy as np
from kdegraph import KDESpectralClustering
from kdegraph.datasets import image_points

from benchmarks import photographs as folder
from benchmarks.experiment import experiment
from benchmarks.experiments.segmentation import LARGE, SMALL
from benchmarks.table import mean

AVERAGED = ("other humans", "k", "segments", "seconds", "cpu seconds")


def rows(*, images, n_images):
    names = folder.names(images, n_images)
    return [{"image": image, "n": n} for n in (SMALL, LARGE) for image in names]


def summary(rows):
    """Means over all photographs, and the standard error of the first of them."""
    for n in sorted({row["n"] for row in rows}):
        of_size = [row for row in rows if row["n"] == n]
        scores = [row["rand index"] for row in of_size]
        yield {
            "n": n,
            "photographs": len(of_size),
            "mean rand index": np.mean(scores),
            "standard error": np.std(scores) / np.sqrt(len(of_size)),
            "worst": np.min(scores),
            **{f"mean {name}": mean(of_size, name) for name in AVERAGED},
        }


@experiment(
    rows,
    source="The paper, segmentation of BSDS500: a mean Rand index of 0.702 over 25 photographs at "
    "full resolution.",
    why="The colors are CIE L*a*b* instead of red, green and blue, sigma follows the photograph "
    "and is far smaller than the paper's, and cluster_qr takes the place of k-means.",
    summary=summary,
)
def photographs(image, n, *, images):
    """Photographs, scaled down and at full resolution, segmented by the package's defaults.

    At most n pixels are clustered by `image_points` and `KDESpectralClustering` with nothing given
    but k, the median number of human segments. "rand index" is that against the segmentation whose
    number of segments is closest to it, "other humans" the mean of the other segmentations of the
    same photograph against that one. Another folder of the same layout (images/*/NAME.jpg and
    groundTruth/*/NAME.mat) is scored by `python -m benchmarks run photographs --images FOLDER
    --n-images 1000 --results RESULTS`, which ends with the means.
    """
    humans = folder.segmentations(images, image)
    k, closest = folder.protocol(humans)
    data = image_points(folder.picture(images, image), max_pixels=None if n == LARGE else n)
    start = time.perf_counter(), time.process_time()
    labels = KDESpectralClustering(k, random_state=0).fit_predict(data.X)
    seconds, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    return {
        "k": k,
        "segments": len(np.unique(labels)),
        "rand index": folder.score(data, labels, humans[closest]),
        "other humans": folder.agreement(humans, closest),
        "seconds": seconds,
        "cpu seconds": cpu,
    }
