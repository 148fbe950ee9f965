"""Latitudes and longitudes among the columns of a table."""

from dataclasses import replace

import numpy as np

LATITUDE, LONGITUDE = ("lat", "latitude"), ("lon", "lng", "long", "longitude")


def _place_columns(names):
    """Return the numbers of the columns of latitude and longitude, by their names, or None."""
    names = [name.lower().rsplit("_")[-1] for name in names]
    found = [
        [i for i, name in enumerate(names) if name in words] for words in (LATITUDE, LONGITUDE)
    ]
    return [found[0][0], found[1][0]] if all(len(columns) == 1 for columns in found) else None


def are_places(names, columns):
    """Return whether features are a latitude and a longitude alone, by their names and ranges."""
    numbers = _place_columns(names)
    if numbers is None or len(names) != 2:
        return False
    limits = zip(numbers, (90, 360), strict=True)
    return all(np.nanmax(np.abs(columns[i])) <= limit for i, limit in limits)


def with_metric(dataset, metric):
    """Return the data with a metric; of "haversine" the latitude is the first column.

    A ValueError is raised if the metric does not suit the points.
    """
    if metric == "euclidean":
        return dataset
    columns = _place_columns(dataset.feature_names)
    if metric == "haversine" and columns == [1, 0]:
        names = dataset.feature_names[::-1]
        dataset = replace(dataset, X=dataset.X[:, ::-1].copy(), feature_names=names)
    found = replace(dataset, metric=metric)
    found.embedded  # noqa: B018 (raises the error, in the worker)
    return found
