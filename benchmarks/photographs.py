"""Photographs with segmentations by humans, in the layout of BSDS500."""

import numpy as np
import scipy.io
from kdegraph.datasets import image_points, load
from sklearn.metrics import rand_score


def names(folder, n_images):
    """Some photographs, evenly spaced among all: "train/8143" for images/train/8143.jpg."""
    paths = sorted(folder.glob("images/*/*.jpg"))
    chosen = np.unique(np.linspace(0, len(paths) - 1, n_images).astype(int)) if paths else ()
    return [f"{paths[i].parent.name}/{paths[i].stem}" for i in chosen]


def pixels(folder, name, max_pixels):
    """The pixels of a photograph as points; see `kdegraph.datasets.image_points`."""
    return image_points(load(folder / "images" / f"{name}.jpg").image, max_pixels=max_pixels)


def segmentations(folder, name):
    """The segmentations by humans, a (height, width) array each."""
    try:
        humans = scipy.io.loadmat(folder / "groundTruth" / f"{name}.mat")["groundTruth"][0]
        return [human["Segmentation"][0, 0] for human in humans]
    except Exception as error:  # a damaged file surfaces as almost any error
        raise ValueError(f"the segmentation of {name} cannot be read: {error}") from None


def protocol(humans):
    """The paper's number of clusters, the median number of segments, and the index of the
    segmentation whose number is closest to it.
    """
    counts = np.array([len(np.unique(human)) for human in humans])
    median = np.median(counts)
    return max(2, round(float(median))), int(np.argmin(np.abs(counts - median)))


def score(data, labels, human):
    """The Rand index of the labels of some pixels, spread over the picture."""
    return rand_score(human.ravel(), data.label_image(labels).ravel())
