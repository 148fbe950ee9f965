"""A small battery of tests for random numbers: p-values of blocks of 2^17 doubles in [0, 1)."""

import numpy as np
import scipy.stats

RESOLUTION = 53  # bits of a number


def p_values(u):
    """(name, p-value) of every test of the numbers `u`, in their order; a flaw shows as a p-value
    near 0.
    """
    words = (u * 2.0**RESOLUTION).astype(np.uint64)
    yield "Kolmogorov-Smirnov", scipy.stats.kstest(u, "uniform").pvalue
    yield from _bits(words)
    yield from _bytes(words)
    yield from _cells(u)
    yield from _neighbors(u)
    yield "gaps", _gaps(u)
    yield "permutations", _permutations(u)
    yield from _birthdays(words)
    yield from _ranks(words)
    yield "collisions", _collisions(words)


def _normal(z):
    return 2 * scipy.stats.norm.sf(abs(z))


def _chi_square(counts, expected=None):
    return scipy.stats.chisquare(counts, expected).pvalue


def _bit(words, bit):
    return (words >> np.uint64(bit) & np.uint64(1)).astype(np.int64)


def _bits(words):
    """Every bit is fair, changes in half of the cases from one number to the next, and has runs of
    the right number.
    """
    ones = np.array([_bit(words, bit).sum() for bit in range(RESOLUTION)])
    z = (ones - words.size / 2) / np.sqrt(words.size / 4)
    yield "bits", scipy.stats.chi2.sf((z**2).sum(), RESOLUTION)
    changes = words[1:] ^ words[:-1]
    ones = np.array([_bit(changes, bit).sum() for bit in range(RESOLUTION)])
    z = (ones - changes.size / 2) / np.sqrt(changes.size / 4)
    yield "runs", scipy.stats.chi2.sf((z**2).sum(), RESOLUTION)
    weights = np.bitwise_count(words).astype(float)
    yield (
        "correlation of weights",
        _normal(np.corrcoef(weights[1:], weights[:-1])[0, 1] * np.sqrt(words.size - 1)),
    )


def _bytes(words):
    for shift in range(0, RESOLUTION - 8, 9):
        part = (words >> np.uint64(shift)).astype(np.uint8)
        yield f"byte at bit {shift}", _chi_square(np.bincount(part, minlength=256))


def _cells(u):
    """Points of 2 and 3 successive numbers fill the square and the cube."""
    for d, side in ((2, 64), (3, 16)):
        points = (u[: u.size // d * d].reshape(-1, d) * side).astype(np.int64)
        cells = points @ side ** np.arange(d)
        yield f"{d} dimensions", _chi_square(np.bincount(cells, minlength=side**d))


def _neighbors(u):
    """No correlation with earlier numbers, and no period."""
    centered = (u - 0.5) * np.sqrt(12)
    for lag in (1, 2, 3, 20, 21, 1000):
        yield (
            f"correlation at lag {lag}",
            _normal((centered[lag:] * centered[:-lag]).sum() / np.sqrt(u.size - lag)),
        )
    power = np.abs(np.fft.rfft(centered)[1:-1]) ** 2 / u.size  # exponential, independent
    yield "largest period", -np.expm1(power.size * np.log1p(-np.exp(-power.max())))


def _gaps(u):
    """Distances between numbers below 1/8 are geometric."""
    gaps = np.diff(np.flatnonzero(u < 0.125)) - 1
    longest = 40
    probability = 0.125 * 0.875 ** np.arange(longest)
    counts = np.bincount(np.minimum(gaps, longest), minlength=longest + 1)
    return _chi_square(counts, gaps.size * np.append(probability, 0.875**longest))


def _permutations(u):
    """The orders of four successive numbers are equally frequent."""
    orders = np.argsort(u[: u.size // 4 * 4].reshape(-1, 4), axis=1) @ np.array([64, 16, 4, 1])
    _, counts = np.unique(orders, return_counts=True)
    return _chi_square(np.append(counts, np.zeros(24 - counts.size)))


def _birthdays(words):
    """Equal spacings between 2^8 days out of 2^20 are as frequent as Poisson's law says (mean m^3 /
    4n = 4); upper and lower bits.
    """
    days, per_year = 256, 1 << 20
    for name, shift in (("upper", RESOLUTION - 20), ("lower", 0)):
        years = (words >> np.uint64(shift)).astype(np.int64).reshape(-1, days) % per_year
        spacings = np.sort(np.diff(np.sort(years, axis=1), axis=1), axis=1)
        equal = (spacings[:, 1:] == spacings[:, :-1]).sum(axis=1)
        mean = days**3 / (4 * per_year)
        expected = scipy.stats.poisson.pmf(np.arange(12), mean)
        counts = np.bincount(np.minimum(equal, 12), minlength=13)
        yield (
            f"birthdays of {name} bits",
            _chi_square(counts, len(years) * np.append(expected, 1 - expected.sum())),
        )


def _ranks(words):
    """Ranks of 32 x 32 binary matrices, from the upper and the lower bits."""
    full, less = 0.2887880951, 0.5775761902  # of rank 32 and 31
    for name, shift in (("upper", RESOLUTION - 32), ("lower", 0)):
        rows = (words >> np.uint64(shift) & np.uint64(0xFFFFFFFF)).reshape(-1, 32).astype(np.int64)
        ranks = np.zeros(len(rows), np.int64)
        for bit in range(32):
            has = rows >> bit & 1
            pivot = has.argmax(axis=1)
            found = has.any(axis=1)
            ranks += found
            line = np.where(found, rows[np.arange(len(rows)), pivot], 0)
            rows ^= np.where(
                has == 1, line[:, None], 0
            )  # the pivot's own row becomes zero, and so takes part no more
        counts = [(ranks == 32).sum(), (ranks == 31).sum(), (ranks < 31).sum()]
        yield (
            f"ranks of {name} bits",
            _chi_square(counts, len(rows) * np.array([full, less, 1 - full - less])),
        )


def _collisions(words):
    """Numbers cut to 32 bits coincide as often as Poisson's law says."""
    cut = np.sort(words >> np.uint64(RESOLUTION - 32))
    mean = cut.size**2 / 2 / 2**32
    return min(1.0, 2 * scipy.stats.poisson.sf((cut[1:] == cut[:-1]).sum() - 1, mean))
