"""Answers in zstd and gzip: the same bytes, separate ETags, and no compressed byte ranges."""

import gzip
import json
import socket
import subprocess

import harness

N = 300
RING = f"p sp {N} {N}\n" + "".join(f"a {i} {i % N + 1} {i * 7 % 100}\n" for i in range(1, N + 1))
QUERIES = ("", "?format=json", "?format=csv", "?format=ndjson", "?format=mtx", "?format=raw",
           "?rows=3:200&cols=5:9", "?rows=7,5&format=csv&header=true")


def decode(answer):
    coding = answer.headers["Content-Encoding"]
    if coding == "gzip":
        return gzip.decompress(answer.body)
    if coding == "zstd":
        done = subprocess.run(["zstd", "-dc"], input=answer.body, capture_output=True, check=True)
        return done.stdout
    assert coding is None, coding
    return answer.body


def has_zstd():
    try:
        return subprocess.run(["zstd", "--version"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


CODINGS = ("gzip", "zstd") if has_zstd() else ("gzip",)


def prepare(daemon):
    daemon.solve(RING.encode(), "?name=ring")


def test_every_format_of_the_matrix_is_compressed(daemon):
    for query in QUERIES:
        path = "/v1/graphs/ring/matrix" + query
        plain = daemon.get(path).expect(200)
        assert plain.headers["Vary"] == "Accept, Accept-Encoding", plain.headers
        tags = {plain.headers["ETag"]}
        for coding in CODINGS:
            answer = daemon.get(path, Accept_Encoding=f"{coding}, br").expect(200)
            assert answer.headers["Content-Encoding"] == coding, (query, answer.headers)
            assert decode(answer) == plain.body, (query, coding)
            assert answer.headers["Content-Type"] == plain.headers["Content-Type"]
            if len(plain.body) > 5000:
                assert len(answer.body) < len(plain.body)
            tag = answer.headers["ETag"]
            tags.add(tag)
            daemon.get(path, Accept_Encoding=coding, If_None_Match=tag).expect(304)
            daemon.get(path, If_None_Match=tag).expect(200)
            head = daemon.ask("HEAD", path, headers={"Accept-Encoding": coding}).expect(200)
            assert head.headers["Content-Encoding"] == coding and head.body == b""
        assert len(tags) == 1 + len(CODINGS), tags


def test_a_byte_range_is_never_compressed(daemon):
    path = "/v1/graphs/ring/matrix"
    whole = daemon.get(path).expect(200)
    part = daemon.get(path, Accept_Encoding="gzip, zstd", Range="bytes=10-99").expect(206)
    assert part.headers["Content-Encoding"] is None and part.body == whole.body[10:100]
    assert part.headers["ETag"] == whole.headers["ETag"]
    encoded = daemon.get(path, Accept_Encoding="gzip").headers["ETag"]
    answer = daemon.get(path, Accept_Encoding="gzip", Range="bytes=10-99", If_Range=encoded)
    assert answer.expect(200).body == whole.body


def test_responses_other_than_the_matrix_are_compressed(daemon):
    body = json.dumps({"pairs": [[1, i] for i in range(1, N + 1)]})
    base = "/v1/graphs/ring/"
    for method, path, sent in (("GET", "stats", None), ("GET", "vertices", None),
                               ("GET", "row/7", None), ("POST", "table", "{}"),
                               ("POST", "distances", body), ("POST", "paths", body)):
        plain = daemon.ask(method, base + path, body=sent).expect(200)
        assert plain.headers["Content-Encoding"] is None and "Accept-Encoding" in plain.headers["Vary"]
        for coding in CODINGS:
            answer = daemon.ask(method, base + path, body=sent, headers={"Accept-Encoding": coding})
            encoded = path != "distances" or len(plain.body) >= 1024
            assert answer.headers["Content-Encoding"] == (coding if encoded else None), path
            assert decode(answer.expect(200)) == plain.body, path
    small = daemon.ask("POST", base + "distances", body='{"pairs":[[1,2]]}',
                       headers={"Accept-Encoding": "gzip"}).expect(200)
    assert small.headers["Content-Encoding"] is None and small.json["distances"] == [7]


def test_the_preferred_coding_is_used(daemon):
    path = "/v1/graphs/ring/matrix?format=csv"
    for header, coding in (("gzip;q=0.5, zstd", "zstd"), ("gzip, zstd;q=0.5", "gzip"),
                           ("gzip;q=0", None), ("identity", None), ("*", "zstd"), ("br", None),
                           ("gzip, deflate", "gzip"), ("*;q=0", None)):
        answer = daemon.get(path, Accept_Encoding=header).expect(200)
        assert answer.headers["Content-Encoding"] == coding, (header, answer.headers)


def test_curl_decodes_gzip(daemon):
    code, status, body = harness.curl("--compressed", daemon.url + "/v1/graphs/ring/matrix")
    assert (code, status) == (0, 200) and body == daemon.get("/v1/graphs/ring/matrix").body


def test_a_disconnected_client_leaves_no_open_files(daemon):
    n = 1000 if harness.QUICK else 3000
    rows = "".join(f"a {i} {i % n + 1} {i * 7919 % 1000}\n" for i in range(1, n + 1))
    job = daemon.solve(f"p sp {n} {n}\n{rows}".encode(), "?result=matrix")
    before = daemon.open_files()
    for coding in CODINGS:
        for name in ("npy", "csv"):
            connection = daemon.connect()
            connection.request("GET", f"/v1/graphs/{job['graph']}/matrix?format={name}",
                               headers={"Accept-Encoding": coding})
            response = connection.getresponse()
            assert len(response.read(5000)) == 5000
            response.close()
            connection.close()
    daemon.ask("DELETE", f"/v1/graphs/{job['graph']}").expect(204)
    daemon.expect_no_more_files_than(before)


def exchange_bytes(daemon, request):
    """Returns all bytes until the connection ends."""
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=300) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_nothing_follows_the_head_of_a_response_without_a_body(daemon):
    graph = daemon.solve(harness.SMALL)["graph"]
    for path in ("stats", "vertices", "matrix?format=csv", "matrix?format=npy", "row/1"):
        for coding in ("identity", "gzip"):
            head = f"HEAD /v1/graphs/{graph}/{path} HTTP/1.1\r\nHost: localhost\r\n"
            head += f"Accept-Encoding: {coding}\r\n\r\n"
            live = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            first, _, rest = exchange_bytes(daemon, (head + live).encode()).partition(b"\r\n\r\n")
            assert first.startswith(b"HTTP/1.1 200 "), first
            assert b"Transfer-Encoding" not in first, first
            assert rest == b"" or rest.startswith(b"HTTP/1.1 200 "), (path, coding, rest)
    daemon.get("/livez").expect(200)


if __name__ == "__main__":
    harness.run(globals())
