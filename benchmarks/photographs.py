"""Photographs with segmentations by humans, in the layout of BSDS500."""

from math import nan

import numpy as np
import scipy.io
from kdegraph.datasets import image_points, load
from sklearn.metrics import rand_score


def names(folder, n_images):
    """Some photographs, evenly spaced among all: "train/8143" for images/train/8143.jpg, or for
    groundTruth/train/8143.mat where there is no picture.
    """
    paths = [*folder.glob("images/*/*.jpg"), *folder.glob("groundTruth/*/*.mat")]
    known = sorted({f"{path.parent.name}/{path.stem}" for path in paths})
    return evenly_spaced(known, n_images)


def evenly_spaced(names, n):
    """At most n of some names."""
    chosen = np.unique(np.linspace(0, len(names) - 1, n).astype(int)) if names else ()
    return [names[i] for i in chosen]


def picture(folder, name):
    """A photograph in full size."""
    return load(folder / "images" / f"{name}.jpg").image


def pixels(folder, name, max_pixels):
    """The pixels of a photograph as points, by the paper's protocol."""
    return image_points(picture(folder, name), color="rgb", blur=1, max_pixels=max_pixels)


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


def agreement(humans, closest):
    """The mean Rand index of the other segmentations against the one that is scored against."""
    others = [human for i, human in enumerate(humans) if i != closest]
    return np.mean([rand_score(humans[closest].ravel(), human.ravel()) for human in others] or nan)


def score(data, labels, human):
    """The Rand index of the labels of some pixels, spread over the picture."""
    return rand_score(human.ravel(), data.label_image(labels).ravel())
