"""Tests the graphs that the Python client accepts. Each result is compared with that of the library
from which the graph comes."""

import fractions
import itertools
import math
import random

import python_client  # first, because it may skip the test
from python_client import client_of, expect

import apspd
import harness
import networkx
import numpy
import pandas
import scipy.sparse
from scipy.sparse.csgraph import shortest_path


def check(client, graph, vertices, wanted, **parameters):
    result = client.solve(graph, **parameters)
    assert list(result.vertices) == list(vertices), result.vertices
    table = result.table()
    assert table.dtype == numpy.float64 and table.shape == (len(wanted), len(wanted))
    assert numpy.allclose(table, wanted, rtol=1e-12, atol=0), (table, wanted)
    return result


def random_graph(kind, labels, weights, edges=40):
    chance = random.Random(f"{kind.__name__} {labels!r}")
    graph = kind()
    graph.add_nodes_from(labels)  # some vertices stay isolated
    for _ in range(edges):
        source, target = chance.choice(labels[2:]), chance.choice(labels[2:])
        graph.add_edge(source, target, weight=chance.choice(weights))
    return graph


LABELS = (
    tuple(range(14)),
    (7, 3, -5, 100, 2**40, 0, 1, 2),
    ("Rome", "", "a,b", 'quo"te', "Zürich", "1", "\t", "nul\0", "x" * 1024, "é"),
    ("1", 1, 2.5, (0, 1), frozenset({3}), True.__class__, "x" * 1025, "\ud800"),
)


def test_networkx_graphs_of_every_class_and_with_any_labels_are_solved(daemon):
    with client_of(daemon) as client:
        kinds = networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph
        for kind, labels, weights in itertools.product(kinds, LABELS, ((0, 1, 5, 9), (0, 0.1, 2.75))):
            graph = random_graph(kind, labels, weights)
            wanted = networkx.floyd_warshall_numpy(graph)
            result = check(client, graph, labels, wanted)
            assert result.job["summary"]["directed"] == graph.is_directed()
            assert result.kind == ("f8" if 0.1 in weights else "i4"), result.kind
            for source, target in itertools.product(labels[:4], labels[-3:]):
                row, column = labels.index(source), labels.index(target)
                distance = result.distance(source, target)
                assert math.isclose(distance, wanted[row, column], rel_tol=1e-12), (source, target)
                path = result.path(source, target)
                assert path.distance == distance
                assert (path[0], path[-1]) == (source, target) if distance < math.inf else path == []
                assert math.isclose(sum(path.weights), distance) or distance == math.inf
                assert all(graph.has_edge(*step) for step in zip(path, path[1:]))


def test_weights_of_networkx_graphs_are_read(daemon):
    graph = networkx.Graph([("a", "b", {"km": 3, "weight": 9}), ("b", "c", {"weight": 1})])
    with client_of(daemon) as client:
        assert client.solve(graph).distance("a", "c") == 10
        assert client.solve(graph, weight="km").distance("a", "c") == 4  # an edge without a weight has weight 1
        assert client.solve(graph, weight=None).distance("a", "c") == 2
        assert client.solve(graph.to_directed(), directed=False).distance("c", "a") == 10
        graph.add_edge("a", "c", weight=math.inf)
        assert client.solve(graph).distance("a", "c") == 10
        for weight in (math.nan, -math.inf, "far", None, 1j):
            graph.add_edge("a", "c", weight=weight)
            expect(apspd.GraphError, None, client.solve, graph)
        graph.add_edge("a", "c", weight=fractions.Fraction(1, 4))
        assert client.solve(graph).distance("a", "c") == 0.25


def test_sparse_matrices_have_the_same_distances_as_in_scipy(daemon):
    # One stored edge has weight 0, vertex 5 is isolated, and (1, 2) is stored twice, which
    # coo_matrix adds up.
    entries = ([0.0, 2, 3, 1.5], ([0, 1, 1, 2], [1, 2, 2, 3]))
    with client_of(daemon) as client:
        for form in ("coo", "csr", "csc", "lil", "dok", "bsr"):
            matrix = scipy.sparse.coo_matrix(entries, shape=(6, 6)).asformat(form)
            check(client, matrix, range(6), shortest_path(matrix))
            check(client, matrix, range(6), shortest_path(matrix, directed=False), directed=False)
        twice = scipy.sparse.csr_matrix(([7, 4, 0], [1, 1, 2], [0, 2, 3, 3]), shape=(3, 3))
        assert twice.nnz == 3
        check(client, twice, range(3), shortest_path(twice))
        check(client, scipy.sparse.csr_array(entries, shape=(6, 6)), range(6),
              shortest_path(scipy.sparse.coo_matrix(entries, shape=(6, 6)).tocsr()))
        unused = scipy.sparse.csr_matrix((numpy.ones(9), numpy.zeros(9, int), [0, 0, 1]), shape=(2, 2))
        assert client.solve(unused).job["summary"]["m"] == 1
        for kind in ("?", "i1", "u4", "i8", "f4"):
            matrix = scipy.sparse.csr_matrix(numpy.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], kind))
            check(client, matrix, range(3), shortest_path(matrix))
        assert client.solve(scipy.sparse.csr_matrix((4, 4))).distance(0, 3) == math.inf
        expect(apspd.GraphError, None, client.solve, scipy.sparse.csr_matrix((2, 3)))
        expect(apspd.GraphError, None, client.solve, scipy.sparse.csr_matrix((3, 3)), weight="x")


def test_arrays_and_lists_of_edges_are_uploaded(daemon):
    inf = math.inf
    chain = [[0, 2, 5], [inf, 0, 3], [inf, inf, 0]]
    with client_of(daemon) as client:
        check(client, numpy.array([[10, 20, 2], [20, 30, 3]]), (10, 20, 30), chain)
        check(client, numpy.array([[30, 20, 2], [20, 10, 3.0]]), (10, 20, 30),
              [[0, inf, inf], [3, 0, inf], [5, 2, 0]])
        check(client, None, (0, 1, 2), [[0, 1, 2], [inf, 0, 1], [inf, inf, 0]],
              edges=numpy.array([[0, 1], [1, 2]], "u2"))
        check(client, [[0, 1, 2], [1, 2, 3]], (0, 1, 2, 3), [*(row + [inf] for row in chain), [inf] * 3 + [0]], n=4)
        check(client, [("b", "a", 2), ("a", "c", 3)], ("b", "a", "c"), chain)
        check(client, numpy.array([["b", "a", "2"], ["a", "c", "3"]]), ("b", "a", "c"), chain)
        check(client, [((0, 1), (0, 2), 2), ((0, 2), "x", 3)], ((0, 1), (0, 2), "x"), chain)
        check(client, [(0, 1, 2), (1, 2, 3), (0, 1, 9), (0, 1, 4)], (0, 1, 2), chain)
        check(client, [("a", "b"), ("b", "c", 0)], ("a", "b", "c"), [[0, 1, 1], [inf, 0, 0], [inf, inf, 0]])
        check(client, [(0, 1, 2**40), (1, 2, 3)], (0, 1, 2), [[0, 2**40, 2**40 + 3], [inf, 0, 3], [inf, inf, 0]])
        tenth, fifth = (float(numpy.float32(weight)) for weight in (0.1, 0.2))
        check(client, numpy.array([[0, 1, 0.1], [1, 2, 0.2]], "f4"), (0, 1, 2),
              numpy.array([[0, tenth, tenth + fifth], [inf, 0, fifth], [inf, inf, 0]]))
        assert client.solve([(0, 1, 0.5)], kind="f4").matrix().dtype == numpy.float32
        assert client.solve([(0, 1, 2.0)], kind="u2").matrix().dtype == numpy.uint16
        for empty in ([], numpy.zeros((0, 3))):
            assert client.solve(empty).matrix().shape == (0, 0)
        assert client.solve([(5, 5, 1)]).table().tolist() == [[0]]
        for bad in (numpy.zeros((2, 7)), numpy.zeros(3), [(1,)], [(1, 2, 3, 4)], [("a", math.nan)], [("a", None)]):
            expect(apspd.GraphError, None, client.solve, bad)
        expect(apspd.NoSuchVertex, None, client.solve, [(0, 4)], n=4)
        expect(apspd.GraphError, None, client.solve, [("a", "b")], n=4)
        try:
            client.solve(7)
            raise AssertionError("7 is no graph")
        except TypeError:
            pass


def test_dense_matrices_have_the_same_distances_as_in_scipy(daemon):
    generator = numpy.random.default_rng(7)
    with client_of(daemon) as client:
        for n in range(1, 6):
            matrix = generator.choice([0, 1, 2.5, 7, numpy.inf, numpy.nan], (n, n))
            numpy.fill_diagonal(matrix, 0)
            wanted = shortest_path(matrix)
            check(client, matrix, range(n), wanted)
            names = list("abcde"[:n])
            check(client, pandas.DataFrame(matrix, names, names), names, wanted)
        expect(apspd.GraphError, None, client.solve, numpy.zeros((2, 2)), edges=[(1, 2)])


def test_integer_labels_above_2_to_the_53_are_exact(daemon):
    first = 1243532000000000001
    with client_of(daemon) as client:
        result = client.solve([(first, first + 1, 5), (first + 1, first + 2, 7)])
        assert result.path(first, first + 2).vertices == [first, first + 1, first + 2]


def test_float_labels_with_integer_values_are_found(daemon):
    with client_of(daemon) as client:
        for labels in ((0.0, 1.0, 2.0), (5.0, 1.0, 2.0)):
            result = client.solve(networkx.path_graph(labels, networkx.DiGraph))
            assert result.distance(labels[0], labels[2]) == 2 and result.path(*labels[::2]) == list(labels)
        edges = numpy.array([[0, 1, 0.5], [1, 2, 0.25]])
        result = client.solve(edges)
        assert result.pairs(edges[:, :2]).tolist() == [0.5, 0.25] and result.distance(0.0, 2) == 0.75


def test_data_frames_are_uploaded(daemon):
    frame = pandas.DataFrame({"km": [3, 4], "target": ["b", "c"], "source": ["a", "b"], "hours": [1, 2]})
    with client_of(daemon) as client:
        assert client.solve(frame, weight="km").distance("a", "c") == 7
        assert client.solve(frame.drop(columns="km")).distance("a", "c") == 3
        assert client.solve(frame.rename(columns={"km": "weight"})).distance("a", "c") == 7
        assert client.solve(frame[["source", "target"]]).distance("a", "c") == 2
        assert client.solve(frame[["source", "target", "km"]].set_axis([1, 2, 3], axis=1)).distance("a", "c") == 7
        integers = pandas.DataFrame({"u": [9, 5], "v": [5, 7]}, dtype="Int64")
        assert client.solve(integers).vertices == [5, 7, 9]
        assert client.solve(integers - 5, n=6).distance(4, 2) == 2
        for bad in (frame, frame.rename(columns={"source": "x"}), frame.replace("a", None)[["source", "target", "km"]]):
            expect(apspd.GraphError, None, client.solve, bad)
        expect(apspd.GraphError, None, client.solve, frame, weight="miles")


def test_vertex_names_can_be_used_by_other_clients(daemon):
    with client_of(daemon) as client:
        client.solve(networkx.Graph([("Rome", "Paris", {"weight": 1105})]), name="towns")
        client.solve([(30, 10, 7), (10, 20, 1)], name="numbers")
        client.solve(networkx.Graph([((0, 0), (0, 1))]), name="tuples")
        assert daemon.distance("towns", "Paris", "Rome") == 1105
        assert daemon.distance("numbers", 30, 20) == 8
        assert daemon.distance("tuples", 1, 0) == 1
        assert client.result("towns").distance("Paris", "Rome") == 1105
        assert client.result("numbers").path(30, 20) == [30, 10, 20]


def test_files_are_uploaded_by_path(daemon):
    folder = daemon.scratch
    with open(f"{folder}/small.gr", "wb") as file:
        file.write(harness.SMALL)
    with open(f"{folder}/list.csv", "w", encoding="utf-8") as file:
        file.write("source,target,km,h\nRome,Paris,1105,11\nParis,Berlin,878,9\n")
    with open(f"{folder}/raw.nthu", "wb") as file:
        file.write(numpy.array([3, 2, 0, 1, 5, 1, 2, 0], "<i4").tobytes())
    with client_of(daemon) as client:
        assert client.solve(f"{folder}/small.gr").distance(1, 3) == 12
        result = client.solve(f"{folder}/list.csv", weight="h", directed=False)
        assert result.distance("Berlin", "Rome") == 20 and result.vertices == ["Rome", "Paris", "Berlin"]
        assert client.solve(f"{folder}/raw.nthu").table()[0].tolist() == [0, 5, 5]
        expect(apspd.GraphError, None, client.solve, f"{folder}/none.gr")
        with open(f"{folder}/bad.gr", "wb") as file:
            file.write(b"p sp 4 1\na 1 two 3\n")
        error = expect(apspd.BadGraph, "BadGraph", client.solve, f"{folder}/bad.gr")
        assert error.status == 422 and error.problem["line"] == 2 and error.detail in str(error)


if __name__ == "__main__":
    assert python_client
    harness.run(globals())
