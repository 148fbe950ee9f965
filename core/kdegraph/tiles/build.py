"""Algorithm 2 tile by tile: from a Dask array to a graph in a folder."""

import numpy as np

from kdegraph.runtime.progress import StageTimer
from kdegraph.tiles import scheduler
from kdegraph.tiles.folder import DESCRIPTION, Folder, checksum
from kdegraph.tiles.graph import TiledGraph
from kdegraph.tiles.plan import PLAN, make_plan, n_tiles
from kdegraph.tiles.points import gather_points
from kdegraph.tiles.steps import RESULT, draw_tile, join_degrees, join_tile, write_result


def sample_by_tiles(X, options, store, progress=None, *, any_seed=False):
    """Sample a graph on Dask, or complete one that was interrupted.

    Parameters
    ----------
    X : (n, d) dask array
        As `kdegraph.tiles.points.as_dask_points` returns it.
    options : GraphParameters
    store : path-like or None
        The folder for the graph. None takes a temporary one, which is deleted when the process
        ends.
    progress : callable, optional
        Called as ``progress(stage, fraction)``.
    any_seed : bool
        Whether the seed of an interrupted graph may take the place of that of the options.

    Returns
    -------
    TiledGraph

    Raises
    ------
    ValueError
        If the store holds something else, or is damaged.
    """
    folder = Folder.temporary() if store is None else Folder(store)
    with folder.claimed():
        if any_seed and folder.has(DESCRIPTION):
            options = options._replace(seed=folder.values(DESCRIPTION)["seed"])
        folder.begin(_describe(X, options))
        stages = StageTimer(progress)
        stages.enter("points")
        points = gather_points(X, folder, stages.progress)
        if not folder.has(RESULT):
            _sample(points, options, folder, stages)
        folder.remove(PLAN)
    return TiledGraph.load(folder.path)


def _describe(X, options):
    """Return what the graph depends on, except for the coordinates of the points."""
    described = {"shape": list(X.shape)} | options._asdict()
    del described["draws"], described["kde"]  # only the recursive sampler depends on these
    if isinstance(options.sigma, np.ndarray):
        described["sigma"] = f"an array with the checksum {checksum(options.sigma)}"
    return described


def _sample(points, options, folder, stages):
    """Write all steps of the graph that are not in the folder."""
    folder.check_all()
    if not folder.has(PLAN):
        make_plan(points, options, stages, folder)
    tiles = n_tiles(folder)
    stages.enter("samples")
    scheduler.write_tiles(folder, "draws", tiles, draw_tile, progress=stages.progress)
    stages.enter("graph")
    join_degrees(folder)
    scheduler.write_tiles(folder, "rows", tiles, join_tile, progress=stages.progress)
    stages.leave()
    for tile in range(tiles):
        folder.remove(f"sent-{tile}")
    n_rounds, sampler = folder.read(PLAN, "n_rounds", "sampler")
    names = ("kernel", "seed", "weighting", "eps", "alpha")
    parameters = {name: getattr(options, name) for name in names}
    parameters |= {"n_rounds": n_rounds, "sampler": sampler, "draws": "independent"}
    write_result(folder, parameters | {"timings": stages.timings})
