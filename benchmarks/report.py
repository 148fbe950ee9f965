"""The page of the results, from the tables alone."""

from collections import Counter, defaultdict

from benchmarks.graphs import KDEGRAPH
from benchmarks.pictures import draw_lines, write_picture
from benchmarks.row import FAILURE
from benchmarks.table import Table, as_text, succeeded

MOST_ROWS = 60  # of a table on the page without a summary: longer ones are cut
MOST_CASES = 12  # that are listed of one way in which others win
WINS = 1.05  # A ratio of times below this is not worth the name, on a machine that others use.
INTRODUCTION = """# Measurements

This page is written by `python -m benchmarks report` from the tables in `benchmarks/results/`;
`python -m benchmarks run NAME` measures the rows of a table. Nothing here is edited by hand.

The machines were shared with other work while this was measured. The time by the clock then says
little, and "cpu", the processor time of all cores, more; ratios of rows that were measured one
after the other say most. Each row of a table was measured in a process of its own. Rows that failed
say why. Rows without a date were measured before dates, versions and machines were noted.
"""


def write_report(experiments, results, docs):
    """Write `measurements.md` and its pictures into the folder `docs`.

    Parameters
    ----------
    experiments : iterable of Experiment
    results : Path
        The folder of the tables.
    docs : Path

    Returns
    -------
    Path
        The page.
    """
    tables = [(one, Table(results, one)) for one in experiments]
    tables = [(one, table) for one, table in tables if table.rows]
    parts = [INTRODUCTION, _machines(table for _, table in tables)]
    parts += [_section(one, table, docs) for one, table in tables]
    parts.append(_where_others_win(tables))
    docs.mkdir(parents=True, exist_ok=True)
    page = docs / "measurements.md"
    page.write_text("\n".join(parts), encoding="utf-8")
    return page


def _machines(tables):
    rows = [row for table in tables for row in table.rows]
    machines = sorted({row["machine"] for row in rows if row.get("machine")})
    return "Machines: " + "; ".join(machines) + ".\n" if machines else ""


def _section(experiment, table, docs):
    """What the page says of one experiment."""
    rows = succeeded(table.rows)
    parts = [
        f"## {experiment.name}",
        experiment.description,
        experiment.remarks,
        f"**The source.** {experiment.source}",
        "**Measured.** " + _count(table),
    ]
    if rows:
        if experiment.summary:
            parts.append(markdown(list(experiment.summary(rows))))
        else:
            shown = [*table.parameters, *(experiment.shown or table.measured())]
            some = [{name: row.get(name, "") for name in shown} for row in rows[:MOST_ROWS]]
            parts.append(markdown(some))
            if len(rows) > MOST_ROWS:
                parts.append(f"{len(rows) - MOST_ROWS} more rows are in `{table.path.name}`.")
        parts += _pictures(experiment, table, rows, docs)
    if experiment.why:
        parts.append(f"**Why they differ.** {experiment.why}")
    return "\n\n".join(part for part in parts if part) + "\n"


def _count(table):
    """How many rows there are, when they were measured, and why some failed."""
    failures = Counter(row[FAILURE] for row in table.rows if row.get(FAILURE))
    dates = sorted({row["date"] for row in table.rows if row.get("date")})
    name, n_rows = table.path.stem, len(table.rows)
    text = f"{n_rows} rows of `{name}.csv`, by `python -m benchmarks run {name}`"
    if dates:
        text += f", {dates[0]}" + (f" to {dates[-1]}" if len(dates) > 1 else "")
    if failures:
        reasons = "; ".join(f"{reason} ({count})" for reason, count in failures.items())
        text += f". Failed: {reasons}"
    return text + "."


def _pictures(experiment, table, rows, docs):
    """Draw the pictures of an experiment, and return the lines that show them."""
    figures = []
    if experiment.picture:
        figures.append((experiment.name, draw_lines(rows, experiment.picture)))
    if experiment.draw:
        figures.append((f"{experiment.name}_drawn", experiment.draw(rows, table)))
    return [
        f"![{experiment.description}]({write_picture(figure, docs, name)})"
        for name, figure in figures
        if figure
    ]


def _where_others_win(tables):
    """All cases in which another method is better than the default of kdegraph."""
    parts = ["## Where others win\n"]
    for experiment, table in tables:
        rows = succeeded(table.rows)
        for value, direction in experiment.better.items():
            lost, cases = losses(rows, table.parameters, value, direction)
            if lost:
                parts.append(
                    f"**{experiment.name}, {value}** ({direction} is better): others are better in "
                    f"{len(lost)} of {cases} cases.\n\n{markdown(lost[:MOST_CASES])}\n"
                )
    if len(parts) == 1:
        parts.append("Nowhere, in the rows that have been measured.\n")
    return "\n".join(parts)


def losses(rows, parameters, value, direction):
    """Where another method beats `KDEGRAPH` by more than `WINS`.

    Parameters
    ----------
    rows : list of dict
        With a column "method"; what begins with "kdegraph" is no other method.
    parameters : list of str
        Rows that agree in all of them but the method belong to one case.
    value : str
        The column to compare by.
    direction : {"less", "more"}
        Which values are better.

    Returns
    -------
    (list of dict, int)
        The cases, those with the largest ratio first, and how many cases there are in all.
    """
    cases, best = defaultdict(list), min if direction == "less" else max
    shared = [name for name in parameters if name != "method"]
    for row in rows:
        number = row.get(value, "")
        if isinstance(number, int | float) and number == number:
            cases[tuple(row[name] for name in shared)].append((number, row["method"]))
    lost, n_cases = [], 0
    for case, found in cases.items():
        ours = [number for number, method in found if method == KDEGRAPH]
        others = [one for one in found if not one[1].startswith(KDEGRAPH)]
        if not ours or not others:
            continue
        n_cases += 1
        mine, (theirs, method) = ours[0], best(others)
        if best(mine, theirs) == mine or _ratio(mine, theirs) <= WINS:
            continue
        about = dict(zip(shared, case, strict=True))
        about |= {"method": method, value: theirs, f"{value} of {KDEGRAPH}": mine}
        lost.append(about)
    lost.sort(key=lambda row: -_ratio(row[value], row[f"{value} of {KDEGRAPH}"]))
    return lost, n_cases


def _ratio(a, b):
    low, high = sorted((abs(a), abs(b)))
    return high / low if low else float("inf")


def markdown(rows):
    """A table, one line for each row."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [names, ["---"] * len(names)]
    lines += [[as_text(row.get(name, "")).replace("|", "\\|") for name in names] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
