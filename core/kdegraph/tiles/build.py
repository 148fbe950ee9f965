"""Algorithm 2 tile by tile: from a Dask array to a graph in a folder."""

import numpy as np

from kdegraph.runtime.progress import StageTimer
from kdegraph.tiles import scheduler
from kdegraph.tiles.folder import DESCRIPTION, Folder, checksum
from kdegraph.tiles.graph import TiledGraph
from kdegraph.tiles.plan import PLAN, make_plan, read_order
from kdegraph.tiles.points import gather_points
from kdegraph.tiles.steps import (
    RESULT,
    draw_tile,
    join_degrees,
    join_tile,
    sent_step,
    write_result,
)

# Options that a graph depends on and that JSON has as they are.
PLAIN_OPTIONS = ("perplexity", "alpha", "kernel", "n_rounds", "sampler", "weighting", "eps")
# Options that are parameters of the graph as they are.
KEPT_OPTIONS = ("kernel", "seed", "weighting", "eps", "alpha")


def sample_by_tiles(X, options, store, progress=None, *, any_seed=False):
    """Sample a graph on Dask, or complete one that was interrupted.

    Parameters
    ----------
    X : (n, d) dask array
        As `kdegraph.tiles.points.as_dask_points` returns it.
    options : GraphOptions
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
    """What the graph depends on, but for the coordinates of the points."""
    sigma = options.sigma
    if isinstance(sigma, np.ndarray):
        sigma = f"an array with the checksum {checksum(sigma)}"
    plain = {name: getattr(options, name) for name in PLAIN_OPTIONS}
    return {"shape": list(X.shape), "sigma": sigma, "seed": options.seed} | plain


def _sample(points, options, folder, stages):
    """Do all steps of the graph that are not in the folder."""
    folder.check_all()
    if not folder.has(PLAN):
        make_plan(points, options, stages, folder)
    n_tiles = read_order(folder).n_tiles
    tiles = [(folder.path, tile) for tile in range(n_tiles)]

    stages.enter("samples")
    scheduler.run(draw_tile, tiles, stages.progress)
    stages.enter("graph")
    join_degrees(folder)
    scheduler.run(join_tile, tiles, stages.progress)
    stages.leave()

    for tile in range(n_tiles):
        folder.remove(sent_step(tile))
    n_rounds, sampler = folder.read(PLAN, "n_rounds", "sampler")
    parameters = {name: getattr(options, name) for name in KEPT_OPTIONS}
    parameters |= {"n_rounds": n_rounds, "sampler": sampler, "draws": "independent"}
    write_result(folder, parameters | {"timings": stages.timings})
