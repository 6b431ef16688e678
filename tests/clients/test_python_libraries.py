"""Compares apspd.csgraph and the NetworkX backend with the functions that they replace; and tests
Client.local()."""

import itertools
import os
import pathlib
import random
import select
import signal
import subprocess
import sys
import tempfile
import tomllib

import python_client  # first, because it may skip the test

import apspd
import apspd.csgraph
import harness
import networkx
import numpy
import scipy.sparse
from apspd import networkx_backend
from scipy.sparse.csgraph import NegativeCycleError, shortest_path


def use(daemon):
    os.environ["APSPD_URL"] = daemon.url
    apspd.default_client.cache_clear()


def random_matrix(seed, count, weights):
    chance = random.Random(seed)
    matrix = numpy.zeros((count, count))
    for _ in range(3 * count):
        matrix[chance.randrange(count), chance.randrange(count)] = chance.choice(weights)
    return matrix


def check_tree(matrix, rows, distances, before, directed):
    """Checks that each predecessor is one edge away on a shortest path, and that there is one
    exactly where SciPy has one."""
    edges = matrix if directed else numpy.where(matrix == 0, matrix.T, numpy.where(
        matrix.T == 0, matrix, numpy.minimum(matrix, matrix.T)))
    for row, distance, found in zip(rows, distances, before):
        for vertex, previous in enumerate(found):
            assert (previous < 0) == (vertex == row or numpy.isinf(distance[vertex])), (row, vertex)
            if previous >= 0:
                assert numpy.isclose(distance[previous] + edges[previous, vertex], distance[vertex])


def test_shortest_path_gives_the_same_answers_as_scipy(daemon):
    use(daemon)
    for seed, weights in enumerate(((1, 5, 9), (0.1, 2.75, 3), (1,))):
        matrix = random_matrix(seed, 13, weights)
        for graph in (matrix, scipy.sparse.csr_matrix(matrix), scipy.sparse.coo_matrix(matrix)):
            for directed, unweighted, indices in itertools.product(
                    (True, False), (True, False), (None, 4, [3, 0, -1], [])):
                options = {"directed": directed, "unweighted": unweighted, "indices": indices}
                wanted = shortest_path(graph, "D", **options)
                found = apspd.csgraph.shortest_path(graph, **options)
                assert found.dtype == wanted.dtype and found.shape == wanted.shape, options
                assert numpy.allclose(found, wanted, rtol=1e-12), options
        for directed in (True, False):
            distances, before = apspd.csgraph.shortest_path(matrix, "FW", directed, True)
            wanted = shortest_path(matrix, "FW", directed, True)
            assert before.dtype == wanted[1].dtype and numpy.array_equal(before < 0, wanted[1] < 0)
            check_tree(matrix, range(13), distances, before, directed)


def test_shortest_path_accepts_zero_weight_edges_and_refuses_negative_cycles(daemon):
    use(daemon)
    zero = scipy.sparse.csr_matrix(([0.0, 3.0], ([0, 1], [1, 2])), shape=(3, 3))
    assert apspd.csgraph.shortest_path(zero)[0].tolist() == [0, 0, 3]
    one_way, before = apspd.csgraph.shortest_path(zero, indices=2, directed=False, return_predecessors=True)
    assert one_way.tolist() == [3, 3, 0] and before.tolist() == [1, 2, -9999]
    for wrong, kind in (([[0, -1], [-1, 0]], NegativeCycleError), ([[0, 1, 2]], ValueError)):
        try:
            apspd.csgraph.shortest_path(numpy.array(wrong, float))
        except kind:
            continue
        raise AssertionError(wrong)
    assert daemon.get("/v1/graphs").json["graphs"] == [], "what was asked about once is not kept"


def graphs():
    for kind in (networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph):
        for weights in ((1, 2, 5), (0.5, 1.25, 3)):
            chance = random.Random(f"{kind.__name__} {weights}")
            graph = kind()
            graph.add_nodes_from("abcdefghij")
            for _ in range(20):
                graph.add_edge(*chance.choices("abcdefgh", k=2), weight=chance.choice(weights))
            yield graph


def same(found, wanted):
    if isinstance(wanted, dict):
        return set(found) == set(wanted) and all(same(found[key], wanted[key]) for key in wanted)
    return numpy.isclose(found, wanted, rtol=1e-12)


def test_the_backend_gives_the_same_answers_as_networkx(daemon):
    use(daemon)
    for graph in graphs():
        given = networkx_backend.convert_from_nx(graph)
        table = {u: dict(row) for u, row in networkx.floyd_warshall(graph).items()}
        found = networkx_backend.floyd_warshall(given)
        assert all(numpy.isclose(found[u][v], table[u][v]) for u in table for v in table[u])
        for order in (None, list("jihgfedcba")):
            wanted = networkx.floyd_warshall_numpy(graph, order)
            assert numpy.allclose(networkx_backend.floyd_warshall_numpy(given, order), wanted)
        for cutoff in (None, 4):
            wanted = dict(networkx.all_pairs_dijkstra_path_length(graph, cutoff))
            assert same(dict(networkx_backend.all_pairs_dijkstra_path_length(given, cutoff)), wanted)
        assert same(dict(networkx_backend.all_pairs_bellman_ford_path_length(given)),
                    dict(networkx.all_pairs_bellman_ford_path_length(graph)))
        for improved, distance in itertools.product((True, False), (None, "weight")):
            wanted = networkx.closeness_centrality(graph, None, distance, improved)
            found = networkx_backend.closeness_centrality(given, None, distance, improved)
            assert all(numpy.isclose(found[node], wanted[node]) for node in wanted), (improved, distance)
        paths = networkx_backend.johnson(given)
        wanted = dict(networkx.all_pairs_dijkstra_path_length(graph))
        assert {u: set(row) for u, row in paths.items()} == {u: set(row) for u, row in wanted.items()}
        for u, v in ((u, v) for u in paths for v in paths[u]):
            assert paths[u][v][0] == u and paths[u][v][-1] == v
            assert numpy.isclose(networkx.path_weight(graph, paths[u][v], "weight"), wanted[u][v])


def test_the_backend_gives_the_same_summaries_as_networkx(daemon):
    use(daemon)
    for graph in graphs():
        parts = networkx.strongly_connected_components if graph.is_directed() else networkx.connected_components
        whole = graph.subgraph(max(parts(graph), key=len)).copy()
        assert numpy.isclose(networkx_backend.average_shortest_path_length(whole, "weight"),
                             networkx.average_shortest_path_length(whole, "weight"))
        assert networkx_backend.eccentricity(whole) == networkx.eccentricity(whole)
        assert networkx_backend.diameter(whole) == networkx.diameter(whole)
        for call in (networkx_backend.eccentricity, networkx_backend.average_shortest_path_length):
            try:
                call(graph)
            except networkx.NetworkXError:
                continue
            raise AssertionError(call)
    cycle = networkx.DiGraph([(1, 2, {"weight": -2}), (2, 1, {"weight": 1})])
    try:
        networkx_backend.floyd_warshall(cycle)
    except networkx.NetworkXUnbounded:
        return
    raise AssertionError("a negative cycle")


# Runs in a process with the package installed, where NetworkX calls each function of the backend.
DISPATCH = """
import networkx as nx, numpy
same = lambda found, wanted: found == wanted if isinstance(wanted, dict) else numpy.allclose(found, wanted)
rows = lambda found: {node: dict(row) for node, row in dict(found).items()}
ring = nx.DiGraph()
ring.add_weighted_edges_from([("a", "b", 2), ("b", "c", 3), ("c", "a", 4), ("a", "c", 9)])
backend = nx.utils.backends.backends["apspd"].load()
called = set()
can_run = backend.can_run
backend.can_run = lambda name, *more: called.add(name) or can_run(name, *more)
for graph in (ring, ring.to_undirected(), nx.MultiDiGraph(ring)):
    for call in (nx.floyd_warshall, nx.all_pairs_dijkstra_path_length, nx.all_pairs_bellman_ford_path_length):
        assert same(rows(call(graph, backend="apspd")), rows(call(graph))), call
    for call in (nx.floyd_warshall_numpy, nx.johnson):
        assert same(call(graph, weight="weight", backend="apspd"), call(graph, weight="weight")), call
    for call in (nx.average_shortest_path_length, nx.eccentricity, nx.diameter):
        assert same(call(graph, weight="weight", backend="apspd"), call(graph, weight="weight")), call
    wanted = nx.closeness_centrality(graph, distance="weight")
    assert nx.closeness_centrality(graph, distance="weight", backend="apspd") == wanted
    assert nx.diameter(backend.convert_from_nx(graph)) == nx.diameter(graph)
assert len(called) == 9 and all(hasattr(backend, name) for name in called), called
try:
    dict(nx.all_pairs_dijkstra_path_length(ring, weight=lambda *_: 1, backend="apspd"))
except (NotImplementedError, RuntimeError):
    print("dispatched")
"""


def test_networkx_finds_the_backend(daemon):
    """Only NetworkX 3.2 and later dispatch to backends."""
    if not hasattr(networkx.utils, "backends"):
        return
    with open(f"{python_client.PACKAGE}/pyproject.toml", "rb") as file:
        (group,) = tomllib.load(file)["project"]["entry-points"].items()
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        installed = pathlib.Path(folder, "apspd-0.1.0.dist-info")
        installed.mkdir()
        (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: apspd\nVersion: 0.1.0\n")
        lines = [f"{name} = {value}" for name, value in group[1].items()]
        (installed / "entry_points.txt").write_text("\n".join([f"[{group[0]}]", *lines, ""]))
        path = os.pathsep.join([folder, python_client.PACKAGE, *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", DISPATCH], capture_output=True, text=True,
                              env={**os.environ, "APSPD_URL": daemon.url, "PYTHONPATH": path})
    assert (done.returncode, done.stdout) == (0, "dispatched\n"), done


def test_a_local_daemon_exits_when_its_client_is_closed(_):
    os.environ["APSPD"] = harness.BINARY
    with apspd.Client.local("--solver", "cpu") as client:
        assert client.solve([(1, 2, 5)]).distance(1, 2) == 5
        assert client._daemon.url.startswith("http://127.0.0.1:")
        assert repr(client) == f"<Client {client._daemon.url}>", client
    assert repr(apspd.AsyncClient("http://me:secret@host/apsp")) == "<AsyncClient http://host/apsp/>"
    python_client.expect(apspd.ConnectionFailed, None, apspd.Client(client._daemon.url).solve, [(1, 2, 5)])
    error = python_client.expect(apspd.ConnectionFailed, None, apspd.Client.local, "--no.such", "1")
    assert "no.such" in str(error), error


def test_a_local_daemon_exits_when_its_parent_process_is_killed(_):
    code = ("import apspd, sys; client = apspd.Client.local(); daemon = client._daemon; "
            "print(daemon.url, daemon._shell.pid, flush=True); sys.stdin.read()")
    environment = {**os.environ, "APSPD": harness.BINARY, "PYTHONPATH": python_client.PACKAGE}
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env=environment, text=True) as process:
        url, shell = process.stdout.readline().split()
        ended = select.poll()
        ended.register(os.pidfd_open(int(shell)), select.POLLIN)  # the client outlives the daemon
        assert apspd.Client(url).solve([(1, 2, 5)]).distance(1, 2) == 5
        process.send_signal(signal.SIGKILL)
    assert ended.poll(600_000)
    python_client.expect(apspd.ConnectionFailed, None, apspd.Client(url).solve, [(1, 2, 5)])


if __name__ == "__main__":
    harness.run(globals())
