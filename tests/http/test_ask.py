"""Tests queries of solved graphs. Every distance is compared with Dijkstra's algorithm."""

import json
import random
import struct

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


def test_distances_between_numbered_vertices_are_returned(daemon):
    names = [3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610]
    edges = random_edges(names, 20, 1)
    used = sorted({v for s, t, _ in edges for v in (s, t)})
    body = "".join(f"{s} {t} {w}\n" for s, t, w in edges).encode()
    job = daemon.solve(body)
    assert job["state"] == "done", job
    assert daemon.get(f"/v1/graphs/{job['graph']}/vertices").expect(200).json == {"vertices": used}
    check_all(daemon, job["graph"], edges, used)


def test_distances_in_an_undirected_graph_with_vertex_names_are_returned(daemon):
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


def test_distances_in_a_larger_graph_are_returned(daemon):
    names = list(range(1, 201))
    edges = random_edges(names, 600, 3)
    body = f"p sp 200 {len(edges)}\n" + "".join(f"a {s} {t} {w}\n" for s, t, w in edges)
    job = daemon.solve(body.encode())
    check_all(daemon, job["id"], edges, names)


def test_large_integer_names_are_strings_in_a_distance(daemon):
    names = [2**53, 2**53 + 1]
    daemon.solve(f"{names[0]} {names[1]} 3\n".encode(), "?name=numbers&format=edges")
    path = "/v1/graphs/numbers/distance?source=%d&target=%d"
    answer = daemon.get(path % tuple(names)).expect(200).json
    assert answer == {"source": names[0], "target": str(names[1]), "distance": 3}


def test_distances_are_returned_as_plain_text(daemon):
    daemon.solve(b"a b 2.5\nc b 1\n", "?name=plain&format=edges")
    path = "/v1/graphs/plain/distance?source=a&target="
    answer = daemon.get(path + "b", Accept="text/plain").expect(200)
    assert answer.body == b"2.5\n" and answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert daemon.get(path + "c", Accept="text/plain").body == b"unreachable\n"
    assert daemon.get(path + "c", Accept="text/plain;q=0.1, application/json").json["distance"] is None
    daemon.get(path + "b", Accept="text/html").expect(406, "NotAcceptable")


def test_a_distance_response_has_an_etag(daemon):
    daemon.solve(b"a b 2.5\nc b 1\n", "?name=tagged&format=edges")
    path = "/v1/graphs/tagged/distance?source=a&target=b"
    answer = daemon.get(path).expect(200)
    tag = answer.headers["ETag"]
    assert answer.headers["Vary"].startswith("Accept"), answer.headers
    assert daemon.get(path, If_None_Match=tag).expect(304).body == b""
    assert daemon.ask("HEAD", path).expect(200).body == b""


def test_two_graphs_are_queried_over_one_connection(daemon):
    """Alternates between both graphs, with request IDs from the client and from the service: each
    response belongs to its request."""
    near = daemon.solve(harness.SMALL)["graph"]
    far = daemon.solve(harness.SMALL.replace(b" 5", b" 6").replace(b" 7", b" 8"))["graph"]
    truth = {near: {2: 5, 3: 12, 4: None}, far: {2: 6, 3: 14, 4: None}}
    connection = daemon.connect()
    ids, tags = set(), {}
    for turn in range(60):
        graph = (near, far, near)[turn % 3]
        target = 2 + turn % 5 % 3
        headers = {"Accept": "text/plain" if turn % 7 < 2 else "*/*"}
        if turn % 4 == 1:
            headers["X-Request-Id"] = f"own-{turn}-" + "x" * (turn % 11)
        path = f"/v1/graphs/{graph}/distance?source=1&target={target}"
        answer = daemon.ask("GET", path, headers=headers, connection=connection).expect(200)
        distance = truth[graph][target]
        if turn % 7 < 2:
            word = "unreachable" if distance is None else str(distance)
            assert answer.body == word.encode() + b"\n", (turn, answer.body)
        else:
            assert answer.json == {"source": 1, "target": target, "distance": distance}, turn
        ids.add(answer.headers["X-Request-Id"])
        assert headers.get("X-Request-Id", answer.headers["X-Request-Id"]) in ids
        assert tags.setdefault((graph, turn % 7 < 2), answer.headers["ETag"]) == answer.headers["ETag"]
        assert answer.headers["Vary"].startswith("Accept") and answer.headers["Cache-Control"] == "no-cache"
    assert len(ids) == 60 and len(set(tags.values())) == 4, (ids, tags)
    connection.close()


def test_invalid_queries_are_refused(daemon):
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


def test_distances_of_pairs_are_returned_in_every_format(daemon):
    daemon.solve(harness.SMALL, "?name=small")
    base = "/v1/graphs/small/distances"
    csv = "1,3\n4,1\n3,2\n"
    binary = struct.pack("<6I", 0, 2, 3, 0, 2, 1)
    asked = {
        "application/json": json.dumps({"pairs": [[1, 3], [4, 1], [3, 2]]}),
        "text/csv": csv,
        "application/octet-stream": binary,
    }
    answered = {
        "application/json": b'{"distances":[12,null,6]}\n',
        "text/csv": b"1,3,12\n4,1,\n3,2,6\n",
        "application/octet-stream": struct.pack("<3i", 12, 2**30 - 1, 6),
    }

    def ask(body, **headers):
        headers = {k.replace("_", "-"): v for k, v in headers.items()}
        return daemon.ask("POST", base, body=body, headers=headers)

    for content, body in asked.items():
        own = ask(body, Content_Type=content + "; charset=utf-8").expect(200)
        assert own.body == answered[content] and own.headers["Content-Type"].split(";")[0] == content, content
        for accept, wanted in answered.items():
            answer = ask(body, Content_Type=content, Accept=accept).expect(200)
            assert answer.body == wanted and answer.headers["Vary"].startswith("Accept")
        if content != "application/octet-stream":
            assert ask(body).expect(200).body == answered[content]
    assert ask("source,target\n1,3\n").expect(200).body == b"source,target,distance\n1,3,12\n"
    code, status, body = harness.curl("--data-binary", csv, daemon.url + base)
    assert (code, status, body) == (0, 200, answered["text/csv"]), body
    for body, content, status, code in (
        (binary[:-1], "application/octet-stream", 400, "BadRequest"),
        (struct.pack("<2I", 4, 0), "application/octet-stream", 404, "NoSuchVertex"),
        ("1,3\n1,9\n", "text/csv", 404, "NoSuchVertex"),
        ("1;3\n", "text/csv", 400, "BadRequest"),
        ("", "text/csv", 422, "EmptyBody"),
    ):
        problem = ask(body, Content_Type=content).expect(status, code).json
        assert content != "text/csv" or not body or problem["line"] == body.count("\n"), problem
    ask(csv, Content_Type="text/csv", Accept="image/png").expect(406, "NotAcceptable")
    ask(csv, Content_Type="image/png").expect(415, "UnsupportedMediaType")
    narrow = daemon.solve(harness.SMALL, "?kind=u2")["id"]
    headers = {"Content-Type": "application/octet-stream"}
    answer = daemon.ask("POST", f"/v1/graphs/{narrow}/distances", body=binary, headers=headers)
    assert answer.expect(200).body == struct.pack("<3H", 12, 65535, 6)
    odd = daemon.solve(b'"a,""b""",c,3\n', "?format=edges")["id"]
    headers = {"Content-Type": "text/csv"}
    body = b'"a,""b""",c\nc,"a,""b"""\n'
    answer = daemon.ask("POST", f"/v1/graphs/{odd}/distances", body=body, headers=headers)
    assert answer.expect(200).body == b'"a,""b""",c,3\nc,"a,""b""",\n', answer.body


def test_the_size_of_a_body_of_pairs_is_limited(_):
    with harness.Daemon("--http.pairs_limit", "1KiB") as daemon:
        daemon.solve(harness.SMALL, "?name=small")
        for path in ("distances", "paths", "table"):
            answer = daemon.ask("POST", f"/v1/graphs/small/{path}", body=b" " * 1025)
            assert answer.expect(413, "BodyTooLarge").json["limit"] == 1024
        assert daemon.get("/v1/limits").json["pairs_limit_bytes"] == 1024


def test_a_table_response_has_the_osrm_format(daemon):
    daemon.solve(harness.SMALL, "?name=small")
    rows = [[0, 5, 12, None], [8, 0, 7, None], [1, 6, 0, None], [None, None, None, 0]]
    everything = [1, 2, 3, 4]

    def table(body):
        return daemon.ask("POST", "/v1/graphs/small/table", body=json.dumps(body))

    for sources in (None, [3, 1], [2, 2], []):
        for destinations in (None, [4, 1, 2], []):
            body = {"sources": sources, "destinations": destinations}
            answer = table({k: v for k, v in body.items() if v is not None}).expect(200)
            r, c = (everything if v is None else v for v in (sources, destinations))
            assert answer.json == {"code": "Ok", "sources": r, "destinations": c,
                                   "distances": [[rows[i - 1][j - 1] for j in c] for i in r]}
    for body, status, code in (
        ({"sources": [5]}, 404, "NoSuchVertex"),
        ({"sources": 5}, 400, "BadRequest"),
        ({"from": [1]}, 400, "BadRequest"),
        ([1], 400, "BadRequest"),
        ({"sources": [None]}, 400, "BadRequest"),
    ):
        table(body).expect(status, code)
    twice = daemon.ask("POST", "/v1/graphs/small/table", body='{"sources":[1],"sources":[2]}')
    assert twice.expect(400, "BadRequest").json["column"] == 26, twice.json
    daemon.ask("POST", "/v1/graphs/small/table", body="").expect(422, "EmptyBody")
    lines = daemon.ask("POST", "/v1/graphs/small/table", body='{"sources":[3,1],"destinations":[2,4]}',
                       headers={"Accept": "text/csv"}).expect(200)
    assert lines.body == b",2,4\n3,6,\n1,5,\n" and lines.headers["Content-Type"].startswith("text/csv")
    unknown = table({"sources": [1, 2, 9]}).expect(404, "NoSuchVertex").json
    assert unknown["index"] == 2 and "/vertices" in unknown["hint"], unknown
    page = daemon.get(unknown["type"]).expect(200)
    assert page.headers["Content-Type"].startswith("text/html") and b"NoSuchVertex" in page.body
    daemon.get("/problems/no-such").expect(404, "NoSuchRoute")
    icon = daemon.get("/favicon.ico").expect(200)
    assert icon.headers["Content-Type"] == "image/svg+xml" and icon.body.startswith(b"<svg"), icon.headers
    daemon.ask("POST", "/v1/graphs/small/table", body="{}", headers={"Accept": "image/png"}).expect(
        406, "NotAcceptable")
    daemon.get("/v1/graphs/small/table").expect(405, "MethodNotAllowed")
    daemon.ask("POST", "/v1/graphs/nowhere/table", body="{}").expect(404, "NoSuchGraph")


def test_nearest_and_within_queries_match_the_computed_distances(daemon):
    names = list(range(1, 121))
    edges = random_edges(names, 300, 8)
    body = "p sp 120 300\n" + "".join(f"a {s} {t} {w}\n" for s, t, w in edges)
    graph = daemon.solve(body.encode())["graph"]
    truth = distances_of(edges, names)
    for source in names[::10]:
        others = sorted((truth[source, t], t) for t in names if t != source and (source, t) in truth)
        for k in (1, 2, 7, 119, 4_000_000_000):
            answer = daemon.get(f"/v1/graphs/{graph}/nearest?source={source}&k={k}").expect(200).json
            assert answer == {"source": source, "vertices": [t for _, t in others[:k]],
                              "distances": [d for d, _ in others[:k]]}, (source, k)
        for most in (0, 12, 40.5, 1e9, -1):
            near = [(d, t) for d, t in others if d <= most]
            answer = daemon.get(f"/v1/graphs/{graph}/within?source={source}&max={most}").expect(200)
            assert answer.json == {"source": source, "vertices": [t for _, t in near],
                                   "distances": [d for d, _ in near]}, (source, most)
            near = sorted((truth[s, source], s) for s in names
                          if s != source and truth.get((s, source), most + 1) <= most)
            answer = daemon.get(f"/v1/graphs/{graph}/within?target={source}&max={most}").expect(200)
            assert answer.json == {"target": source, "vertices": [s for _, s in near],
                                   "distances": [d for d, _ in near]}, (source, most)
    base = f"/v1/graphs/{graph}"
    source = next(s for s, t in truth if s != t)
    answer = daemon.get(base + f"/nearest?source={source}").expect(200).json
    assert len(answer["vertices"]) == 1, answer
    for path, status, code in (
        ("/nearest?source=0&k=1", 404, "NoSuchVertex"),
        ("/nearest?k=1", 400, "BadParameter"),
        ("/nearest?source=1&k=0", 400, "BadParameter"),
        ("/nearest?source=1&max=1", 400, "UnknownParameter"),
        ("/within?source=1", 400, "BadParameter"),
        ("/within?max=1", 400, "BadParameter"),
        ("/within?source=1&target=2&max=1", 400, "BadParameter"),
        ("/within?source=1&max=far", 400, "BadParameter"),
        ("/within?source=121&max=1", 404, "NoSuchVertex"),
    ):
        daemon.get(base + path).expect(status, code)
    daemon.get(base + "/within?source=1&max=1", Accept="text/csv").expect(406, "NotAcceptable")
    reals = daemon.solve(b"a b 0.3\na c 0.30000001\na d 0.4\n", "?format=edges")["id"]
    answer = daemon.get(f"/v1/graphs/{reals}/within?source=a&max=0.3").expect(200).json
    assert answer["vertices"] == ["b"] and answer["distances"] == [0.3], answer


def test_the_nearest_of_given_targets_match_the_matrix(daemon):
    names = list(range(1, 121))
    edges = random_edges(names, 300, 8)
    body = "p sp 120 300\n" + "".join(f"a {s} {t} {w}\n" for s, t, w in edges)
    truth = distances_of(edges, names)
    targets = names[3::7]
    for result in ("matrix", "hierarchy"):
        graph = daemon.solve(body.encode(), f"?result={result}")["graph"]
        for sources, k in ((names, 3), ([5, 5, 4], 1000), ([], 1)):
            answer = daemon.ask("POST", f"/v1/graphs/{graph}/nearest", body=json.dumps(
                {"sources": sources, "targets": targets, "k": k})).expect(200).json
            assert [one["source"] for one in answer["nearest"]] == sources
            for one in answer["nearest"]:
                found = sorted((truth[one["source"], t], t) for t in targets if (one["source"], t) in truth)[:k]
                assert list(zip(one["distances"], one["vertices"])) == found, one
        for body_of, status, code in (({"k": 0}, 400, "BadParameter"), ({"sources": [121]}, 404, "NoSuchVertex"),
                                      ({"k": "2"}, 400, "BadRequest"), ({"to": [1]}, 400, "BadRequest")):
            daemon.ask("POST", f"/v1/graphs/{graph}/nearest", body=json.dumps(body_of)).expect(status, code)


def test_names_with_line_breaks_are_escaped_in_csv(daemon):
    names = ["a b", " lead", "n\nd 1 2 3", "plain", "tab\t"]
    body = json.dumps({"nodes": [{"id": v} for v in names], "directed": True,
                       "links": [{"source": "a b", "target": "plain", "weight": 4}]})
    graph = daemon.solve(body.encode(), "?format=json")["graph"]
    url = f"/v1/graphs/{graph}/distances"

    def ask(pairs, accept):
        return daemon.ask("POST", url, body=json.dumps({"pairs": pairs}), headers={"Accept": accept})

    csv = ask([[" lead", "tab\t"], [names[2], "plain"]], "text/csv").expect(200).body
    assert csv == b'" lead","tab\t",\n"n\nd 1 2 3",plain,\n', csv
    back = csv.replace(b",\n", b"\n")
    again = daemon.ask("POST", url, body=back, headers={"Content-Type": "text/csv"}).expect(200)
    assert again.body == csv


if __name__ == "__main__":
    harness.run(globals())
