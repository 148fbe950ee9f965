"""Running a function for every tile by the current scheduler of Dask."""

import contextlib
from concurrent.futures import CancelledError

import dask
from dask.callbacks import Callback


def run(function, arguments, progress=None):
    """Call ``function(*args)`` for all `arguments`, a list of tuples, in any order, by Dask.

    Results are not used, and a call may be repeated if a worker is lost. An exception that
    ``progress(fraction)`` raises ends the work. The scheduler is the client of `distributed` if
    there is one, otherwise the one that Dask is configured for, which is threads by default. If it
    is lost, a RuntimeError is raised. Dask's own progress bars and dashboard show the work.
    """
    tasks = [dask.delayed(function, pure=False)(*args) for args in arguments]
    client = _client()
    if client is not None:
        _run_distributed(client, tasks, progress)
    elif tasks:
        with _Reports(progress, len(tasks)):
            dask.compute(*tasks)
    if progress:
        progress(1.0)


def write_tiles(folder, name, n_tiles, function, *args, progress=None):
    """Write the step ``"name-tile"`` of a folder for each tile, unless it is there.
    ``function(folder, tile, *args)`` returns the fields of the step; see `run`.
    """
    tasks = [(folder, name, tile, function, *args) for tile in range(n_tiles)]
    run(_write_step, tasks, progress)


def _write_step(folder, name, tile, function, *args):
    step = f"{name}-{tile}"
    if not folder.has(step):
        folder.write(step, function(folder, tile, *args))


def _client():
    """Return the client of `distributed` that Dask uses by default, or None."""
    if dask.config.get("scheduler", None) not in ("dask.distributed", "distributed"):
        return None
    import distributed

    return distributed.get_client()


def _run_distributed(client, tasks, progress):
    import distributed

    address = client.scheduler.address
    futures = client.compute(tasks)
    try:
        for n_done, future in enumerate(distributed.as_completed(futures), 1):
            future.result()
            if progress:
                progress(n_done / len(tasks))
    except CancelledError as error:
        raise RuntimeError(
            f"the Dask scheduler at {address} was lost, or has cancelled the work ({error}); the "
            "same call with the same store goes on from what is complete"
        ) from error
    except BaseException:
        with contextlib.suppress(Exception):  # the client may be closed
            client.cancel(futures)
        raise


class _Reports(Callback):
    """Reports the share of the tasks of a local scheduler that have ended."""

    def __init__(self, progress, n_tasks):
        super().__init__()
        self._progress, self._n_tasks = progress, n_tasks

    def _posttask(self, key, result, dsk, state, worker_id):
        if self._progress:
            self._progress(min(1.0, len(state["finished"]) / self._n_tasks))
