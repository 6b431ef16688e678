"""Converts graphs of other libraries to uploads: the labels of the vertices, and the bytes to
send."""

from __future__ import annotations

import json
import os
import pathlib
from dataclasses import dataclass
from typing import Any

import numpy

from .errors import GraphError
from ._labels import Labels, is_integer

Array = numpy.ndarray[Any, Any]
INT32 = numpy.iinfo("i4")


@dataclass
class Upload:
    """A graph to upload. `labels` is None if only the file has the names of the vertices."""

    body: bytes | pathlib.Path
    labels: Labels | None
    parameters: dict[str, Any]


@dataclass
class Edges:
    """Edges as row numbers and weights, before they are encoded."""

    labels: Labels
    sources: Array
    targets: Array
    weights: Any
    directed: bool = True


def upload_of(graph: Any, parameters: dict[str, Any]) -> Upload:
    """Returns the upload of any graph that Client.solve() accepts. Parameters that concern only
    the conversion are used here; the others are passed to the service."""
    if isinstance(graph, (str, os.PathLike)):
        path = pathlib.Path(graph)
        if not path.is_file():
            raise GraphError(f"There is no file {str(path)!r}.")
        # The service detects every format but nthu by its first bytes.
        guess = {"format": "nthu"} if ".nthu" in path.suffixes else {}
        return Upload(path, None, {**guess, **parameters})
    rest = dict(parameters)
    directed = rest.pop("directed", None)
    are_edges = "edges" in rest
    if are_edges and graph is not None:
        raise GraphError("Pass either a graph or edges=, not both.")
    graph = rest.pop("edges", graph)
    # Checks names instead of importing the libraries: that of the graph is already imported.
    libraries = {kind.__module__.partition(".")[0] for kind in type(graph).__mro__}
    if "networkx" in libraries:
        edges = edges_of_networkx(graph, rest.pop("weight", "weight"))
    elif "scipy" in libraries:
        edges = edges_of_scipy(graph)
    elif "pandas" in libraries and is_matrix_frame(graph):
        edges = edges_of_dense(graph.to_numpy(), Labels(list(graph.index)))
    elif "pandas" in libraries:
        columns = columns_of_frame(graph, rest.pop("weight", None))
        edges = edges_of_columns(*columns, rest.pop("n", None))
    elif not are_edges and is_square(graph):
        edges = edges_of_dense(numpy.asarray(graph), Labels(range(len(graph))))
    else:
        edges = edges_of_columns(*columns_of_edges(graph), rest.pop("n", None))
    for name in ("n", "weight"):
        if name in rest:
            raise GraphError(f"{name}= does not apply to a graph of type {type(graph).__name__}.")
    edges.directed = edges.directed if directed is None else bool(directed)
    return write(edges, rest)


def edges_of_networkx(graph: Any, weight: str | None) -> Edges:
    labels = Labels(list(graph))
    ends = list(graph.edges(data=weight, default=1) if weight else graph.edges(data="", default=1))
    sources, targets = (labels.rows([edge[side] for edge in ends]) for side in (0, 1))
    return Edges(labels, sources, targets, [edge[2] for edge in ends], graph.is_directed())


def edges_of_scipy(matrix: Any) -> Edges:
    """Converts a sparse matrix. As in scipy.sparse.csgraph, each stored entry is an edge, even an
    entry of 0, and tocsr() adds up repeated entries of a coo_matrix."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"The matrix of a graph must be square, but its shape is {matrix.shape}.")
    matrix = matrix.tocsr()
    labels = Labels(range(matrix.shape[0]))
    sources = numpy.repeat(numpy.arange(len(labels.labels)), numpy.diff(matrix.indptr))
    return Edges(labels, sources, matrix.indices[: len(sources)], matrix.data[: len(sources)])


def is_square(graph: Any) -> bool:
    if not isinstance(graph, numpy.ndarray) or graph.ndim != 2 or graph.dtype.kind not in "biuf":
        return False
    return bool(graph.shape[0] == graph.shape[1])


def is_matrix_frame(frame: Any) -> bool:
    """Returns whether the rows and columns of the frame have the same labels in the same order."""
    return bool(frame.shape[0] == frame.shape[1] and list(frame.index) == list(frame.columns))


def edges_of_dense(matrix: Array, labels: Labels) -> Edges:
    """Converts a dense matrix as scipy.sparse.csgraph does: 0, inf and nan are missing edges."""
    is_edge = (matrix != 0) & (matrix != numpy.inf) & (matrix == matrix)
    sources, targets = numpy.nonzero(is_edge)
    return Edges(labels, sources, targets, matrix[is_edge])


def columns_of_frame(frame: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Returns the columns `source`, `target` and `weight`; if a frame has 2 or 3 columns with
    other names, they are used in this order."""
    names = list(frame.columns)
    has_names = {"source", "target"} <= set(names)
    if not has_names and len(names) not in (2, 3):
        raise GraphError(f"The frame needs the columns source and target, but its columns are {names}.")
    ends = ["source", "target"] if has_names else names[:2]
    others = [name for name in names if name not in ends]
    if weight is None and others:
        if "weight" not in others and len(others) > 1:
            raise GraphError(f"Specify the weight column with weight=, one of {others}.")
        weight = "weight" if "weight" in others else others[0]
    if weight is not None and weight not in names:
        raise GraphError(f"The frame has no column {weight!r}; its columns are {names}.")
    weights = numpy.ones(len(frame), int) if weight is None else frame[weight].to_numpy()
    return frame[ends[0]].to_numpy(), frame[ends[1]].to_numpy(), weights


def columns_of_edges(graph: Any) -> tuple[Any, Any, Any]:
    if isinstance(graph, numpy.ndarray):
        if graph.ndim != 2 or graph.shape[1] not in (2, 3):
            hint = "Pass an edge_index of PyTorch Geometric as edges=edge_index.T; a matrix must be square."
            raise GraphError(f"An array of edges must have 2 or 3 columns, but its shape is {graph.shape}. {hint}")
        weights = graph[:, 2] if graph.shape[1] == 3 else numpy.ones(len(graph), int)
        return graph[:, 0], graph[:, 1], weights
    try:
        edges = [tuple(edge) for edge in graph]
    except TypeError:
        raise TypeError(f"{type(graph).__name__} is not a supported type of graph: pass a NetworkX graph, a SciPy matrix, edges, a frame or a path.") from None
    if any(len(edge) not in (2, 3) for edge in edges):
        raise GraphError("An edge must be (source, target) or (source, target, weight).")
    return [e[0] for e in edges], [e[1] for e in edges], [(*e, 1)[2] for e in edges]


def integers_of(ends: Any) -> Array | None:
    """Returns the endpoints as an array of integers, or None if any label is not an integer."""
    if isinstance(ends, numpy.ndarray) and ends.dtype.kind == "O":
        ends = ends.tolist()
    if isinstance(ends, list) and not all(map(is_integer, ends)):
        return None
    array: Array = numpy.asarray(ends)
    is_whole = array.dtype.kind == "f" and (array == numpy.floor(array)).all()
    return array.astype(numpy.int64) if is_whole or array.dtype.kind in "iu" else None


def edges_of_columns(sources: Any, targets: Any, weights: Any, count: int | None) -> Edges:
    """Converts columns of edges. The vertices are in ascending order if all labels are integers,
    otherwise in order of first occurrence; with a count, they are 0 to count - 1."""
    first, second = integers_of(sources), integers_of(targets)
    if first is not None and second is not None:
        if count is not None:
            labels = Labels(range(count))
            return Edges(labels, labels.rows(first), labels.rows(second), weights)
        found = numpy.unique(numpy.concatenate((first, second)))
        ends = numpy.searchsorted(found, first), numpy.searchsorted(found, second)
        return Edges(Labels(found.tolist()), *ends, weights)
    if count is not None:
        raise GraphError("With n=, the vertices must be integers from 0 to n-1.")
    tails, heads = (
        ends.tolist() if isinstance(ends, numpy.ndarray) else ends for ends in (sources, targets)
    )
    names = [end for pair in zip(tails, heads) for end in pair]
    if any(end is None or end != end for end in names):
        raise GraphError("The source or target of an edge is missing.")
    labels = Labels(list(dict.fromkeys(names)))
    return Edges(labels, labels.rows(tails), labels.rows(heads), weights)


def numbers_of(weights: Any) -> Array:
    """Returns the weights as integers, or as doubles if any weight is not an integer."""
    array: Array = numpy.asarray(weights)
    if array.dtype.kind in "biu":
        return array + 0
    try:
        double = numpy.full(1, numpy.nan) if array.dtype.kind == "c" else array.astype(numpy.float64)
    except (TypeError, ValueError, OverflowError):
        double = numpy.full(1, numpy.nan)
    if numpy.isnan(double).any() or numpy.isneginf(double).any():
        raise GraphError("Each weight must be a number, and neither NaN nor minus infinity.")
    finite = double[numpy.isfinite(double)]
    if len(finite) == len(double) and (numpy.abs(finite) < 2**53).all():
        if (finite == numpy.floor(finite)).all():
            array = finite.astype(numpy.int64)
            return array
    return double


def write(edges: Edges, parameters: dict[str, Any]) -> Upload:
    weights = numbers_of(edges.weights)
    is_edge = numpy.isfinite(weights)  # an infinite weight is a missing edge
    sources, targets, weights = edges.sources[is_edge], edges.targets[is_edge], weights[is_edge]
    labels, count = edges.labels, len(edges.labels.labels)
    is_small = weights.dtype.kind in "iu" and (
        not len(weights) or (INT32.min <= weights.min() and weights.max() <= INT32.max)
    )
    are_numbered = labels.is_range or not labels.named
    if are_numbered and is_small:
        records = numpy.stack((sources, targets, weights), axis=1).astype("<i4").tobytes()
        header = numpy.array((count, len(weights)), "<i4").tobytes()
        parameters = {**parameters, "format": "nthu", "directed": edges.directed}
        return Upload(header + records, labels, parameters)
    rows = zip(sources.tolist(), targets.tolist(), weights.tolist())
    document: dict[str, Any] = {"directed": edges.directed}
    if are_numbered:
        document.update(n=count, edges=list(rows))
    else:
        names = [labels.name(label) for label in labels.labels]
        document["nodes"] = [{"id": name} for name in names]
        document["links"] = [
            {"source": names[source], "target": names[target], "weight": weight}
            for source, target, weight in rows
        ]
    body = json.dumps(document, separators=(",", ":")).encode()
    return Upload(body, labels, {**parameters, "format": "json"})
