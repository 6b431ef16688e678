"""Statistics of solved graphs, compared with NumPy's statistics of the served matrix; the matrix is
compared with SciPy's."""

import io
import json
import math
import random
import sys

import harness

try:
    import numpy
    import scipy.sparse
    import scipy.sparse.csgraph
except ImportError:
    numpy = None

BINS = 64
SIZE = 150 if harness.QUICK else 700


def matrix_of(daemon, graph):
    """Returns the matrix as doubles; unreachable pairs and the diagonal are infinite."""
    matrix = numpy.load(io.BytesIO(daemon.get(f"/v1/graphs/{graph}/matrix").expect(200).body))
    far = {"<i4": 2**30 - 1, "<u2": 65535}.get(matrix.dtype.str)
    doubles = matrix.astype(float)
    if far is not None:
        doubles[matrix == far] = numpy.inf
    numpy.fill_diagonal(doubles, numpy.inf)
    return doubles


def expect_close(found, expected):
    assert math.isclose(found, expected, rel_tol=1e-12), (found, expected)


def check_rows(stats, matrix, integral):
    n = len(matrix)
    for row, distances in enumerate(matrix):
        finite = distances[numpy.isfinite(distances)]
        assert stats["reachable"][row] == len(finite), row
        eccentricity, closeness = stats["eccentricity"][row], stats["closeness"][row]
        if len(finite) == 0:
            assert eccentricity == 0 and closeness == 0, row
            continue
        expected = finite.max()
        if stats["kind"] == "f4":
            eccentricity = numpy.float32(eccentricity)
        assert eccentricity == expected, (row, eccentricity, expected)
        assert not integral or isinstance(eccentricity, int), eccentricity
        total = finite.sum()
        if total <= 0:
            assert closeness == 0, row
        else:
            expect_close(closeness, len(finite) / total * len(finite) / (n - 1))


def check_histogram(histogram, finite, integral):
    begin, width, counts = histogram["min"], histogram["bin_width"], histogram["counts"]
    assert begin == min(0, finite.min()) or math.isclose(begin, finite.min(), rel_tol=1e-6)
    assert len(counts) == BINS and sum(counts) == len(finite)
    places = numpy.minimum(numpy.floor((finite - begin) / width), BINS - 1).astype(int)
    expected = numpy.bincount(numpy.maximum(places, 0), minlength=BINS).tolist()
    if integral:
        assert isinstance(begin, int) and isinstance(width, int), histogram
        assert counts == expected
        # No narrower integer width reaches the diameter.
        assert begin + BINS * width > finite.max() >= begin + BINS * (width - 1), histogram
    else:
        # With decimal bounds, a number on the boundary of two bins may be in either bin.
        assert math.isclose(begin + BINS * width, finite.max(), rel_tol=1e-6)
        running = numpy.cumsum(counts) - numpy.cumsum(expected)
        assert abs(running).max() <= len(finite) * 0.02, running


def check(daemon, graph):
    """Compares the answer with statistics that NumPy computes, and returns it."""
    stats = daemon.get(f"/v1/graphs/{graph}/stats").expect(200).json
    assert list(stats) == ["n", "kind", "reachable_pairs", "diameter", "radius", "mean_distance",
                           "eccentricity", "closeness", "reachable", "histogram"], list(stats)
    matrix = matrix_of(daemon, graph)
    integral = stats["kind"] in ("i4", "u2")
    assert stats["n"] == len(matrix)
    check_rows(stats, matrix, integral)
    finite = matrix[numpy.isfinite(matrix)]
    assert stats["reachable_pairs"] == len(finite)
    if len(finite) == 0:
        assert stats["mean_distance"] is None and stats["histogram"] is None, stats
        assert stats["diameter"] == stats["radius"] == (0 if len(matrix) else None), stats
        return stats
    reached = [e for e, count in zip(stats["eccentricity"], stats["reachable"]) if count > 0]
    assert stats["diameter"] == max(reached) and stats["radius"] == min(reached)
    expect_close(stats["mean_distance"], finite.mean())
    check_histogram(stats["histogram"], finite, integral)
    return stats


def edges_of(n, count, seed, weights):
    chooser = random.Random(seed)
    return [(*chooser.sample(range(n), 2), weights(chooser)) for _ in range(count)]


def solve(daemon, n, edges, query=""):
    body = json.dumps({"n": n, "edges": edges}).encode()
    job = daemon.solve(body, query)
    assert job["state"] == "done", job
    assert job["links"]["stats"] == f"/v1/graphs/{job['graph']}/stats", job["links"]
    return job["graph"]


def test_statistics_of_disconnected_directed_graphs_are_correct(daemon):
    edges = edges_of(SIZE, SIZE, 1, lambda chooser: chooser.randint(0, 1000))
    graph = solve(daemon, SIZE, edges)
    stats = check(daemon, graph)
    assert 0 < stats["reachable_pairs"] < SIZE * (SIZE - 1) and 0 in stats["reachable"]
    sparse = scipy.sparse.lil_matrix((SIZE, SIZE))
    for source, target, weight in edges:
        old = sparse[source, target]
        # SciPy's sparse matrices do not distinguish an edge of weight 0 from a missing edge.
        sparse[source, target] = min(old, weight + 1e-9) if old else weight + 1e-9
    truth = scipy.sparse.csgraph.shortest_path(sparse.tocsr(), method="D")
    numpy.fill_diagonal(truth, numpy.inf)
    assert stats["diameter"] == round(truth[numpy.isfinite(truth)].max())
    assert stats["reachable_pairs"] == numpy.isfinite(truth).sum()


def test_statistics_of_undirected_graphs_are_correct(daemon):
    edges = edges_of(SIZE, 3 * SIZE, 2, lambda chooser: chooser.randint(1, 99))
    stats = check(daemon, solve(daemon, SIZE, edges, "?directed=false"))
    assert stats["radius"] <= stats["diameter"] <= 2 * stats["radius"]


def test_statistics_of_results_of_every_kind_are_correct(daemon):
    edges = edges_of(90, 300, 3, lambda chooser: chooser.randint(1, 500))
    answers = []
    for kind in ("i4", "u2", "f4", "f8"):
        graph = solve(daemon, 90, edges, f"?kind={kind}")
        answers.append(check(daemon, graph))
        assert answers[-1]["kind"] == kind
    for answer in answers[1:]:
        for name in ("diameter", "radius", "mean_distance", "eccentricity", "closeness"):
            assert answer[name] == answers[0][name], name


def test_statistics_of_decimal_distances_are_correct(daemon):
    edges = edges_of(120, 500, 4, lambda chooser: chooser.uniform(0, 3))
    check(daemon, solve(daemon, 120, edges))
    check(daemon, solve(daemon, 120, edges, "?kind=f8"))


def test_statistics_of_graphs_with_negative_weights_are_correct(daemon):
    """All edges lead to a vertex with a larger number, so there is no cycle; every distance of the
    second graph is negative."""
    chooser = random.Random(5)
    edges = [(*sorted(chooser.sample(range(80), 2)), chooser.randint(-40, 60)) for _ in range(300)]
    stats = check(daemon, solve(daemon, 80, edges))
    assert stats["histogram"]["min"] < 0
    stats = check(daemon, solve(daemon, 3, [[0, 1, -5], [1, 2, -7]]))
    assert stats["diameter"] == -5 and stats["radius"] == -7, stats
    assert stats["eccentricity"] == [-5, -7, 0] and stats["closeness"] == [0] * 3
    assert stats["histogram"]["min"] == -12 and stats["histogram"]["counts"][:8] == [1, 0, 0, 0, 0, 1, 0, 1]


def test_statistics_of_tiny_graphs_are_correct(daemon):
    empty = check(daemon, solve(daemon, 0, []))
    assert empty["eccentricity"] == [] and empty["reachable"] == []
    one = check(daemon, solve(daemon, 1, []))
    assert one["eccentricity"] == [0] and one["closeness"] == [0] and one["reachable"] == [0]
    alone = check(daemon, solve(daemon, 3, []))
    assert alone["reachable"] == [0, 0, 0]
    touching = check(daemon, solve(daemon, 2, [[0, 1, 0], [1, 0, 0]]))
    assert touching["diameter"] == 0 and touching["closeness"] == [0, 0]
    assert touching["histogram"] == {"min": 0, "bin_width": 1, "counts": [2] + [0] * 63}


def test_closeness_matches_networkx(daemon):
    """The expected values are those of networkx.closeness_centrality for Krackhardt's kite."""
    kite = [(0, 1), (0, 2), (0, 3), (0, 5), (1, 3), (1, 4), (1, 6), (2, 3), (2, 5), (3, 4), (3, 5),
            (3, 6), (4, 6), (5, 6), (5, 7), (6, 7), (7, 8), (8, 9)]
    graph = solve(daemon, 10, [[u, v, 1] for u, v in kite], "?directed=false")
    closeness = check(daemon, graph)["closeness"]
    expected = [0.529, 0.529, 0.500, 0.600, 0.500, 0.643, 0.643, 0.600, 0.429, 0.310]
    assert [round(c, 3) for c in closeness] == expected, closeness


def test_statistics_are_correct_for_sizes_around_the_piece_size(daemon):
    """Tests sizes just below, at and above the size of a piece of the response."""
    for n in (511, 512, 513, 1024, 1025):
        graph = solve(daemon, n, [[i, (i + 1) % n, 1] for i in range(n)])
        stats = daemon.get(f"/v1/graphs/{graph}/stats").expect(200).json
        assert stats["eccentricity"] == [n - 1] * n and stats["reachable"] == [n - 1] * n
        assert len(stats["closeness"]) == n and stats["diameter"] == n - 1
        for closeness in stats["closeness"]:
            expect_close(closeness, 2 / n)


def test_statistics_are_returned_as_json_with_an_etag(daemon):
    graph = solve(daemon, 3, [[0, 1, 2]], "?name=asked")
    path = "/v1/graphs/asked/stats"
    answer = daemon.get(path).expect(200)
    assert answer.headers["Content-Type"] == "application/json"
    tag = answer.headers["ETag"]
    assert daemon.get(path, If_None_Match=tag).expect(304).body == b""
    daemon.get(path, If_None_Match='"x"').expect(200)
    head = daemon.ask("HEAD", path).expect(200)
    assert head.body == b"" and head.headers["ETag"] == tag
    daemon.get(path, Accept="text/html").expect(406, "NotAcceptable")
    daemon.get(path + "?x=1").expect(400, "UnknownParameter")
    daemon.ask("POST", path, body=b"").expect(405)
    daemon.get("/v1/graphs/g_none/stats").expect(404, "NoSuchGraph")
    stored = daemon.ask("POST", "/v1/graphs", body=b'{"n": 2, "edges": [[0, 1, 9]]}').expect(201).json
    daemon.get(f"/v1/graphs/{stored['id']}/stats").expect(409, "NotSolved")
    waited = daemon.get(f"/v1/graphs/{stored['id']}/stats", Prefer="wait=30").expect(200).json
    assert waited["diameter"] == 9
    size = len(daemon.get(f"/v1/graphs/{graph}/matrix").expect(200).body)
    assert size == 128 + 9 * 4
    assert len(daemon.get(f"/v1/graphs/{graph}/matrix?format=raw").expect(200).body) == 9 * 4


def test_statistics_survive_a_restart(_):
    edges = edges_of(SIZE, 2 * SIZE, 6, lambda chooser: chooser.randint(0, 1000))
    with harness.Daemon() as daemon:
        graph = solve(daemon, SIZE, edges)
        before = daemon.get(f"/v1/graphs/{graph}/stats").expect(200).body
        daemon.terminate()
        daemon.start()
        assert daemon.get(f"/v1/graphs/{graph}/stats").expect(200).body == before
        check(daemon, graph)


def test_results_of_an_older_version_are_recomputed(_):
    """The result file ends after its matrix, like files of versions without statistics."""
    with harness.Daemon() as daemon:
        graph = solve(daemon, 4, [[0, 1, 3], [1, 2, 4]])
        before = daemon.get(f"/v1/graphs/{graph}/stats").expect(200).json
        daemon.terminate()
        (path,) = [file for file in daemon.files() if file.endswith(".result")]
        with open(path, "r+b") as file:
            file.truncate(128 + 16 * 4)
        daemon.start()
        answer = daemon.get(f"/v1/graphs/{graph}/stats", Prefer="wait=30").expect(200)
        assert answer.json == before


if __name__ == "__main__":
    if numpy is None:
        print("needs NumPy and SciPy")
        sys.exit(harness.SKIPPED)
    harness.run(globals())
