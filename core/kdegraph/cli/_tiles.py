"""Clusters of points that need not fit into memory."""

from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import click

from kdegraph.cli._output import write_array, write_table
from kdegraph.runtime.replacing import new_folder

# Files that are always read block by block.
BLOCKWISE = (".zarr", ".h5", ".hdf5", ".h5ad")
EXTENSIONS = (".csv", ".parquet", ".npy", ".zarr")


class Size(click.ParamType):
    """A number of bytes, such as 4GB."""

    name = "size"

    def convert(self, value, parameter, context):
        """See `click.ParamType.convert`."""
        from dask.utils import parse_bytes

        try:
            size = parse_bytes(value)
        except ValueError:
            size = 0
        if size <= 0:
            self.fail(f"{value!r} is no number of bytes, such as 4GB.", parameter, context)
        return size


@dataclass(frozen=True)
class Tiles:
    """Where the tiles of a graph are computed and kept.

    Attributes
    ----------
    store : str or None
        A folder for the graph.
    scheduler : str or None
        The address of a Dask scheduler.
    memory_limit : int or None
        Bytes for all worker processes, if these are started here.
    """

    store: str | None
    scheduler: str | None
    memory_limit: int | None

    @contextmanager
    def workers(self):
        """The Dask client that is asked for, or none: then threads of this process do the work."""
        if self.scheduler is None and self.memory_limit is None:
            yield
            return
        from dask.distributed import Client

        with self._cluster() as cluster:
            try:
                client = Client(cluster)
            except (OSError, ValueError) as error:
                raise click.BadParameter(
                    f"no scheduler answers at {cluster!r} ({error}).", param_hint="'--scheduler'"
                ) from None
            with client:
                yield

    def _cluster(self):
        """A context with an address, or with worker processes that end with it."""
        if self.scheduler is not None:
            return nullcontext(self.scheduler)
        from dask.distributed import LocalCluster

        from kdegraph.runtime.threads import get_num_threads

        n = get_num_threads()
        return LocalCluster(
            n_workers=n,
            threads_per_worker=1,
            memory_limit=self.memory_limit // n,
            dashboard_address=":0",
        )

    def graph(self, file, reading, options, progress):
        """The graph of the points of a file, a `TiledGraph`."""
        from kdegraph.datasets import load_lazily
        from kdegraph.graph import similarity_graph

        columns = [name.strip() for text in reading.columns for name in text.split(",")]
        return similarity_graph(
            load_lazily(file, columns or None),
            sigma=options.sigma or "auto",
            perplexity=options.perplexity,
            alpha=options.alpha or 0.0,
            kernel=options.kernel,
            n_rounds=options.rounds or "auto",
            seed=options.seed,
            store=self.store,
            progress=progress,
        )


def check_options(reading, options):
    """Refuse options that points which are read block by block do not have.

    Raises
    ------
    click.UsageError
    """
    given = {
        "--method knn": options.method == "knn",
        "--label": reading.label not in (None, "none"),
        "--dropna": reading.dropna,
    }
    for name, is_given in given.items():
        if is_given:
            raise click.UsageError(
                f"{name} does not go with --store, --scheduler, --memory-limit, and files that are "
                f"read block by block: {', '.join(BLOCKWISE)}"
            )


def describe(graph):
    """One line on a `TiledGraph`."""
    from kdegraph.diagnosis import bandwidth_in_words

    density = f"alpha {graph.alpha:g}, " if graph.alpha > 0 else ""
    words = f"{graph.kernel} kernel, {bandwidth_in_words(graph.sigma)}, {density}"
    per_point = 2 * graph.n_edges / graph.n_vertices
    return (
        f"{words}{graph.n_rounds} rounds: {graph.n_edges:,} edges, {per_point:.1f} per point, "
        f"{graph.n_blocks} tiles"
    )


def write_labels(path, labels):
    """Write labels by the extension of the path."""
    if path.suffix.lower() == ".zarr":
        import zarr

        with new_folder(path) as folder:
            zarr.save_array(folder, labels)
    elif path.suffix.lower() == ".npy":
        write_array(path, labels)
    else:
        write_table(path, {"label": labels})
