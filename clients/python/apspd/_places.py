"""Coordinates of vertices: converts them to and from the CSV of the service."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from .errors import GraphError
from ._labels import Labels

# Column names of a frame: the pairs with coordinates, and those that may hold the vertex labels.
AXES = (("lon", "lat"), ("x", "y"))
VERTEX = ("vertex", "id", "name", "node", "osmid")


def places_of(places: Any, plane: bool) -> tuple[tuple[str, str], list[tuple[Any, float, float]]]:
    """Returns the names of the axes, and the label and coordinates of each vertex."""
    if isinstance(places, Mapping):
        return AXES[plane], [(label, x, y) for label, (x, y) in places.items()]
    columns = getattr(places, "columns", ())
    axes = next((axes for axes in AXES if set(axes) <= set(columns)), None)
    if axes is None:
        raise GraphError("Coordinates must be a frame with the columns lon and lat, or x and y, or a dict that maps vertices to pairs.")
    name = next((name for name in VERTEX if name in columns), None)
    labels = list(places.index) if name is None else places[name].tolist()
    return axes, list(zip(labels, places[axes[0]].tolist(), places[axes[1]].tolist()))


def write_places(places: Any, plane: bool, labels: Labels) -> bytes:
    axes, rows = places_of(places, plane)
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")  # preserves spaces around names
    writer.writerow(("vertex", *axes))
    writer.writerows((labels.name(label), x, y) for label, x, y in rows)
    return text.getvalue().encode()


def read_places(body: bytes, labels: Labels) -> dict[Any, tuple[float, float]]:
    _, *rows = csv.reader(io.StringIO(body.decode(), newline=""))
    return {labels.label_of_text(name): (float(x), float(y)) for name, x, y in rows}
