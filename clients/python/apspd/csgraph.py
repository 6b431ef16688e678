"""scipy.sparse.csgraph.shortest_path, computed by apspd."""

from __future__ import annotations

from typing import Any

import numpy
import scipy.sparse
from scipy.sparse.csgraph import NegativeCycleError, breadth_first_order, csgraph_from_dense

from .client import Client, default_client
from .errors import NegativeCycle

NO_PREDECESSOR = -9999
# Relative tolerance: sums of floats depend on the order of the additions.
TIGHT = 1e-9


def shortest_path(csgraph: Any, method: str = "auto", directed: bool = True,
                  return_predecessors: bool = False, unweighted: bool = False,
                  overwrite: bool = False, indices: Any = None, *,
                  client: Client | None = None) -> Any:  # fmt: skip
    """Returns the distances between all vertices, or from the vertices in `indices`, as SciPy does:
    float64, and inf where there is no path; with return_predecessors, also the predecessors.

    csgraph: a sparse matrix, in which each stored entry is an edge, or a square array, in which
        zeros, infinities and NaN are missing edges.
    method: as in SciPy; every method gives the same distances here.
    client: a Client; by default, the result of default_client().

    >>> shortest_path([[0, 2, 0], [0, 0, 3], [0, 0, 0]]).tolist()
    [[0.0, 2.0, 5.0], [inf, 0.0, 3.0], [inf, inf, 0.0]]
    """
    if method not in ("auto", "FW", "D", "BF", "J"):
        raise ValueError(f"unrecognized method {method!r}")
    matrix = matrix_of(csgraph)
    if unweighted:
        matrix.data[:] = 1
    edges = matrix if directed else both_ways(matrix)
    count = matrix.shape[0]
    rows = numpy.arange(count) if indices is None else numpy.asarray(indices, int)
    rows = numpy.where(rows < 0, rows + count, rows)
    if rows.size and (rows.min() < 0 or rows.max() >= count):
        raise ValueError(f"indices out of range 0...{count}")
    table = table_of(client or default_client(), edges, rows if indices is not None else None)
    distances = table.reshape(*rows.shape, count)
    if not return_predecessors:
        return distances
    found = [predecessors_of(edges, row, distance) for row, distance in zip(rows.flat, table)]
    return distances, numpy.array(found, numpy.int32).reshape(distances.shape)


def matrix_of(csgraph: Any) -> Any:
    """Returns a copy of the edges as a csr_matrix of float64."""
    if not scipy.sparse.issparse(csgraph):
        csgraph = csgraph_from_dense(numpy.asarray(csgraph, float))
    if csgraph.ndim != 2 or csgraph.shape[0] != csgraph.shape[1]:
        raise ValueError("compressed sparse graph must be shape (N, N)")
    return scipy.sparse.csr_matrix(csgraph, dtype=float, copy=True)


def both_ways(matrix: Any) -> Any:
    """Adds the reverse of each edge; of two parallel edges, the lighter one is kept. An entry
    of 0 is an edge."""
    entries = matrix.tocoo()
    rows = numpy.concatenate((entries.row, entries.col))
    columns = numpy.concatenate((entries.col, entries.row))
    weights = numpy.concatenate((entries.data, entries.data))
    order = numpy.lexsort((weights, columns, rows))
    rows, columns, weights = rows[order], columns[order], weights[order]
    is_first = numpy.ones(len(rows), bool)
    is_first[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    ends = rows[is_first], columns[is_first]
    return scipy.sparse.csr_matrix((weights[is_first], ends), shape=matrix.shape)


def table_of(client: Client, edges: Any, rows: Any) -> Any:
    """Returns the distances from these rows, or from all rows if None. Afterwards deletes the graph
    from the service unless the service already had it."""
    try:
        with client._solved_once(edges) as result:
            if rows is None:
                return result.table()
            return result.table(rows.flatten(), numpy.arange(edges.shape[0]))
    except NegativeCycle as error:
        raise NegativeCycleError(str(error)) from error


def predecessors_of(edges: Any, source: int, distance: Any) -> Any:
    """Returns the predecessor of each vertex on a shortest path from the source, in a tree of tight
    edges: edges whose weight equals the difference of the distances of their endpoints."""
    entries = edges.tocoo()
    with numpy.errstate(invalid="ignore"):  # inf - inf
        slack = distance[entries.row] + entries.data - distance[entries.col]
    scale = numpy.abs(distance[numpy.isfinite(distance)]).max(initial=1)
    is_tight = numpy.isfinite(slack) & (numpy.abs(slack) <= TIGHT * scale)
    ends = entries.row[is_tight], entries.col[is_tight]
    tree = scipy.sparse.csr_matrix((numpy.ones(is_tight.sum()), ends), shape=edges.shape)
    found = breadth_first_order(tree, source, directed=True, return_predecessors=True)[1]
    found[source] = NO_PREDECESSOR
    return found
