"""Experiments that anyone can run again, and the page of their results.

    python -m benchmarks list
    python -m benchmarks run shapes sizes
    python -m benchmarks report

An experiment is a function in `experiments/` that measures one row of a table (see `experiment`).
Every row is measured in a process of its own (`row`), and is kept in `results/` (`table`), so that
a run can be interrupted and taken up again. `report` writes `docs/results.md` and its pictures.
"""
