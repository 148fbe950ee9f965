"""A picture of time against n from a table of `benchmarks/clustering.py`, both axes logarithmic.

python benchmarks/chart.py benchmarks/results/clustering.csv docs/clustering.svg
"""

import csv
import math
from pathlib import Path

import click

LINES = (
    ("total", "#0072b2", "kdegraph"),
    ("scikit-learn", "#d55e00", "scikit-learn, nearest neighbors"),
)
WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM = 640, 400, 70, 40, 50


@click.command()
@click.argument("table", type=click.Path(path_type=Path, exists=True))
@click.argument("picture", type=click.Path(path_type=Path))
def main(table, picture):
    """Draw the seconds by the clock, end to end."""
    with table.open() as file:
        rows = list(csv.DictReader(file))
    series = {
        label: [(float(r["n"]), float(r[key])) for r in rows if r.get(key)]
        for key, _, label in LINES
    }
    points = [point for line in series.values() for point in line]
    x_range = [
        math.floor(math.log10(min(x for x, _ in points))),
        math.ceil(math.log10(max(x for x, _ in points))),
    ]
    y_range = [
        math.floor(math.log10(min(y for _, y in points))),
        math.ceil(math.log10(max(y for _, y in points))),
    ]

    def place(value, bounds, low, high):
        return low + (high - low) * (math.log10(value) - bounds[0]) / (bounds[1] - bounds[0])

    def x(n):
        return place(n, x_range, LEFT, WIDTH - RIGHT)

    def y(seconds):
        return place(seconds, y_range, HEIGHT - BOTTOM, 20)

    bottom, middle = HEIGHT - BOTTOM, HEIGHT // 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for power in range(x_range[0], x_range[1] + 1):
        at = x(10**power)
        parts.append(f'<line x1="{at:.1f}" y1="20" x2="{at:.1f}" y2="{bottom}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">{10**power:,}</text>'
        )
    for power in range(y_range[0], y_range[1] + 1):
        at = y(10**power)
        parts.append(
            f'<line x1="{LEFT}" y1="{at:.1f}" x2="{WIDTH - RIGHT}" y2="{at:.1f}" stroke="#ddd"/>'
        )
        parts.append(
            f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:g}</text>'
        )
    parts.append(
        f'<text x="{(LEFT + WIDTH) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle">'
        "points (two moons)</text>"
    )
    parts.append(
        f'<text x="16" y="{middle}" transform="rotate(-90 16 {middle})" text-anchor="middle">'
        "seconds, 2 cores</text>"
    )
    for number, (_, color, label) in enumerate(LINES):
        path = " ".join(f"{x(n):.1f},{y(seconds):.1f}" for n, seconds in series[label])
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts.extend(
            f'<circle cx="{x(n):.1f}" cy="{y(seconds):.1f}" r="3.5" fill="{color}"/>'
            for n, seconds in series[label]
        )
        parts.append(f'<text x="{LEFT + 15}" y="{40 + 18 * number}" fill="{color}">{label}</text>')
    picture.write_text("\n".join([*parts, "</svg>"]) + "\n")


if __name__ == "__main__":
    main()
