"""Tests that invalid graphs and requests get a clear error, and that nothing is stored."""

import gzip
import json
import socket
import struct

import harness
from harness import SMALL, curl

TIMEOUT_S = 3600
#  name, query, body, code, line
BAD_GRAPHS = (
    ("dimacs", "", b"c hello\np sp 3 2\na 1 2 x\na 2 3 1\n", "BadGraph", 3),
    ("dimacs", "", b"p sp 3 5\na 1 2 1\n", "Truncated", 2),
    ("edges", "?format=edges&n=3", b"0 1 3\n1 7 1\n", "BadGraph", 2),
    ("json", "", b'{"n":3,\n"edges":[[0,1,5],\n[1,9,7]]}', "BadGraph", 3),
    ("json", "", b'{"nodes":[{"id":1}],\n"links":[{"source":1,"target":5}]}', "BadGraph", 2),
    ("nthu", "?format=nthu", struct.pack("<4i", 2, 1, 0, 1), "Truncated", None),
    ("nthu", "?format=nthu", struct.pack("<6i", 2, 1, 0, 1, 5, 9), "BadGraph", None),
)


def test_an_invalid_graph_is_refused_with_its_line_number(daemon):
    for name, query, body, code, line in BAD_GRAPHS:
        answer = daemon.submit(body, query)
        assert answer.status == 422, (name, query, body, answer.status, answer.body)
        problem = answer.json
        assert problem["code"] == code, (body, problem)
        if line is not None:
            assert problem.get("line") == line, (body, problem)
        answer = daemon.ask("POST", "/v1/graphs" + query, body=body)
        assert answer.status == 422, (name, query, body, answer.status, answer.body)
    assert daemon.get("/v1/graphs").json["graphs"] == []
    assert not any("/graphs/" in path or "/results/" in path for path in daemon.files())


def test_an_empty_body_has_a_separate_error_code(daemon):
    for query in ("", "?format=dimacs", "?format=nthu", "?format=json"):
        daemon.submit(b"", query).expect(422, "EmptyBody")
        daemon.ask("POST", "/v1/graphs" + query, body=b"").expect(422, "EmptyBody")


def test_a_file_without_line_breaks_is_refused_with_a_hint(daemon):
    """`curl -d @file` removes line breaks, so a list of two edges would become one edge."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for body in (b"1 22 3", b"p sp 3 2a 1 2 5a 2 3 5", b"source,target,weight1,2,3", b"1 2 " * 50_000):
        problem = daemon.ask("POST", "/v1/graphs", body=body, headers=form).expect(422, "BadGraph").json
        assert "--data-binary" in problem["hint"], problem
    for body in (b"1 2\n2 3\n", b"1 2\n", b'{"n":2,"edges":[[0,1]]}'):
        answer = daemon.ask("POST", "/v1/graphs", body=body, headers=form).expect(201)
        daemon.ask("DELETE", answer.headers["Location"]).expect(204)
    code, status, body = curl("-d", "1 2 3", daemon.url + "/v1/graphs")
    assert code == 0 and status == 422 and b"--data-binary" in body, (code, status, body)


def test_each_invalid_request_gets_the_right_status_and_code(daemon):
    jobs = "/v1/jobs"
    for method, path, body, headers, status, code in (
        ("GET", "/nowhere", None, {}, 404, "NoSuchRoute"),
        ("GET", "/v1/jobs/", None, {}, 404, "NoSuchRoute"),
        ("POST", "/nowhere", b"x", {}, 404, "NoSuchRoute"),
        ("GET", "/v1/jobs?x=1", None, {}, 400, "UnknownParameter"),
        ("GET", "/v1/jobs?limit=1&limit=2", None, {}, 400, "BadParameter"),
        ("GET", "/v1/jobs/%zz", None, {}, 400, "BadRequest"),
        ("GET", "/v1/jobs/%00", None, {}, 400, "BadRequest"),
        ("POST", jobs + "?format=bmp", SMALL, {}, 400, "BadParameter"),
        ("POST", jobs + "?kind=i8", SMALL, {}, 400, "BadParameter"),
        ("POST", jobs + "?name=g_x", SMALL, {}, 400, "BadParameter"),
        ("POST", jobs + "?wait=99", SMALL, {}, 400, "BadParameter"),
        ("POST", "/v1/graphs?priority=3", SMALL, {}, 400, "UnknownParameter"),
        ("POST", jobs, SMALL, {"Content-Type": "image/png"}, 415, "UnsupportedMediaType"),
        ("POST", jobs, SMALL, {"Content-Encoding": "br"}, 415, "UnsupportedMediaType"),
        ("POST", jobs, SMALL, {"Content-Encoding": "gzip"}, 422, "BadGraph"),
        ("POST", jobs, b"", {"Content-Encoding": "zstd"}, 422, "EmptyBody"),
        ("POST", jobs, b"\x00" * 100, {}, 415, "UnsupportedMediaType"),
        ("POST", jobs + "?format=dimacs", b"\x00" * 100, {}, 422, "BadGraph"),
    ):
        answer = daemon.ask(method, path, body=body, headers=headers)
        answer.expect(status, code)
    assert "limit" in daemon.get("/v1/jobs?x=1").json["hint"]
    assert "dimacs" in daemon.submit(SMALL, "", Content_Type="image/png").json["hint"]


def test_a_compressed_body_with_a_bad_trailer_or_size_is_refused(_):
    packed = gzip.compress(SMALL)
    bomb = gzip.compress(SMALL + (b"c" + b" " * 98 + b"\n") * 60_000)
    with harness.Daemon("--http.decoded_limit", "4MiB", "--http.decoded_ratio", "1000000") as daemon:
        for body, status, code in (
            (packed[:-4], 422, "Truncated"),
            (packed + b"trash", 422, "BadGraph"),
            (gzip.compress(b""), 422, "EmptyBody"),
            (gzip.compress(b"p sp x\n"), 422, "BadGraph"),
            (bomb, 413, "BodyTooLarge"),
        ):
            for path in ("/v1/jobs", "/v1/graphs?format=dimacs"):
                headers = {"Content-Encoding": "gzip"}
                answer = daemon.ask("POST", path, body=body, headers=headers).expect(status, code)
        assert answer.json["limit"] == 4 << 20 and answer.json["actual"] > 4 << 20, answer.json
        assert daemon.get("/v1/limits").json["decoded_limit_bytes"] == 4 << 20
        assert daemon.get("/v1/graphs").json["graphs"] == []
    with harness.Daemon() as daemon:
        answer = daemon.ask("POST", "/v1/jobs", body=bomb, headers={"Content-Encoding": "gzip"})
        assert answer.expect(413, "BodyTooLarge").json["limit"] == 200, answer.json
        assert answer.json["actual"] > 200, answer.json
        answer = daemon.ask("POST", "/v1/jobs", body=SMALL, headers={"Content-Encoding": "br"})
        assert answer.headers["Accept-Encoding"] == "gzip, zstd, identity", answer.headers


def test_an_unsupported_method_is_refused_with_the_allowed_methods(daemon):
    for method, path, allow in (
        ("DELETE", "/v1/jobs", "GET, HEAD, POST, PUT"),
        ("PATCH", "/v1/jobs", "GET, HEAD, POST, PUT"),
        ("OPTIONS", "/v1/jobs", "GET, HEAD, POST, PUT"),
        ("TRACE", "/livez", "GET, HEAD"),
        ("brew", "/livez", "GET, HEAD"),
        ("POST", "/livez", "GET, HEAD"),
        ("PUT", "/v1/jobs/x", "GET, HEAD, DELETE"),
        ("GET", "/v1/graphs/x/distances", "POST"),
    ):
        body = b"x" if method in ("POST", "PUT") else None
        answer = daemon.ask(method, path, body=body).expect(405, "MethodNotAllowed")
        assert answer.headers["Allow"] == allow, (method, path, answer.headers)


def test_a_graph_that_is_too_large_is_refused_after_its_first_line(_):
    """The graph is refused regardless of how the format was selected and of what follows the
    header."""
    with harness.Daemon("--graph.vertex_limit", "5000") as daemon:
        for start in (b"c a comment\np sp 5001 1000000\n", b'{"n":5001, "edges" : ['):
            connection = daemon.connect()
            connection.putrequest("POST", "/v1/jobs")
            connection.putheader("Content-Length", "1000000")
            connection.endheaders()
            connection.send(start + b"?" * (1000000 - len(start)))
            connection.sock.settimeout(300)
            answer = connection.getresponse()
            assert answer.status == 413, answer.status
            assert json.loads(answer.read())["limit"] == 5000
            connection.close()


def test_upload_parameters_are_refused_for_a_stored_graph(_):
    with harness.Daemon() as daemon:
        body = json.dumps({"graph": daemon.solve(SMALL)["graph"]}).encode()
        for name, value in (("directed", "false"), ("n", "9"), ("weight", "z"), ("format", "json")):
            answer = daemon.ask("POST", f"/v1/jobs?{name}={value}", body=body)
            answer.expect(400, "BadParameter")
            assert name in answer.json["detail"], answer.json
        daemon.ask("POST", "/v1/jobs?priority=3", body=body).expect(200)


def test_a_cursor_must_name_an_entry_of_the_list(daemon):
    for path in ("/v1/jobs", "/v1/graphs"):
        for cursor in ("bogus", "x_" + 26 * "0"):
            daemon.get(f"{path}?cursor={cursor}").expect(400, "BadParameter")


def test_a_body_over_the_limit_is_refused(_):
    with harness.Daemon("--http.body_limit", "1000") as daemon:
        connection = daemon.connect()
        connection.putrequest("POST", "/v1/jobs")
        connection.putheader("Content-Length", "1001")
        connection.endheaders()
        assert connection.getresponse().status == 413
        connection.close()
        body = b"c" * 400 + b"\n"
        connection = daemon.connect()
        connection.putrequest("POST", "/v1/jobs?format=dimacs")
        connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders()
        # The response is sent when the whole body has been received.
        for _ in range(3):
            connection.send(b"191\r\n" + body + b"\r\n")
        connection.send(b"0\r\n\r\n")
        response = connection.getresponse()
        assert response.status == 413 and b"BodyTooLarge" in response.read()
        connection.close()


def test_the_error_for_a_graph_that_is_too_large_gives_the_reason_for_the_limit(daemon):
    problem = daemon.submit(b"p sp 4000000000 1\na 1 2 3\n").expect(413, "TooLarge").json
    assert problem["limit"] < 4000000000 == problem["actual"], problem
    reason = daemon.get("/v1/limits").json["vertex_limit_reason"]
    assert reason and reason in problem["hint"], problem
    path = daemon.scratch + "/large.gr"
    with open(path, "wb") as file:
        file.write(b"p sp 4000000000 1\n")
        file.truncate(128 << 20)
    code, status, body = curl("-T", path, daemon.url + "/v1/jobs?format=dimacs")
    assert status == 413 and b"TooLarge" in body, (code, status, body)


def all_closed(daemon, before):
    """Waits until the daemon has closed the finished connections, which have no timeout; other
    clients are answered meanwhile."""
    harness.wait_until(daemon, lambda: len(daemon.open_files()) <= len(before))


def test_a_large_body_of_zeros_is_refused_without_storing_it(daemon):
    path = daemon.scratch + "/zeros"
    with open(path, "wb") as file:
        file.truncate(128 << 20)
    before = daemon.open_files()
    resident = daemon.status_kib("VmHWM")
    for query, expected in (("", 415), ("?format=dimacs", 422), ("?format=edges", 422),
                            ("?format=json", 422), ("?format=nthu", 422)):
        code, status, body = curl("-T", path, daemon.url + "/v1/jobs" + query)
        assert status == expected, (query, code, status, body)
        code, status, body = curl("-T", path, "-H", "Expect:", "-H", "Transfer-Encoding: chunked",
                                  daemon.url + "/v1/jobs" + query)
        assert status == expected, (query, code, status, body)
    all_closed(daemon, before)
    # Sanitizers do not return freed memory.
    assert harness.QUICK or daemon.status_kib("VmHWM") - resident < 8192, (resident, daemon.status_kib("VmHWM"))


def leave(daemon, request, reset):
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=300) as connection:
        connection.sendall(request)
        if reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def test_a_disconnected_client_leaves_no_file_or_descriptor(daemon):
    job = daemon.solve(SMALL)
    daemon.wait_until_durable(job["id"])
    before = daemon.open_files()
    files = daemon.files()
    head = b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\n"
    for framing in (b"Content-Length: 1000000\r\n\r\n",
                    b"Transfer-Encoding: chunked\r\n\r\nf4240\r\n"):
        for size in (0, 10, 5000, 500_000):
            body = b"p sp 1000 50000\n" + b"a 1 2 3\n" * (size // 8)
            for i in range(10):
                leave(daemon, head + framing + body[:size], reset=i % 2 == 0)
            # A connection that ends together with the last bytes of the body leaves no file either.
            all_closed(daemon, before)
    assert daemon.files() == files
    assert len(daemon.get("/v1/jobs").json["jobs"]) == 1


if __name__ == "__main__":
    harness.run(globals(), ["--http.connection_timeout_s", str(TIMEOUT_S)])
