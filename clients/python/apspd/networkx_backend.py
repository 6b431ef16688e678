"""The backend `apspd` for NetworkX 3.2 and newer: nx.floyd_warshall(graph, backend="apspd").

The functions accept graphs of any version of NetworkX and return what NetworkX returns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import networkx

from .client import default_client
from .errors import NegativeCycle

__networkx_backend__ = "apspd"


class Graph:
    """Wraps a NetworkX graph, as NetworkX's dispatcher requires of a backend."""

    __networkx_backend__ = "apspd"

    def __init__(self, graph: Any) -> None:
        self.graph = graph

    def is_directed(self) -> bool:
        return bool(self.graph.is_directed())

    def is_multigraph(self) -> bool:
        return bool(self.graph.is_multigraph())


def convert_from_nx(graph: Any, *_: Any, **__: Any) -> Graph:
    return graph if isinstance(graph, Graph) else Graph(graph)


def convert_to_nx(result: Any, **_: Any) -> Any:
    return result.graph if isinstance(result, Graph) else result


def can_run(name: str, arguments: Any, keywords: Any) -> bool:
    """Returns whether this backend can run the call. NetworkX itself runs calls in which a function
    computes the weights."""
    given = (*arguments, *keywords.values())
    return not any(callable(one) and not hasattr(one, "adj") for one in given if one is not None
                   and not isinstance(one, Graph))  # fmt: skip


def table_of(graph: Any, weight: str | None) -> tuple[Any, list[Any], Any]:
    """Returns the NetworkX graph, its vertices, and the distances between them: ints if all weights
    are ints, and math.inf where there is no path."""
    graph = convert_to_nx(graph)
    if len(graph) == 0:
        return graph, [], []
    try:
        with default_client()._solved_once(graph, weight=weight) as result:
            table, is_integer = result.table(), result.kind in ("i4", "u2")
    except NegativeCycle as error:
        raise networkx.NetworkXUnbounded("Negative cycle detected.") from error
    rows = table.tolist()
    if is_integer:
        rows = [[int(one) if one < math.inf else one for one in row] for row in rows]
    return graph, list(graph), rows


def reached(nodes: list[Any], row: list[float], cutoff: float | None = None) -> dict[Any, float]:
    """Returns the finite distances of a row up to the cutoff, nearest first."""
    most = math.inf if cutoff is None else cutoff
    pairs = [(node, one) for node, one in zip(nodes, row) if one < math.inf and one <= most]
    return dict(sorted(pairs, key=lambda pair: pair[1]))


def floyd_warshall(G: Any, weight: str | None = "weight") -> dict[Any, dict[Any, float]]:
    _, nodes, table = table_of(G, weight)
    return {node: dict(zip(nodes, row)) for node, row in zip(nodes, table)}


def floyd_warshall_numpy(G: Any, nodelist: Any = None, weight: str | None = "weight") -> Any:
    import numpy

    graph, nodes, table = table_of(G, weight)
    if nodelist is not None and not (len(nodelist) == len(graph) == len(set(nodelist))):
        raise networkx.NetworkXError("nodelist must contain every node in G with no repeats.")
    matrix = numpy.array(table, float).reshape(len(nodes), len(nodes))
    if nodelist is None:
        return matrix
    place = {node: i for i, node in enumerate(nodes)}
    order = [place[node] for node in nodelist]
    return matrix[numpy.ix_(order, order)]


def all_pairs_dijkstra_path_length(
    G: Any, cutoff: float | None = None, weight: Any = "weight"
) -> Iterator[tuple[Any, dict[Any, float]]]:
    _, nodes, table = table_of(G, weight)
    for node, row in zip(nodes, table):
        yield node, reached(nodes, row, cutoff)


def all_pairs_bellman_ford_path_length(
    G: Any, weight: Any = "weight"
) -> Iterator[tuple[Any, dict[Any, float]]]:
    yield from all_pairs_dijkstra_path_length(G, None, weight)


def johnson(G: Any, weight: Any = "weight") -> dict[Any, dict[Any, list[Any]]]:
    """Returns a shortest path for each pair; NetworkX may choose another path of the same
    length."""
    graph = convert_to_nx(G)
    paths: dict[Any, dict[Any, list[Any]]] = {}
    if len(graph) == 0:
        return paths
    try:
        with default_client()._solved_once(graph, weight=weight) as result:
            for source in graph:
                row = zip(result.vertices, result.row(source))
                ends = [node for node, one in row if one < math.inf]
                paths[source] = {end: list(result.path(source, end)) for end in ends}
            return paths
    except NegativeCycle as error:
        raise networkx.NetworkXUnbounded("Negative cycle detected.") from error


def average_shortest_path_length(
    G: Any, weight: str | None = None, method: str | None = None
) -> float:
    graph, nodes, table = table_of(G, weight)
    if len(nodes) == 0:
        raise networkx.NetworkXPointlessConcept("the null graph has no paths, thus there is no average shortest path length")
    if len(nodes) == 1:
        return 0
    if any(one == math.inf for row in table for one in row):
        words = "strongly connected" if graph.is_directed() else "connected"
        raise networkx.NetworkXError(f"Graph is not {words}.")
    return sum(map(sum, table)) / (len(nodes) * (len(nodes) - 1))


def eccentricity(G: Any, v: Any = None, sp: Any = None, weight: str | None = None) -> Any:
    graph, nodes, table = table_of(G, weight)
    far = {node: max(row) for node, row in zip(nodes, table)}
    if any(one == math.inf for one in far.values()):
        raise networkx.NetworkXError(
            "Found infinite path length because the digraph is not strongly connected"
            if graph.is_directed()
            else "Found infinite path length because the graph is not connected"
        )
    if v is None:
        return far
    try:
        return far[v]
    except (KeyError, TypeError):
        return {node: far[node] for node in v}


def diameter(G: Any, e: Any = None, usebounds: bool = False, weight: str | None = None) -> float:
    return max((e or eccentricity(G, weight=weight)).values())  # type: ignore[no-any-return]


def closeness_centrality(
    G: Any, u: Any = None, distance: str | None = None, wf_improved: bool = True
) -> Any:
    """Returns the closeness of each vertex, computed as in NetworkX from the distances to it."""
    _, nodes, table = table_of(G, distance)
    found = {}
    for column, node in enumerate(nodes):
        lengths = [row[column] for row in table if row[column] < math.inf]
        total = sum(lengths)
        found[node] = (len(lengths) - 1) / total if total > 0 and len(nodes) > 1 else 0.0
        if wf_improved and found[node]:
            found[node] *= (len(lengths) - 1) / (len(nodes) - 1)
    return found if u is None else found[u]
