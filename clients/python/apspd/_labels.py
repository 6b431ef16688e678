"""Labels: the caller's names for the vertices, in the order of the matrix's rows."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Sequence
from typing import Any

import numpy

from .errors import GraphError, NoSuchVertex

# Maximum length in bytes of a vertex name that the service accepts.
NAME_LIMIT = 1024


def no_such_vertex(label: object) -> NoSuchVertex:
    detail = f"The graph has no vertex {label!r}."
    return NoSuchVertex({"status": 404, "detail": detail, "code": "NoSuchVertex"})


def is_integer(label: Any) -> bool:
    return isinstance(label, (int, numpy.integer)) and not isinstance(label, bool)


def are_names(labels: Sequence[Any]) -> bool:
    """Returns whether the service can use the labels as names: all are integers, or all are
    strings that can appear in a query."""
    if all(map(is_integer, labels)):
        return all(-(2**63) <= int(label) < 2**63 for label in labels)
    try:
        return all(
            isinstance(text, str) and len(text.encode()) <= NAME_LIMIT and "\0" not in text
            for text in labels
        )
    except UnicodeEncodeError:
        return False


class Labels:
    """Maps labels to rows and back. `named` is true if the service knows the vertices by their
    labels; otherwise it knows them by their rows, and only this object has the labels."""

    def __init__(self, labels: Sequence[Hashable]) -> None:
        self.is_range = isinstance(labels, range) or list(labels) == list(range(len(labels)))
        self.labels = range(len(labels)) if self.is_range else labels
        self._rows: dict[Hashable, int] = {}
        if not self.is_range:
            self._rows = {label: row for row, label in enumerate(labels)}
            if len(self._rows) != len(labels):
                raise GraphError("Two vertices have the same label.")
        self.named = self.is_range or are_names(labels)
        self._are_integers = self.named and len(labels) > 0 and is_integer(labels[0])

    def row(self, label: Any) -> int:
        try:
            if self.is_range:  # 2.0 is found as 2, as in a dict
                whole = isinstance(label, float) and label.is_integer()
                row = int(label) if whole else operator.index(label)
            else:
                row = self._rows[label]
        except (TypeError, KeyError):
            raise no_such_vertex(label) from None
        if not 0 <= row < len(self.labels):
            raise no_such_vertex(label)
        return row

    def rows(self, labels: Any) -> numpy.ndarray[Any, Any]:
        """Returns the rows of many labels. No lookup is needed if the labels are the row
        numbers."""
        array = numpy.asarray(labels) if self.is_range else numpy.empty(0)
        if array.dtype.kind in "iu" and array.ndim == 1:
            outside = (array < 0) | (array >= len(self.labels))
            if outside.any():
                raise no_such_vertex(int(array[outside][0]))
            return array.astype("<u4")
        if isinstance(labels, numpy.ndarray):
            labels = labels.tolist()
        return numpy.fromiter(map(self.row, labels), "<u4")

    def name(self, label: Any) -> Any:
        """Returns the name by which the service knows the vertex: an integer or a string."""
        row = self.row(label)
        found: Any = self.labels[row] if self.named else row
        return int(found) if is_integer(found) else found

    def label_of_text(self, text: str) -> Any:
        """Returns the label of a vertex from its name in CSV, where integers are written as
        digits."""
        return self.label(text if self.named and not self._are_integers else int(text))

    def label(self, name: Any) -> Any:
        """Returns the label of the vertex that has this name in the service."""
        if self._are_integers and isinstance(name, str):  # an integer beyond 2^53
            name = int(name)
        return self.labels[self.row(name) if self.named else name]
