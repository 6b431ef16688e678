"""Tests the event streams of jobs, and clients that disconnect while they wait."""

import socket
import subprocess
import threading

import harness
from harness import LASTING, SMALL, slow_graph
from test_watch import cancel, start_slow


class Stream:
    """The events of a job, parsed as a browser does."""

    def __init__(self, daemon, job, seen=None, query=""):
        self.connection = daemon.connect()
        headers = {} if seen is None else {"Last-Event-ID": seen}
        self.connection.request("GET", f"/v1/jobs/{job}/events{query}", headers=headers)
        self.response = self.connection.getresponse()
        self.status = self.response.status
        self.headers = self.response.headers

    def piece(self):
        """Returns {"event", "id", "data", "retry", "comment"} of the next piece, or None at the
        end."""
        found = {}
        while True:
            line = self.response.readline().decode()
            if line == "":
                assert not found, found
                return None
            if line == "\n":
                return found
            assert line.endswith("\n") and ":" in line, line
            name, _, value = line[:-1].partition(":")
            assert name not in found, (found, line)
            found[name or "comment"] = value.removeprefix(" ")

    def event(self, name="state"):
        """Returns the next event of this name and its document."""
        while True:
            piece = self.piece()
            assert piece is not None, "the stream has ended"
            if piece.get("event") == name:
                return piece, harness.json.loads(piece["data"])

    def states(self):
        """Returns all states until the end."""
        found = []
        while (piece := self.piece()) is not None:
            if piece.get("event") == "state":
                found.append(harness.json.loads(piece["data"])["state"])
        return found

    def close(self):
        self.response.close()
        self.connection.close()


def sockets(daemon):
    return sum("socket" in name for name in daemon.open_files())


def wait_until_left(daemon, count):
    """Waits until the daemon has noticed that clients have disconnected, and has only `count`
    sockets."""
    while sockets(daemon) > count:
        harness.pause()


def test_an_event_stream_sends_the_states_in_order_and_ends(daemon):
    running, waiting = start_slow(daemon, 21)
    stream = Stream(daemon, waiting)
    assert stream.status == 200, stream.status
    assert stream.headers["Content-Type"] == "text/event-stream; charset=utf-8", stream.headers
    assert stream.headers["Cache-Control"] == "no-store", stream.headers
    assert stream.headers["X-Accel-Buffering"] == "no", stream.headers
    assert "Content-Length" not in stream.headers
    assert int(stream.piece()["retry"]) > 0
    piece, document = stream.event()
    assert document["state"] == "queued" and document["id"] == waiting, document
    assert document["links"]["events"] == f"/v1/jobs/{waiting}/events", document
    cancel(daemon, running)
    states = ["queued"] + stream.states()
    assert states in (["queued", "running", "done"], ["queued", "done"]), states
    assert Stream(daemon, waiting).status == 204
    stream.close()


def test_a_running_job_reports_its_progress(daemon):
    running, waiting = start_slow(daemon, 22)
    stream = Stream(daemon, running)
    _, document = stream.event("progress")
    assert document["state"] == "running" and 0 < document["progress"] < 1, document
    assert document["id"] == running and document["eta_s"] > 0, document
    assert document["phase"] in ("planning", "solving"), document
    piece, _ = stream.event("progress")
    assert "id" not in piece, piece
    cancel(daemon, waiting)
    daemon.ask("DELETE", f"/v1/jobs/{running}").expect(202)
    piece, document = stream.event("state")
    assert document["state"] == "cancelled", document
    assert stream.piece() is None
    stream.close()


def test_an_interrupted_stream_resumes_at_the_last_event(daemon):
    running, waiting = start_slow(daemon, 23)
    stream = Stream(daemon, running)
    seen = stream.event()[0]["id"]
    stream.close()
    again = Stream(daemon, running, seen)
    assert again.status == 200
    assert "retry" in again.piece()
    cancel(daemon, waiting)
    cancel(daemon, running)
    assert again.states() == ["cancelled"]
    late = Stream(daemon, running, seen)
    piece, document = late.event()
    assert document["state"] == "cancelled" and late.piece() is None, document
    assert Stream(daemon, running, piece["id"]).status == 204
    assert Stream(daemon, running).status == 204
    by_address = Stream(daemon, running, query="?last_event_id=0")
    assert by_address.states() == ["cancelled"]
    assert Stream(daemon, running, piece["id"], "?last_event_id=0").status == 204
    for stream in (again, late, by_address):
        stream.close()


def test_the_event_of_a_failed_job_contains_the_reason(daemon):
    job = daemon.solve(b"p sp 3 3\na 1 2 1\na 2 3 -7\na 3 1 2\n")["id"]
    stream = Stream(daemon, job, "0")
    _, document = stream.event()
    assert document["problem"]["code"] == "NegativeCycle", document
    assert stream.piece() is None
    stream.close()


def test_a_head_response_has_no_body_and_an_unknown_job_has_no_events(daemon):
    running, waiting = start_slow(daemon, 24)
    answer = daemon.ask("HEAD", f"/v1/jobs/{running}/events").expect(200)
    assert answer.body == b"" and answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
    cancel(daemon, waiting)
    cancel(daemon, running)
    daemon.get("/v1/jobs/j_00000000000000000000000000/events").expect(404, "NoSuchJob")
    daemon.get(f"/v1/jobs/{running}/events?since=1").expect(400, "UnknownParameter")
    daemon.ask("POST", f"/v1/jobs/{running}/events", b"x").expect(405, "MethodNotAllowed")


def test_a_silent_stream_sends_keepalives(_):
    with harness.Daemon("--http.heartbeat_s", "1", *LASTING) as daemon:
        running, waiting = start_slow(daemon, 25)
        stream = Stream(daemon, waiting)
        stream.event()
        for _ in range(2):
            assert "comment" in stream.piece()
        stream.close()
        cancel(daemon, waiting)
        cancel(daemon, running)


def test_curl_shows_events_as_they_arrive(daemon):
    running, waiting = start_slow(daemon, 26)
    url = f"{daemon.url}/v1/jobs/{waiting}/events"
    curl = subprocess.Popen(["curl", "-sSN", "-m", "300", url], stdout=subprocess.PIPE)
    lines = [curl.stdout.readline() for _ in range(4)]
    assert lines[3] == b"event: state\n", lines
    cancel(daemon, waiting)
    rest = curl.stdout.read()
    assert curl.wait(harness.PATIENCE_S) == 0 and b'"state":"cancelled"' in rest, rest
    cancel(daemon, running)


def test_watchers_beyond_the_limit_are_refused(_):
    with harness.Daemon("--http.watcher_limit", "100", *LASTING) as daemon:
        running, waiting = start_slow(daemon, 27)
        streams = [Stream(daemon, waiting) for _ in range(100)]
        assert all(stream.event()[1]["state"] == "queued" for stream in streams)
        answer = daemon.get(f"/v1/jobs/{waiting}/events").expect(429, "TooManyWatchers")
        assert answer.json["limit"] == 100 and int(answer.headers["Retry-After"]) >= 1
        assert daemon.get("/v1/limits").json["watcher_limit"] == 100
        cancel(daemon, waiting)
        assert all(stream.states() == ["cancelled"] for stream in streams)
        for stream in streams:
            stream.close()
        late = Stream(daemon, running)
        assert late.status == 200
        late.close()
        cancel(daemon, running)


def test_a_disconnected_watcher_no_longer_counts_towards_the_limit(_):
    with harness.Daemon("--http.watcher_limit", "1", *LASTING) as daemon:
        running, waiting = start_slow(daemon, 28)
        for _ in range(20):
            stream = Stream(daemon, waiting)
            stream.event()
            assert Stream(daemon, waiting).status == 429
            stream.close()
            # How soon the daemon notices the end depends on the machine; a HEAD request does not
            # count as a watcher.
            harness.wait_until(daemon, lambda: daemon.ask("HEAD", f"/v1/jobs/{waiting}/events").status != 429)
        cancel(daemon, waiting)
        cancel(daemon, running)


def test_a_head_request_does_not_count_as_a_watcher(_):
    with harness.Daemon("--http.watcher_limit", "1") as daemon:
        job = daemon.solve(SMALL)["id"]
        seen = []

        def ask():
            for _ in range(50):
                seen.append(daemon.ask("HEAD", f"/v1/jobs/{job}/events?last_event_id=0").status)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == 400 * [200], {status: seen.count(status) for status in set(seen)}


def raw(daemon, request):
    connection = socket.create_connection(("127.0.0.1", daemon.port))
    connection.sendall(request.encode())
    return connection


def test_a_long_poll_ends_when_its_client_disconnects(daemon):
    running, waiting = start_slow(daemon, 29)
    before = sockets(daemon)
    graph = daemon.get(f"/v1/jobs/{waiting}").json["graph"]
    paths = [f"/v1/jobs/{waiting}?wait=60", f"/v1/graphs/{graph}/distance?source=1&target=2"]
    for path in paths:
        request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nPrefer: wait=60\r\n\r\n"
        polls = [raw(daemon, request) for _ in range(20)]
        harness.wait_until(daemon, lambda: daemon.held() >= 20)
        for poll in polls:
            poll.close()
        wait_until_left(daemon, before)
    cancel(daemon, waiting)
    cancel(daemon, running)


def test_a_client_that_closes_only_its_sending_side_gets_the_response(daemon):
    running, waiting = start_slow(daemon, 30)
    poll = raw(daemon, f"GET /v1/jobs/{waiting}?wait=60 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    poll.shutdown(socket.SHUT_WR)
    poll.settimeout(300)
    answer = b""
    while part := poll.recv(65536):
        answer += part
    assert answer.startswith(b"HTTP/1.1 200") and b'"state":"queued"' in answer, answer
    poll.close()
    cancel(daemon, waiting)
    cancel(daemon, running)


def test_event_streams_end_with_the_last_state_at_shutdown(_):
    with harness.Daemon("--jobs.drain_s", "0", *LASTING) as daemon:
        running, waiting = start_slow(daemon, 31)
        streams = [Stream(daemon, running), Stream(daemon, waiting)]
        for stream in streams:
            stream.event()
        seen = []
        threads = [
            threading.Thread(target=lambda s=stream: seen.append(s.states())) for stream in streams
        ]
        for thread in threads:
            thread.start()
        daemon.terminate()
        for thread in threads:
            thread.join()
        assert len(seen) == 2 and all(states[-1] == "queued" for states in seen), seen
        daemon.start()
        cancel(daemon, running)
        cancel(daemon, waiting)


def test_a_job_that_finishes_during_shutdown_ends_its_event_stream(_):
    with harness.Daemon("--jobs.drain_s", "300", *LASTING) as daemon:
        running, _ = start_slow(daemon, 32)
        job = daemon.submit(slow_graph(600 if harness.QUICK else 2500)).expect(202).json["id"]
        stream = Stream(daemon, job)
        stream.event()
        cancel(daemon, running)
        # The job runs now, or has already ended if it is small for the machine.
        states = [stream.event()[1]["state"]]
        thread = threading.Thread(target=daemon.terminate, args=(300,))
        thread.start()
        states += stream.states()
        assert states in (["running", "done"], ["done"]), states
        thread.join()
        daemon.start()
        assert Stream(daemon, job).status == 204


def test_a_forgotten_job_has_no_events(_):
    with harness.Daemon("--jobs.history_limit", "1") as daemon:
        first = daemon.solve(SMALL)["id"]
        stream = Stream(daemon, first, "0")
        daemon.solve(SMALL.replace(b"20", b"21"))
        harness.wait_until(daemon, lambda: daemon.get(f"/v1/jobs/{first}").status == 404)
        assert stream.states() == ["done"]
        daemon.get(f"/v1/jobs/{first}/events").expect(404, "NoSuchJob")
        stream.close()


if __name__ == "__main__":
    harness.run(globals(), LASTING)
