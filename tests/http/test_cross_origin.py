"""What pages of other sites may do through their visitors' browsers: names in Host, origins of
requests that change data, and CORS. test_cross_origin_browser.py tests a real browser."""

import http.client
import socket
import tempfile

import access
import harness
from harness import SMALL

APP = "https://app.example"
EVIL = "http://evil.example"
CORS = ("--http.cors_origins", f"http://other.example:8000 {APP}")
PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
ANY_HOST = ("/livez", "/readyz", "/metrics", "/readyz?verbose=1")


def allows(answer, origin):
    """Returns whether a page of the origin may read the answer; checks that caches are told that
    answers differ by origin."""
    assert "Origin" in answer.headers.get_all("Vary"), answer.headers
    if "Access-Control-Allow-Origin" not in answer.headers:
        return False
    assert answer.headers["Access-Control-Allow-Origin"] == origin, answer.headers
    exposed = answer.headers["Access-Control-Expose-Headers"].split(", ")
    safe = {"Cache-Control", "Content-Type", "Content-Length", "Vary", "Connection", "Date",
            "Transfer-Encoding", "X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy"}
    hidden = {name for name in answer.headers if not name.startswith("Access-Control-")} - safe - set(exposed)
    assert not hidden, hidden
    assert "Access-Control-Allow-Credentials" not in answer.headers
    return True


def graphs(daemon):
    return len(daemon.get("/v1/graphs").json["graphs"])


def test_foreign_host_names_are_refused(daemon):
    names = [EVIL[7:], "localhost.evil.example", f"{EVIL[7:]}:{daemon.port}", "127.0.0.1.evil.example", "none"]
    for name in names:
        for method, path, body in (("GET", "/", None), ("GET", "/v1/jobs", None), ("DELETE", "/v1/graphs/x", None),
                                   ("POST", "/v1/graphs", SMALL), ("GET", "/version", None)):
            answer = daemon.ask(method, path, body, {"Host": name}).expect(421, "WrongHost")
            assert name in answer.json["detail"] and "http.hosts" in answer.json["hint"], answer.json
        for path in ANY_HOST:
            daemon.get(path, Host=name).expect(200)
        daemon.get("/livezz", Host=name).expect(421, "WrongHost")
    assert graphs(daemon) == 0


def test_own_host_names_are_accepted(daemon):
    for name in ("localhost", f"LocalHost:{daemon.port}", "a.localhost", "localhost.", "127.0.0.1", "[::1]:8080",
                 "10.2.3.4:80", "[2001:db8::1]", ""):
        daemon.get("/v1/jobs", Host=name).expect(200)
        daemon.get("/", Host=name).expect(200)
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=600) as connection:
        connection.sendall(b"GET /v1/jobs HTTP/1.0\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 200 ")


def test_configured_host_names_are_accepted(_):
    with harness.Daemon("--http.hosts", "apspd, apspd.jobs.svc") as daemon:
        for name in ("apspd", "APSPD.jobs.svc:80", "localhost"):
            daemon.get("/v1/jobs", Host=name).expect(200)
        daemon.get("/v1/jobs", Host="apspd.jobs").expect(421, "WrongHost")


def test_any_host_is_accepted_on_a_unix_socket_or_with_keys(_):
    keys = access.Keys("alpha:submitter")
    with access.Daemon("--http.keys_file", keys.path) as daemon:
        daemon.by("alpha:submitter", "GET", "/v1/jobs", headers={"Host": EVIL[7:]}).expect(200)
        wrong = {"Host": EVIL[7:], "Origin": "http://app.example"}
        daemon.by("alpha:submitter", "POST", "/v1/jobs", SMALL, wrong).expect(403, "CrossOrigin")
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        with harness.Daemon("--listen", f"unix:{folder}/socket") as daemon:
            for request, status in ((b"GET /v1/jobs HTTP/1.1\r\nHost: evil.example\r\n", b"200"),
                                    (b"DELETE /v1/jobs/x HTTP/1.1\r\nHost: a\r\nOrigin: http://a\r\n", b"404"),
                                    (b"DELETE /v1/jobs/x HTTP/1.1\r\nHost: a\r\nOrigin: http://b\r\n", b"403")):
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.connect(f"{folder}/socket")
                    connection.sendall(request + b"Connection: close\r\n\r\n")
                    got = connection.recv(1000)
                    assert got.startswith(b"HTTP/1.1 " + status), got


def test_pages_of_other_origins_cannot_change_anything(daemon):
    own = f"http://127.0.0.1:{daemon.port}"
    before = graphs(daemon)
    for headers in ({"Origin": EVIL}, {"Origin": "null"}, {"Origin": f"http://localhost:{daemon.port}"},
                    {"Origin": "http://127.0.0.1"}, {"Sec-Fetch-Site": "cross-site"},
                    {"Origin": own, "Sec-Fetch-Site": "cross-site"}):
        for method, path, body in (("POST", "/v1/graphs", SMALL), ("PUT", "/v1/jobs", SMALL),
                                   ("DELETE", "/v1/graphs/x", None), ("PATCH", "/v1/jobs", None)):
            answer = daemon.ask(method, path, body, headers).expect(403, "CrossOrigin")
            assert "http.cors_origins" in answer.json["hint"], answer.json
            assert not [name for name in answer.headers if name.startswith("Access-Control-")], answer.headers
        # A browser hides this answer from the page.
        answer = daemon.ask("GET", "/v1/graphs", headers=headers).expect(200)
        assert "Access-Control-Allow-Origin" not in answer.headers and "Vary" not in answer.headers
    assert graphs(daemon) == before


def test_a_foreign_origin_is_refused_before_the_body(daemon):
    connection = daemon.connect(60)
    connection.putrequest("POST", "/v1/graphs")
    connection.putheader("Origin", EVIL)
    connection.putheader("Content-Length", "1000000000")
    connection.endheaders()
    assert connection.getresponse().status == 403
    connection.close()


def test_same_origin_pages_and_programs_are_not_restricted(daemon):
    for headers in ({"Origin": f"http://127.0.0.1:{daemon.port}", "Sec-Fetch-Site": "same-origin"}, {},
                    {"Sec-Fetch-Site": "none"},
                    {"Host": f"localhost:{daemon.port}", "Origin": f"http://localhost:{daemon.port}"},
                    {"Host": f"[::1]:{daemon.port}", "Origin": f"http://[::1]:{daemon.port}"},
                    {"Host": "localhost", "Origin": "https://localhost"}):
        assert daemon.submit(SMALL, "?name=own", **headers).status in (200, 202), headers
        daemon.ask("OPTIONS", "/v1/jobs", headers={**headers, **PREFLIGHT}).expect(405, "MethodNotAllowed")


def test_preflights_of_unlisted_origins_are_refused(daemon):
    with harness.Daemon(*CORS) as other:
        for one in (daemon, other):
            headers = {**PREFLIGHT, "Origin": EVIL}
            answer = one.ask("OPTIONS", "/v1/jobs", headers=headers).expect(403, "CrossOrigin")
            assert not [name for name in answer.headers if name.startswith("Access-Control-")], answer.headers
        assert not allows(answer, EVIL)


def test_requests_from_listed_origins_are_served(_):
    with harness.Daemon(*CORS, "--http.document_limit", "1024") as daemon:
        origin = {"Origin": APP, "Sec-Fetch-Site": "cross-site"}
        for path in ("/v1/jobs", "/v1/graphs/none", "/nothing"):
            answer = daemon.ask("OPTIONS", path, headers={**PREFLIGHT, **origin}).expect(204)
            assert allows(answer, APP) and answer.body == b""
            assert "PUT" in answer.headers["Access-Control-Allow-Methods"].split(", ")
            allowed = answer.headers["Access-Control-Allow-Headers"].lower().split(", ")
            assert {"authorization", "content-type", "idempotency-key", "prefer"} <= set(allowed), allowed
            assert int(answer.headers["Access-Control-Max-Age"]) > 0
        answer = daemon.ask("POST", "/v1/jobs?name=a", SMALL, {**origin, "traceparent": TRACE})
        assert answer.status in (200, 202) and allows(answer, APP) and answer.headers["Location"]
        daemon.finish(answer.json["id"])
        assert allows(daemon.ask("PUT", "/v1/graphs?name=a", SMALL, origin), APP)
        for method, path, body, status in (
                ("GET", "/v1/graphs/a/distance?source=1&target=3", None, 200),
                ("GET", "/v1/graphs/a/matrix?format=npy", None, 200), ("HEAD", "/v1/jobs", None, 200),
                ("GET", "/v1/graphs/a/matrix?format=csv", None, 200), ("GET", "/", None, 200),
                ("GET", "/v1/jobs?limit=x", None, 400), ("GET", "/v1/graphs/none", None, 404),
                ("GET", "/nothing", None, 404), ("PATCH", "/v1/jobs", None, 405),
                ("POST", "/v1/estimate", b"x" * 5000, 413)):
            answer = daemon.ask(method, path, body, origin).expect(status)
            assert allows(answer, APP), (method, path)
            if method == "GET":
                # A repeated request, whose response may be cached, and requests that no page may
                # read.
                assert allows(daemon.ask(method, path, body, origin), APP), path
                assert not allows(daemon.ask(method, path, body), APP), path
                assert not allows(daemon.ask(method, path, body, {"Origin": EVIL}), EVIL), path
        etag = daemon.ask("GET", "/v1/graphs/a/matrix?format=npy", headers=origin).headers["ETag"]
        answer = daemon.ask("GET", "/v1/graphs/a/matrix?format=npy", headers={**origin, "If-None-Match": etag})
        assert allows(answer.expect(304), APP)
        answer = daemon.ask("GET", "/v1/graphs/a/matrix?format=npy", headers={**origin, "Range": "bytes=9000-"})
        assert allows(answer.expect(416), APP)
        daemon.ask("POST", "/v1/jobs", SMALL, {"Origin": EVIL}).expect(403, "CrossOrigin")
        # Host must still be a name of the service.
        assert allows(daemon.get("/v1/jobs", Host=EVIL[7:], **origin).expect(421, "WrongHost"), APP)


def test_a_refusal_during_the_body_reaches_the_client(_):
    with harness.Daemon(*CORS, "--http.body_limit", "100000") as daemon:
        body = harness.long_edges(200_000)
        for way in (body, iter([body])):
            answer = daemon.ask("POST", "/v1/graphs?format=edges", way, {"Origin": APP})
            assert allows(answer.expect(413), APP), answer.headers


def test_requests_from_listed_origins_need_a_key(_):
    keys = access.Keys("alpha:reader")
    with access.Daemon("--http.keys_file", keys.path, "--http.wrong_key_limit", "1", *CORS) as daemon:
        origin = {"Origin": APP}
        daemon.ask("OPTIONS", "/v1/jobs", headers={**PREFLIGHT, **origin}).expect(204)
        assert allows(daemon.ask("GET", "/v1/jobs", headers=origin).expect(401), APP)
        assert allows(daemon.by("alpha:reader", "GET", "/v1/jobs", headers=origin).expect(200), APP)
        assert allows(daemon.by("alpha:reader", "POST", "/v1/jobs", SMALL, origin).expect(403, "Forbidden"), APP)
        wrong = {**origin, "Authorization": "Bearer nothing"}
        daemon.ask("GET", "/v1/jobs", headers=wrong)
        assert allows(daemon.ask("GET", "/v1/jobs", headers=wrong).expect(429, "WrongKeys"), APP)


def test_a_connection_beyond_the_limit_gets_a_503_response(_):
    with harness.Daemon(*CORS, "--http.address_limit", "1") as daemon:
        first = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=600)
        daemon.ask("GET", "/livez", connection=first).expect(200)
        answer = daemon.ask("GET", "/v1/jobs", headers={"Origin": APP}).expect(429, "AddressLimit")
        assert allows(answer, APP)
        first.close()


def test_an_asterisk_allows_every_origin(_):
    with harness.Daemon("--http.cors_origins", "*") as daemon:
        for origin in (EVIL, "null"):
            assert allows(daemon.submit(SMALL, "?name=any", Origin=origin), origin)
        daemon.get("/v1/jobs", Origin="").expect(200)


if __name__ == "__main__":
    harness.run(globals())
