"""How good the automatic choices are: sigma, the number of clusters, embedding and rounding, on 19
sets of points and on photographs.

    python benchmarks/automatic.py [--images BSDS500] [--csv benchmarks/results/automatic.csv]

The table has one line for each data set and sigma. "auto k" is the number of clusters that the
eigengap suggests (for data without clusters, 1 is right). Next comes the adjusted Rand index
against the true classes (data without classes count as a single class) with that number, and with
numbers that one might guess: 2, and scikit-learn's default 8. Last comes the index given the true
number, for each embedding (degree, row, plain) and rounding (k-means, qr). All figures are medians
over the seeds. Photographs of BSDS500 follow the paper's protocol, at 20,000 pixels: sigma 0.2, the
median number of human segments, and the (not adjusted) Rand index against the segmentation closest
to that number.
"""

import math
from functools import partial
from pathlib import Path

import click
import kdegraph
import numpy as np
import scipy.io
from _common import cell, csv_option, write
from kdegraph.clustering.partition import vertices_in_clusters
from PIL import Image
from rounds import data_sets
from sklearn.metrics import adjusted_rand_score, rand_score

GUESSES = (2, 8)  # numbers of clusters
EMBEDDINGS, ROUNDINGS = ("degree", "row", "plain"), ("kmeans", "cluster_qr")


def photographs(folder, most):
    """Name, data set, human segmentation and number of segments of some photographs, which are
    evenly spaced among all.
    """
    paths = sorted(folder.glob("images/*/*.jpg"))
    for path in paths[:: max(1, len(paths) // most)][:most]:
        truth = folder / "groundTruth" / path.parent.name / f"{path.stem}.mat"
        humans = scipy.io.loadmat(truth)["groundTruth"][0]
        segments = [human["Segmentation"][0, 0] for human in humans]
        counts = [len(np.unique(segment)) for segment in segments]
        k = max(2, round(float(np.median(counts))))
        closest = segments[int(np.argmin(np.abs(np.array(counts) - np.median(counts))))]
        yield path.stem, kdegraph.datasets.image_points(Image.open(path)), closest, k


def choices(X, sigma, k, score, seeds):
    """The suggested number of clusters, its score, and with `k` (None without classes) that of each
    embedding and rounding.
    """
    suggested, scores = [], {}
    for seed in range(seeds):
        graph = kdegraph.similarity_graph(X, sigma=sigma, seed=seed)
        spectrum = kdegraph.spectrum(
            graph, min(20, len(vertices_in_clusters(graph))), smallest_component="auto"
        )
        suggested.append(kdegraph.suggest_n_clusters(spectrum.eigenvalues))
        numbers = {"auto": suggested[-1]} | {str(guess): guess for guess in GUESSES}
        for name, number in numbers.items():
            labels = kdegraph.spectral_clustering(
                graph, number, spectrum=spectrum, seed=seed
            ).labels
            scores.setdefault(f"k = {name}", []).append(score(labels))
        for embedding in EMBEDDINGS:
            for rounding in ROUNDINGS:
                options = {
                    "spectrum": spectrum,
                    "seed": seed,
                    "embedding": embedding,
                    "assign_labels": rounding,
                }
                found = (
                    math.nan
                    if k is None
                    else score(kdegraph.spectral_clustering(graph, k, **options).labels)
                )
                scores.setdefault(f"{embedding} {rounding}", []).append(found)
    medians = {name: float(np.median(values)) for name, values in scores.items()}
    return {"L": graph.n_rounds, "k": k or 1, "auto k": int(np.median(suggested))} | medians


def photograph_score(pixels, human, labels):
    """The Rand index of the labels of some pixels, spread over the picture, against a human
    segmentation.
    """
    return rand_score(human.ravel(), pixels.label_image(labels).ravel())


def measure(n, seeds, images, n_images):
    """All rows of the table."""
    for name, X, y, sigma, k in data_sets(n):
        score = partial(adjusted_rand_score, np.zeros(len(X)) if y is None else y)
        automatic = kdegraph.estimate_sigma(X, seed=0)
        for kind, value in (
            ("given", sigma),
            ("auto / 2", automatic / 2),
            ("auto", automatic),
            ("auto * 2", 2 * automatic),
        ):
            head = {
                "data": name,
                "n": len(X),
                "d": X.shape[1],
                "sigma": kind,
                "value": value,
                "classes": 0 if y is None else len(set(y)),
            }
            yield head | choices(X, value, None if y is None else k, score, seeds)
    for name, pixels, human, k in photographs(images, n_images) if images else ():
        automatic = kdegraph.estimate_sigma(pixels.X, seed=0)
        for kind, value in (("given", pixels.sigma), ("auto", automatic)):
            head = {
                "data": name,
                "n": len(pixels.X),
                "d": 5,
                "sigma": kind,
                "value": value,
                "classes": k,
            }
            score = partial(photograph_score, pixels, human)
            yield head | choices(pixels.X, value, k, score, 1)


@click.command()
@click.option("--n", default=5000, show_default=True)
@click.option("--seeds", default=3, show_default=True)
@click.option(
    "--images",
    type=click.Path(path_type=Path, exists=True),
    help="Folder of BSDS500: images/ and groundTruth/.",
)
@click.option("--n-images", default=12, show_default=True)
@csv_option
def main(n, seeds, images, n_images, path):
    """Print the table."""
    rows = []
    for row in measure(n, seeds, images, n_images):
        rows.append(row)
        click.echo(
            "".join(cell(value, 24 if isinstance(value, str) else 10) for value in row.values())
        )
    first = list(rows[0]).index("auto k") + 1
    n_photographs = 2 * n_images if images else 0
    for kind, some in (
        ("points", rows[: len(rows) - n_photographs]),
        ("photographs", rows[len(rows) - n_photographs :]),
    ):
        for sigma in ("given", "auto") if some else ():
            chosen = [row for row in some if row["sigma"] == sigma]
            n_right = sum(row["auto k"] == row["k"] for row in chosen)
            title = f"{kind}, sigma {sigma}"
            click.echo(f"{title}: auto k is right on {n_right} of {len(chosen)}")
            for name in list(rows[0])[first:]:
                mean = np.nanmean([row[name] for row in chosen])
                click.echo(f"{title}, {name}: mean {mean:.4f}")
    write(path, rows)


if __name__ == "__main__":
    main()
