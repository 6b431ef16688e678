"""Tests every way to submit a graph, and the responses."""

import gzip
import json
import os
import re
import shutil
import struct
import subprocess

import harness
from harness import SMALL, curl, wait_until


def test_a_graph_is_accepted_and_solved(daemon):
    answer = daemon.submit(SMALL).expect(202)
    document = answer.json
    assert answer.headers["Location"] == "/v1/jobs/" + document["id"]
    assert int(answer.headers["Retry-After"]) >= 1
    assert document["state"] in ("queued", "running")
    done = daemon.finish(document["id"])
    assert done["state"] == "done" and done["problem"] is None, done
    assert done["summary"]["n"] == 4 and done["summary"]["m"] == 4, done


def test_a_job_for_a_solved_graph_is_done_immediately(daemon):
    first = daemon.solve(SMALL)
    daemon.wait_until_durable(first["id"])
    answer = daemon.submit(SMALL).expect(200)
    assert answer.json["state"] == "done" and answer.json["durable"] is True, answer.json
    assert answer.headers["Location"] == "/v1/jobs/" + answer.json["id"]


def test_a_request_with_prefer_wait_returns_the_finished_document(daemon):
    answer = daemon.submit(b"1 2 3\n2 9 4\n", Prefer="wait=30").expect(200)
    assert answer.json["state"] == "done"
    assert answer.headers["Preference-Applied"] == "wait=30"
    answer = daemon.submit(b"1 2 3\n2 9 5\n", "?wait=30").expect(200)
    assert answer.json["state"] == "done"


def test_curl_can_upload_by_post_and_put(daemon):
    path = os.path.join(daemon.scratch, "small.gr")
    with open(path, "wb") as file:
        file.write(SMALL)
    daemon.solve(SMALL)
    code, status, body = curl("--data-binary", f"@{path}", daemon.url + "/v1/jobs")
    assert (code, status) == (0, 200), (code, status, body)
    code, status, body = curl("-T", path, daemon.url + "/v1/jobs")
    assert (code, status) == (0, 200), (code, status, body)
    code, status, body = curl("-T", "-", "-H", "Expect:", daemon.url + "/v1/jobs?format=dimacs")
    assert status == 422, (code, status, body)


def test_expect_100_continue_is_answered_before_the_body(daemon):
    body = b"".join(b"c a comment line\n" for _ in range(200_000)) + SMALL
    done = subprocess.run(
        ["curl", "-sS", "-m", "300", "-i", "-H", "Expect: 100-continue", "--data-binary", "@-",
         daemon.url + "/v1/jobs"], input=body, capture_output=True)
    assert done.stdout.startswith(b"HTTP/1.1 100 Continue"), done
    assert b"HTTP/1.1 20" in done.stdout, done.stdout[:300]


def test_a_chunked_body_may_be_split_at_any_byte(daemon):
    def pieces():
        for i in range(len(SMALL)):
            yield SMALL[i : i + 1]

    daemon.solve(SMALL)
    connection = daemon.connect()
    connection.request("POST", "/v1/jobs", body=pieces(), headers={"Transfer-Encoding": "chunked"},
                       encode_chunked=True)
    assert connection.getresponse().status == 200
    connection.close()


def test_concurrent_uploads_share_the_upload_memory(_):
    body = harness.long_edges(240_000)
    with harness.Daemon("--http.upload_memory", "2MiB", *harness.NO_DEADLINES) as daemon:
        assert daemon.get("/v1/limits").json["upload_memory_bytes"] == 2 << 20
        # The headers of an upload reserve no memory.
        second = harness.asked_for_body(daemon, "/v1/jobs?wait=0", len(body))
        first = harness.drip_all(daemon)
        refused = daemon.submit(body).expect(429, "TooManyUploads")
        assert int(refused.headers["Retry-After"]) >= 1, refused.headers
        assert refused.json["limit"] == 2 << 20, refused.json
        assert refused.headers["Content-Type"] == "application/problem+json", refused.headers
        assert len(refused.headers.get_all("Retry-After")) == 1, refused.headers
        code, status, _ = curl("-H", "Expect: 100-continue", "--data-binary", "@-", daemon.url + "/v1/jobs",
                               body=body)
        assert (code, status) == (0, 429), (code, status)
        chunks = (body[at : at + 65536] for at in range(0, len(body), 65536))
        connection = daemon.connect()
        connection.request("POST", "/v1/jobs", chunks, {"Transfer-Encoding": "chunked"}, encode_chunked=True)
        answer = connection.getresponse()
        assert answer.status == 429 and int(answer.headers["Retry-After"]) >= 1, answer.headers
        connection.close()
        daemon.submit(harness.long_edges(70_000), "?wait=30").expect(200)
        first.close()
        wait_until(daemon, lambda: daemon.submit(body).status != 429)
        second.send(body)
        assert second.getresponse().status in (200, 202)
        second.close()
        daemon.submit(body + b"9 1 2\n", "?wait=30").expect(200)


def test_concurrent_query_bodies_share_the_upload_memory(_):
    body = b'{"pairs":[' + b"[1,2]," * 500_000 + b"[1,2]]}"
    with harness.Daemon("--http.upload_memory", "8MiB", *harness.NO_DEADLINES) as daemon:
        daemon.solve(b"p sp 2 1\na 1 2 5\n", "?name=small")
        # One upload fits in the half of an address. The daemon reads each body as far as it has been
        # sent before the next begins, because uploads that grow side by side may all be refused.
        connections = [daemon.connect() for _ in range(4)]
        for connection in connections:
            connection.putrequest("POST", "/v1/graphs/small/distances")
            connection.putheader("Content-Length", str(len(body)))
            connection.endheaders()
            connection.send(body[:-300_000])
            wait_until(daemon, lambda: harness.unread_bytes(connection.sock) == 0)
        statuses = []
        for connection in connections:
            connection.send(body[-300_000:])
            answer = connection.getresponse()
            assert (answer.headers["Retry-After"] is not None) == (answer.status == 429), answer.headers
            statuses.append(answer.status)
            answer.read()
            connection.close()
        assert statuses == [200, 429, 429, 429], statuses
        wait_until(daemon, lambda: daemon.ask("POST", "/v1/graphs/small/distances", body=body).status == 200)


def test_an_upload_reserves_no_memory_before_its_body_arrives(_):
    with harness.Daemon("--http.upload_memory", "64MiB", *harness.NO_DEADLINES) as daemon:
        drops = [harness.Drip(daemon) for _ in range(8)]
        harness.upload_beside(daemon, drops, "127.0.0.1")


def test_an_address_can_use_at_most_half_of_the_upload_memory(_):
    with harness.Daemon("--http.upload_memory", "32MiB", *harness.NO_DEADLINES) as daemon:
        drops = [harness.Drip(daemon, "127.0.0.2", 1 << 19) for _ in range(40)]
        harness.upload_beside(daemon, drops, "127.0.0.1")
        # Each of the 16 uploads reserves one step of 1 MiB.
        statuses = [drop.finish() for drop in drops]
        assert statuses.count(429) == 24, statuses


def test_the_format_is_detected_or_given_explicitly(daemon):
    bodies = [
        ("", {}, b'{"n":3,"edges":[[0,1,5],[1,2,7]]}'),
        ("", {}, b'{"nodes":[{"id":"a"},{"id":"b"}],"links":[{"source":"a","target":"b"}]}'),
        ("", {}, b'{"nodes":[{"id":1},{"id":2}],"edges":[{"source":1,"target":2}]}'),
        ("", {"Content-Type": "text/csv"}, b"source,target,weight\na,b,2.5\n"),
        ("?format=edges", {"Content-Type": "application/json"}, b"a b 1\n"),
        ("?format=nthu", {}, struct.pack("<5i", 2, 1, 0, 1, 5)),
        ("", {"Content-Type": "application/x-fw-nthu"}, struct.pack("<5i", 2, 1, 0, 1, 6)),
    ]
    for query, headers, body in bodies:
        answer = daemon.ask("POST", "/v1/jobs" + query, body=body, headers=headers)
        assert answer.status in (200, 202), (query, body, answer.body)
        done = daemon.finish(answer.json["id"])
        assert done["state"] == "done", (query, body, done)


def test_the_id_of_a_graph_is_independent_of_the_order_of_its_edges(_):
    """The ID is the same for edges in order, with the first edge at the end, with the last two
    exchanged, in reverse order, and with a loop and a duplicate edge."""
    count = 150_000
    edges = [(i // 60, 10_000 + i % 60 * 150, i % 7 + 1) for i in range(count)]

    def nthu(listed, kind=""):
        body = struct.pack("<2i", 20_000, len(listed)) + b"".join(struct.pack("<3i", *edge) for edge in listed)
        return daemon.ask("POST", "/v1/graphs?format=nthu" + kind, body=body)

    with harness.Daemon() as daemon:
        first = nthu(edges).expect(201).json
        assert first["m"] == count, first
        for listed in (edges, edges[1:] + edges[:1], edges[:-2] + [edges[-1], edges[-2]], edges[::-1],
                       edges[:120_000] + [(2000, 2000, 5)] + edges[119_999:]):
            again = nthu(listed).expect(200).json
            assert again["id"] == first["id"], (again, first)
        text = "p sp 20000 %d\n" % count + "".join("a %d %d %d\n" % (s + 1, t + 1, w) for s, t, w in edges)
        other = daemon.ask("POST", "/v1/graphs?format=dimacs", body=text.encode()).expect(201).json
        assert other["id"] != first["id"]  # its vertices are named from 1
        assert other["m"] == count, other
        edges[70_000] = (*edges[70_000][:2], 9)
        assert nthu(edges).expect(201).json["id"] not in (first["id"], other["id"])


def test_a_name_is_never_parsed_as_edges(_):
    """The ID is the digest of a canonical form. If the counts preceded the names in that form, the
    bytes after the first offsets of one graph could be parsed as the edges of another, and the
    remaining bytes as a name."""
    n, m, listed = 20, 10, 4
    size = listed + 8 * (n + 1) + 40 + 16
    words = [0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 16 + 4 + size, 0, 4, 1, size, 0, size, 0x20202020]
    edges = [(i + 5, words[i], words[m + i]) for i in range(m)]
    rows = [sum(edge[0] < row for edge in edges) for row in range(n + 1)]
    name = struct.pack(f"<I{n + 1}Q5QIIQ", words[-1], *rows, n, m, 1, 1, 16, 1, n, 0)
    assert len(name) == size
    named = {"directed": True, "nodes": [{"id": name.decode("ascii")}], "links": []}
    other = struct.pack("<2i", n, m) + b"".join(struct.pack("<3i", *edge) for edge in edges)
    with harness.Daemon() as daemon:
        first = daemon.ask("POST", "/v1/graphs?format=json", body=json.dumps(named).encode()).expect(201).json
        second = daemon.ask("POST", "/v1/graphs?format=nthu", body=other).expect(201).json
        assert (first["n"], second["n"]) == (1, n) and first["id"] != second["id"], (first, second)


def test_the_format_is_found_by_content_by_parameter_and_by_media_type(daemon):
    graphml = (b'<graphml><graph edgedefault="undirected"><node id="1"/><node id="2"/>'
               b'<edge source="1" target="2"/></graph></graphml>')
    shape = b"{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2), }\n"
    npy = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(shape)) + shape
    jgf = b'{"graph":{"nodes":{"a":{},"b":{}},"edges":[{"source":"a","target":"b"}]}}'
    for name, media_type, body in (
        ("mtx", "text/x-matrix-market", b"%%MatrixMarket matrix array integer general\n1 1\n0\n"),
        ("metis", "text/x-metis", b"3 2 1\n2 7\n1 7 3 8\n2 8\n"),
        ("matrix", "text/x-matrix", b"0 5 inf\n5 0 2.5\ninf 1e-2 0\n"),
        ("jgf", "application/vnd.jgf+json", jgf),
        ("jgf", "application/json", jgf),
        ("graphml", "application/graphml+xml", graphml),
        ("graphml", "text/xml; charset=utf-8", graphml),
        ("npy", "application/x-npy", npy + struct.pack("<4i", 0, 1073741823, 5, 0)),
    ):
        for query, headers in (("", {}), ("?format=" + name, {}), ("", {"Content-Type": media_type})):
            answer = daemon.ask("POST", "/v1/jobs" + query, body=body, headers=headers)
            assert answer.status in (200, 202), (name, query, answer.body)
            done = daemon.finish(answer.json["id"])
            assert done["state"] == "done" and done["input"]["format"] == name, done
            assert done["input"]["guessed"] == (not query and not headers), done


def test_a_matrix_in_csv_can_be_uploaded_again(daemon):
    edges = b"".join(b"%d %d %d\n" % (i, (i * 7 + k) % 50, i * k % 9) for i in range(40) for k in (1, 3))
    first = daemon.solve(edges, "?n=50")["graph"]
    matrix = daemon.get(f"/v1/graphs/{first}/matrix?format=csv").expect(200).body
    assert b",," in matrix and matrix.count(b"\n") == 50, matrix[:200]
    graphs = set()
    for query, headers in (("", {}), ("", {"Content-Type": "text/csv"}), ("?format=matrix", {})):
        answer = daemon.ask("POST", "/v1/jobs" + query, body=matrix, headers=headers)
        assert answer.status in (200, 202), answer.body
        done = daemon.finish(answer.json["id"])
        assert done["input"]["format"] == "matrix" and done["summary"]["n"] == 50, done
        graphs.add(done["graph"])
        again = daemon.get(f"/v1/graphs/{done['graph']}/matrix?format=csv").expect(200).body
        assert again == matrix
    named = daemon.get(f"/v1/graphs/{first}/matrix?format=csv&header=true").expect(200).body
    graphs.add(daemon.solve(named)["graph"])
    assert len(graphs) == 1, graphs
    problem = daemon.submit(b"1 2 3 4\n5 6 7 8\n").expect(422, "BadGraph").json
    assert "format=matrix" in problem["hint"] and "weight=3" in problem["hint"], problem


def test_an_error_after_a_guess_names_the_guessed_format(daemon):
    body = b"1,2,5\n3,4\n"
    problem = daemon.submit(body).expect(422, "BadGraph").json
    assert "read as a list of edges" in problem["hint"], problem
    assert "hint" not in daemon.submit(body, "?format=edges").expect(422).json
    problem = daemon.submit(b'{"n":1,"edges":[[0,1]]}').expect(422, "BadGraph").json
    assert "hint" not in problem, problem


def test_parameters_that_a_format_does_not_accept_are_refused(daemon):
    metis = b"3 2\n2\n1 3\n2\n"
    for query, body in (
        ("?weight=km", metis), ("?directed=true", metis), ("?n=4", metis),
        ("?weight=km", SMALL), ("?n=5", SMALL),
        ("?directed=false",
         b"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 5\n"),
        ("?weight=km", b"%%MatrixMarket matrix coordinate real general\n1 1 0\n"),
        ("?weight=km", b"a b 3\n"),
        ("?weight=km", b'<graphml><graph><node id="a"/><edge source="a" target="a"/></graph></graphml>'),
        ("?n=7", b'{"graph":{"nodes":{}}}'),
    ):
        problem = daemon.submit(body, query).expect(400, "BadParameter").json
        assert query[1:].split("=")[0] in problem["detail"], (query, body, problem)


def test_compressed_bodies_give_the_same_graph(daemon):
    graph = daemon.solve(SMALL)["graph"]
    half = len(SMALL) // 2
    members = gzip.compress(SMALL[:half]) + gzip.compress(SMALL[half:])
    bodies = [("gzip", gzip.compress(SMALL)), ("x-gzip", members), ("GZIP", members)]
    if shutil.which("zstd"):
        packed = subprocess.run(["zstd", "-c"], input=SMALL, capture_output=True, check=True).stdout
        bodies += [("zstd", packed), ("zstd", packed)]
    for encoding, body in bodies:
        for path in ("/v1/jobs", "/v1/jobs?format=dimacs"):
            answer = daemon.ask("POST", path, body=body, headers={"Content-Encoding": encoding})
            assert answer.expect(200).json["graph"] == graph, (encoding, answer.body)
    stored = gzip.compress(json.dumps({"graph": graph}).encode())
    headers = {"Content-Encoding": "gzip"}
    assert daemon.ask("POST", "/v1/jobs", body=stored, headers=headers).json["graph"] == graph


def test_the_job_document_reports_how_the_graph_was_read(daemon):
    body = b"from;to;km\na;b;7\nb;c;8\n"
    headers = {"Content-Encoding": "gzip"}
    answer = daemon.ask("POST", "/v1/jobs?directed=false", gzip.compress(body), headers)
    for document in (answer.expect(202).json, daemon.finish(answer.json["id"])):
        assert document["input"] == {
            "format": "edges", "guessed": True, "encoding": "gzip",
            "variant": "semicolons, with header", "weight": "km", "directed": False,
            "directed_by": "parameter", "names": "strings", "bytes": len(gzip.compress(body)),
            "decoded_bytes": len(body), "loops_dropped": 0, "parallel_merged": 0, "cached": False}, document["input"]
    # The graph has the same ID in another format, and the job reports its own upload.
    json_body = b'{"directed":false,"nodes":[{"id":"a"},{"id":"b"},{"id":"c"}],"links":[{"source":"a","target":"b",' \
        b'"weight":7},{"source":"c","target":"b","weight":8}]}'
    again = daemon.submit(json_body, "?format=json").expect(200).json
    assert again["graph"] == answer.json["graph"], again
    assert again["input"]["variant"] == "node-link" and not again["input"]["guessed"], again
    stored = daemon.ask("POST", "/v1/graphs", body=b"1 2\n2 1\n7 8\n").expect(201).json
    assert stored["input"]["weight"] is None and stored["input"]["names"] == "integers", stored
    by_name = daemon.ask("POST", "/v1/jobs", body=json.dumps({"graph": stored["id"]}))
    assert by_name.json["input"] is None, by_name.json


def test_a_job_may_name_a_stored_graph(daemon):
    stored = daemon.ask("POST", "/v1/graphs?name=stored", body=b"1 2 3\n5 2 3\n").expect(201)
    assert stored.headers["Location"] == "/v1/graphs/" + stored.json["id"]
    again = daemon.ask("PUT", "/v1/graphs", body=b"1 2 3\n5 2 3\n").expect(200)
    assert again.json["id"] == stored.json["id"]
    for key in ("stored", stored.json["id"]):
        assert daemon.get(f"/v1/graphs/{key}/vertices").expect(200).json == {"vertices": [1, 2, 5]}
    daemon.get("/v1/graphs/nowhere/vertices").expect(404, "NoSuchGraph")
    unsolved = daemon.get("/v1/graphs/stored/distance?source=1&target=2").expect(409, "NotSolved")
    assert "hint" in unsolved.json or unsolved.json["detail"]
    body = json.dumps({"graph": "stored", "priority": 3, "wait": 30})
    done = daemon.ask("POST", "/v1/jobs", body=body).expect(200).json
    assert done["state"] == "done" and done["priority"] == 3, done
    assert daemon.distance("stored", 5, 2) == 3
    daemon.ask("POST", "/v1/jobs", body='{"graph":"nowhere"}').expect(404, "NoSuchGraph")
    daemon.ask("POST", "/v1/jobs", body='{"graph":"stored","x":1}').expect(400, "UnknownParameter")


def test_requests_with_the_same_idempotency_key_return_the_same_job(daemon):
    first = daemon.submit(b"1 2 11\n", Idempotency_Key="once").json["id"]
    assert daemon.submit(b"1 2 11\n", Idempotency_Key="once").json["id"] == first
    daemon.submit(b"1 2 12\n", Idempotency_Key="once").expect(422, "IdempotencyMismatch")
    daemon.submit(b"1 2 12\n", Idempotency_Key="a b").expect(400, "BadRequest")


def test_graphs_are_listed_shown_and_deleted(daemon):
    graph = daemon.solve(b"1 2 77\n", "?name=short-lived")["graph"]
    document = daemon.get("/v1/graphs/short-lived").expect(200).json
    assert document["id"] == graph and "short-lived" in document["names"], document
    listed = []
    cursor = ""
    while True:
        page = daemon.get(f"/v1/graphs?limit=2{cursor}").expect(200).json
        assert len(page["graphs"]) <= 2
        listed += [entry["id"] for entry in page["graphs"]]
        if page["next"] is None:
            break
        cursor = "&cursor=" + page["next"]
    assert graph in listed and len(set(listed)) == len(listed), listed
    assert daemon.ask("DELETE", f"/v1/graphs/{graph}").expect(204).body == b""
    daemon.get(f"/v1/graphs/{graph}").expect(404, "NoSuchGraph")
    daemon.ask("DELETE", f"/v1/graphs/{graph}").expect(404, "NoSuchGraph")


def test_a_request_id_is_returned(daemon):
    assert daemon.get("/livez", X_Request_Id="mine.1-2_3").headers["X-Request-Id"] == "mine.1-2_3"
    assert daemon.get("/livez", X_Request_Id="not mine").headers["X-Request-Id"] != "not mine"
    assert daemon.get("/livez", X_Request_Id="x" * 65).headers["X-Request-Id"] != "x" * 65
    ids = {daemon.get("/livez").headers["X-Request-Id"] for _ in range(20)}
    assert len(ids) == 20


def test_information_about_the_service_is_returned(daemon):
    assert daemon.get("/readyz").expect(200).json["ready"] is True
    assert daemon.get("/readyz?verbose").expect(200).json["checks"]["worker"] is True
    for path in ("/livez", "/v2/health/live", "/v2/health/ready"):
        daemon.get(path).expect(200)
    version = daemon.get("/version").expect(200).json
    assert version["api"] == "v1" and isinstance(version["build"]["cuda"], bool), version
    assert re.fullmatch("(?:[0-9a-f]{40})?", version["commit"]), version
    limits = daemon.get("/v1/limits").expect(200).json
    assert limits["vertex_limit"] > 0 and limits["body_limit_bytes"] > 0, limits
    formats = daemon.get("/v1/formats").expect(200).json
    inputs = {entry["name"]: entry for entry in formats["inputs"]}
    assert set(inputs) == {"dimacs", "mtx", "metis", "edges", "nthu", "json", "jgf", "graphml",
                           "npy", "matrix"}, inputs
    assert [name for name in inputs if not inputs[name]["sniffed"]] == ["nthu"], inputs
    assert inputs["edges"]["parameters"] == [
        "name", "charset", "decimal", "directed", "n", "no_edge", "source_column", "target_column", "weight"], inputs["edges"]
    assert "directed" not in inputs["metis"]["parameters"], inputs["metis"]
    assert all(entry["media_types"] and entry["file_endings"] for entry in inputs.values()), inputs
    assert formats["encodings"] == ["identity", "gzip", "zstd"], formats
    assert {"npy", "raw", "nthu", "json", "csv", "ndjson", "mtx"} == {entry["name"] for entry in formats["outputs"]}
    devices = daemon.get("/v1/devices").expect(200).json
    assert devices["devices"] and devices["devices"][0]["solver"] in ("gpu", "cpu"), devices


if __name__ == "__main__":
    harness.run(globals())
