"""Synthetic data by name."""

import numpy as np

from kdegraph.datasets.shapes import SHAPES
from kdegraph.io.dataset import Dataset
from kdegraph.runtime.memory import check_memory
from kdegraph.validation import check_choice, check_count, check_real, check_seed


def names() -> tuple[str, ...]:
    """Return the names of the data that `make` draws.

    Returns
    -------
    tuple of str
        The paper's data come first.

    Examples
    --------
    >>> from kdegraph import datasets
    >>> datasets.names()[:3]
    ('moons', 'circles', 'anisotropic')
    """
    return tuple(SHAPES)


def describe(name: str) -> str:
    """Return a sentence that describes synthetic data.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    str
        One sentence, with a period.

    Raises
    ------
    ValueError, TypeError
        If there are no data of this name.

    Examples
    --------
    >>> from kdegraph import datasets
    >>> datasets.describe("blobs")
    'Three round blobs far apart: every method should find them.'
    """
    return SHAPES[check_choice(name, "name", names())].description


def default_noise(name: str) -> float:
    """Return the noise that `make` uses by default.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    float
        In the units of the data; see the parameter `noise` of `make`.

    Raises
    ------
    ValueError, TypeError
        For an unknown name.

    Examples
    --------
    >>> import kdegraph
    >>> kdegraph.datasets.default_noise("moons")
    0.05
    """
    return SHAPES[check_choice(name, "name", names())].noise


def make(
    name: str,
    n: int = 2000,
    noise: float | None = None,
    seed: int | np.random.Generator | None = None,
) -> Dataset:
    """Draw synthetic data.

    Parameters
    ----------
    name : str
        One of `names`: the paper's "moons", "circles" and "anisotropic" (transformed blobs), and
        more; see `describe`.
    n : int
        Number of points.
    noise : float, optional
        Standard deviation of the noise, or of a blob, in the units of the data; 0 or more. For
        "varied" and "scales" it is a factor of the standard deviations. By default the value that
        makes the data interesting.
    seed : None, int or numpy Generator
        The same seed gives the same points. None draws different points each time.

    Returns
    -------
    Dataset
        With labels where there are clusters, and with the bandwidth and the number of clusters that
        suit the default noise.

    Raises
    ------
    ValueError, TypeError
        If there are no data of this name, if `n` is less than 1, or if `noise` or `seed` is out of
        its range.
    MemoryError
        If the points do not fit into memory.

    Examples
    --------
    >>> from kdegraph import datasets
    >>> data = datasets.make("moons", n=1000, seed=0)
    >>> data.X.shape, data.y.shape, data.sigma, data.n_clusters
    ((1000, 2), (1000,), 0.1, 2)
    """
    generator = SHAPES[check_choice(name, "name", names())]
    n = check_count(n, "n")
    # 16 to 359 bytes per point were measured, by shape.
    check_memory(120 * n, f"{n:,} points need", "draw fewer points")
    noise = generator.noise if noise is None else check_real(noise, "noise", "a number >= 0")
    if not 0 <= noise < np.inf:
        raise ValueError(f"noise must be a finite number >= 0, got {noise!r}")
    X, y = generator.draw(n, float(noise), generator.new_rng(check_seed(seed)))
    n_labels = 0 if y is None else generator.n_clusters or 0
    return Dataset(
        X=np.ascontiguousarray(X, dtype=np.float64),
        y=None if y is None else y.astype(np.int64),
        name=name,
        description=generator.description,
        feature_names=tuple("xyz"[: X.shape[1]]) if X.shape[1] <= 3 else (),
        label_names=tuple(str(label) for label in range(n_labels)),
        sigma=generator.sigma,
        n_clusters=generator.n_clusters,
    )
