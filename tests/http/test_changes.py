"""Changes of edges and weights: each makes a new graph, and the name moves to it once it is
solved."""

import concurrent.futures
import pathlib
import random
import struct

import harness

JSON = {"Content-Type": "application/json"}
CSV = {"Content-Type": "text/csv"}
KINDS = {"i4": "i", "u2": "H", "f4": "f", "f8": "d"}


def patch(daemon, graph, changes, query="", **headers):
    body = changes if isinstance(changes, (bytes, str)) else harness.json.dumps(changes)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return daemon.ask("PATCH", f"/v1/graphs/{graph}/edges{query}", body=body, headers={**JSON, **headers})


def change(daemon, graph, changes, query=""):
    answer = patch(daemon, graph, changes, query)
    assert answer.status in (200, 202), (answer.status, answer.body[:400])
    return daemon.finish(answer.json["id"])


def matrix_of(daemon, graph):
    return daemon.get(f"/v1/graphs/{graph}/matrix?format=json", Prefer="wait=60").expect(200).json["distances"]


def draw_edges(draw, n, m):
    edges = {}
    while len(edges) < m:
        s, t = draw.randrange(n), draw.randrange(n)
        if s != t:
            edges[s, t] = draw.randrange(1, 100)
    return edges


def draw_changes(draw, edges, n):
    """Draws new weights, removals and new edges, some of them for the same edge twice."""
    changes = []
    for _ in range(draw.randrange(1, 9)):
        kind = draw.randrange(3)
        s, t = draw.choice(list(edges)) if kind < 2 else (draw.randrange(n), draw.randrange(n))
        if s == t:
            continue
        weight = None if kind == 1 and (s, t) in edges and len(edges) > 5 else draw.randrange(1, 100)
        changes.append([s, t, weight])
        if weight is None:
            edges.pop((s, t), None)
        else:
            edges[s, t] = weight
    return changes or [[*next(iter(edges)), 7]]


def submit_numbered(daemon, edges, n, name, directed):
    lines = "".join(f"{s} {t} {w}\n" for (s, t), w in sorted(edges.items()))
    return daemon.solve(lines.encode(), f"?format=edges&n={n}&name={name}&directed={directed}")


def test_a_changed_graph_equals_an_upload_of_the_same_edges(daemon):
    draw = random.Random(5)
    for round_ in range(12):
        n = draw.randrange(4, 40)
        directed = "true" if round_ % 2 else "false"
        edges = draw_edges(draw, n, 3 * n)
        if directed == "false":
            edges = {(min(e), max(e)): w for e, w in edges.items()}
        submit_numbered(daemon, edges, n, "live", directed)
        for _ in range(3):
            parent = daemon.get("/v1/graphs/live").expect(200).json["id"]
            before = dict(edges)
            changes = draw_changes(draw, edges, n)
            if directed == "false":
                # The endpoints may be in either order; the last change of an edge counts.
                edges = before
                for s, t, w in changes:
                    edges.pop((min(s, t), max(s, t)), None)
                    if w is not None:
                        edges[min(s, t), max(s, t)] = w
            job = change(daemon, "live", changes)
            same = submit_numbered(daemon, edges, n, "other", directed)
            assert job["state"] == "done" and job["graph"] == same["graph"], (job, same)
            assert job["graph"] == parent or job["parent"] == parent, job
            assert daemon.get("/v1/graphs/live").json["id"] == job["graph"]
            assert matrix_of(daemon, "live") == matrix_of(daemon, same["graph"])
            daemon.ask("DELETE", "/v1/graphs/other")
            submit_numbered(daemon, edges, n, "live", directed)


def test_changes_are_accepted_as_json_and_csv(daemon):
    daemon.solve(b"a b 5\nb c 5\n", "?name=forms&directed=true")
    csv = 'source,target,weight\n"a",c,3.5\n\nb, c,\nc,b,null\n'
    answer = daemon.ask("PATCH", "/v1/graphs/forms/edges", body=csv, headers=CSV)
    job = daemon.finish(answer.expect(202).json["id"])
    assert job["state"] == "done" and job["summary"]["kind"] == "f8", job
    assert [w["code"] for w in job["warnings"]] == ["EdgesAbsent", "KindChanged"], job["warnings"]
    edges = daemon.get("/v1/graphs/forms/edges").json["edges"]
    assert edges == [["a", "b", 5], ["a", "c", 3.5]], edges
    # With integers again, here in curl's default media type, the kind is an integer kind again.
    curl = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = daemon.ask("PATCH", "/v1/graphs/forms/edges?wait=60", headers=curl,
                        body='[["a","c",null],["b","c",5]]')
    job = answer.expect(200).json
    assert job["summary"]["kind"] == "i4" and job["warnings"] == [], job
    assert daemon.distance("forms", "a", "c") == 10
    # The columns may have any names that an edge list may have, in any order.
    for body, distance in (("To;cost;From\nc;4;a\n", 4), ("from,to,travel_time_s\na,c,3\n", 3),
                           ("minutes to drive,u,v\n6,a,c\n", 6)):
        answer = daemon.ask("PATCH", "/v1/graphs/forms/edges?wait=60", body=body, headers=CSV)
        assert answer.expect(200).json["state"] == "done", answer.json
        assert daemon.distance("forms", "a", "c") == distance, (body, answer.json)
    tabs = {"Content-Type": "text/tab-separated-values"}
    daemon.ask("PATCH", "/v1/graphs/forms/edges?wait=60", body="a\tc\t5\n", headers=tabs).expect(200)
    assert daemon.distance("forms", "a", "c") == 5
    # A column that numbers the edges is not a weight.
    daemon.ask("PATCH", "/v1/graphs/forms/edges", body="from,to,edge_id\na,c,7\n", headers=CSV).expect(404)


def test_changes_may_have_vertex_names_that_look_like_a_header(daemon):
    daemon.solve(b"from to 5\nto x 5\n", "?name=words&directed=true")
    for weight, distance in (("7", 7), ("", None), ("8", 8), ("null", None)):
        answer = daemon.ask("PATCH", "/v1/graphs/words/edges?wait=60", body=f"from,to,{weight}\n", headers=CSV)
        assert answer.expect(200).json["state"] == "done", answer.json
        assert daemon.distance("words", "from", "to") == distance, (weight, answer.json)


def test_invalid_changes_are_refused(daemon):
    daemon.solve(b"1 2 5\n2 3 5\n3 1 1\n", "?name=bad&directed=true")
    before = daemon.get("/v1/graphs/bad").json
    for changes, status, code in (
        ([[1, 9, 4]], 404, "NoSuchVertex"),
        ([[1, 2]], 400, "BadRequest"),
        ([[1, 2, "5"]], 400, "BadRequest"),
        ([[1, 2, True]], 400, "BadRequest"),
        ({"edges": []}, 400, "BadRequest"),
        ([], 422, "BadGraph"),
        ([[2, 2, -1]], 422, "BadGraph"),
        ("[[1,2,NaN]]", 400, "BadRequest"),
        ("[[1,2,3]] 4", 400, "BadRequest"),
    ):
        patch(daemon, "bad", changes).expect(status, code)
    problem = daemon.ask("PATCH", "/v1/graphs/bad/edges", body="1,2,3\n1,2\n", headers=CSV).expect(400, "BadRequest")
    assert problem.json["line"] == 2, problem.json
    patch(daemon, "bad", b"").expect(422, "EmptyBody")
    patch(daemon, "none", [[1, 2, 3]]).expect(404, "NoSuchGraph")
    patch(daemon, "bad", [[1, 2, 3]], "?name=x").expect(400, "UnknownParameter")
    # Without a Content-Type, the first byte decides.
    for body in ("[[1,9,4]]", "1,9,4\n"):
        daemon.ask("PATCH", "/v1/graphs/bad/edges", body=body).expect(404, "NoSuchVertex")
    types = {"Content-Type": "image/png"}
    daemon.ask("PATCH", "/v1/graphs/bad/edges", body="[]", headers=types).expect(415, "UnsupportedMediaType")
    assert daemon.get("/v1/graphs/bad").json == before


def test_a_change_that_creates_a_negative_cycle_is_not_applied(daemon):
    daemon.solve(b"1 2 5\n2 1 5\n", "?name=cycle&directed=true")
    job = change(daemon, "cycle", [[1, 2, -9]])
    assert job["state"] == "failed" and job["problem"]["code"] == "NegativeCycle", job
    assert daemon.distance("cycle", 1, 2) == 5
    assert change(daemon, "cycle", [[2, 1, 4]])["state"] == "done"
    assert daemon.distance("cycle", 1, 2) == 5 and daemon.distance("cycle", 2, 1) == 4


def test_if_match_guards_a_change(daemon):
    daemon.solve(b"1 2 5\n2 3 5\n", "?name=guarded&directed=true")
    shown = daemon.get("/v1/graphs/guarded")
    tag = shown.headers["ETag"]
    # The document changes while the ETag, which is the ID, stays the same.
    assert shown.headers["Cache-Control"] == "no-store", shown.headers
    assert tag == f'"{daemon.get("/v1/graphs/guarded").json["id"]}"'
    patch(daemon, "guarded", [[1, 2, 6]], If_Match='"other"').expect(412, "PreconditionFailed")
    patch(daemon, "guarded", [[1, 2, 6]], If_Match=f"W/{tag}").expect(412, "PreconditionFailed")
    answer = patch(daemon, "guarded", [[1, 2, 6]], "?wait=60", If_Match=f'"other", W/{tag}, {tag}').expect(200)
    assert answer.json["state"] == "done"
    patch(daemon, "guarded", [[1, 2, 7]], If_Match=tag).expect(412, "PreconditionFailed")
    assert patch(daemon, "guarded", [[1, 2, 7]], "?wait=60", If_Match="*").expect(200).json["state"] == "done"
    assert daemon.distance("guarded", 1, 3) == 12


def test_a_put_of_all_weights_creates_a_new_graph(daemon):
    draw = random.Random(9)
    for kind, limit in (("i4", 10**6), ("u2", 900), ("f4", None), ("f8", None)):
        edges = draw_edges(draw, 12, 40)
        daemon.solve("".join(f"{s} {t} {w}\n" for (s, t), w in edges.items()).encode(),
                     f"?format=edges&n=12&directed=true&kind={kind}&name=metric")
        listed = daemon.get("/v1/graphs/metric/edges").json["edges"]
        weights = [draw.randrange(1, limit) if limit else draw.randrange(1, 4096) / 8 for _ in listed]
        assert daemon.get("/v1/graphs/metric").json["summary"]["kind"] == kind
        path = "/v1/graphs/metric/weights?wait=60"
        body = struct.pack(f"<{len(weights)}{KINDS[kind]}", *weights)
        for wrong in (body[:-1], body + b"\0"):
            daemon.ask("PUT", path, body=wrong).expect(422, "BadGraph")
        job = daemon.ask("PUT", path, body=body).expect(200).json
        assert job["state"] == "done" and job["summary"]["kind"] == kind, job
        assert job["plan"]["kind"] == "dense" or job["plan"]["cached"], job["plan"]
        found = daemon.get("/v1/graphs/metric/edges").json["edges"]
        assert found == [[s, t, w] for (s, t, _), w in zip(listed, weights)]
        daemon.ask("DELETE", "/v1/graphs/metric").expect(204)
    daemon.solve(b"1 2 0.5\n", "?name=metric&directed=true")
    daemon.ask("PUT", "/v1/graphs/metric/weights", body=struct.pack("<f", float("nan"))).expect(422, "BadGraph")


def test_changes_to_a_named_graph_are_applied_in_order(daemon):
    """Many concurrent changes: the distance is the sum of all new weights."""
    n = 40
    ring = "".join(f"{v} {v + 1} 1\n" for v in range(n))
    daemon.solve(ring.encode(), "?name=ring&directed=true")

    def one(at):
        answer = patch(daemon, "ring", [[at, at + 1, 1000 + at]])
        return daemon.finish(answer.expect(202).json["id"])

    with concurrent.futures.ThreadPoolExecutor(n) as pool:
        jobs = list(pool.map(one, range(n)))
    assert all(job["state"] == "done" for job in jobs), jobs
    assert daemon.distance("ring", 0, n) == sum(1000 + at for at in range(n))
    # Each change was applied to the result of another, in one chain from the first graph to the
    # last.
    parents = {job["parent"]: job["graph"] for job in jobs}
    assert len(parents) == n, parents


def test_changed_graphs_are_deleted_when_their_name_moves_to_another_graph(daemon):
    uploaded = daemon.solve(b"1 2 1\n2 3 1\n", "?name=moving&directed=true")["graph"]
    jobs = [change(daemon, "moving", [[1, 2, weight]]) for weight in range(2, 9)]
    kept = {jobs[-1]["graph"]}
    harness.wait_until(daemon, lambda: all(
        (daemon.get(f"/v1/graphs/{job['graph']}").status == 200) == (job["graph"] in kept) for job in jobs))
    assert daemon.get(f"/v1/graphs/{uploaded}").status == 200
    # A graph that is also requested by its ID is not deleted.
    old = jobs[-1]["graph"]
    body = harness.json.dumps({"graph": old, "kind": "f8"})
    daemon.finish(daemon.ask("POST", "/v1/jobs", body=body, headers=JSON).json["id"])
    for weight in range(20, 25):
        change(daemon, "moving", [[1, 2, weight]])
    assert daemon.get(f"/v1/graphs/{old}").status == 200
    # An upload takes over the name.
    last = daemon.get("/v1/graphs/moving").json["id"]
    answer = daemon.ask("POST", "/v1/graphs?name=moving", body=b"1 2 99\n").expect(201).json
    assert "deleted" in answer["warnings"][-1]["hint"], answer
    harness.wait_until(daemon, lambda: daemon.get(f"/v1/graphs/{last}").status == 404)


def test_a_graph_is_kept_when_it_is_changed_by_its_id(daemon):
    parent = daemon.solve(b"1 2 1\n2 3 2\n", "?directed=true")["graph"]
    jobs = [change(daemon, parent, [[1, 2, weight]]) for weight in range(2, 8)]
    for job in jobs:
        assert job["parent"] == parent
        assert daemon.get(f"/v1/graphs/{job['graph']}").json["parent"] == parent
    assert daemon.distance(parent, 1, 3) == 3 and daemon.distance(jobs[3]["graph"], 1, 3) == 7


def test_a_change_does_not_take_back_a_name_that_has_moved(_):
    with harness.Daemon("--solver", "cpu", "--solver.cpu_threads", "1") as daemon:
        daemon.solve(b"1 2 1\n2 3 2\n", "?name=taken&directed=true")
        block = daemon.submit(harness.slow_graph(), "?format=dimacs").expect(202).json["id"]
        job = patch(daemon, "taken", [[1, 2, 5]]).expect(202).json
        other = daemon.ask("POST", "/v1/graphs?name=taken", body=b"1 2 7\n").expect(201).json["id"]
        daemon.ask("DELETE", f"/v1/jobs/{block}").expect(202)
        assert daemon.finish(job["id"])["state"] == "done"
        assert daemon.get("/v1/graphs/taken").json["id"] == other


def test_a_change_with_a_repeated_idempotency_key_returns_the_same_job(daemon):
    daemon.solve(b"once 2 1\n2 3 2\n", "?name=once&directed=true")
    first = patch(daemon, "once", [["once", "2", 5]], Idempotency_Key="k1").expect(202).json["id"]
    daemon.finish(first)
    again = patch(daemon, "once", [["once", "2", 5]], Idempotency_Key="k1").expect(200).json
    assert again["id"] == first
    patch(daemon, "once", [["once", "2", 6]], Idempotency_Key="k1").expect(422, "IdempotencyMismatch")
    # This holds even if the result has the same form as the parent's result.
    daemon.solve(b"0 1 3\n1 2 4\n", "?name=formed&result=hierarchy&format=edges")
    first = patch(daemon, "formed", [[0, 1, 5]], Idempotency_Key="k2").expect(202).json["id"]
    assert daemon.finish(first)["result"]["kind"] == "hierarchy"
    assert patch(daemon, "formed", [[0, 1, 5]], Idempotency_Key="k2").expect(200).json["id"] == first
    patch(daemon, "formed", [[0, 1, 5]], "?result=matrix", Idempotency_Key="k2").expect(422, "IdempotencyMismatch")


def test_a_change_survives_a_kill(_):
    with harness.Daemon("--solver", "cpu", "--solver.cpu_threads", "1") as daemon:
        daemon.solve(b"1 2 1\n2 3 2\n", "?name=kept&directed=true")
        block = daemon.submit(harness.slow_graph(), "?format=dimacs").expect(202).json["id"]
        job = patch(daemon, "kept", [[1, 2, 5]]).expect(202).json
        assert daemon.distance("kept", 1, 3) == 3
        daemon.kill()
        daemon.start()
        daemon.ask("DELETE", f"/v1/jobs/{block}").expect(202)
        assert daemon.finish(job["id"])["state"] == "done"
        assert daemon.distance("kept", 1, 3) == 7
        # The next changes no longer wait for this name, and their parents are deleted.
        for weight in range(6, 10):
            change(daemon, "kept", [[1, 2, weight]])
        last = daemon.get("/v1/graphs/kept").json["id"]
        daemon.terminate()
        daemon.start()
        for weight in range(10, 13):
            change(daemon, "kept", [[1, 2, weight]])
        harness.wait_until(daemon, lambda: daemon.get(f"/v1/graphs/{last}").status == 404)
        harness.wait_until(daemon, lambda: len(daemon.get("/v1/graphs").json["graphs"]) == 3)


def path_of(weights):
    lines = [f"a {i} {i + 1} {weight}\n" for i, weight in enumerate(weights, 1)]
    return f"p sp {len(weights) + 1} {len(weights)}\n{''.join(lines)}".encode()


def test_changed_graphs_are_read_from_their_files_after_a_kill(_):
    for isolation in ("thread", "process"):
        with harness.Daemon("--solver", "cpu", "--worker.isolation", isolation) as daemon:
            weights = [1] * 2999
            daemon.solve(path_of(weights), "?name=road&result=hierarchy&format=dimacs")
            for i in range(12):
                weights[i] = 5 + i
                last = change(daemon, "road", [[i + 1, i + 2, 5 + i]])
            graph = last["graph"]
            daemon.kill()
            daemon.start()
            assert daemon.finish(last["id"])["state"] == "done"
            assert daemon.distance("road", 1, 3000) == sum(weights)
            body = harness.json.dumps({"graph": graph, "kind": "f8", "result": "hierarchy"})
            job = daemon.ask("POST", "/v1/jobs", body=body, headers=JSON).json["id"]
            assert daemon.finish(job)["state"] == "done"
            assert daemon.distance(graph, 1, 3000) == sum(weights)
            answer = daemon.ask("POST", "/v1/graphs?format=dimacs", body=path_of(weights))
            assert answer.json["id"] == graph and answer.status == 200, (answer.status, answer.json)


def test_an_updated_matrix_equals_a_newly_solved_matrix(daemon):
    draw = random.Random(3)
    n = 300
    for kind, directed in (("i4", "true"), ("f4", "false"), ("f8", "true")):
        edges = draw_edges(draw, n, 8 * n)
        if directed == "false":
            edges = {(min(e), max(e)): w for e, w in edges.items()}
        lines = "".join(f"{s} {t} {w + 50}\n" for (s, t), w in edges.items())
        query = f"?format=edges&n={n}&directed={directed}&kind={kind}&name=fast&result=matrix"
        before = daemon.solve(lines.encode(), query)
        (first, second) = draw.sample(sorted(edges), 2)
        changes = [[*first, 1]]
        job = change(daemon, "fast", changes)
        assert job["state"] == "done" and job["parent"] == before["graph"], job
        raw = daemon.get("/v1/graphs/fast/matrix?format=raw").expect(200).body
        # Before and after its file was written, the daemon gives the same answer.
        daemon.wait_until_durable(job["id"])
        assert raw == daemon.get("/v1/graphs/fast/matrix?format=raw").expect(200).body
        job = change(daemon, "fast", [[*first, 1.0], [*second, 2]])
        found = [daemon.get(f"/v1/graphs/fast/row/{v}").json["distances"] for v in range(0, n, 37)]
        stats = daemon.get("/v1/graphs/fast/stats").json
        again = harness.json.dumps({"graph": job["graph"], "kind": kind, "verify": True})
        document = daemon.finish(daemon.submit(again, Content_Type="application/json").json["id"])
        assert document["state"] == "done" and document["verified"]["rows"] > 0, document
        assert found == [daemon.get(f"/v1/graphs/fast/row/{v}").json["distances"] for v in range(0, n, 37)]
        assert stats == daemon.get("/v1/graphs/fast/stats").json
    s, t = next(iter(edges))
    job = change(daemon, "fast", [[s, t, 1], [t, s, -2]])
    assert job["state"] == "failed" and job["problem"]["code"] == "NegativeCycle", job


def test_coordinates_follow_the_name_to_the_changed_graph(daemon):
    daemon.solve(b"1 2 5\n2 3 5\n", "?name=placed&directed=true")
    places = {"Content-Type": "text/csv"}
    daemon.ask("PUT", "/v1/graphs/placed/coordinates", body="vertex,lon,lat\n1,10,50\n2,11,50\n3,12,50\n",
               headers=places).expect(201)
    for weight in (6, 7, 5, 8):  # back to the first graph, and again
        job = change(daemon, "placed", [[1, 2, weight]])
        found = daemon.get("/v1/graphs/placed").json
        assert found["id"] == job["graph"] and found["coordinates"]["located"] == 3, found
        assert daemon.get("/v1/graphs/placed/nearest?lon=11.9&lat=50").expect(200).json["vertex"] == 3
    # New coordinates belong to the graph that has the name at that time.
    daemon.ask("PUT", "/v1/graphs/placed/coordinates", body="vertex,x,y\n1,0,0\n", headers=places).expect(200)
    change(daemon, "placed", [[1, 2, 9]])
    assert daemon.get("/v1/graphs/placed").json["coordinates"]["system"] == "plane"


def test_a_change_updates_the_hierarchy_of_its_parent(daemon):
    grid = "".join(f"{v} {v + 1} 3\n" for v in range(1, 200)) + "".join(f"{v} {v + 14} 5\n" for v in range(1, 186))
    daemon.solve(grid.encode(), "?name=roads&directed=false&result=hierarchy")
    job = change(daemon, "roads", [[1, 15, 1], [15, 29, 1], [29, 43, 1]])
    assert job["result"]["kind"] == "hierarchy", job
    assert daemon.distance("roads", 1, 43) == 3


def test_a_changed_hierarchy_gives_the_same_answers_as_a_matrix(daemon):
    draw = random.Random(8)
    n = 60
    edges = draw_edges(draw, n, 3 * n)
    lines = "".join(f"{s} {t} {w}\n" for (s, t), w in sorted(edges.items()))
    daemon.solve(lines.encode(), f"?format=edges&n={n}&name=ways&directed=true&result=hierarchy")
    for round_ in range(20):
        # Draws longer and shorter edges, removals, and at the end edges without an arc.
        chosen = draw.sample(sorted(edges), 6)
        changes = [[s, t, draw.choice((None, 1, 50, 300))] for s, t in chosen]
        if round_ > 15:
            changes.append([*draw.sample(range(n), 2), 2])
        for s, t, w in changes:
            edges.pop((s, t), None)
            if w is not None:
                edges[s, t] = w
        job = change(daemon, "ways", changes)
        assert job["state"] == "done" and job["result"]["kind"] == "hierarchy", job
        if round_ <= 15:
            # The parent's shape was reused, so nothing was planned.
            assert job["plan"]["cached"] and job["plan"]["planning_s"] == 0, job
        submit_numbered(daemon, edges, n, "whole", "true")
        assert matrix_of(daemon, "ways") == matrix_of(daemon, "whole")


def test_a_changed_hierarchy_shares_the_file_of_its_parent(_):
    def sizes():
        """Returns the sizes of the files, those of the newest graph by what follows its ID."""
        graph = daemon.get("/v1/graphs/live").json["id"]
        files = pathlib.Path(daemon.state, "results").iterdir()
        return {file.name.removeprefix(graph): file.stat().st_size for file in files}

    with harness.Daemon() as daemon:
        first = daemon.solve(path_of([3] * 4000), "?name=live&result=hierarchy")
        for weight in (4, 5, 6):
            job = change(daemon, "live", [[1, 2, weight]])
        harness.wait_until(daemon, lambda: daemon.get(f"/v1/jobs/{job['id']}").json["durable"])
        daemon.ask("DELETE", f"/v1/graphs/{first['graph']}").expect(204)
        harness.wait_until(daemon, lambda: len(sizes()) == 2)
        found = sizes()
        assert 4 * found[".i4.result"] < found[".i4.result.root"] == job["result"]["bytes"], (found, job)
        daemon.terminate()
        daemon.start()
        assert daemon.distance("live", 1, 3) == 9
        # A damaged root is found by the first query, and the graph is solved again.
        daemon.terminate()
        (root,) = pathlib.Path(daemon.state, "results").glob("*.root")
        harness.flip(root, 50000)
        daemon.start()
        query = "/v1/graphs/live/distance?source=1&target=3"
        daemon.get(query, Prefer="wait=60").expect(409, "NotSolved")
        assert daemon.get(query, Prefer="wait=60").expect(200).json["distance"] == 9
        harness.wait_until(daemon, lambda: list(sizes()) == [".i4.result"])
        change(daemon, "live", [[2, 3, 1]])
        assert daemon.distance("live", 1, 3) == 7
        daemon.ask("DELETE", "/v1/graphs/live").expect(204)
        harness.wait_until(daemon, lambda: not list(pathlib.Path(daemon.state, "results").iterdir()))


def test_a_put_of_all_weights_customizes_the_hierarchy(daemon):
    n = 300
    edges = draw_edges(random.Random(9), n, 4 * n)
    lines = "".join(f"{s} {t} {w}\n" for (s, t), w in sorted(edges.items()))
    daemon.solve(lines.encode(), f"?format=edges&n={n}&name=all&directed=true&result=hierarchy")
    weights = [7 + number % 50 for number in range(len(edges))]
    answer = daemon.ask("PUT", "/v1/graphs/all/weights?wait=60", struct.pack(f"<{len(weights)}i", *weights))
    job = answer.expect(200).json
    assert job["state"] == "done" and job["plan"]["cached"] and job["plan"]["planning_s"] == 0, job
    submit_numbered(daemon, dict(zip(sorted(edges), weights)), n, "whole", "true")
    assert matrix_of(daemon, "all") == matrix_of(daemon, "whole")


def test_a_change_to_a_negative_weight_updates_the_statistics(daemon):
    """The changed distances are below the first bin of the parent's statistics."""
    n = 300
    lines = "".join(f"{v} {v + 1} 5\n" for v in range(n - 1))
    daemon.solve(lines.encode(), f"?format=edges&n={n}&name=line&directed=true")
    for weight in (-3, -3000, -10000000):
        job = change(daemon, "line", [[0, 1, weight]])
        assert job["state"] == "done", job
        stats = daemon.get("/v1/graphs/line/stats").expect(200).json
        assert sum(stats["histogram"]["counts"]) == n * (n - 1) // 2, stats
        assert stats["histogram"]["min"] == weight, stats


if __name__ == "__main__":
    harness.run(globals(), ("--jobs.queue_limit", "200"))
