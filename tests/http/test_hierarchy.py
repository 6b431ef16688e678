"""Results that are hierarchies: they give the same answers as a matrix of the same graph, on
each route."""

import array
import heapq
import random
import re
import tempfile

import harness

ROUTES = (
    "distance?source=7&target=300",
    "path?source=7&target=300",
    "nearest?source=7&k=9",
    "within?source=7&max=4000",
    "row/7",
    "row/7?format=csv",
    "matrix?format=csv",
    "matrix?format=ndjson&rows=5:40&cols=10:20",
    "matrix?format=json&rows=1,3,2,3",
    "matrix?format=raw",
    "matrix?format=raw&cols=7:8",
    "matrix?format=npy&cols=0:30&rows=9:402",
    "matrix?format=csv&cols=3,9,3&header=true",
    "matrix?format=mtx",
    "matrix?format=mtx&rows=5:90&cols=3,9,402,3",
    "matrix?format=npy",
    "matrix?format=npy&rows=100:300",
    "heatmap?size=20",
    "heatmap?size=1&rows=0:1&cols=402:403",
)


def roads(n, seed, kind="p sp"):
    """Returns a grid with different weights in both directions, some missing edges, and a few
    isolated vertices."""
    draw = random.Random(seed)
    side = int(n ** 0.5)
    edges = []
    for at in range(side * side):
        for other in (at + 1 if (at + 1) % side else None, at + side if at + side < side * side else None):
            if other is not None and draw.random() < 0.9:
                edges.append((at, other, draw.randrange(1, 1000)))
                edges.append((other, at, draw.randrange(1, 1000)))
    lines = "".join(f"a {a + 1} {b + 1} {w}\n" for a, b, w in edges)
    return f"{kind} {n} {len(edges)}\n{lines}".encode()


def ask_all(daemon, name):
    answers = {}
    for route in ROUTES:
        answer = daemon.get(f"/v1/graphs/{name}/{route}").expect(200)
        answers[route] = answer.json if "application/json" in answer.headers["Content-Type"] else answer.body
    pairs = [[s, s * 7 % 400 + 1] for s in range(1, 400, 3)] + [[5, t] for t in range(1, 100)]
    json = {"Content-Type": "application/json"}
    for route, body in (("distances", {"pairs": pairs}), ("paths", {"pairs": pairs[:40]}),
                        ("table", {"sources": [9, 4, 7], "destinations": [1, 390, 2]}),
                        ("table", {"destinations": [7, 11]})):
        answer = daemon.ask("POST", f"/v1/graphs/{name}/{route}", body=harness.json.dumps(body), headers=json)
        answers[f"{route} {len(body)}" if route == "table" else route] = answer.expect(200).json
    return answers


def lengths(paths):
    return [(path["distance"], sum(path["weights"])) for path in paths["paths"]]


def compare(daemon, graph, query):
    matrix = daemon.solve(graph, f"?name=it&result=matrix{query}")
    assert matrix["result"]["kind"] == "matrix" and matrix["result"]["reason"] == "requested", matrix["result"]
    wanted = ask_all(daemon, "it")
    hierarchy = daemon.solve(graph, f"?name=it&result=hierarchy&verify=true{query}")
    result = hierarchy["result"]
    assert result["kind"] == "hierarchy" and result["arcs"] > 0, result
    assert result["bytes"] < matrix["result"]["bytes"] / 5 and hierarchy["verified"]["rows"] == 64, hierarchy
    found = ask_all(daemon, "it")
    for route, answer in wanted.items():
        if route == "paths":
            assert lengths(answer) == lengths(found[route])
        elif route.startswith("path?"):
            assert answer["distance"] == found[route]["distance"] == sum(found[route]["weights"])
        else:
            assert answer == found[route], route
    return hierarchy


def test_a_hierarchy_gives_the_same_answers_as_a_matrix(daemon):
    for seed, query in ((1, ""), (2, "&kind=f8"), (3, "&kind=f4")):
        compare(daemon, roads(403, seed), query)


def test_a_whole_matrix_or_a_range_of_it_is_sent(daemon):
    daemon.solve(roads(403, 5), "?name=parts&result=hierarchy")
    whole = daemon.get("/v1/graphs/parts/matrix").expect(200)
    size = len(whole.body)
    assert size == int(whole.headers["Content-Length"]) == 128 + 403 * 403 * 4, size
    tag = whole.headers["ETag"]
    for first, last in ((0, 99), (100, 130), (1000, 90000), (size - 5, size - 1)):
        part = daemon.get("/v1/graphs/parts/matrix", Range=f"bytes={first}-{last}", If_Range=tag).expect(206)
        assert part.body == whole.body[first:last + 1], (first, last)
    daemon.get("/v1/graphs/parts/matrix", If_None_Match=tag).expect(304)
    packed = daemon.get("/v1/graphs/parts/matrix", Accept_Encoding="gzip").expect(200)
    assert packed.headers["Content-Encoding"] == "gzip" and len(packed.body) < size


def test_a_download_does_not_resume_in_another_format(daemon):
    graph = roads(200, 11)
    tags = []
    for form in ("matrix", "hierarchy", "matrix"):
        daemon.solve(graph, f"?name=both&kind=f4&result={form}")
        head = daemon.ask("HEAD", "/v1/graphs/both/matrix").expect(200)
        assert int(head.headers["Content-Length"]) == 128 + 200 * 200 * 4 and head.body == b"", head.headers
        tags.append(head.headers["ETag"])
        for tag in set(tags):
            status = 206 if tag == tags[-1] else 200
            daemon.get("/v1/graphs/both/matrix", Range="bytes=1000-", If_Range=tag).expect(status)
    assert len(set(tags)) == 3 and not any(tag.startswith("W/") for tag in tags), tags


def test_unsupported_forms_and_kinds_are_refused(daemon):
    daemon.solve(roads(100, 6), "?name=bare&result=hierarchy")
    daemon.get("/v1/graphs/bare/stats").expect(200)
    problem = daemon.submit(roads(100, 6), "?result=hierarchy&kind=u2").expect(400, "BadParameter").json
    assert "u2" in problem["detail"] and "i4" in problem["hint"], problem
    daemon.submit(roads(100, 6), "?result=tree").expect(400, "BadParameter")


def dijkstra(edges, n, source):
    neighbours = {}
    for (a, b), weight in edges.items():
        neighbours.setdefault(a, []).append((b, weight))
    distance, queue = [None] * n, [(0, source)]
    while queue:
        far, at = heapq.heappop(queue)
        if distance[at] is None:
            distance[at] = far
            for other, weight in neighbours.get(at, ()):
                heapq.heappush(queue, (far + weight, other))
    return distance


def check_pairs(daemon, name, kind, edges, n, height):
    """Compares distances from 100 vertices with Dijkstra; height: the amount that each vertex
    adds to the weights."""
    code, none = {"i4": ("i", 2 ** 30 - 1), "f4": ("f", float("inf")), "f8": ("d", float("inf"))}[kind]
    sources = range(0, n, n // 100 + 1)
    pairs = array.array("I", [end for s in sources for t in range(n) for end in (s, t)])
    answer = daemon.ask("POST", f"/v1/graphs/{name}/distances", body=pairs.tobytes(),
                        headers={"Content-Type": "application/octet-stream"}).expect(200)
    wanted = [none if far is None else far + height[s] - height[t]
              for s in sources for t, far in enumerate(dijkstra(edges, n, s))]
    assert answer.body == array.array(code, wanted).tobytes(), (name, kind)


def test_distances_are_exact_after_each_of_200_changes(_):
    side = 12 if harness.QUICK else 20
    n = side * side + 3  # the last three have no edges
    for budget in ("0", "20000"):  # all labels are cached, then only some
        with harness.Daemon("--hierarchy.label_budget", budget) as daemon:
            for seed, kind, directed, below in ((1, "i4", True, 0), (2, "f8", True, 0), (3, "f4", False, 0),
                                                (4, "i4", True, 500)):
                draw = random.Random(seed)
                height = [draw.randrange(-below, below + 1) for _ in range(n)]
                edges = {}
                for at in range(side * side):
                    for other in [at + 1] * (at % side < side - 1) + [at + side] * (at < side * (side - 1)):
                        edges[at, other] = draw.randrange(1, 1000)
                        edges[other, at] = draw.randrange(1, 1000) if directed else edges[at, other]
                weight = lambda a, b: edges[a, b] + height[a] - height[b]
                body = f"p sp {n} {len(edges)}\n" + "".join(f"a {a + 1} {b + 1} {weight(a, b)}\n" for a, b in edges)
                daemon.solve(body.encode(), f"?name=live&result=hierarchy&kind={kind}")
                check_pairs(daemon, "live", kind, edges, n, height)
                for _ in range(4):
                    changes = draw.sample(sorted(edges), 50)
                    for a, b in changes:
                        edges[a, b] = draw.randrange(1, 3000)
                        if not directed:
                            edges[b, a] = edges[a, b]
                    both = sorted({pair for a, b in changes for pair in [(a, b)] + [(b, a)] * (not directed)})
                    answer = daemon.ask("PATCH", "/v1/graphs/live/edges", headers={"Content-Type": "application/json"},
                                        body=harness.json.dumps([[a + 1, b + 1, weight(a, b)] for a, b in both]))
                    job = daemon.finish(answer.expect(202).json["id"])
                    assert job["state"] == "done" and job["result"]["kind"] == "hierarchy", job
                check_pairs(daemon, "live", kind, edges, n, height)


def test_a_solved_hierarchy_is_reused_unless_a_matrix_is_requested(daemon):
    first = daemon.solve(roads(90, 7), "?result=hierarchy")
    for query in ("?result=hierarchy", ""):
        again = daemon.submit(roads(90, 7), query).expect(200).json
        assert again["input"]["cached"] and again["result"] == first["result"], again
    daemon.submit(roads(90, 7), "?result=matrix").expect(202)


def test_no_job_finds_a_result_after_its_graph_is_deleted(daemon):
    first = daemon.solve(roads(90, 8), "?result=matrix")
    daemon.get(f"/v1/graphs/{first['id']}/row/5").expect(200)
    second = daemon.solve(roads(90, 8), "?result=hierarchy")
    for job in (first["id"], second["id"]):
        daemon.get(f"/v1/graphs/{job}/row/5").expect(200)
    daemon.ask("DELETE", f"/v1/graphs/{first['graph']}").expect(204)
    for job in (first["id"], second["id"]):
        daemon.get(f"/v1/graphs/{job}/row/5").expect(404)


def test_a_graph_with_other_weights_reuses_the_order(daemon):
    graph = roads(1600, 9)
    heavier = graph.replace(b" 1\n", b" 1001\n").replace(b" 7\n", b" 1007\n")
    first = daemon.solve(graph, "?name=live&result=hierarchy")
    second = daemon.solve(heavier, "?name=live&result=hierarchy")
    assert not first["plan"]["cached"] and second["plan"]["cached"], (first["plan"], second["plan"])
    assert first["result"]["arcs"] == second["result"]["arcs"]
    found = daemon.get("/v1/graphs/live/row/5").expect(200).json
    daemon.solve(heavier, "?name=live&result=matrix")
    assert daemon.get("/v1/graphs/live/row/5").expect(200).json == found


def test_statistics_of_a_hierarchy_equal_those_of_a_matrix(daemon):
    for seed, kind in ((1, "i4"), (2, "f4"), (3, "f8")):
        graph = roads(403, seed)
        daemon.solve(graph, f"?name=it&kind={kind}&result=matrix")
        wanted = daemon.get("/v1/graphs/it/stats").expect(200).json
        daemon.solve(graph, f"?name=it&kind={kind}&result=hierarchy")
        for _ in range(2):  # first computed, then cached
            assert daemon.get("/v1/graphs/it/stats").expect(200).json == wanted, kind
    # The sums of decimals are exact, and a distance of an undirected graph counts for both directions.
    draw = random.Random(7)
    edges = "".join(f"{v},{v // 2 + 1},{draw.randrange(1, 10_000_000)}.{draw.randrange(10, 99)}\n" for v in range(2, 500))
    edges = f"source,target,weight\n{edges}600,601,0.01\n".encode()
    for kind in ("i4", "f8"):
        found = []
        for form in ("matrix", "hierarchy"):
            graph = edges if kind == "f8" else re.sub(rb"\.\d+", b"", edges)
            daemon.solve(graph, f"?name=both&directed=false&kind={kind}&result={form}")
            found.append(daemon.get("/v1/graphs/both/stats").expect(200).json)
        assert found[0] == found[1], kind
    # No row from a few distant vertices finds the longest paths, so the bins are chosen a second
    # time.
    arcs = [(1, v, 1) for v in range(2, 404) if not 11 <= v <= 20] + [(v, v + 1, 1000) for v in range(11, 20)]
    graph = f"p sp 403 {2 * len(arcs)}\n".encode() + "".join(
        f"a {a} {b} {weight}\na {b} {a} {weight}\n" for a, b, weight in arcs).encode()
    found = []
    for form in ("matrix", "hierarchy"):
        daemon.solve(graph, f"?name=hidden&result={form}")
        found.append(daemon.get("/v1/graphs/hidden/stats").expect(200).json)
    assert found[0] == found[1] and found[0]["diameter"] == 9000, found
    # Without edges there is no histogram to count.
    daemon.solve(b"p sp 300 0\n", "?name=none&result=hierarchy")
    assert daemon.get("/v1/graphs/none/stats").expect(200).json["histogram"] is None


def test_statistics_that_would_take_too_long_are_refused(_):
    # The graph is a path, whose size alone makes the estimate an hour.
    n = 100_000
    graph = f"p sp {n} {n - 1}\n".encode() + "".join(f"a {v} {v + 1} 1\n" for v in range(1, n)).encode()
    with harness.Daemon("--hierarchy.sweep_limit_s", "1") as daemon:
        assert daemon.get("/v1/limits").json["hierarchy_sweep_limit_s"] == 1
        daemon.solve(graph, "?name=long&result=hierarchy")
        problem = daemon.get("/v1/graphs/long/stats").expect(409, "NotAMatrix").json
        assert problem["limit"] == 1 < problem["actual"] and "matrix" in problem["hint"], problem
        daemon.get("/v1/graphs/long/heatmap?rows=1:50").expect(200)
        daemon.get("/v1/graphs/long/heatmap").expect(200)  # samples some rows


def test_a_negative_cycle_is_reported_with_its_vertices(daemon):
    graph = b"p sp 4 4\na 1 2 5\na 2 3 -4\na 3 1 -2\na 3 4 1\n"
    job = daemon.solve(graph, "?result=hierarchy")
    assert job["state"] == "failed" and job["problem"]["code"] == "NegativeCycle", job
    assert sorted(job["problem"]["cycle"]) == [1, 2, 3] and job["problem"]["weight"] == -1
    right = b"p sp 4 4\na 1 2 5\na 2 3 -4\na 3 1 -1\na 3 4 1\n"
    assert daemon.solve(right, "?name=right&result=hierarchy")["state"] == "done"
    assert daemon.distance("right", 1, 4) == 2 and daemon.distance("right", 4, 1) is None


def test_a_graph_too_large_for_a_matrix_is_solved_as_a_hierarchy(daemon):
    limit = daemon.get("/v1/limits").json["vertex_limit"]
    n = limit + 1
    if n > 400_000:
        return  # on a host with too much memory for a test of reasonable length
    line = "".join(f"a {v} {v + 1} 2\n" for v in range(1, n))
    graph = f"p sp {n} {n - 1}\n{line}".encode()
    problem = daemon.submit(graph, "?result=matrix").expect(413, "TooLarge").json
    assert problem["limit"] == limit and problem["actual"] == n
    job = daemon.solve(graph, "?name=long")
    assert job["state"] == "done" and job["result"]["kind"] == "hierarchy", job
    assert "as fast as a matrix of" in job["result"]["reason"] and job["result"]["bytes"] < 200 * n, job["result"]
    assert daemon.distance("long", 1, n) == 2 * (n - 1)
    assert daemon.distance("long", n, 1) is None
    path = daemon.get(f"/v1/graphs/long/path?source={n - 50}&target={n}").expect(200).json
    assert path["distance"] == 100 and len(path["vertices"]) == 51


def test_auto_chooses_a_hierarchy_for_road_networks_and_a_matrix_for_random_graphs(daemon):
    """Road networks with more than 2,048 vertices are solved as a hierarchy, as the estimate says,
    and so are the graphs created by changing them. Random graphs without separators are solved as
    a matrix."""
    small = daemon.solve(roads(2000, 3))
    larger = daemon.solve(roads(2116, 3))
    assert small["result"]["kind"] == "matrix" and small["result"]["reason"] == "the matrix fits", small
    assert (larger["result"]["kind"] == "hierarchy") == (small["solver"] == "cpu"), larger
    graph = roads(9025, 3)
    stored = daemon.ask("POST", "/v1/graphs?name=auto", body=graph).expect(201).json["id"]
    said = daemon.ask("POST", "/v1/estimate", body=harness.json.dumps({"graph": stored})).expect(200).json
    assert said["result"]["kind"] == "hierarchy" and said["fits"] and said["disk_bytes"] < 10_000_000, said
    job = daemon.solve(harness.json.dumps({"graph": stored}))
    assert job["state"] == "done" and job["result"]["bytes"] == said["result"]["bytes"], (job, said)
    assert "as fast as a matrix of 326." in job["result"]["reason"], job
    patch = daemon.ask("PATCH", "/v1/graphs/auto/edges", body="[[1,2,1]]", headers={"Content-Type": "application/json"})
    changed = daemon.finish(patch.expect(202).json["id"])
    assert changed["state"] == "done" and changed["result"]["reason"] == job["result"]["reason"], changed
    asked = daemon.submit(graph, "?result=matrix").expect(202).json
    assert asked["result"]["kind"] == "matrix" and asked["result"]["reason"] == "requested", asked
    daemon.ask("DELETE", "/v1/jobs/" + asked["id"]).expect(202)
    draw = random.Random(5)
    lines = "".join(f"a {draw.randrange(9000) + 1} {draw.randrange(9000) + 1} 7\n" for _ in range(36000))
    loose = daemon.submit(f"p sp 9000 36000\n{lines}".encode()).expect(202).json
    assert loose["result"]["kind"] == "matrix" and "answers queries faster" in loose["result"]["reason"], loose
    daemon.ask("DELETE", "/v1/jobs/" + loose["id"]).expect(202)


def test_a_hierarchy_survives_a_restart(_):
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as state, harness.Daemon(state=state) as daemon:
        graph = roads(400, 8)
        first = daemon.solve(graph, "?name=kept&result=hierarchy")
        wanted = daemon.get("/v1/graphs/kept/row/3").expect(200).json
        daemon.terminate()
        daemon.start()
        assert daemon.get("/v1/graphs/kept/row/3", Prefer="wait=60").expect(200).json == wanted
        again = daemon.get("/v1/jobs/" + first["id"]).expect(200).json
        assert again["result"] == first["result"] and again["durable"], again
        # A damaged hierarchy is found by the first query, and solved again in the same form.
        (path,) = [file for file in daemon.files() if file.endswith(".result")]
        daemon.terminate()
        harness.flip(path, 5000)
        daemon.start()
        daemon.get("/v1/graphs/kept/row/3", Prefer="wait=60").expect(409, "NotSolved")
        assert daemon.get("/v1/graphs/kept/row/3", Prefer="wait=60").expect(200).json == wanted
        latest = daemon.get("/v1/jobs?limit=1").json["jobs"][0]
        assert latest["id"] != first["id"] and latest["result"]["kind"] == "hierarchy", latest


if __name__ == "__main__":
    harness.run(globals())
