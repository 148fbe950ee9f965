"""What more workers and more points would take: a simulation from measured times."""

from pathlib import Path
from typing import NamedTuple

from benchmarks.experiment import experiment
from benchmarks.table import read

RESULTS = Path(__file__).parents[1] / "results"
# The rows of the experiments `tiles` and `tiled_clusters` whose seconds are taken.
MEASURED = {"n": "10000000", "workers": "1"}
N_ROUNDS = 10
TILE_POINTS = 2**22 // N_ROUNDS
# Bytes that each point has written and read on the shared storage: its coordinates, the draws (a
# number for each, twice: for the tile itself and sorted by tiles), its rows (about 2 L entries of
# 12 bytes), and in each product these rows and blocks of eight vectors, three of which are read.
POINT_BYTES, DRAWN_BYTES, ROW_BYTES = 16, 8 * N_ROUNDS, 24 * N_ROUNDS
PRODUCT_BYTES = ROW_BYTES + 4 * 32
# Bytes for each point that the calling process holds.
CALLER_BYTES = 80
STORAGE = 10e9  # bytes a second of all workers together: a usual parallel file system

# The stages of the graph: bytes moved for each point, and whether workers share the work.
OF_GRAPH = {
    "points": (2 * POINT_BYTES, True),
    "tree": (POINT_BYTES, False),
    "kernel degrees": (POINT_BYTES, False),
    "samples": (POINT_BYTES + DRAWN_BYTES, True),
    "graph": (POINT_BYTES + DRAWN_BYTES + ROW_BYTES, True),
}


class Stage(NamedTuple):
    """A stage of the work: seconds of one worker and bytes moved, for each point."""

    name: str
    seconds: float
    moved: float
    by_workers: bool


def measured_stages():
    """The stages from points to clusters, with the measured seconds."""
    graph, clusters = (
        next(row for row in read(RESULTS / f"{name}.csv") if MEASURED.items() <= row.items())
        for name in ("tiles", "tiled_clusters")
    )
    n, total = int(graph["n"]), float(clusters["cluster seconds"])
    of_tiles = float(clusters["of these, for tiles"])
    moved = float(clusters["products"]) * PRODUCT_BYTES
    return [
        *(Stage(name, float(graph[name]) / n, *facts) for name, facts in OF_GRAPH.items()),
        Stage("clusters, tiles", of_tiles / n, moved, True),
        Stage("clusters, the rest", (total - of_tiles) / n, 0, False),
    ]


def simulate(stages, n, workers, storage=STORAGE):
    """Seconds of each stage, and what bounds it.

    Parameters
    ----------
    stages : list of Stage
    n, workers : int
    storage : float
        Bytes a second.

    Returns
    -------
    dict
        From the name of a stage to its seconds and "workers", "caller" or "storage".
    """
    n_tiles = -(-n // TILE_POINTS)
    found = {}
    for stage in stages:
        turns = -(-n_tiles // workers) if stage.by_workers else n_tiles
        computing = turns * stage.seconds * n / n_tiles
        moving = stage.moved * n / storage
        bound = "workers" if stage.by_workers else "caller"
        found[stage.name] = max((computing, bound), (moving, "storage"))
    return found


@experiment(
    lambda: [
        {"n": n, "workers": workers}
        for n in (10**8, 10**9, 10**10)
        for workers in (1, 4, 16, 64, 256, 1024)
    ],
    source="docs/larger_than_memory.md: what bounds graphs and clusters on many machines.",
)
def growth(n, workers):
    """Seconds of tiled graphs and clusters with more workers and points: a simulation.

    The seconds that one worker takes for each point are those of the experiments `tiles` and
    `tiled_clusters`. Tiles are computed in turns; what is moved goes through a shared storage of 10
    GB/s. The tree, the kernel degrees and what clusters need beside the tiles are found by the
    calling process, here by two cores, which also holds the points.
    """
    found = simulate(measured_stages(), n, workers)
    slowest = max(found, key=found.get)
    return {
        **{name: seconds for name, (seconds, _) in found.items()},
        "seconds": sum(seconds for seconds, _ in found.values()),
        "slowest": slowest,
        "bound by": found[slowest][1],
        "GiB of the caller": CALLER_BYTES * n / 2**30,
    }
