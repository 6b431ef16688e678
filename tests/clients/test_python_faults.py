"""Tests the Python client when answers are lost, when the service is busy or unreachable, and when
downloads are interrupted."""

import asyncio
import errno
import pathlib
import socket
import tempfile
from urllib.parse import quote

import python_client  # first, because it may skip the test
from python_client import client_of, expect

import access
import apspd
import harness
import httpx
import numpy

EDGES = [(at, at + 1, at % 7) for at in range(300)]


class Cut(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The beginning of an answer's body, followed by the end of the connection."""

    def __init__(self, stream, left, error):
        self.stream, self.left, self.error = stream, left, error

    def __iter__(self):
        for piece in self.stream:
            yield self.cut(piece)

    async def __aiter__(self):
        async for piece in self.stream:
            yield self.cut(piece)

    def cut(self, piece):
        if self.left < 0:
            raise self.error
        self.left -= len(piece)
        return piece if self.left >= 0 else piece[: self.left]

    def close(self):
        self.stream.close()

    async def aclose(self):
        await self.stream.aclose()


class Wire:
    """Applies faults, one after the other, to the answers of requests with this method and end of
    the path; the service still receives these requests. Other answers pass unchanged. `seen`
    lists all requests as (method, path, status, headers, whether the socket has TCP_NODELAY).
    bend() returns the answer or the exception that the client gets."""

    def __init__(self, method, path, *faults):
        self.method, self.path, self.faults, self.seen = method, path, list(faults), []

    def bend(self, request, answer):
        plug = answer.extensions["network_stream"].get_extra_info("socket")
        at_once = plug.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        self.seen.append((request.method, request.url.path, answer.status_code, request.headers, at_once))
        if request.method == self.method and request.url.path.endswith(self.path) and self.faults:
            fault = self.faults.pop(0)
            if isinstance(fault, httpx.Response):
                return fault
            if isinstance(fault, int):
                broken = httpx.ReadError("cut") if self.faults or fault % 2 == 0 else KeyboardInterrupt()
                answer.stream = Cut(answer.stream, fault, broken)
                return answer
            return fault
        return answer


def give(bent):
    if isinstance(bent, BaseException):
        raise bent
    return bent


class Transport(httpx.HTTPTransport):
    def __init__(self, wire):
        super().__init__()
        self.wire = wire

    def handle_request(self, request):
        answer = super().handle_request(request)
        bent = self.wire.bend(request, answer)
        if bent is not answer:
            answer.close()
        return give(bent)


class AsyncTransport(httpx.AsyncHTTPTransport):
    def __init__(self, wire):
        super().__init__()
        self.wire = wire

    async def handle_async_request(self, request):
        """Closes answers that the client does not read. Otherwise, the garbage collector would
        close their generators in a separate task, which takes the lock of the connection pool."""
        answer = await super().handle_async_request(request)
        bent = self.wire.bend(request, answer)
        if bent is not answer:
            await answer.aclose()
        return give(bent)


def faulty(daemon, wire, **options):
    """Returns a client with these faults, and the list of its pauses, which are recorded instead
    of waited for."""
    client = apspd.Client(daemon.url, transport=Transport(wire), **options)
    pauses = []
    client._sleep = pauses.append
    return client, pauses


def jobs(daemon):
    return len(daemon.get("/v1/jobs?limit=1000").expect(200).json["jobs"])


def told(status, **headers):
    return httpx.Response(status, headers=headers, json={"code": "Draining", "detail": "later", "hint": "wait"})


def test_a_submission_whose_response_is_lost_creates_one_job(daemon):
    wire = Wire("POST", "/v1/jobs", httpx.ReadError("lost"), httpx.RemoteProtocolError("lost"))
    client, pauses = faulty(daemon, wire)
    before = jobs(daemon)
    assert client.solve([("once", "only", 3)]).distance("once", "only") == 3
    assert jobs(daemon) == before + 1 and len(pauses) == 2
    keys = [headers["Idempotency-Key"] for method, path, _, headers, _ in wire.seen if path == "/v1/jobs"]
    assert len(keys) == 3 and len(set(keys)) == 1, keys
    client.solve([("once", "only", 3)])
    assert len({headers["Idempotency-Key"] for _, path, _, headers, _ in wire.seen if path == "/v1/jobs"}) == 2


def test_a_change_whose_response_is_lost_is_applied_once(daemon):
    client, pauses = faulty(daemon, Wire("PATCH", "/edges", httpx.ReadError("lost")))
    result = client.solve([("a", "b", 3)], "changed", result="hierarchy")
    before = jobs(daemon)
    assert result.update([("a", "b", 4)]).distance("a", "b") == 4
    assert jobs(daemon) == before + 1 and len(pauses) == 1


def test_requests_to_a_busy_service_are_retried_after_the_requested_delay(daemon):
    wire = Wire("POST", "/v1/jobs", told(503, **{"Retry-After": "7"}), told(429, **{"Retry-After": "2"}), told(503))
    client, pauses = faulty(daemon, wire)
    assert client.solve(EDGES).distance(0, 1) == 0 and pauses == [7, 2, 1], pauses
    wire.faults = [told(503, **{"Retry-After": "50"})] * 9
    client, pauses = faulty(daemon, wire, patience_s=120)
    error = expect(apspd.Busy, "Draining", client.solve, EDGES)
    assert pauses == [50, 50] and error.status == 503 and str(error) == "Draining: later wait", (pauses, error)
    wire.faults = [httpx.Response(502, text="<h1>Bad gateway</h1>")]
    assert "Bad gateway" in str(expect(apspd.ServiceError, "Http502", client.solve, EDGES))


def test_the_client_waits_while_the_queue_is_full(_):
    flags = ("--jobs.queue_limit", "1", *harness.LASTING)
    with harness.Daemon(*flags) as daemon, client_of(daemon) as client:
        slow = pathlib.Path(daemon.scratch, "slow.gr")
        slow.write_bytes(harness.slow_graph(harness.LASTING_SIZE))
        running = client.submit(slow)
        harness.wait_until(daemon, lambda: daemon.get("/v1/jobs?state=running").json["jobs"])
        waiting = client.submit([("a", "b", 5)])
        pauses = []

        def pause(seconds):
            pauses.append(seconds)
            if len(pauses) == 1:
                running.cancel()
            waiting.wait()

        client._sleep = pause
        assert client.solve([("a", "b", 6)]).distance("a", "b") == 6
        assert pauses and min(pauses) >= 1, pauses


def test_an_unreachable_service_raises_an_error(daemon):
    client, pauses = faulty(daemon, Wire("POST", "/distances", *[httpx.ConnectError("refused")] * 9))
    result = client.solve(EDGES)
    assert isinstance(expect(apspd.ConnectionFailed, None, result.distance, 0, 1), ConnectionError)
    assert len(pauses) == 4


def test_a_call_to_an_address_without_a_service_fails_immediately(daemon):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        client = apspd.Client(url)
        client._sleep = None  # the client must not pause
        failed = expect(apspd.ConnectionFailed, None, client.solve, EDGES)
        assert url in str(failed) and "APSPD_URL" in str(failed), failed

        async def ask():
            async with apspd.AsyncClient(url) as client:
                client._sleep = None
                await client.solve(EDGES)

        expect(apspd.ConnectionFailed, None, lambda: asyncio.run(ask()))
    # A server that has answered before may be restarting, so the client tries again.
    client, pauses = faulty(daemon, Wire("POST", "/distances", httpx.ConnectError("refused")))
    assert client.solve(EDGES).distance(0, 1) == 0 and len(pauses) == 1


def test_interrupted_downloads_resume(daemon):
    wire = Wire("GET", "/matrix", 70000, 20000, httpx.ReadTimeout("lost"))
    client, _ = faulty(daemon, wire)
    result = client.solve(EDGES)
    matrix = result.matrix()
    assert numpy.where(matrix == result.unreachable, numpy.inf, matrix).tolist() == result.table().tolist()
    ranges = [headers.get("Range") for method, path, _, headers, _ in wire.seen if path.endswith("/matrix")
              and method == "GET" and "If-Match" in headers]
    assert ranges[0] is None and ranges[1] == "bytes=70000-" and ranges[2] == ranges[3] == "bytes=90000-", ranges


def test_a_later_call_completes_an_interrupted_download(daemon):
    wire = Wire("GET", "/matrix", 70001)
    client, _ = faulty(daemon, wire)
    result = client.solve(EDGES)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "matrix.npy")
        try:
            result.matrix(path)
            raise AssertionError("it was interrupted")
        except KeyboardInterrupt:
            pass
        assert not path.exists()
        (part,) = pathlib.Path(folder).iterdir()
        assert part.stat().st_size == 70001
        assert result.matrix(path)[0, 300] == result.distance(0, 300)
        assert wire.seen[-2][3]["Range"] == "bytes=70001-" and wire.seen[-2][2] == 206, wire.seen[-2]
        assert list(pathlib.Path(folder).iterdir()) == [path]
        # A part that was downloaded of another matrix is not used.
        part.write_bytes(b"x" * 200)
        part.rename(pathlib.Path(folder, "matrix.npy.other.part"))
        assert (result.matrix(path) == result.matrix()).all()


def test_the_download_of_a_replaced_matrix_restarts(daemon):
    changed = httpx.Response(412, json={"code": "PreconditionFailed"})
    client, _ = faulty(daemon, Wire("GET", "/matrix", changed))
    result = client.solve(EDGES)
    assert result.matrix()[0, 300] == result.distance(0, 300)


def test_a_response_from_another_kind_of_server_raises_a_descriptive_error(daemon):
    """The response is a redirect, an HTML page, or JSON with an unexpected structure."""
    others = [httpx.Response(302, headers={"Location": "https://elsewhere.test/"}), httpx.Response(200, text="<h1>"),
              httpx.Response(200, json=[1]), httpx.Response(200, json={"hello": 1}),
              httpx.Response(200, json={"id": 3, "state": {}}), httpx.Response(200, json=None)]
    for other in others:
        client, _ = faulty(daemon, Wire("POST", "/v1/jobs", other))
        error = expect(apspd.ServiceError, None, client.submit, EDGES)
        assert str(error), error
        assert "302" in str(error) if other.status_code == 302 else "not what apspd returns" in str(error), error


def test_malformed_responses_raise_a_descriptive_error(daemon):
    """For every request, the client reports JSON with an unexpected structure or a body of the
    wrong length."""
    asked = [("/path", lambda result: result.path(0, 1)), ("/nearest", lambda result: result.nearest(0)),
             ("/within", lambda result: result.within(0, max=3)), ("/matrix", lambda result: result.row(0)),
             ("/distances", lambda result: result.distance(0, 1)), ("/matrix", lambda result: result.table())]
    for path, ask in asked:
        for body in (b"[" * 100000, b"[1]", b'{"vertices": 3}', b"null\n", b"<h1>Hello</h1>", b""):
            client, _ = faulty(daemon, Wire("POST" if path == "/distances" else "GET", path,
                                            httpx.Response(200, content=body)))
            result = client.solve(EDGES)
            error = expect(apspd.ServiceError, "UnexpectedAnswer", ask, result)
            assert "response" in str(error), error
    for call, body in ((lambda client: client.graphs(), {"graphs": {}}), (lambda client: client.jobs(), []),
                       (lambda client: client.result("g"), {"id": None}), (lambda client: client.estimate(n=1, m=1), 3)):
        paths = {"GET": ("/v1/graphs", "/v1/jobs", "/g"), "POST": ("/v1/estimate",)}
        for method, path in ((method, path) for method in paths for path in paths[method]):
            client, _ = faulty(daemon, Wire(method, path, httpx.Response(200, json=body)))
            try:
                call(client)
            except apspd.ServiceError as error:
                assert error.code in ("UnexpectedAnswer", "NoSuchGraph"), error


def test_an_empty_page_is_not_the_end_of_a_list(daemon):
    """A filtered list may have an empty page, because the service examines a limited number of
    jobs per page; the client continues with the next page."""
    client, _ = faulty(daemon, Wire("GET", "/v1/jobs", httpx.Response(200, json={"jobs": [], "next": "j_" + 26 * "z"})))
    job = client.solve(EDGES).job
    assert job["id"] in [found["id"] for found in client.jobs(state="done")]


class Endless(httpx.SyncByteStream):
    """A body that does not end before the client stops reading."""

    def __init__(self, most):
        self.read, self.most = 0, most

    def __iter__(self):
        while self.read < self.most:
            self.read += 1 << 16
            yield bytes(1 << 16)
        raise AssertionError("nobody ends it")


def test_the_client_stops_reading_an_endless_response(daemon):
    for path, ask in (("/matrix", lambda result: result.table()), ("/distances", lambda result: result.distance(0, 1))):
        endless = Endless(1 << 26)
        client, _ = faulty(daemon, Wire("POST" if path == "/distances" else "GET", path,
                                        httpx.Response(200, stream=endless)))
        error = expect(apspd.ServiceError, "UnexpectedAnswer", ask, client.solve(EDGES))
        assert "longer" in str(error) and endless.read < 1 << 22, (error, endless.read)


def etag_of(daemon, result):
    return daemon.ask("HEAD", f"/v1/graphs/{result.graph}/matrix").headers["ETag"]


def test_a_partial_response_that_does_not_match_the_download_is_refused(daemon):
    with client_of(daemon) as client:
        etag, size = etag_of(daemon, client.solve(EDGES)), 128 + 4 * 301 * 301
    good = f"bytes 70000-{size - 1}/{size}"
    for words, status, headers, body in (
            ("not the requested part", 206, {"ETag": etag, "Content-Range": "bytes 0-9/10"}, b"0123456789"),
            ("not the requested part", 206, {"ETag": etag, "Content-Range": f"bytes 69999-{size - 1}/{size}"}, b"0"),
            ("not the requested part", 206, {"ETag": etag, "Content-Range": f"bytes 70000-{size}/{size + 1}"}, b"0"),
            ("not the requested part", 206, {"ETag": '"other"', "Content-Range": good}, b"0"),
            ("not the requested part", 206, {"Content-Range": good}, b"0"),
            ("not the requested part", 206, {"ETag": etag}, b"0"),
            ("not the requested part", 200, {"ETag": '"other"'}, bytes(size)),
            ("ended too early", 206, {"ETag": etag, "Content-Range": good}, b""),
            ("longer", 206, {"ETag": etag, "Content-Range": good}, bytes(size))):
        part = httpx.Response(status, headers=headers, stream=httpx.ByteStream(body))
        client, _ = faulty(daemon, Wire("GET", "/matrix", 70000, part))
        with tempfile.TemporaryDirectory() as folder:
            error = expect(apspd.ServiceError, "UnexpectedAnswer", client.solve(EDGES).matrix, f"{folder}/m.npy")
            assert words in str(error), (words, status, headers, error)
            assert not pathlib.Path(folder, "m.npy").exists()
    client, _ = faulty(daemon, Wire("HEAD", "/matrix", httpx.Response(200), httpx.Response(200)))
    assert "no ETag" in str(expect(apspd.ServiceError, "UnexpectedAnswer", client.solve(EDGES).matrix))


def test_a_download_does_not_follow_symbolic_links(daemon):
    with client_of(daemon) as client, tempfile.TemporaryDirectory() as folder:
        result = client.solve(EDGES)
        kept, etag = pathlib.Path(folder, "kept"), etag_of(daemon, result).strip('"')
        kept.write_bytes(b"good")
        pathlib.Path(folder, f"m.npy.{quote(etag, safe='')}.part").symlink_to(kept)
        try:
            result.matrix(f"{folder}/m.npy")
            raise AssertionError("it followed the link")
        except OSError as error:
            assert error.errno == errno.ELOOP, error
        assert kept.read_bytes() == b"good"


def test_the_asynchronous_client_retries_failed_requests(daemon):
    async def ask(method, path, *faults):
        wire = Wire(method, path, *faults)
        async with apspd.AsyncClient(daemon.url, transport=AsyncTransport(wire)) as client:
            async def pause(seconds):
                pauses.append(seconds)

            client._sleep, pauses = pause, []
            result = await client.solve([*EDGES, (7, 0, 1)])
            matrix = await result.matrix()
            assert matrix[0, 300] == await result.distance(0, 300)
            return wire, pauses

    before = jobs(daemon)
    _, pauses = asyncio.run(ask("POST", "/v1/jobs", httpx.ReadError("lost"), told(429, **{"Retry-After": "3"})))
    assert pauses == [0.1, 3] and jobs(daemon) == before + 1
    wire, _ = asyncio.run(ask("GET", "/matrix", 70000))
    assert any(headers.get("Range") == "bytes=70000-" for *_, headers, _ in wire.seen)


def test_the_client_sets_tcp_nodelay(daemon):
    async def ask():
        wire = Wire("GET", "")
        async with apspd.AsyncClient(daemon.url, transport=AsyncTransport(wire)) as client:
            await client.solve(EDGES)
        return wire

    wire = Wire("GET", "")
    client, _ = faulty(daemon, wire)
    client.solve(EDGES)
    assert all(at_once for *_, at_once in (*wire.seen, *asyncio.run(ask()).seen))


def test_the_client_sends_its_access_key(_):
    keys = access.Keys("alpha:submitter")
    with access.Daemon("--http.keys_file", keys.path) as daemon:
        with client_of(daemon, key=access.Keys.key("alpha:submitter")) as client:
            assert client.solve([("a", "b", 5)]).distance("a", "b") == 5
        with client_of(daemon, key="of nobody") as client:
            error = expect(apspd.AccessDenied, None, client.solve, EDGES)
            assert error.status == 401 and "APSPD_KEY" in str(error), error


if __name__ == "__main__":
    assert python_client
    harness.run(globals())
