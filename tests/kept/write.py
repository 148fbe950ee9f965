"""Write one small file of each kind that users keep: ``python tests/kept/write.py FOLDER``.

Run it in the version whose files are to be kept, before a format changes, and commit the new
folder: `tests/test_kept_files.py` opens every folder here. Zarr stores and the folder of a tiled
graph are kept as archives, which the test unpacks.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import dask.array as da
import kdegraph
import numpy as np
from kdegraph_explorer.exports import session_file
from kdegraph_explorer.session import Session
from kdegraph_explorer.uploads import StoredFile

TABLE = b"width,height,kind\n" + b"".join(
    b"%d.5,%d,%s\n" % (i % 7 + 20 * (i % 2), i % 5, (b"ant", b"bee")[i % 2]) for i in range(40)
)


def points(n=60):
    """Two groups, far apart."""
    rng = np.random.default_rng(7)
    return rng.normal(size=(n, 2)) + np.repeat([[0.0, 0.0], [9.0, 0.0]], n // 2, axis=0)


def write_graphs(folder):
    """Write sampled graphs; return what they hold."""
    X = points()
    graphs = {
        "graph": kdegraph.similarity_graph(X, sigma=1.5, n_rounds=6, seed=1),
        "local": kdegraph.similarity_graph(X, sigma="local", alpha=0.5, n_rounds=6, seed=2),
        "weighted": kdegraph.similarity_graph(
            X, sigma=1.5, n_rounds=6, seed=3, sample_weight=1.0 + np.arange(60) % 3
        ),
    }
    for name, graph in graphs.items():
        graph.save(folder / f"{name}.npz")
        graph.to_zarr(folder / f"{name}.zarr")
    graphs["tiles"] = kdegraph.similarity_graph(
        da.from_array(X, chunks=(25, 2)), sigma=1.5, n_rounds=6, seed=1, store=folder / "tiles"
    )
    return {name: facts(graph) for name, graph in graphs.items()}


def facts(graph):
    """Return what a graph must hold when it is read."""
    weights = getattr(graph, "sample_weight", None)
    adjacency, degrees, neighbors, points = (
        part if isinstance(part, np.ndarray) or hasattr(part, "indptr") else part.compute()
        for part in (graph.adjacency, graph.kernel_degrees, graph.neighbors, graph.points)
    )
    return {
        "sigma": graph.sigma.tolist() if isinstance(graph.sigma, np.ndarray) else graph.sigma,
        **{name: getattr(graph, name) for name in ("kernel", "n_rounds", "seed", "alpha")},
        "weights": adjacency.toarray().sum(axis=1).tolist(),
        "kernel_degrees": degrees.tolist(),
        "neighbors": neighbors.tolist(),
        "points": points.tolist(),
        "sample_weight": None if weights is None else weights.tolist(),
    }


def write_labels(folder):
    """Write labels as the command line does; return them."""
    table = folder / "table.csv"
    table.write_bytes(TABLE)
    command = [sys.executable, "-m", "kdegraph", "cluster", table, "-k", "2", "--seed", "0", "-q"]
    command += ["--columns", "width,height"]
    for ending in ("csv", "parquet", "npy"):
        subprocess.run([*command, "-o", folder / f"labels.{ending}"], check=True)
    return np.load(folder / "labels.npy").tolist()


def write_sessions(folder):
    """Write session files of generated points, with edits by hand, of a file, of painted points."""
    found = {}
    for name in ("generators", "edited", "file", "painted"):
        session = Session()
        session.sources["generators"].n = 200
        if name == "file":
            session.sources["upload"].file = StoredFile.of("table.csv", TABLE)
        session.state.source = {"file": "upload", "edited": "generators"}.get(name, name)
        session.start()
        session.wait(240)
        session.state.choose(n_clusters=3, n_rounds=9, sigma=0.5)
        session.wait(240)
        session.state.choose(selection=np.array([1, 4, 5]))
        if name == "edited":
            session.state.name_cluster(2, "the third")
            session.state.merge([0, 1])
            session.state.fade = False
            session.wait(240)
        (folder / f"{name}.json").write_bytes(session_file.write(session))
        state = session.state
        found[name] = {"source": state.source, "points": state.dataset.X.tolist()}
        found[name] |= {kept: getattr(state, kept) for kept in ("edits", "cluster_names", "fade")}
        session.close()
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir()
    found = {
        "graphs": write_graphs(folder),
        "labels": write_labels(folder),
        "sessions": write_sessions(folder),
    }
    for part in [path for path in folder.iterdir() if path.is_dir()]:
        shutil.make_archive(part, "zip", part)
        shutil.rmtree(part)
    (folder / "expected.json").write_text(json.dumps(found))
