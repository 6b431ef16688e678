"""Displays a result in a notebook: one line about the job, and the heat map of the matrix."""

from __future__ import annotations

from html import escape
from typing import Any

SIDE_PX = 240


def summary_html(job: dict[str, Any], name: str) -> str:
    summary = job.get("summary") or {}
    seconds = (job.get("timings") or {}).get("total_s")
    facts = [f"{summary[key]:,} {words}" for key, words in (("n", "vertices"), ("m", "edges")) if key in summary]
    facts += [f"kind {summary['kind']}"] if summary.get("kind") else []
    facts += [f"{seconds:.3f} s"] if seconds else []
    return f"<b>{escape(name)}</b> {escape(str(job['state']))}: {escape(', '.join(facts))}"


def heatmap_html(heatmap: dict[str, Any]) -> str:
    """Returns the heat map as HTML: dark cells are near, light ones far, grey ones unreachable."""
    rows = [row["mean"] for row in heatmap["cells"]]
    most = max((mean for row in rows for mean in row if mean is not None), default=0) or 1
    side = SIDE_PX / max(len(rows), 1)
    cells = "".join(
        f'<rect x="{column * side:.2f}" y="{at * side:.2f}" width="{side:.2f}" height="{side:.2f}" '
        f'fill="{color(mean, most)}"/>'
        for at, row in enumerate(rows)
        for column, mean in enumerate(row)
    )
    words = f"Mean distances, sources down and targets across: dark is 0 or less, light is {most:g}, grey is no path"
    return (
        f'<br><svg width="{SIDE_PX}" height="{SIDE_PX}" role="img" aria-label="{words}">'
        f"<title>{words}</title>{cells}</svg><br><small>{words}</small>"
    )


def color(mean: float | None, most: float) -> str:
    return "#bbb" if mean is None else f"hsl(230,70%,{20 + 70 * max(mean, 0) / most:.0f}%)"
