"""Questions about solved graphs: every distance against Dijkstra."""

import json
import random

import harness
from harness import distances_of


def random_edges(names, count, seed):
    chooser = random.Random(seed)
    return [(*chooser.sample(names, 2), chooser.randint(0, 50)) for _ in range(count)]


def check_all(daemon, graph, edges, names, directed=True):
    truth = distances_of(edges, names, directed)
    pairs = [[s, t] for s in names for t in names]
    body = json.dumps({"pairs": pairs})
    answer = daemon.ask("POST", f"/v1/graphs/{graph}/distances", body=body).expect(200).json
    assert answer["distances"] == [truth.get((s, t)) for s, t in pairs]
    connection = daemon.connect()
    for s, t in pairs[:: max(1, len(pairs) // 200)]:
        path = f"/v1/graphs/{graph}/distance?source={s}&target={t}"
        one = daemon.ask("GET", path, connection=connection).expect(200).json
        assert one == {"source": s, "target": t, "distance": truth.get((s, t))}, one
    connection.close()


def test_numbered_vertices(daemon):
    names = [3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610]
    edges = random_edges(names, 20, 1)
    used = sorted({v for s, t, _ in edges for v in (s, t)})
    body = "".join(f"{s} {t} {w}\n" for s, t, w in edges).encode()
    job = daemon.solve(body)
    assert job["state"] == "done", job
    assert daemon.get(f"/v1/graphs/{job['graph']}/vertices").expect(200).json == {"vertices": used}
    check_all(daemon, job["graph"], edges, used)


def test_undirected_named_vertices(daemon):
    names = ["Rome", "Paris", "New York", "Köln", "a&b=c", "50%", "plus+", 'quote"']
    edges = random_edges(names, 9, 2)
    used = list(dict.fromkeys(v for s, t, _ in edges for v in (s, t)))
    links = [{"source": s, "target": t, "weight": w} for s, t, w in edges]
    body = json.dumps({"nodes": [{"id": v} for v in used], "links": links, "directed": False})
    job = daemon.solve(body.encode(), "?name=cities")
    assert job["state"] == "done", job
    truth = distances_of(edges, used, directed=False)
    for s in used:
        for t in used:
            assert daemon.distance("cities", s, t) == truth.get((s, t)), (s, t)
    pairs = [[s, t] for s in used for t in used]
    answer = daemon.ask("POST", "/v1/graphs/cities/distances", body=json.dumps({"pairs": pairs}))
    assert answer.expect(200).json["distances"] == [truth.get((s, t)) for s, t in pairs]


def test_a_larger_graph(daemon):
    names = list(range(1, 201))
    edges = random_edges(names, 600, 3)
    body = f"p sp 200 {len(edges)}\n" + "".join(f"a {s} {t} {w}\n" for s, t, w in edges)
    job = daemon.solve(body.encode())
    check_all(daemon, job["id"], edges, names)


def test_plain_text(daemon):
    daemon.solve(b"a b 2.5\nc b 1\n", "?name=plain&format=edges")
    path = "/v1/graphs/plain/distance?source=a&target="
    answer = daemon.get(path + "b", Accept="text/plain").expect(200)
    assert answer.body == b"2.5\n" and answer.headers["Content-Type"] == "text/plain"
    assert daemon.get(path + "c", Accept="text/plain").body == b"unreachable\n"
    assert daemon.get(path + "c", Accept="text/plain;q=0.1, application/json").json["distance"] is None
    daemon.get(path + "b", Accept="text/html").expect(406, "NotAcceptable")


def test_a_distance_has_a_tag(daemon):
    daemon.solve(b"a b 2.5\nc b 1\n", "?name=tagged&format=edges")
    path = "/v1/graphs/tagged/distance?source=a&target=b"
    answer = daemon.get(path).expect(200)
    tag = answer.headers["ETag"]
    assert answer.headers["Vary"] == "Accept", answer.headers
    assert daemon.get(path, If_None_Match=tag).expect(304).body == b""
    assert daemon.ask("HEAD", path).expect(200).body == b""


def test_bad_questions(daemon):
    daemon.solve(b"a b 2.5\nc b 1\n", "?name=bad&format=edges")
    base = "/v1/graphs/bad"
    for path, status, code in (
        ("/distance?source=a&target=z", 404, "NoSuchVertex"),
        ("/distance?source=&target=a", 404, "NoSuchVertex"),
        ("/distance?source=a", 400, "BadParameter"),
        ("/distance?target=a", 400, "BadParameter"),
        ("/distance?source=a&target=b&via=c", 400, "UnknownParameter"),
        ("/distance?source=a&target=b&source=c", 400, "BadParameter"),
        ("/distance?source=%00&target=b", 400, "BadRequest"),
        ("/distance?source=%zz&target=b", 400, "BadRequest"),
    ):
        daemon.get(base + path).expect(status, code)
    assert "z" in daemon.get(base + "/distance?source=a&target=z").json["detail"]
    daemon.get("/v1/graphs/nowhere/distance?source=a&target=b").expect(404, "NoSuchGraph")
    daemon.get("/v1/graphs/j_nowhere/distance?source=a&target=b").expect(404, "NoSuchJob")
    for body, status, code in (
        ('{"pairs":[["a","z"]]}', 404, "NoSuchVertex"),
        ('{"pairs":[["a"]]}', 400, "BadRequest"),
        ('{"pairs":', 400, "BadRequest"),
        ("", 422, "EmptyBody"),
    ):
        daemon.ask("POST", base + "/distances", body=body).expect(status, code)
    headers = {"Content-Type": "application/xml"}
    daemon.ask("POST", base + "/distances", body="<x/>", headers=headers).expect(
        415, "UnsupportedMediaType")


if __name__ == "__main__":
    harness.run(globals())
