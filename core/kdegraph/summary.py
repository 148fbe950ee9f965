"""Short descriptions of results, as notebooks show them: a table and a small picture in HTML."""

from collections.abc import Iterable
from html import escape

import numpy as np
from numpy.typing import NDArray


def bandwidth_in_words(sigma: float | NDArray[np.float64]) -> str:
    """Describe one sigma, or the range of local bandwidths."""
    if isinstance(sigma, np.ndarray):
        return f"local bandwidths {sigma.min():.4g} to {sigma.max():.4g}"
    return f"sigma {sigma:.4g}"


def in_short(value: float) -> str:
    """Return a number with three digits, or without decimals if it is large."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.3g}"


def in_html(title: str, rows: Iterable[tuple[str, object]], picture: str = "") -> str:
    """Return a table of names and values in HTML, below a title and beside a picture."""
    lines = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(str(value))}</td></tr>"
        for name, value in rows
    )
    table = f"<table><caption style='text-align:left'>{escape(title)}</caption>{lines}</table>"
    return f"<div style='display:flex;gap:1.5em;align-items:center'>{table}{picture}</div>"


def eigenvalue_picture(values: NDArray[np.float64], width: int = 240, height: int = 120) -> str:
    """Return a plot of eigenvalues, ascending from 0, as SVG in the color of the text."""
    margin, most = 8, max(float(values.max(initial=0.0)), 1e-300)
    across = np.linspace(margin, width - margin, max(len(values), 2))[: len(values)]
    down = height - margin - (height - 2 * margin) * values / most
    dots = "".join(
        f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3'/>" for x, y in zip(across, down, strict=True)
    )
    words = f"{len(values)} eigenvalues from {values.min(initial=0):.3g} to {most:.3g}"
    return (
        f"<svg role='img' aria-label='{words}' width='{width}' height='{height}' "
        f"fill='currentColor'><title>{words}</title>{dots}</svg>"
    )
