"""The explorer in a marimo notebook: `marimo edit examples/explore_marimo.py`."""

import marimo

app = marimo.App(width="full")


@app.cell
def _():
    from kdegraph.datasets import make
    from kdegraph_explorer import Explorer

    explorer = Explorer(make("moons", n=1000, seed=0), sigma=0.1, n_clusters=2)
    explorer
    return (explorer,)


@app.cell
def _(explorer):
    explorer.views["spectrum"]
    return


@app.cell
def _(explorer):
    import marimo as mo

    read = mo.ui.run_button(label="Read the result back")
    read
    return mo, read


@app.cell
def _(explorer, mo, read):
    mo.md(f"sigma {explorer.sigma:.3g}, {explorer.n_clusters} clusters") if read.value else None
    return


if __name__ == "__main__":
    app.run()
