"""Tables as CSV files, one line for each row of an experiment."""

import csv
import re

import numpy as np

from benchmarks.row import FACTS, FAILURE


class Table:
    """The rows of an experiment in a folder; every change is written at once.

    Parameters
    ----------
    folder : Path
    experiment : Experiment
    """

    def __init__(self, folder, experiment):
        self.path = folder / f"{experiment.name}.csv"
        self.parameters = experiment.parameters
        self.rows = read(self.path)

    def find(self, parameters):
        """The row with these parameters, or None."""
        wanted = self._key(parameters)
        return next((row for row in self.rows if self._key(row) == wanted), None)

    def put(self, row):
        """Add a row, or put it in place of the one with the same parameters."""
        arrays = {name: row.pop(name) for name in list(row) if isinstance(row[name], np.ndarray)}
        if arrays:
            path = self.arrays_path(row)
            path.parent.mkdir(parents=True, exist_ok=True)
            np.savez_compressed(path, **arrays)
        row = {name: as_text(value) for name, value in row.items()}
        known = self.find(row)
        if known is None:
            self.rows.append(row)
        else:
            self.rows[self.rows.index(known)] = row
        self._write()

    def arrays_path(self, row):
        """The file with the arrays of a row."""
        name = re.sub(r"[^\w.=-]+", "_", "-".join(self._key(row)))
        return self.path.with_suffix("") / f"{name}.npz"

    def measured(self):
        """The names of the columns that hold measured values."""
        return [name for name in _columns(self.rows) if name not in (*self.parameters, *FACTS)]

    def _key(self, row):
        return tuple(as_text(row.get(name, "")) for name in self.parameters)

    def _write(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".part")
        with unfinished.open("w", newline="") as file:
            names = [*self.parameters, *self.measured(), *FACTS]
            writer = csv.DictWriter(file, names, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)
        unfinished.replace(self.path)


def read(path):
    """The rows of a file as texts by column; none if there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _columns(rows):
    """All columns, in the order in which they first appear."""
    return list(dict.fromkeys(name for row in rows for name in row))


def as_text(value):
    """A value as it stands in a file: four digits of a measured figure."""
    if isinstance(value, np.generic):
        value = value.item()
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def as_number(text):
    """The number that a text stands for, or the text."""
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if text.lstrip("-").isdigit() else number


def succeeded(rows):
    """The rows that have been measured, with numbers in place of their texts."""
    return [
        {name: as_number(text or "") for name, text in row.items()}
        for row in rows
        if not row.get(FAILURE)
    ]


def mean(rows, name):
    """The mean of a column over the rows that have a number there; a blank if none has."""
    found = [row[name] for row in rows if isinstance(row.get(name), int | float)]
    found = [number for number in found if not np.isnan(number)]
    return np.mean(found) if found else ""
