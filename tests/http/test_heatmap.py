"""Cells of a heat map and the edges of a graph, compared with the matrix and the uploaded edges."""

import json
import random

import harness
from harness import SMALL

SIZE = 60 if harness.QUICK else 150
KINDS = ("i4", "u2", "f4", "f8")


def graph_of(n, count, seed, decimals):
    """Returns a graph of two components, so that some pairs are unreachable."""
    chooser = random.Random(seed)
    edges = {}
    for _ in range(count):
        part = chooser.randrange(2)
        source, target = chooser.sample(range(part * n // 2, (part + 1) * n // 2), 2)
        edges[source, target] = chooser.randrange(1, 100) / (8 if decimals else 1)
    return [[*pair, weight if decimals else int(weight)] for pair, weight in edges.items()]


def solve(daemon, n, edges, query):
    job = daemon.solve(json.dumps({"n": n, "edges": edges}).encode(), query)
    assert job["state"] == "done", job
    return job["graph"]


def check_cell(answer, row, column, values):
    found = {name: answer["cells"][row][name][column] for name in ("min", "mean", "max", "unreachable")}
    finite = [value for value in values if value is not None]
    assert abs(found["unreachable"] - (1 - len(finite) / len(values))) < 1e-4, (found, values)
    if not finite:
        assert found["min"] is found["mean"] is found["max"] is None, found
        return
    assert (found["min"], found["max"]) == (min(finite), max(finite)), (row, column, found)
    mean = sum(finite) / len(finite)
    assert abs(found["mean"] - mean) <= 1e-6 * abs(mean), (found, mean)


def check(matrix, answer, rows, columns, size):
    bounds = []
    for name, (first, stop) in (("rows", rows), ("cols", columns)):
        axis = answer[name]
        cells = min(size, stop - first)
        begins = [first + i * (stop - first) // cells for i in range(cells)]
        assert axis == {"first": first, "stop": stop, "vertices": begins}, axis
        bounds.append([*begins, stop])
    assert len(answer["cells"]) == len(bounds[0]) - 1
    for row, (top, bottom) in enumerate(zip(*(bounds[0][i:] for i in (0, 1)))):
        for column, (left, right) in enumerate(zip(*(bounds[1][i:] for i in (0, 1)))):
            check_cell(answer, row, column, [d for line in matrix[top:bottom] for d in line[left:right]])


def test_heatmaps_of_every_kind_are_exact(daemon):
    for kind in KINDS:
        edges = graph_of(SIZE, 3 * SIZE, 1, kind[0] == "f")
        path = f"/v1/graphs/{solve(daemon, SIZE, edges, f'?kind={kind}')}"
        matrix = daemon.get(f"{path}/matrix?format=json").expect(200).json["distances"]
        for size in (1, 7, 64, 256):
            answer = daemon.get(f"{path}/heatmap?size={size}").expect(200).json
            assert (answer["n"], answer["kind"], answer["sampled"]) == (SIZE, kind, False)
            check(matrix, answer, (0, SIZE), (0, SIZE), size)
        answer = daemon.get(f"{path}/heatmap?rows=10:23&cols=40:&size=6").expect(200).json
        check(matrix, answer, (10, 23), (40, SIZE), 6)


def test_a_heatmap_has_a_default_size_and_may_be_empty(daemon):
    path = f"/v1/graphs/{solve(daemon, 100, [[0, 1, 2]], '')}/heatmap"
    assert len(daemon.get(path).expect(200).json["cells"]) == 64
    empty = daemon.get(f"{path}?rows=5:5").expect(200).json
    assert empty["cells"] == [] and empty["rows"] == {"first": 5, "stop": 5, "vertices": []}
    thin = daemon.get(f"{path}?cols=5:5&size=1").expect(200).json
    assert thin["cells"] == [{"min": [], "mean": [], "max": [], "unreachable": []}]
    nothing = daemon.get(f"/v1/graphs/{solve(daemon, 0, [], '')}/heatmap").expect(200).json
    assert nothing["cells"] == [] and nothing["n"] == 0


def test_a_large_matrix_is_sampled(daemon):
    """The graph is a ring, for which every distance is known."""
    n = 4200
    edges = [[i, (i + 1) % n, 1] for i in range(n)]
    path = f"/v1/graphs/{solve(daemon, n, edges, '?directed=false&result=matrix')}/heatmap"
    answer = daemon.get(f"{path}?size=8").expect(200).json
    assert answer["sampled"] is True
    side = n // 8
    for row, cells in enumerate(answer["cells"]):
        for column in range(8):
            apart = min((row - column) % 8, (column - row) % 8) * side
            expected = side / 3 if apart == 0 else n / 2 - side / 3 if apart == n / 2 else apart
            assert abs(cells["mean"][column] - expected) < 0.03 * n, (row, column, cells["mean"])
            assert cells["unreachable"][column] == 0
    assert daemon.get(f"{path}?size=8").json == answer
    assert daemon.get(f"{path}?size=8&rows=0:2000&cols=0:2000").json["sampled"] is False


def test_invalid_heatmap_parameters_are_refused(daemon):
    job = daemon.solve(b"from,to,w\nRome,Paris,7\nParis,Oslo,8\n", "?name=cities")
    path = "/v1/graphs/cities/heatmap"
    answer = daemon.get(f"{path}?size=2").expect(200)
    assert answer.json["rows"]["vertices"] == ["Rome", "Paris"]
    tag = answer.headers["ETag"]
    assert daemon.get(f"{path}?size=2", If_None_Match=tag).expect(304).body == b""
    packed = daemon.get(path, Accept_Encoding="gzip").expect(200)
    assert packed.headers["Content-Encoding"] == "gzip"
    head = daemon.ask("HEAD", path).expect(200)
    assert head.body == b""
    for query in ("size=0", "size=257", "size=x", "rows=3:2", "cols=0:9", "rows=Rome", "rows=1,2,3"):
        code = daemon.get(f"{path}?{query}")
        assert code.status in (400, 404) and code.json["code"] in ("BadParameter", "NoSuchVertex"), query
    daemon.get(f"{path}?rows=Rome").expect(400, "BadParameter")
    daemon.get(f"{path}?format=png").expect(400, "UnknownParameter")
    daemon.get(path, Accept="image/png").expect(406, "NotAcceptable")
    daemon.get("/v1/graphs/nowhere/heatmap").expect(404, "NoSuchGraph")
    assert daemon.get(f"/v1/graphs/{job['id']}/heatmap").expect(200).json["n"] == 3


def test_the_listed_edges_equal_the_uploaded_edges(daemon):
    edges = sorted(graph_of(SIZE, 3 * SIZE, 2, True))
    graph = solve(daemon, SIZE, edges, "")
    answer = daemon.get(f"/v1/graphs/{graph}/edges").expect(200)
    assert answer.json == {"n": SIZE, "m": len(edges), "directed": True, "edges": edges}
    again = daemon.solve(answer.body)
    assert again["graph"] == graph
    packed = daemon.get(f"/v1/graphs/{graph}/edges", Accept_Encoding="zstd").expect(200)
    assert packed.headers["Content-Encoding"] == "zstd"
    assert daemon.ask("HEAD", f"/v1/graphs/{graph}/edges").expect(200).body == b""


def test_edges_are_listed_without_a_solve(daemon):
    """Undirected edges are listed once; duplicates of parallel edges and loops are not listed."""
    body = b'{"n": 5, "directed": false, "edges": [[2, 1, 4], [1, 2, 3], [0, 0, 1], [4, 1, 9]]}'
    stored = daemon.ask("POST", "/v1/graphs", body=body).expect(201).json
    answer = daemon.get(f"/v1/graphs/{stored['id']}/edges").expect(200).json
    assert answer == {"n": 5, "m": 2, "directed": False, "edges": [[1, 2, 3], [1, 4, 9]]}
    none = daemon.ask("POST", "/v1/graphs", body=b'{"n": 2, "edges": []}').expect(201).json
    assert daemon.get(f"/v1/graphs/{none['id']}/edges").expect(200).json["edges"] == []
    daemon.get("/v1/graphs/nowhere/edges").expect(404, "NoSuchGraph")
    daemon.solve(SMALL, "?name=small")
    daemon.get("/v1/graphs/small/edges?limit=3").expect(400, "UnknownParameter")
    daemon.get("/v1/graphs/small/edges", Accept="text/csv").expect(406, "NotAcceptable")


def test_a_request_for_too_many_edges_is_refused(daemon):
    limit = daemon.get("/v1/limits").json["edge_list_limit"]
    n = 1200
    assert n * (n - 1) > limit
    lines = [f"p sp {n} {n * (n - 1)}"]
    for i in range(1, n + 1):
        lines.append("\n".join(f"a {i} {j} 1" for j in range(1, n + 1) if i != j))
    stored = daemon.ask("POST", "/v1/graphs", body="\n".join(lines).encode() + b"\n").expect(201).json
    answer = daemon.get(f"/v1/graphs/{stored['id']}/edges").expect(413, "TooLarge").json
    assert answer["limit"] == limit and answer["actual"] == n * (n - 1), answer


if __name__ == "__main__":
    harness.run(globals())
