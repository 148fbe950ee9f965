"""What is chosen without being told: sigma, the number of clusters, embedding and rounding, on 19 sets of points and on photographs.

    python benchmarks/automatic.py [--images BSDS500] [--csv benchmarks/results/automatic.csv]

One line a data set and sigma. "auto k" is the number of clusters that the eigengap suggests (1 is right without clusters). Then the
adjusted Rand index against the true classes, given their number, for each embedding (degree, row, plain) and rounding (k-means, qr):
the median over the seeds. For photographs of BSDS500 the paper's protocol, at 20,000 pixels: sigma 0.2, the median number of human
segments, and the (not adjusted) Rand index against the segmentation closest to that number.
"""

import math
from pathlib import Path

import click
import kdegraph
import numpy as np
import scipy.io
from _common import cell, csv_option, write
from PIL import Image
from rounds import data_sets
from sklearn.metrics import adjusted_rand_score, rand_score

EMBEDDINGS, ROUNDINGS = ("degree", "row", "plain"), ("kmeans", "cluster_qr")


def photographs(folder, most):
    """Name, data set, human segmentation and number of segments of some photographs, evenly chosen."""
    paths = sorted(folder.glob("images/*/*.jpg"))
    for path in paths[:: max(1, len(paths) // most)][:most]:
        humans = scipy.io.loadmat(folder / "groundTruth" / path.parent.name / f"{path.stem}.mat")["groundTruth"][0]
        segments = [human["Segmentation"][0, 0] for human in humans]
        counts = [len(np.unique(segment)) for segment in segments]
        k = max(2, round(float(np.median(counts))))
        closest = segments[int(np.argmin(np.abs(np.array(counts) - np.median(counts))))]
        yield path.stem, kdegraph.datasets.image_points(Image.open(path)), closest, k


def choices(X, sigma, k, score, seeds):
    """The suggested number of clusters, and the score of each embedding and rounding."""
    suggested, scores = [], {}
    for seed in range(seeds):
        graph = kdegraph.similarity_graph(X, sigma=sigma, seed=seed)
        spectrum = kdegraph.spectrum(graph, min(20, len(X)), omit_isolated=True)
        suggested.append(kdegraph.suggest_n_clusters(spectrum.eigenvalues))
        for embedding in EMBEDDINGS:
            for rounding in ROUNDINGS:
                options = {"spectrum": spectrum, "seed": seed, "embedding": embedding, "assign_labels": rounding}
                labels = kdegraph.spectral_clustering(graph, k, **options).labels
                scores.setdefault(f"{embedding} {rounding}", []).append(score(labels))
    medians = {name: float(np.median(values)) for name, values in scores.items()}
    return {"L": graph.n_rounds, "k": k, "auto k": int(np.median(suggested))} | medians


def measure(n, seeds, images, n_images):
    """All rows of the table."""
    for name, X, y, sigma, k in data_sets(n):
        score = (lambda labels: math.nan) if y is None else (lambda labels, y=y: adjusted_rand_score(y, labels))
        automatic = kdegraph.estimate_sigma(X, seed=0)
        for kind, value in (("given", sigma), ("auto / 2", automatic / 2), ("auto", automatic), ("auto * 2", 2 * automatic)):
            head = {"data": name, "n": len(X), "d": X.shape[1], "sigma": kind, "value": value, "classes": 0 if y is None else len(set(y))}
            yield head | choices(X, value, k, score, seeds)
    for name, pixels, human, k in photographs(images, n_images) if images else ():
        automatic = kdegraph.estimate_sigma(pixels.X, seed=0)
        for kind, value in (("given", pixels.sigma), ("auto", automatic)):
            head = {"data": name, "n": len(pixels.X), "d": 5, "sigma": kind, "value": value, "classes": k}
            score = lambda labels: rand_score(human.ravel(), pixels.label_image(labels).ravel())  # noqa: B023, E731
            yield head | choices(pixels.X, value, k, score, 1)


@click.command()
@click.option("--n", default=5000, show_default=True)
@click.option("--seeds", default=3, show_default=True)
@click.option("--images", type=click.Path(path_type=Path, exists=True), help="Folder of BSDS500: images/ and groundTruth/.")
@click.option("--n-images", default=12, show_default=True)
@csv_option
def main(n, seeds, images, n_images, path):
    """Print the table."""
    rows = []
    for row in measure(n, seeds, images, n_images):
        rows.append(row)
        click.echo("".join(cell(value, 24 if isinstance(value, str) else 10) for value in row.values()))
    given = [row for row in rows if row["sigma"] == "given"]
    for kind, chosen in (("points", given[: -n_images if images else None]), ("photographs", given[-n_images:] if images else [])):
        for name in list(rows[0])[-len(EMBEDDINGS) * len(ROUNDINGS) :] if chosen else ():
            click.echo(f"{kind}, {name}: mean {np.nanmean([row[name] for row in chosen]):.4f}")
    write(path, rows)


if __name__ == "__main__":
    main()
