"""Experiments that anyone can run again, and the page of their results.

    pip install -c constraints.txt -e '.[bench]'
    python -m benchmarks list
    python -m benchmarks run shapes sizes
    python -m benchmarks report

An experiment is a function in `experiments/` that measures one row of a table (see `experiment`).
Every row is measured in a process of its own (`row`), and is kept in `results/` (`table`), so that
a run can be interrupted and taken up again. A row that needs a package or a program that is missing
says so, and the others are measured without it. `report` writes `docs/measurements.md` and its
pictures.
"""
