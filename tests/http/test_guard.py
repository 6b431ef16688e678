"""Requests that a proxy in front could read differently, on raw sockets: refused, closed, and never
a second answer. And well-formed ones, however they are cut."""

import socket
import time

import harness
from harness import SMALL

HIDDEN = b"GET /version HTTP/1.1\r\nHost: a\r\n\r\n"


def talk(daemon, data, pieces=None):
    """All that comes back until the server closes or falls silent."""
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=3) as connection:
        got = b""
        try:
            for piece in pieces or [data]:
                connection.sendall(piece)
            while True:
                part = connection.recv(65536)
                if not part:
                    return got, True
                got += part
        except ConnectionError:
            return got, True
        except TimeoutError:
            return got, False


def post(headers, body):
    return b"POST /v1/jobs HTTP/1.1\r\nHost: a\r\n" + headers + b"\r\n" + body


CHUNKED = b"0\r\n\r\n" + HIDDEN
LENGTH = b"Content-Length: %d\r\n" % len(HIDDEN)
REFUSED = {
    "both lengths": post(b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", CHUNKED),
    "both lengths, the other order": post(
        b"Transfer-Encoding: chunked\r\n" + LENGTH, CHUNKED),
    "two lengths": post(b"Content-Length: 0\r\n" + LENGTH, HIDDEN),
    "two equal lengths": post(LENGTH + LENGTH, HIDDEN),
    "blank before the colon": post(b"Content-Length : 30\r\n", HIDDEN),
    "blank before the colon, and a true one": post(
        b"Content-Length : 0\r\n" + LENGTH, HIDDEN),
    "folded length": post(b"X: a\r\nContent-Le\r\n ngth: 31\r\n", HIDDEN),
    "length on a folded line": post(b"Content-Length:\r\n 31\r\n", HIDDEN * 2),
    "length cut in two by a fold": post(b"Content-Le: 31\r\n ngth\r\nContent-Length: 0\r\n", HIDDEN),
    "authorization made by a fold": b"GET /livez HTTP/1.1\r\nHost: a\r\nAuthorization-X: b\r\n\r\n"
    + HIDDEN,
    "negative length": post(b"Content-Length: -1\r\n", HIDDEN),
    "hexadecimal length": post(b"Content-Length: 0x10\r\n", HIDDEN),
    "empty length": post(b"Content-Length:\r\n", HIDDEN),
    "length with a word": post(b"Content-Length: 5 a\r\n", HIDDEN),
    "length of 2^63": post(b"Content-Length: 9223372036854775808\r\n", HIDDEN),
    "neither length nor chunks": post(b"", HIDDEN),
    "signed length": post(b"Content-Length: +5\r\n", HIDDEN),
    "list of lengths": post(b"Content-Length: 5, 5\r\n", HIDDEN),
    "huge length": post(b"Content-Length: 18446744073709551615\r\n", HIDDEN),
    "unknown encoding": post(b"Transfer-Encoding: xchunked\r\n", CHUNKED),
    "chunked and more": post(b"Transfer-Encoding: chunked, identity\r\n", CHUNKED),
    "chunked twice": post(
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", CHUNKED),
    "chunked in HTTP/1.0": b"POST /v1/jobs HTTP/1.0\r\nHost: a\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKED,
    "blank before the colon of the encoding": post(
        b"Transfer-Encoding : chunked\r\nContent-Length: 5\r\n", CHUNKED),
    "encoding after a tab": post(b"Transfer-Encoding:\x0bchunked\r\n", CHUNKED),
    "identity": post(b"Transfer-Encoding: identity\r\n", HIDDEN),
    "body of a HEAD": b"HEAD /livez HTTP/1.1\r\nHost: a\r\n" + LENGTH + b"\r\n" + HIDDEN,
    "name that only starts like one of the message": b"GET /livez HTTP/1.1\r\nHost: a\r\n"
    b"Connection-Length: 5\r\n\r\n" + HIDDEN,
    "star as target": b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n" + HIDDEN,
    "authority as target": b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n" + HIDDEN,
    "version 1.2": b"GET /livez HTTP/1.2\r\nHost: a\r\n\r\n" + HIDDEN,
    "version 2.0": b"GET /livez HTTP/2.0\r\nHost: a\r\n\r\n" + HIDDEN,
    "body of a GET": b"GET /livez HTTP/1.1\r\nHost: a\r\n" + LENGTH + b"\r\n" + HIDDEN,
    "chunks of a GET": b"GET /livez HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    + CHUNKED,
    "body of a DELETE": b"DELETE /v1/jobs/x HTTP/1.1\r\nHost: a\r\n" + LENGTH + b"\r\n" + HIDDEN,
    "no host": b"GET /livez HTTP/1.1\r\n\r\n" + HIDDEN,
    "two hosts": b"GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" + HIDDEN,
    "control byte": b"GET /livez HTTP/1.1\r\nHost: a\r\nX: a\x01b\r\n\r\n" + HIDDEN,
    "name that is no token": b"GET /livez HTTP/1.1\r\nHost: a\r\nX y: b\r\n\r\n" + HIDDEN,
    "absolute target": b"GET http://a/livez HTTP/1.1\r\nHost: a\r\n\r\n" + HIDDEN,
    "byte over 127": b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n" + HIDDEN,
    "method that is no token": b"BR(EW / HTTP/1.1\r\nHost: a\r\n\r\n" + HIDDEN,
}


def test_what_could_be_read_differently_is_refused(daemon):
    for name, data in REFUSED.items():
        got, closed = talk(daemon, data)
        assert closed, (name, got)
        assert got.startswith((b"HTTP/1.1 400", b"HTTP/1.1 411", b"HTTP/1.1 505")), (name, got)
        # Its own 400 for a bad Content-Length libmicrohttpd may send twice; a hidden one never ran.
        assert b'"api"' not in got and b" 200 " not in got, (name, got)


def test_a_request_without_host_is_refused_in_our_words(daemon):
    got, closed = talk(daemon, REFUSED["no host"])
    assert closed and got.count(b"HTTP/1.1 400") == 1 and b"application/problem+json" in got, got


def test_an_old_probe_needs_no_host(daemon):
    got, closed = talk(daemon, b"GET /livez HTTP/1.0\r\n\r\n")
    assert closed and b" 200 OK" in got, got


BAD_CHUNKS = {
    "size with a sign": b"+5\r\nhello\r\n0\r\n\r\n",
    "size that is no number": b"z\r\nhello\r\n0\r\n\r\n",
    "size that wraps around": b"10000000000000005\r\nhello\r\n0\r\n\r\n",
    "size with 0x": b"0x5\r\nhello\r\n0\r\n\r\n",
    "more than its size": b"5\r\nhello, more\r\n0\r\n\r\n",
    "no size": b"\r\nhello\r\n0\r\n\r\n",
}


def test_bad_chunks_end_the_connection(daemon):
    for name, body in BAD_CHUNKS.items():
        got, closed = talk(daemon, post(b"Transfer-Encoding: chunked\r\n", body) + HIDDEN)
        assert closed and b"HTTP/1.1 2" not in got and b'"api"' not in got, (name, got)


def test_a_fold_or_a_nul_moves_no_boundary(daemon):
    """libmicrohttpd lets these through as other headers: what follows must stay what it is."""
    for name, lines in {
        "fold": b"Fold: a\r\n bbbb\r\n",
        "fold that makes a length": b"Content-Le: 31\r\n ngth\r\n",
        "nul in a value": b"X: a\x00b\r\n",
        "nul in a length": b"Content-Length: 0\x00\r\n",
        "nul in a name": b"Content-Length\x00X: 5\r\n",
        "empty name": b": a\r\n",
    }.items():
        close = b"GET /livez HTTP/1.1\r\nHost: a\r\n" + lines + b"Connection: close\r\n\r\n"
        got, closed = talk(daemon, close + HIDDEN)
        assert closed and b'"api"' not in got, (name, got)
        got, closed = talk(daemon, post(lines + LENGTH, HIDDEN) + HIDDEN)
        assert closed and b'"api"' not in got and b" 200 " not in got, (name, got)


def test_a_smuggled_request_never_runs(daemon):
    """What a refused body holds is not a request, nor what follows an accepted one."""
    for headers in (b"Content-Length: %d\r\n" % len(SMALL), b"Transfer-Encoding: chunked\r\n"):
        body = SMALL
        if b"chunked" in headers:
            body = b"%x\r\n" % len(SMALL) + SMALL + b"\r\n0\r\n\r\n"
        got, closed = talk(daemon, post(headers, body) + HIDDEN)
        assert closed and got.count(b"HTTP/1.1 ") == 1 and b'"api"' not in got, got
        assert b"Connection: close" in got, got


def test_good_requests_may_follow_each_other(daemon):
    close = b"GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    got, closed = talk(daemon, HIDDEN * 20 + close)
    assert closed and got.count(b"HTTP/1.1 200") == 21 and got.count(b'"api"') == 20, got


def test_a_request_may_come_byte_by_byte(daemon):
    request = post(b"Content-Length: %d\r\nConnection: close\r\n" % len(SMALL), SMALL)
    got, closed = talk(daemon, None, [request[i : i + 1] for i in range(len(request))])
    assert closed and got.startswith(b"HTTP/1.1 20"), got


def test_headers_have_limits(daemon):
    got, closed = talk(daemon, b"GET /livez HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 70000 + b"\r\n\r\n")
    assert closed and b" 200 " not in got, got
    got, closed = talk(daemon, b"GET /livez HTTP/1.1\r\nHost: a\r\n" + b"X: a\r\n" * 200 + b"\r\n")
    assert closed and got.startswith(b"HTTP/1.1 400"), got
    got, closed = talk(daemon, b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\nHost: a\r\n\r\n")
    assert closed and b" 200 " not in got, got


def test_nonsense_is_survived(daemon):
    for data in (b"\x00" * 1000, b"\r\n" * 100, b"GET\r\n\r\n", b"GET /\r\n\r\n", b"\x16\x03\x01" * 50,
                 b"GET / HTTP/9.9\r\nHost: a\r\n\r\n", b" / HTTP/1.1\r\nHost: a\r\n\r\n"):
        got, _ = talk(daemon, data + b"\r\n\r\n")
        assert b" 200 " not in got, (data, got)
    daemon.get("/livez").expect(200)


def test_a_dripping_client_is_cut_off(_):
    with harness.Daemon("--http.header_timeout_s", "1") as daemon:
        start = time.monotonic()
        with socket.create_connection(("127.0.0.1", daemon.port), timeout=0.2) as connection:
            connection.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n")
            closed = False
            while not closed and time.monotonic() - start < 20:
                try:
                    connection.sendall(b"X-A: b\r\n")
                    closed = connection.recv(1000) == b""
                except TimeoutError:
                    pass
                except ConnectionError:
                    closed = True
        assert closed and time.monotonic() - start < 10, time.monotonic() - start
        daemon.get("/livez").expect(200)


def test_nothing_follows_the_head_of_a_stream(daemon):
    """Its end would be read as the beginning of the next answer."""
    job = daemon.solve(SMALL, "?name=streamed")["id"]
    for path in (b"/v1/graphs/streamed/stats", b"/v1/graphs/streamed/matrix?format=csv",
                 b"/v1/jobs/%s/events?last_event_id=0" % job.encode()):
        got, closed = talk(daemon, b"HEAD %s HTTP/1.1\r\nHost: a\r\n\r\n%s" % (path, HIDDEN))
        assert closed and got.count(b"HTTP/1.1 ") == 1, (path, got)
        assert b"\r\nConnection: close\r\n" in got, (path, got)
    got, _ = talk(daemon, b"HEAD /version HTTP/1.1\r\nHost: a\r\n\r\n" + HIDDEN)
    assert got.count(b"HTTP/1.1 200") == 2 and b"\r\n\r\nHTTP/1.1 200" in got, got


if __name__ == "__main__":
    harness.run(globals())
