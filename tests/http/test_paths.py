"""Paths of random pairs: the weights add up to the distance, and every edge is an edge of the
graph."""

import glob
import json
import os
import random
import zlib
from urllib.parse import quote

import harness
from harness import curl

DATA = os.environ.get("APSPD_TEST_DATA", "")
PAIRS = 500 if harness.QUICK else 10_000


def edges_of(rows, directed=True):
    """Returns {(source, target): least weight}."""
    best = {}
    for source, target, weight in rows:
        for pair in ((source, target),) if directed else ((source, target), (target, source)):
            best[pair] = min(weight, best.get(pair, weight))
    return best


def check_path(path, edges, source, target, distance, tolerance=0):
    vertices, weights = path["vertices"], path["weights"]
    if path["distance"] is None:
        assert vertices == [] and weights == [] and distance is None, path
        return
    assert path["distance"] == distance, (path, distance)
    assert vertices[0] == source and vertices[-1] == target, (path, source, target)
    assert len(weights) == len(vertices) - 1 and len(set(vertices)) == len(vertices), path
    for step, weight in zip(zip(vertices, vertices[1:]), weights):
        assert edges.get(step) == weight, (step, weight, edges.get(step))
    scale = sum(abs(weight) for weight in weights) + abs(distance)
    assert abs(sum(weights) - distance) <= tolerance * scale, path


def check(daemon, graph, edges, names, count=PAIRS, tolerance=0):
    chooser = random.Random(count)
    pairs = [[chooser.choice(names), chooser.choice(names)] for _ in range(count)]
    body = json.dumps({"pairs": pairs})
    distances = daemon.ask("POST", f"/v1/graphs/{graph}/distances", body=body).expect(200).json
    paths = daemon.ask("POST", f"/v1/graphs/{graph}/paths", body=body).expect(200).json["paths"]
    assert len(paths) == count
    for (source, target), distance, path in zip(pairs, distances["distances"], paths):
        check_path(path, edges, source, target, distance, tolerance)
    for (source, target), path in list(zip(pairs, paths))[:20]:
        where = f"/v1/graphs/{graph}/path?source={quote(str(source))}&target={quote(str(target))}"
        assert daemon.get(where).expect(200).json == path
    return sum(path["distance"] is not None for path in paths)


def dimacs(text):
    return [tuple(map(int, line.split()[1:])) for line in text.splitlines() if line[:1] == "a"]


def prepare(daemon):
    assert daemon.solve(harness.SMALL, "?name=small")["state"] == "done"


def test_a_path_in_a_small_graph_is_returned(daemon):
    base = "/v1/graphs/small/path"
    answer = daemon.get(base + "?source=1&target=3").expect(200)
    assert answer.json == {"distance": 12, "vertices": [1, 2, 3], "weights": [5, 7]}
    tag = answer.headers["ETag"]
    assert daemon.get(base + "?source=1&target=3", If_None_Match=tag).expect(304).body == b""
    head = daemon.ask("HEAD", base + "?source=1&target=3").expect(200)
    assert head.headers["Content-Length"] == answer.headers["Content-Length"]
    itself = daemon.get(base + "?source=2&target=2").expect(200).json
    assert itself == {"distance": 0, "vertices": [2], "weights": []}
    away = daemon.get(base + "?source=1&target=4").expect(200).json
    assert away == {"distance": None, "vertices": [], "weights": []}
    assert daemon.ask("POST", base + "s", body='{"pairs":[]}').expect(200).json == {"paths": []}


def test_path_weights_add_up_in_real_graphs(daemon):
    if not DATA:
        return
    for name in ("rome99", "openflights", "ubo10_psp1", "ubo100_psp1", "ubo500_PSP1", "chain"):
        path = os.path.join(DATA, "graphs", name + ".gr")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if harness.QUICK and name in ("rome99", "openflights"):
            continue
        rows = dimacs(text)
        count = int(next(line for line in text.splitlines() if line[:1] == "p").split()[2])
        job = daemon.solve(text.encode())
        assert job["state"] == "done", job
        found = check(daemon, job["graph"], edges_of(rows), range(1, count + 1))
        assert found > PAIRS / 20, (name, found)
        assert (min(row[2] for row in rows) < 0) == name.startswith("ubo"), name


def zero_cycles(n, seed):
    """Returns rings of weight 0 in both directions, connected by a few edges of weight 0 to 3."""
    chooser = random.Random(seed)
    rows = []
    for first in range(0, n, 10):
        ring = list(range(first, min(first + 10, n)))
        for a, b in zip(ring, ring[1:] + ring[:1]):
            rows += [(a, b, 0), (b, a, 0)]
    for _ in range(n):
        rows.append((*chooser.sample(range(n), 2), chooser.randint(0, 3)))
    return rows


def test_path_searches_through_zero_length_cycles_terminate(daemon):
    rows = zero_cycles(400, 1)
    body = json.dumps({"n": 400, "edges": rows}).encode()
    job = daemon.solve(body, "?format=json")
    found = check(daemon, job["graph"], edges_of(rows), range(400))
    assert found == PAIRS, found
    complete = [(a, b, 0) for a in range(60) for b in range(60) if a != b]
    job = daemon.solve(json.dumps({"n": 60, "edges": complete}).encode(), "?format=json")
    assert check(daemon, job["graph"], edges_of(complete), range(60), 1000) == 1000


def test_paths_through_zero_length_cycles_with_negative_weights_are_found(daemon):
    """Each weight is a difference of potentials, positive or negative, so every cycle has length
    0."""
    chooser = random.Random(5)
    potential = [chooser.randint(-50, 50) for _ in range(300)]
    rows = []
    for _ in range(1500):
        a, b = chooser.sample(range(300), 2)
        rows.append((a, b, potential[a] - potential[b] + chooser.choice((0, 0, 0, 2))))
    job = daemon.solve(json.dumps({"n": 300, "edges": rows}).encode(), "?format=json")
    assert job["state"] == "done", job
    assert check(daemon, job["graph"], edges_of(rows), range(300)) > PAIRS / 2


def test_path_weights_add_up_in_an_undirected_graph_with_decimal_weights(daemon):
    chooser = random.Random(9)
    rows = [(*chooser.sample(range(200), 2), chooser.choice((0, 0.001, round(chooser.random() * 9, 3))))
            for _ in range(700)]
    body = json.dumps({"n": 200, "directed": False, "edges": rows}).encode()
    for kind, tolerance in (("f4", 1e-5), ("f8", 1e-12)):
        job = daemon.solve(body, f"?format=json&kind={kind}")
        assert job["summary"]["kind"] == kind, job
        check(daemon, job["id"], edges_of(rows, directed=False), range(200), 2000, tolerance)


def test_vertex_names_in_paths_may_have_any_characters(daemon):
    names = ["Rome, Italy", 'the "Hague"', "Köln", "a&b=c", "50%", "plus+", "a/b", "東京"]
    rows = [(a, b, i + 1) for i, (a, b) in enumerate(zip(names, names[1:]))]
    body = json.dumps({"nodes": [{"id": v} for v in names], "directed": True,
                       "links": [{"source": s, "target": t, "weight": w} for s, t, w in rows]})
    job = daemon.solve(body.encode(), "?name=odd&format=json")
    assert check(daemon, job["graph"], edges_of(rows), names, 300) > 100
    code, status, answer = curl("-G", daemon.url + "/v1/graphs/odd/path", "--data-urlencode",
                                "source=Rome, Italy", "--data-urlencode", "target=東京")
    assert (code, status) == (0, 200) and json.loads(answer)["vertices"] == names


def test_invalid_path_queries_are_refused(daemon):
    base = "/v1/graphs/small/path"
    for query, status, code in (
        ("?source=1&target=9", 404, "NoSuchVertex"),
        ("?source=1", 400, "BadParameter"),
        ("?target=1", 400, "BadParameter"),
        ("?source=1&target=2&k=1", 400, "UnknownParameter"),
    ):
        daemon.get(base + query).expect(status, code)
    daemon.get(base + "?source=1&target=2", Accept="text/csv").expect(406, "NotAcceptable")
    daemon.ask("POST", base + "?source=1&target=2", body="").expect(405, "MethodNotAllowed")
    for body, status, code in (
        ("", 422, "EmptyBody"),
        ('{"pairs":[[1,9]]}', 404, "NoSuchVertex"),
        ('{"pairs":[1,2]}', 400, "BadRequest"),
    ):
        daemon.ask("POST", base + "s", body=body).expect(status, code)
    headers = {"Content-Type": "text/csv"}
    daemon.ask("POST", base + "s", body="1,2\n", headers=headers).expect(415, "UnsupportedMediaType")
    daemon.get("/v1/graphs/nowhere/path?source=1&target=2").expect(404, "NoSuchGraph")
    stored = daemon.ask("POST", "/v1/graphs", body=b"p sp 2 1\na 1 2 9\n").expect(201).json["id"]
    problem = daemon.get(f"/v1/graphs/{stored}/path?source=1&target=2").expect(409, "NotSolved").json
    assert "hint" in problem
    waited = daemon.get(f"/v1/graphs/{stored}/path?source=1&target=2", Prefer="wait=30")
    assert waited.expect(200).json["weights"] == [9]


def test_paths_in_a_graph_above_the_path_budget_are_refused(_):
    with harness.Daemon("--store.path_budget", "1KiB") as daemon:
        daemon.solve(harness.SMALL, "?name=small")
        assert daemon.get("/v1/graphs/small/path?source=1&target=3").expect(200).json["distance"] == 12
        rows = [(i, (i + 1) % 300, 1) for i in range(300)]
        job = daemon.solve(json.dumps({"n": 300, "edges": rows}).encode(), "?format=json")
        path = f"/v1/graphs/{job['graph']}/path?source=0&target=5"
        problem = daemon.get(path).expect(413, "TooLarge").json
        assert problem["limit"] == 1024 and problem["actual"] > 1024, problem
        assert "path_budget" in problem["hint"]
        assert daemon.get("/v1/limits").json["path_budget_bytes"] == 1024


RING = 2000


def spoil(daemon, graph):
    """Overwrites the distance from 1901 to 1903 in the matrix file of the ring (int32). It is in
    one of the last blocks, which the check of four blocks per query does not reach soon."""
    (path,) = glob.glob(os.path.join(daemon.state, "results", f"{graph}.*"))
    with open(path, "r+b") as file:
        file.seek(128 + 4 * (1900 * RING + 1902))
        file.write((11).to_bytes(4, "little"))


def test_a_path_through_damaged_distances_is_an_error(_):
    with harness.Daemon() as daemon:
        arcs = "".join(f"a {i} {i % RING + 1} 6\n" for i in range(1, RING + 1))
        job = daemon.solve(f"p sp {RING} {RING}\n{arcs}".encode(), "?kind=i4")
        graph = job["graph"]
        daemon.wait_until_durable(job["id"])
        spoil(daemon, graph)
        base = f"/v1/graphs/{graph}/path"
        daemon.get(base + "?source=1901&target=1903").expect(500, "Corrupt")
        daemon.ask("POST", base + "s", body='{"pairs":[[1901,1903]]}').expect(500, "Corrupt")
        daemon.ask("POST", base + "s", body='{"pairs":[[1901,1902]]}').expect(200)


def test_finished_paths_are_sent_before_the_next_search(daemon):
    """Paths from a star whose edges have weight 0: a finished path is sent before the search for
    the next path begins, even in a compressed response."""
    n = 3000 if harness.QUICK else 8000
    rows = [(n, n - 1, 1)] + [row for leaf in range(1, n) for row in ((0, leaf, 0), (leaf, 0, 0))]
    body = json.dumps({"n": n + 1, "edges": rows}).encode()
    graph = daemon.solve(body, "?format=json")["graph"]
    body = json.dumps({"pairs": [[n, 0]] * 200})
    url = f"/v1/graphs/{graph}/paths"
    plain = daemon.ask("POST", url, body=body).expect(200).body
    path = {"distance": 1, "vertices": [n, n - 1, 0], "weights": [1, 0]}
    assert json.loads(plain) == {"paths": [path] * 200}
    encoded = daemon.ask("POST", url, body=body, headers={"Accept-Encoding": "gzip"}).expect(200)
    assert encoded.headers["Content-Encoding"] == "gzip"
    assert zlib.decompress(encoded.body, 31) == plain


def test_a_disconnected_client_leaves_no_open_files(daemon):
    """The client disconnects while the daemon sends paths; the daemon closes all files."""
    rows = zero_cycles(400, 2)
    job = daemon.solve(json.dumps({"n": 400, "edges": rows}).encode(), "?format=json")
    body = json.dumps({"pairs": [[i % 400, i * 7 % 400] for i in range(50_000)]})
    before = daemon.open_files()
    for _ in range(3):
        connection = daemon.connect()
        connection.request("POST", f"/v1/graphs/{job['graph']}/paths", body=body)
        response = connection.getresponse()
        assert response.read(1000).startswith(b'{"paths":[')
        response.close()
        connection.close()
    daemon.ask("DELETE", f"/v1/graphs/{job['graph']}").expect(204)
    daemon.expect_no_more_files_than(before)


if __name__ == "__main__":
    harness.run(globals())
