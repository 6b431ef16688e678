"""Uploads: every way to submit a graph, and what is answered."""

import json
import os
import struct
import subprocess

import harness
from harness import SMALL, curl


def test_a_graph_is_accepted_and_solved(daemon):
    answer = daemon.submit(SMALL).expect(202)
    document = answer.json
    assert answer.headers["Location"] == "/v1/jobs/" + document["id"]
    assert int(answer.headers["Retry-After"]) >= 1
    assert document["state"] in ("queued", "running")
    done = daemon.finish(document["id"])
    assert done["state"] == "done" and done["problem"] is None, done
    assert done["summary"]["n"] == 4 and done["summary"]["m"] == 4, done


def test_a_known_graph_is_done_at_once(daemon):
    daemon.solve(SMALL)
    answer = daemon.submit(SMALL).expect(200)
    assert answer.json["state"] == "done"
    assert answer.headers["Location"] == "/v1/jobs/" + answer.json["id"]


def test_prefer_wait_gives_the_finished_document(daemon):
    answer = daemon.submit(b"1 2 3\n2 9 4\n", Prefer="wait=30").expect(200)
    assert answer.json["state"] == "done"
    assert answer.headers["Preference-Applied"] == "wait=30"
    answer = daemon.submit(b"1 2 3\n2 9 5\n", "?wait=30").expect(200)
    assert answer.json["state"] == "done"


def test_curl_posts_and_puts(daemon):
    path = os.path.join(daemon.scratch, "small.gr")
    with open(path, "wb") as file:
        file.write(SMALL)
    code, status, body = curl("--data-binary", f"@{path}", daemon.url + "/v1/jobs")
    assert (code, status) == (0, 200), (code, status, body)
    code, status, body = curl("-T", path, daemon.url + "/v1/jobs")
    assert (code, status) == (0, 200), (code, status, body)
    code, status, body = curl("-T", "-", "-H", "Expect:", daemon.url + "/v1/jobs?format=dimacs")
    assert status == 422, (code, status, body)


def test_an_expectation_is_met(daemon):
    body = b"".join(b"c a comment line\n" for _ in range(200_000)) + SMALL
    done = subprocess.run(
        ["curl", "-sS", "-m", "60", "-i", "-H", "Expect: 100-continue", "--data-binary", "@-",
         daemon.url + "/v1/jobs"], input=body, capture_output=True)
    assert done.stdout.startswith(b"HTTP/1.1 100 Continue"), done
    assert b"HTTP/1.1 20" in done.stdout, done.stdout[:300]


def test_chunks_in_any_split(daemon):
    def pieces():
        for i in range(len(SMALL)):
            yield SMALL[i : i + 1]

    connection = daemon.connect()
    connection.request("POST", "/v1/jobs", body=pieces(), headers={"Transfer-Encoding": "chunked"},
                       encode_chunked=True)
    assert connection.getresponse().status == 200
    connection.close()


def test_every_format_is_sniffed_or_named(daemon):
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


def test_a_stored_graph_is_solved_by_name(daemon):
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


def test_an_idempotency_key_gives_the_same_job(daemon):
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


def test_a_request_id_comes_back(daemon):
    assert daemon.get("/livez", X_Request_Id="mine.1-2_3").headers["X-Request-Id"] == "mine.1-2_3"
    assert daemon.get("/livez", X_Request_Id="not mine").headers["X-Request-Id"] != "not mine"
    assert daemon.get("/livez", X_Request_Id="x" * 65).headers["X-Request-Id"] != "x" * 65
    ids = {daemon.get("/livez").headers["X-Request-Id"] for _ in range(20)}
    assert len(ids) == 20


def test_the_service_tells_about_itself(daemon):
    assert daemon.get("/readyz").expect(200).json["ready"] is True
    assert daemon.get("/readyz?verbose").expect(200).json["checks"]["worker"] is True
    for path in ("/livez", "/v2/health/live", "/v2/health/ready"):
        daemon.get(path).expect(200)
    version = daemon.get("/version").expect(200).json
    assert version["api"] == "v1" and isinstance(version["build"]["cuda"], bool), version
    limits = daemon.get("/v1/limits").expect(200).json
    assert limits["vertex_limit"] > 0 and limits["body_limit_bytes"] > 0, limits
    formats = daemon.get("/v1/formats").expect(200).json
    names = {entry["name"] for entry in formats["inputs"]}
    assert {"dimacs", "edges", "json", "nthu"} <= names, names
    assert {"npy", "raw", "nthu", "json"} == {entry["name"] for entry in formats["outputs"]}
    devices = daemon.get("/v1/devices").expect(200).json
    assert devices["devices"] and devices["devices"][0]["solver"] in ("gpu", "cpu"), devices
    routes = daemon.get("/").expect(200).json["routes"]
    paths = {route["path"] for route in routes}
    assert {"/v1/jobs", "/v1/jobs/{id}", "/v1/graphs/{g}/distance"} <= paths, paths


if __name__ == "__main__":
    harness.run(globals())
