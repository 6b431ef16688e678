"""apsp as a client of a running service: each command, its exit codes, and network failures."""

import concurrent.futures
import contextlib
import json
import os
import pty
import socket
import subprocess
import sys
import tempfile
import time

import harness
import sites

TOWN = b"a b 3\nb c 4\nc a 1\nc d 9\n"


def apsp(daemon, *arguments, stdin=b"", url=None, key=None, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("APSPD_")}
    environment["APSPD_URL"] = url or daemon.url
    environment.update(variables)
    if key is not None:
        environment["APSPD_KEY"] = key
    return subprocess.run([harness.COMMAND, *arguments], input=stdin, capture_output=True,
                          env=environment, timeout=harness.PATIENCE_S)


def lines(done):
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done.stdout.decode().splitlines()


def refused(done, code, words):
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    assert done.stderr.decode().startswith("apsp: ") and words in done.stderr.decode(), done.stderr
    return done.stderr.decode()


def submitted(daemon, name="town", *more):
    (job,) = lines(apsp(daemon, "submit", "-", "--name", name, "--directed", "true", *more, stdin=TOWN))
    return job


def test_a_graph_is_submitted_and_queried(daemon):
    job = submitted(daemon)
    (line,) = lines(apsp(daemon, "wait", job))
    assert line.startswith(job + " done graph g_") and "4 vertices, 4 edges, kind i4" in line, line
    assert lines(apsp(daemon, "ask", "town", "a", "d")) == ["16"]
    assert lines(apsp(daemon, "ask", "town", "d", "a")) == ["unreachable"]
    assert json.loads(lines(apsp(daemon, "ask", "town", "a", "d", "--json"))[-1])["distance"] == 16
    assert any(line.endswith(" town") for line in lines(apsp(daemon, "graphs", "--limit", "10")))
    listed = json.loads(lines(apsp(daemon, "graphs", "--json", "--limit", "1"))[-1])
    assert len(listed["graphs"]) == 1, listed
    assert lines(apsp(daemon, "rm", "town")) == []
    refused(apsp(daemon, "ask", "town", "a", "d"), 4, 'no graph "town"')


def test_submit_sends_its_flags_as_parameters(daemon):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.gr")
        with open(path, "wb") as file:
            file.write(b"p sp 3 2\na 1 2 4\na 2 3 5\n")
        flags = ("--kind", "f8", "--priority", "3", "--verify", "--result", "matrix", "--name", "passed")
        done = apsp(daemon, "submit", path, "--wait", "--json", *flags)
        job = json.loads(lines(done)[-1])
        assert job["state"] == "done" and job["summary"]["kind"] == "f8", job
        assert job["priority"] == 3 and job["verified"]["rows"] == 3 and job["name"] == "passed", job
        assert job["input"]["format"] == "dimacs" and not job["input"]["guessed"], job["input"]
    done = apsp(daemon, "submit", "-", "--wait", stdin=b"1 2 3\n2 3 4\n")
    assert b"warning: The file does not say whether the edges are directed" in done.stderr, done.stderr


def test_each_failure_has_its_exit_code(daemon):
    refused(apsp(daemon, "submit", "-", "--format", "edges", stdin=b"a b 1\nc\n"), 1, ":2:1:")
    refused(apsp(daemon, "submit", "/none/there.gr"), 1, "No such file")
    cycle = apsp(daemon, "submit", "-", "--wait", "--directed", "true", stdin=b"a b -3\nb a 1\n")
    refused(cycle, 1, "The job ended in the state failed: ")
    refused(apsp(daemon, "ask", "none"), 2, "SOURCE is missing")
    refused(apsp(daemon, "ask", "none", "1", "2", "--no"), 2, "unknown flag")
    refused(apsp(daemon, "wait", "j_none"), 4, 'no job "j_none"')
    refused(apsp(daemon, "submit", "-", "--kind", "i9", stdin=TOWN), 4, "kind must be one of")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        assert "Is the service running" in refused(apsp(daemon, "graphs", url=url), 4, "connect")
    refused(apsp(daemon, "rm", "none"), 4, 'no graph "none"')
    refused(apsp(daemon, "jobs"), 2, "unknown command jobs")
    for word, meant in (("slove", "solve"), ("sumbit", "submit"), ("graph", "graphs"), ("remove", "rm")):
        refused(apsp(daemon, word), 2, f"apsp {meant}?")
    assert "apsp help lists" in refused(apsp(daemon, "status"), 2, "unknown command status")


def test_a_wait_ends_when_its_job_is_cancelled(_):
    with harness.Daemon("--solver", "cpu", "--solver.cpu_threads", "1") as daemon:
        (job,) = lines(apsp(daemon, "submit", "-", stdin=harness.slow_graph(harness.LASTING_SIZE)))
        daemon.ask("DELETE", f"/v1/jobs/{job}").expect(202)
        refused(apsp(daemon, "wait", job), 1, "The job ended in the state cancelled.")


def test_the_client_waits_for_a_job_beyond_the_wait_limit_of_the_service(_):
    for limit in ("0", "1", "5"):
        with harness.Daemon("--solver", "cpu", "--solver.cpu_threads", "1", "--http.wait_limit_s", limit) as daemon:
            (job,) = lines(apsp(daemon, "submit", "-", stdin=harness.slow_graph(harness.LASTING_SIZE)))
            with Proxy(daemon, ()) as proxy, concurrent.futures.ThreadPoolExecutor() as pool:
                waiting = pool.submit(apsp, daemon, "wait", job, url=proxy.url)
                harness.wait_until(daemon, lambda: len(proxy.asked) >= 2 or waiting.done())
                daemon.ask("DELETE", f"/v1/jobs/{job}").expect(202)
                refused(waiting.result(), 1, "The job ended in the state cancelled.")
            assert proxy.asked[1]["at"] - proxy.asked[0]["at"] > 0.3, (limit, proxy.asked)


def test_matrices_are_downloaded(daemon):
    apsp(daemon, "wait", submitted(daemon, "down"))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.npy")
        assert lines(apsp(daemon, "get", "down", path)) == []
        assert os.listdir(folder) == ["m.npy"]
        with open(path, "rb") as file:
            assert file.read() == daemon.get("/v1/graphs/down/matrix").body
        assert lines(apsp(daemon, "ask", path, "0", "3")) == ["16"]
        assert lines(apsp(daemon, "ask", path, "3", "0")) == ["unreachable"]
        refused(apsp(daemon, "ask", path, "4", "0"), 1, "vertices are numbered from 0 to 3")
        for ending in ("csv", "ndjson", "mtx", "json"):
            text = os.path.join(folder, "m." + ending)
            report = json.loads(lines(apsp(daemon, "get", "down", text, "--json"))[-1])
            with open(text, "rb") as file:
                assert file.read() == daemon.get(f"/v1/graphs/down/matrix?format={ending}").body
            assert report["bytes"] == os.path.getsize(text) and report["format"] == ending, report
        assert lines(apsp(daemon, "get", "down", "-", "--to", "csv"))[0] == "0,3,7,16"
        refused(apsp(daemon, "get", "down", "/none/m.npy"), 1, "cannot write")


@contextlib.contextmanager
def serving(answer, host="127.0.0.1"):
    """Runs a server whose responses the function computes; yields its address."""

    class Handler(sites.Handler):
        def do_GET(self):
            answer(self)
            self.close_connection = True

        do_POST = do_DELETE = do_GET

    with sites.serving(Handler, host) as server:
        yield f"http://{host}:{server.server_port}"


class Proxy:
    """Forwards requests to the daemon, and truncates each answer after this many bytes of its
    body."""

    def __init__(self, daemon, cuts):
        self.daemon, self.cuts, self.asked = daemon, list(cuts), []

    def answer(self, request):
        self.asked.append({**request.headers, "at": time.monotonic()})
        wanted = {name: request.headers[name] for name in ("Range", "If-Range", "Prefer") if name in request.headers}
        answer = self.daemon.ask("GET", request.path, headers=wanted)
        told = ("ETag", "Content-Length", "Content-Range", "Content-Type")
        cut = self.cuts.pop(0) if self.cuts else None
        request.send(answer.status, {name: answer.headers[name] for name in told if answer.headers[name]},
                     answer.body[:cut])

    def __enter__(self):
        self.server = serving(self.answer)
        self.url = self.server.__enter__()
        return self

    def __exit__(self, *_):
        self.server.__exit__(None, None, None)


def grid(n, weight):
    return "".join(f"{v} {v + 1} {weight}\n{v + 1} {v} {weight + 1}\n" for v in range(n - 1)).encode()


def test_an_interrupted_download_resumes(daemon):
    daemon.solve(grid(200, 3), "?name=long&format=edges")
    whole = daemon.get("/v1/graphs/long/matrix").body
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.npy")
        with Proxy(daemon, (50_000, 30_000)) as proxy:
            lines(apsp(daemon, "get", "long", path, url=proxy.url))
            assert [asked.get("Range") for asked in proxy.asked] == [None, "bytes=50000-", "bytes=80000-"]
            assert proxy.asked[1]["If-Range"] == proxy.asked[2]["If-Range"]
        with open(path, "rb") as file:
            assert file.read() == whole
        # A second run resumes the first; but not if the matrix has changed in between.
        for weight, expected in ((3, "bytes=50000-"), (8, "bytes=50000-")):
            os.remove(path)
            with Proxy(daemon, (50_000, 0, 0, 0, 0, 0)) as proxy:
                refused(apsp(daemon, "get", "long", path, url=proxy.url), 4, proxy.url)
            assert os.path.getsize(path + ".part") == 50_000 and not os.path.exists(path)
            daemon.solve(grid(200, weight), "?name=long&format=edges")
            with Proxy(daemon, ()) as proxy:
                lines(apsp(daemon, "get", "long", path, url=proxy.url))
                assert proxy.asked[0]["Range"] == expected
            with open(path, "rb") as file:
                assert file.read() == daemon.get("/v1/graphs/long/matrix").body
            assert os.listdir(folder) == ["m.npy"]


class Feeder(Proxy):
    """Answers each GET with the next piece (status, headers, bytes), and repeats the last one."""

    def __init__(self, *answers):
        self.answers, self.asked = answers, []

    def answer(self, request):
        self.asked.append((time.monotonic(), request.headers["Range"]))
        request.send(*self.answers[min(len(self.asked), len(self.answers)) - 1])


def test_a_partial_response_that_does_not_match_the_request_is_refused(_):
    first = (200, {"ETag": '"a"', "Content-Length": "10"}, b"01234")
    tag = {"ETag": '"a"'}
    for status, headers, body in (
            (206, {**tag, "Content-Range": "bytes 4-9/10", "Content-Length": "6"}, b"456789"),
            (206, {**tag, "Content-Range": "bytes 0-4/10", "Content-Length": "5"}, b"01234"),
            (206, {**tag, "Content-Range": "bytes 5-8/10", "Content-Length": "4"}, b"5678"),
            (206, {**tag, "Content-Range": "bytes 5-9/10", "Content-Length": "4"}, b"5678"),
            (206, {**tag, "Content-Range": "bytes 5-9/10", "Content-Length": "0"}, b""),
            (206, {**tag, "Content-Length": "5"}, b"56789"),
            (206, {"ETag": '"b"', "Content-Range": "bytes 5-9/10", "Content-Length": "5"}, b"56789"),
            (206, {"Content-Range": "bytes 5-9/10", "Content-Length": "5"}, b"56789")):
        with tempfile.TemporaryDirectory() as folder, Feeder(first, (status, headers, body)) as feeder:
            path = os.path.join(folder, "m.npy")
            refused(apsp(None, "get", "g", path, url=feeder.url), 4, "not requested")
            assert not os.path.exists(path) and len(feeder.asked) == 2, (headers, feeder.asked)
    with tempfile.TemporaryDirectory() as folder, Feeder(
            first, (206, {**tag, "Content-Range": "bytes 5-9/10", "Content-Length": "5"}, b"56789")) as feeder:
        path = os.path.join(folder, "m.npy")
        lines(apsp(None, "get", "g", path, url=feeder.url))
        with open(path, "rb") as file:
            assert file.read() == b"0123456789"
    # The matrix of an empty graph replaces the existing file.
    with tempfile.TemporaryDirectory() as folder, Feeder(
            first, (200, {"ETag": '"b"', "Content-Length": "0"}, b"")) as feeder:
        path = os.path.join(folder, "m.raw")
        lines(apsp(None, "get", "g", path, url=feeder.url))
        assert os.path.getsize(path) == 0 and os.listdir(folder) == ["m.raw"]
    # The response is a byte range that was not requested.
    with Feeder((206, {"Content-Range": "bytes 5-9/10", "Content-Length": "5"}, b"56789")) as feeder:
        refused(apsp(None, "get", "g", "-", "--to", "csv", url=feeder.url), 4, "not requested")


def test_download_attempts_are_limited(_):
    """Each attempt returns some bytes, but no attempt reaches the end."""
    with tempfile.TemporaryDirectory() as folder, \
            Feeder((200, {"ETag": '"a"', "Content-Length": "10"}, b"01234")) as feeder:
        refused(apsp(None, "get", "g", os.path.join(folder, "m.npy"), url=feeder.url), 4, feeder.url)
        assert len(feeder.asked) == 2, feeder.asked


def test_a_download_does_not_follow_symbolic_links(_):
    for name in ("m.npy.part", "m.npy.part.tag"):
        with tempfile.TemporaryDirectory() as folder, \
                Feeder((200, {"ETag": '"a"', "Content-Length": "5"}, b"01234")) as feeder:
            kept = os.path.join(folder, "kept")
            with open(kept, "wb") as file:
                file.write(b"good")
            os.symlink(kept, os.path.join(folder, name))
            refused(apsp(None, "get", "g", os.path.join(folder, "m.npy"), url=feeder.url), 1, "cannot write")
            with open(kept, "rb") as file:
                assert file.read() == b"good"


def test_control_characters_in_a_matrix_are_escaped_on_a_terminal(_):
    with Feeder((200, {"Content-Length": "9"}, b"1,\x1b[2J\n2\n")) as feeder:
        shown, code = on_terminal("get", "g", "-", "--to", "csv", APSPD_URL=feeder.url)
        assert code == 0 and shown == b"1,\\u001b[2J\r\n2\r\n", shown


def test_a_request_to_a_silent_service_times_out(_):
    """Both cases wait for a timeout of a minute at the same time. Builds with sanitizers skip this
    test."""
    if harness.QUICK:
        return
    with socket.socket() as silent, tempfile.TemporaryDirectory() as folder:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        calls = (("graphs",), ("get", "g", os.path.join(folder, "m.npy")))
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for done in pool.map(lambda call: apsp(None, *call, url=url), calls):
                refused(done, 4, "sent nothing for 60 s")


def test_a_request_to_a_busy_service_is_retried(_):
    asked = []

    def answer(request):
        body = request.rfile.read(int(request.headers["Content-Length"]))
        asked.append((body, request.headers["Idempotency-Key"], request.headers["Authorization"]))
        if len(asked) == 1:
            request.send(429, {"Retry-After": "1"}, b'{"code":"QueueFull","detail":"full"}')
        else:
            request.send(202, {}, b'{"id":"j_1"}')

    with serving(answer) as url, tempfile.NamedTemporaryFile(suffix=".gr") as file:
        file.write(b"p sp 2 1\na 1 2 3\n")
        file.flush()
        assert lines(apsp(None, "submit", file.name, url=url, key="secret-word")) == ["j_1"]
    assert len(asked) == 2 and asked[0] == asked[1], asked
    assert asked[0][1].startswith("apsp-") and asked[0][2] == "Bearer secret-word", asked


def test_a_redirect_is_reported_and_not_followed(_):
    """The client does not follow the redirect, so nothing is deleted, queried or downloaded at
    its target."""

    statuses = [301]

    def answer(request):
        location = {"Location": "https://elsewhere.test" + request.path} if statuses[-1] == 301 else {}
        request.send(statuses[-1], location, b"<html>")

    with serving(answer) as url, tempfile.TemporaryDirectory() as folder:
        refused(apsp(None, "rm", "g", url=url), 4, "returned status 301")
        refused(apsp(None, "ask", "g", "a", "b", url=url), 4, "returned status 301")
        path = os.path.join(folder, "m.npy")
        with open(path, "wb") as file:
            file.write(b"good")
        # A 203 of a transforming proxy is not a complete answer of the service either.
        for status in (301, 203):
            statuses.append(status)
            refused(apsp(None, "get", "g", path, url=url), 4, f"returned status {status}")
            with open(path, "rb") as file:
                assert file.read() == b"good"


def test_control_characters_in_responses_are_escaped(_):
    """A terminal shows control characters from the service, but does not execute them."""
    bad = "\x1b]0;owned\x07\n\x7f\x9b2J\u00e9"
    shown_as = r"\u001b]0;owned\u0007\u000a\u007f\u009b2J\u00e9".replace(r"\u00e9", "\u00e9")
    answers = {
        "/v1/graphs": {"graphs": [{"id": bad, "result": bad, "names": [bad, 1]}]},
        "/v1/jobs/j": {"id": bad, "state": "done" + bad, "graph": bad, "problem": {"detail": bad, "hint": bad}},
        "/v1/jobs/d": {"id": bad, "state": "done", "graph": bad, "summary": {"kind": bad}},
        "/v1/jobs": {"id": bad, "warnings": [{"detail": bad, "hint": bad}]},
        "/v1/graphs/g/distance": bad,
    }

    def answer(request):
        if request.command == "POST":
            request.rfile.read(int(request.headers["Content-Length"]))
        found = answers.get(request.path.partition("?")[0])
        body = found if isinstance(found, str) else json.dumps(
            found or {"code": "Bad", "detail": bad, "hint": bad}, ensure_ascii=False)
        request.send(200 if found else 404, {}, body.encode())

    with serving(answer) as url, tempfile.NamedTemporaryFile(suffix=".gr") as file:
        for call in (("graphs",), ("graphs", "--json"), ("wait", "j"), ("wait", "d"), ("wait", "d", "--json"),
                     ("submit", file.name), ("ask", "g", "a", "b"), ("ask", "none", "a", "b"), ("rm", "none")):
            done = apsp(None, *call, url=url)
            said = (done.stdout + done.stderr).decode()
            assert not any(c != "\n" and (c < " " or "\x7f" <= c <= "\x9f") for c in said), (call, said)
            if "--json" not in call:
                assert shown_as in said, (call, said)
        said = json.loads(apsp(None, "graphs", "--json", url=url).stdout)
        assert said == answers["/v1/graphs"], said


def test_control_characters_in_a_file_are_escaped(_):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x\x1b[2J.edges")
        with open(path, "wb") as file:
            file.write(b"a b \x1b[2J\n")
        done = apsp(None, "solve", path, os.path.join(folder, "m.npy"), url="http://127.0.0.1:1")
        assert done.returncode == 1 and b"\x1b" not in done.stderr, done.stderr
        assert rb"x\u001b[2J.edges" in done.stderr, done.stderr


def test_proxy_variables_are_honoured(daemon):
    """http_proxy does not apply to 127.0.0.1 or to the hosts in no_proxy."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        proxy = {"http_proxy": f"http://127.0.0.1:{unused.getsockname()[1]}", "no_proxy": "", "NO_PROXY": ""}
        lines(apsp(daemon, "graphs", **proxy))

        with serving(lambda request: request.send(200, {}, b'{"graphs":[]}'), "127.0.0.2") as url:
            refused(apsp(None, "graphs", url=url, **proxy), 4, "connect")
            lines(apsp(None, "graphs", url=url, **{**proxy, "no_proxy": "127.0.0.2"}))


def on_terminal(*arguments, **variables):
    """Returns what a terminal would show of standard output and error, and the exit code."""
    leader, follower = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("APSPD_")}
    environment.update({"TERM": "xterm", **variables})
    environment.pop("NO_COLOR", None) if "NO_COLOR" not in variables else None
    process = subprocess.Popen([harness.COMMAND, *arguments], stdin=subprocess.DEVNULL, stdout=follower,
                               stderr=follower, env=environment)
    os.close(follower)
    shown = b""
    try:
        while piece := os.read(leader, 65536):
            shown += piece
    except OSError:
        pass
    os.close(leader)
    return shown, process.wait(harness.PATIENCE_S)


def test_progress_is_shown_only_on_terminals(daemon):
    apsp(daemon, "wait", submitted(daemon, "shown"))
    shown, code = on_terminal("get", "shown", "-", APSPD_URL=daemon.url)
    assert code == 2 and b"is binary, and standard output is a terminal" in shown, shown
    here = os.path.dirname(os.path.abspath(__file__))
    graph = os.path.join(here, "..", "..", "config", "examples", "crossing.gr")
    shown, code = on_terminal("solve", graph, "-")
    assert code == 2 and b"is binary, and standard output is a terminal" in shown, shown
    shown, code = on_terminal("solve", graph, "-", "--to", "csv")
    assert code == 0 and b"NUMPY" not in shown, shown
    job = json.loads(daemon.get("/v1/jobs?limit=1").body)["jobs"][0]["id"]
    shown, code = on_terminal("wait", job, APSPD_URL=daemon.url)
    assert code == 0 and b"\x1b[K" in shown and b"100 %" in shown, shown
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        shown, code = on_terminal("wait", job, APSPD_URL=daemon.url, **plain)
        assert code == 0 and b"\x1b" not in shown, shown


def test_help_and_version_work_as_commands(daemon):
    for words in (("-h",), ("help",), ("--help",)):
        text = "\n".join(lines(apsp(daemon, *words)))
        assert "apsp submit" in text and "4 service" in text, text
    assert lines(apsp(daemon, "version")) == lines(apsp(daemon, "--version"))
    assert lines(apsp(daemon, "help", "get")) == lines(apsp(daemon, "get", "-h"))
    refused(apsp(daemon, "help", "none"), 2, "unknown command none")


if __name__ == "__main__":
    if b"apsp submit" not in subprocess.run([harness.COMMAND, "help"], capture_output=True).stdout:
        print("this build has no client")
        sys.exit(77)
    harness.run(globals())
