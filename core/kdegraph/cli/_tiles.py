"""Clusters of points that need not fit into memory."""

from contextlib import contextmanager, nullcontext

import click

from kdegraph.cli._build import kde_parameters
from kdegraph.cli._options import split_names

# Files that are always read block by block.
BLOCKWISE = (".zarr", ".h5", ".hdf5")
# Bytes of a worker process: it takes 200 MB without points and 350 MB with tiles; Dask pauses it at
# four fifths of its limit.
MIN_WORKER = 600_000_000


def as_bytes(context, parameter, value):
    """Return the number of bytes of an option such as 4GB, or None if it is not given."""
    if value is None:
        return None
    from dask.utils import parse_bytes

    try:
        size = parse_bytes(value)
    except ValueError:
        size = 0
    if size <= 0:
        raise click.BadParameter(f"{value!r} is not a number of bytes, such as 4GB.")
    if size < MIN_WORKER:
        needed = f"{MIN_WORKER // 10**6}MB"
        raise click.BadParameter(f"{value!r} is too little: a worker process needs {needed}.")
    return size


def check_options(options):
    """Refuse options that do not apply to points which are read block by block."""
    given = {
        "--method knn": options.method == "knn",
        "--label": options.label not in (None, "none"),
        "--dropna": options.dropna,
        "--categories": options.categories,
        "--id": options.id,
        "--max-pixels": options.max_pixels is not None,
        "--blur": options.blur is not None,
        "--noise": options.noise is not None,
        "--scale standardize": options.scale == "standardize",
    }
    for name in [name for name in given if given[name]]:
        raise click.UsageError(
            f"{name} does not go with --store, --scheduler, --memory-limit, and files that are "
            f"read block by block: {', '.join(BLOCKWISE)}"
        )


@contextmanager
def workers(scheduler, memory_limit):
    """Connect to a Dask scheduler, or start worker processes with a limit of memory in all.

    Without both, threads of this process do the work.
    """
    if scheduler is None and memory_limit is None:
        yield
        return
    from dask.distributed import Client, LocalCluster

    from kdegraph.runtime.threads import get_num_threads

    local = nullcontext(scheduler)
    if scheduler is None:
        n = min(get_num_threads(), memory_limit // MIN_WORKER)
        limits = {"threads_per_worker": 1, "memory_limit": memory_limit // n}
        local = LocalCluster(n_workers=n, dashboard_address=":0", **limits)
    with local as cluster:
        try:
            client = Client(cluster)
        except (OSError, ValueError) as error:
            raise click.BadParameter(
                f"no scheduler answers at {cluster!r} ({error}).", param_hint="'--scheduler'"
            ) from None
        with client:
            yield


def build(file, options, store, progress):
    """Build the `TiledGraph` of the points of a file, in the folder `store` or a temporary one."""
    from kdegraph.datasets import load_lazily
    from kdegraph.graph import similarity_graph

    points = load_lazily(file, split_names(options.columns) or None)
    return similarity_graph(points, store=store, progress=progress, **kde_parameters(options))
