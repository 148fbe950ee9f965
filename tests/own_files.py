"""Write files as users have them; each function returns the known class of every row."""

import csv
import io
import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow.csv
from PIL import Image
from sklearn import datasets
from sklearn.metrics import adjusted_rand_score


class File(NamedTuple):
    """A file, what the explorer finds in it, and how well that agrees with the known classes."""

    name: str
    write: Callable
    n_clusters: int
    agreement: float  # at least
    overlaps: bool = False  # so that the explorer may find another number, if it doubts it


def check_clusters(file, known, status, table):
    """Check the number of clusters in the line of the status, and compare the clusters in a saved
    table with the known classes of the file.
    """
    number = re.search(r", ([0-9]+) clusters? \(automatic, (low )?confidence", status)
    assert number, status
    if int(number.group(1)) != file.n_clusters:
        assert file.overlaps, status
        assert number.group(2), status
        return
    column = pyarrow.csv.read_csv(io.BytesIO(table))["cluster"]
    found = np.array(column.to_pylist(), dtype=np.float64)
    explored = ~np.isnan(found)
    agreement = adjusted_rand_score(known[explored], found[explored])
    assert agreement >= file.agreement, (file.name, agreement)


def write(path, names, *columns, delimiter=","):
    with path.open("w", newline="", encoding="utf-8-sig" if delimiter == ";" else "utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerows([names, *zip(*columns, strict=True)])


def bundled(name):
    """Return the writer of one of the tables of scikit-learn."""

    def table(path):
        data = getattr(datasets, f"load_{name}")()
        write(path, [*data.feature_names, "class"], *data.data.T, data.target_names[data.target])
        return data.target

    return table


def iris(path):
    """Two of the three species overlap: the classes are setosa and the others."""
    return bundled("iris")(path) > 0


def seeds(path):
    """Kernels of three kinds of wheat, with sizes as kernels have them; the kinds overlap."""
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1, 2], 70)
    size = rng.normal(size=len(y))
    length = np.array([5.51, 6.15, 5.23])[y] + 0.2 * size + rng.normal(scale=0.1, size=len(y))
    width = np.array([3.24, 3.68, 2.85])[y] + 0.14 * size + rng.normal(scale=0.1, size=len(y))
    compactness = 0.7 + 0.3 * width / length + rng.normal(scale=0.008, size=len(y))
    area = 0.8 * length * width
    asymmetry = np.array([2.7, 3.6, 4.8])[y] + rng.normal(scale=1.2, size=len(y))
    groove = length - np.array([0.42, 0.13, 0.11])[y] + rng.normal(scale=0.1, size=len(y))
    numbers = [area, np.sqrt(4 * np.pi * area / compactness), compactness, length, width]
    names = ("area", "perimeter", "compactness", "length", "width", "asymmetry", "groove", "kind")
    kind = np.array(["Kama", "Rosa", "Canadian"])[y]
    write(path, names, *np.round([*numbers, asymmetry, groove], 3), kind)
    return y


def penguins(path):
    """Three species with missing cells, of which two differ only in the length of the bill: the
    classes are Gentoo and the others.
    """
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1, 2], [151, 68, 123])
    male = rng.integers(2, size=len(y))
    mean = np.array([[38.8, 18.3, 190, 3700], [48.8, 18.4, 196, 3733], [47.5, 15.0, 217, 5076]])
    dimorphism = np.array([[3.1, 1.4, 5, 675], [4.5, 1.7, 8, 412], [3.9, 1.4, 9, 805]])
    noise = rng.normal(size=(len(y), 4)) * [2.0, 0.8, 6, 300]
    X = (mean[y] + (male[:, None] - 0.5) * dimorphism[y] + noise).round(1).astype(object)
    X[[3, 271]] = "NA"
    names = ("species", "bill_length", "bill_depth", "flipper", "body_mass", "sex", "year")
    species = np.array(["Adelie", "Chinstrap", "Gentoo"])[y]
    year = 2007 + rng.integers(3, size=len(y))
    write(path, names, species, *X.T, np.array(["female", "male"])[male], year)
    return y == 2


def customers(path):
    """Four kinds of customers in 20 columns: numbers, amounts, categories, codes, a date."""
    rng = np.random.default_rng(3)
    n = 600
    y = rng.integers(4, size=n)

    def around(means, spread, digits=0):
        return (np.array(means)[y] + rng.normal(scale=spread, size=n)).round(digits)

    def mostly(words):
        return np.where(rng.random(n) < 0.9, np.array(words)[y], "other")

    columns = {
        "customer_id": np.arange(10_001, 10_001 + n),
        "signed_up": np.datetime64("2021-01-01") + rng.integers(900, size=n),
        "postal code": rng.integers(10_000, 99_999, size=n),
        "age": around([24, 47, 61, 35], 3.5),
        "income": [f"${value:,.2f}" for value in around([14e3, 62e3, 31e3, 9e3], 2e3, 2)],
        "spent": around([300, 1900, 700, 120], 90, 2),
        "orders": around([12, 30, 8, 3], 2),
        "returned": [f"{value} %" for value in around([12, 3, 6, 20], 1.5, 1)],
        "visits": around([40, 22, 9, 15], 3),
        "basket": around([25, 63, 88, 40], 6, 2),
        "discount": around([0.3, 0.05, 0.1, 0.22], 0.03, 3),
        "rating": around([3.9, 4.6, 4.3, 2.8], 0.3, 1),
        "minutes": around([8, 14, 20, 5], 1.5, 1),
        "emails": around([2, 9, 15, 1], 1),
        "complaints": around([3, 1, 2, 7], 0.7),
        "distance": around([3, 12, 25, 8], 2, 1),
        "channel": mostly(["app", "web", "shop", "web"]),
        "plan": mostly(["basic", "gold", "silver", "basic"]),
        "newsletter": mostly(["no", "yes", "yes", "no"]),
        "currency": ["USD"] * n,
    }
    write(path, columns, *columns.values())
    return y


def export(path):
    """Three groups of measurements, as Excel exports them in Germany."""
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1, 2], 60)
    means = np.array([[20.5, 1013.2, 1250], [24.2, 1003.5, 2400], [17.0, 1021.0, 640]])
    X = means[y] + rng.normal(size=(len(y), 3)) * [1.2, 1.5, 60]
    cells = np.array([[f"{x:,.2f}" for x in row] for row in X])
    cells = np.char.translate(cells, str.maketrans(",.", ".,"))
    names = ["Probe", "Temperatur (°C)", "Luftdruck", "Preis"]
    probes = [f"Probe {i + 1}" for i in range(len(y))]
    write(path, names, probes, *cells[:, :2].T, np.char.add(cells[:, 2], " €"), delimiter=";")
    return y


def expression(path):
    """600 cells of six types, each with 12 of 200 genes that it expresses more."""
    rng = np.random.default_rng(5)
    y = np.arange(600) % 6
    rates = np.tile(rng.gamma(2.0, 1.0, size=200), (6, 1))
    for cell_type in range(6):
        rates[cell_type, 12 * cell_type : 12 * (cell_type + 1)] *= 6
    depth = rng.lognormal(0, 0.25, size=(600, 1))
    X = np.log1p(rng.poisson(rates[y] * depth)).round(3)
    write(path, ["cell", *(f"gene{i}" for i in range(200))], [f"c{i}" for i in range(600)], *X.T)
    return y


def track(path):
    """Positions every minute, at three places some kilometers from each other."""
    rng = np.random.default_rng(6)
    y = np.repeat([0, 1, 2], 250)
    places = np.array([[48.137, 11.575], [48.262, 11.668], [48.354, 11.786]])
    X = (places[y] + rng.normal(size=(len(y), 2)) * [0.003, 0.0045]).round(6)
    time = np.datetime64("2024-05-01T06:00:00") + 60 * np.arange(len(y))
    write(path, ["time", "longitude", "latitude"], time, X[:, 1], X[:, 0])
    return y


def photograph(path):
    """Sky with a sun, hills and sand, each with a texture and noise."""
    rng = np.random.default_rng(0)
    row, column = np.mgrid[:80, :110]
    y = (row > 36 + 8 * np.sin(column / 17)).astype(int)
    y[row > 58 + 4 * np.sin(column / 23)] = 2
    y[(row - 15) ** 2 + (column - 85) ** 2 < 100] = 3
    colors = np.array([[135, 180, 235], [60, 95, 60], [190, 165, 95], [250, 235, 140]])[y]
    noise = 7 * (rng.normal(size=colors.shape) + rng.normal(size=(*y.shape, 1)))
    Image.fromarray((colors + noise).clip(0, 255).astype(np.uint8)).save(path)
    return y.ravel()


def blobs(path):
    """200,000 points in seven blobs."""
    rng = np.random.default_rng(7)
    y = rng.integers(7, size=200_000)
    angle = 2 * np.pi * y / 7
    X = 10 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(size=(len(y), 2))
    np.save(path, X.astype(np.float32))
    return y
