"""Runs the real program on a free loopback port, and contains the clients that the tests use. A test
module is called as `python3 test_x.py APSPD APSP`; its functions test_* run in order."""

import concurrent.futures
import ctypes
import fnmatch
import functools
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

SKIPPED = 77
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Whether the build is slow, for example with sanitizers, so that tests do less.
QUICK = "APSPD_TEST_QUICK" in os.environ
BINARY = sys.argv[1] if len(sys.argv) > 1 else "apspd"
COMMAND = sys.argv[2] if len(sys.argv) > 2 else "apsp"
SANITIZER = re.compile(rb"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:|broken invariant")
# The keys of access.py, which must not appear in any log, file or answer.
SECRET = re.compile(rb"key-of-[\w.-]+-0123456789")
SMALL = b"p sp 4 4\na 1 2 5\na 2 3 7\na 1 3 20\na 3 1 1\n"
FINAL = ("done", "failed", "cancelled")
# Time limit in seconds for events that happen at once on an idle machine.
PATIENCE_S = 600
# Options of a daemon whose clients pause during an upload: no deadline closes their connections.
NO_DEADLINES = ("--http.rate_floor", "0", "--http.connection_timeout_s", "3600")
# Options of a daemon on which slow_graph(LASTING_SIZE) runs until it is cancelled: one thread of a
# fast machine needs a minute, while all threads or a GPU might need only a second.
LASTING = ("--solver", "cpu", "--solver.cpu_threads", "1")
LASTING_SIZE = 6000 if QUICK else 10000


@functools.cache
def parses_strictly():
    """Returns whether libmicrohttpd has a version that parses strictly: see
    endpoint_parses_leniently()."""
    library = ctypes.CDLL("libmicrohttpd.so.12")
    library.MHD_get_version.restype = ctypes.c_char_p
    return not library.MHD_get_version().startswith(b"0.9.")


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    def expect(self, status, code=None):
        assert self.status == status, (self.status, self.body[:400])
        if code is not None:
            assert self.headers["Content-Type"] == "application/problem+json", self.headers
            assert self.json["code"] == code, self.json
            assert self.json["status"] == status, self.json
            assert self.json["request_id"] == self.headers["X-Request-Id"], self.json
        return self


def long_edges(size):
    """Returns an edge list of at least this many bytes between few vertices."""
    line = b"1 2 3\n2 3 4\n3 1 5\n"
    return line * (size // len(line) + 1)


def asked_for_body(daemon, path, size):
    """Returns a connection that has sent the headers of a POST and received 100 Continue."""
    connection = daemon.connect()
    connection.putrequest("POST", path)
    connection.putheader("Content-Length", str(size))
    connection.putheader("Expect", "100-continue")
    connection.endheaders()
    told = b""
    while not told.endswith(b"\r\n\r\n"):
        told += connection.sock.recv(1)
    assert told.startswith(b"HTTP/1.1 100 "), told
    return connection


def unread_bytes(connection):
    """Returns how many bytes of the connection the daemon has not read yet, according to the
    kernel's socket table."""
    def place(address):
        return f"{int.from_bytes(socket.inet_aton(address[0]), 'little'):08X}:{address[1]:04X}"

    ends = [place(connection.getpeername()), place(connection.getsockname())]
    with open("/proc/net/tcp", encoding="ascii") as table:
        return next(int(line.split()[4].split(":")[1], 16) for line in table if line.split()[1:3] == ends)


class Drip:
    """An upload that declares its size in Content-Length, sends some of the bytes, and pauses."""

    def __init__(self, daemon, source="127.0.0.1", size=4 << 30, **headers):
        self.left = size
        self.socket = socket.create_connection((daemon.host, daemon.port), 600, (source, 0))
        lines = ["POST /v1/graphs?format=edges HTTP/1.1", "Host: localhost", f"Content-Length: {size}",
                 *(f"{name}: {value}" for name, value in headers.items())]
        self.socket.sendall("\r\n".join((*lines, "", "")).encode())
        self.send(long_edges(200_000))

    def send(self, data):
        self.left -= len(data)
        self.socket.sendall(data)

    def finish(self):
        """Sends the remaining bytes and returns the status of the answer, which a refused upload
        gets only now."""
        self.send(b"\n" * self.left)
        status = int(self.socket.recv(1 << 16).split(b" ")[1])
        self.close()
        return status

    def close(self):
        self.socket.close()


def drip_all(daemon):
    """Starts an upload that pauses after it has reserved all upload memory of its address
    (http.upload_memory = 2MiB): further uploads are refused until it is closed."""
    first = []

    def is_first():
        # The probe may have reserved the memory first. It has ended, so another upload tries.
        for drip in first:
            drip.close()
        first[:] = [Drip(daemon)]
        return daemon.submit(long_edges(240_000)).status == 429

    wait_until(daemon, is_first)
    return first[0]


def upload_beside(daemon, drops, source, size=2 << 20, **headers):
    """Uploads graphs from `source`, two at a time, while the paused uploads continue."""
    def upload(number):
        for drop in drops:
            drop.send(b"1 2 3\n")
        connection = http.client.HTTPConnection(daemon.host, daemon.port, 300, (source, 0))
        answer = daemon.ask("POST", "/v1/graphs?format=edges", body + b"9 %d 2\n" % number, headers, connection)
        connection.close()
        return answer.status

    body = long_edges(size)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        statuses = list(pool.map(upload, range(6 if QUICK else 24)))
    assert set(statuses) == {201}, statuses


class Daemon:
    """apspd with its own state directory, which survives kill() and start()."""

    def __init__(self, *arguments, state=None):
        self.arguments = arguments
        self.own_state = state is None
        self.state = state or tempfile.mkdtemp(prefix="apspd-test-")
        self.scratch = tempfile.mkdtemp(prefix="apspd-test-scratch-")
        self.process = None
        self.start()

    def start(self):
        self.ended = False
        # Opened separately for reading: with a shared descriptor, reading would move the daemon's
        # position.
        with open(f"{self.scratch}/log", "ab") as errors:
            self.process = subprocess.Popen(
                [BINARY, "--listen", "127.0.0.1:0", "--state-dir", self.state, *self.arguments],
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        line = self.process.stdout.readline().decode()
        match = re.fullmatch(r"listening on (https?://(127\.0\.0\.1|\[::1\]):(\d+)|unix:.*)\n", line)
        assert match, (line, self.log()[-2000:])
        self.url = match.group(1)
        self.host = (match.group(2) or "").strip("[]")
        self.port = int(match.group(3) or 0)

    def log(self):
        with open(f"{self.scratch}/log", "rb") as errors:
            return errors.read()

    def check_log(self):
        log = self.log()
        found = SANITIZER.search(log)
        assert not found, log[max(0, found.start() - 200) : found.start() + 6000].decode()
        assert not SECRET.search(log), SECRET.search(log)

    def check_state(self):
        """Checks the files that are neither graphs nor matrices."""
        for folder, _, names in os.walk(self.state):
            for name in names if os.path.basename(folder) not in ("graphs", "results", "quarantine") else ():
                with open(os.path.join(folder, name), "rb") as file:
                    assert not SECRET.search(file.read()), os.path.join(folder, name)

    def kill(self):
        self.ended = True
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.check_log()

    def terminate(self, seconds=600):
        self.ended = True
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(seconds)
        self.process.stdout.close()
        self.check_log()
        assert code == 0, (code, self.log()[-3000:].decode())

    def close(self):
        try:
            code = self.process.poll()
            if code is None:
                self.terminate()
            # The daemon exited by itself; a negative code is the signal that killed it.
            assert self.ended, (code, self.log()[-3000:].decode())
            self.check_state()
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            shutil.rmtree(self.scratch, ignore_errors=True)
            if self.own_state:
                shutil.rmtree(self.state, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def connect(self, timeout=300):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None, connection=None):
        own = connection is None
        connection = connection or self.connect()
        connection.request(method, path, body=body, headers=headers or {})
        response = connection.getresponse()
        answer = Answer(response.status, response.headers, response.read())
        if own:
            connection.close()
        assert answer.headers["X-Request-Id"], answer.headers
        key = (headers or {}).get("Authorization", "").rpartition(" ")[2]
        assert not SECRET.match(key.encode()) or key not in str(answer.headers) + str(answer.body), answer.headers
        return answer

    def get(self, path, **headers):
        return self.ask("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})

    def submit(self, body, query="", **headers):
        headers = {k.replace("_", "-"): v for k, v in headers.items()}
        return self.ask("POST", "/v1/jobs" + query, body=body, headers=headers)

    def solve(self, body, query=""):
        """Solves a graph and returns the document of the finished job."""
        answer = self.submit(body, query)
        assert answer.status in (200, 202), (answer.status, answer.body[:400])
        return self.finish(answer.json["id"])

    def finish(self, job):
        while True:
            document = self.get(f"/v1/jobs/{job}?wait=30").expect(200).json
            if document["state"] in FINAL:
                return document

    def distance(self, graph, source, target):
        from urllib.parse import quote

        path = f"/v1/graphs/{graph}/distance?source={quote(str(source))}&target={quote(str(target))}"
        return self.get(path, Prefer="wait=60").expect(200).json["distance"]

    def open_files(self):
        """Returns the target of each open descriptor of the process, sorted."""
        found = []
        folder = f"/proc/{self.process.pid}/fd"
        for name in os.listdir(folder):
            try:
                found.append(os.readlink(os.path.join(folder, name)))
            except FileNotFoundError:
                pass
        return sorted(found)

    def status_kib(self, name):
        """Returns a size from the status of the process, such as VmHWM, its peak memory."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(next(line.split()[1] for line in file if line.startswith(name)))

    def held(self):
        """Returns the number of clients that wait for an answer: libmicrohttpd polls a
        connection unless it is suspended."""
        with open(f"/proc/{self.process.pid}/net/tcp", encoding="ascii") as file:
            rows = [line.split() for line in file.readlines()[1:]]
        ours = {f"socket:[{row[9]}]" for row in rows
                if int(row[1].split(":")[1], 16) == self.port and row[3] == "01"}
        watched, connected = set(), set()
        folder = f"/proc/{self.process.pid}"
        for name in os.listdir(folder + "/fd"):
            try:
                if os.readlink(f"{folder}/fd/{name}") in ours:
                    connected.add(int(name))
                with open(f"{folder}/fdinfo/{name}", encoding="ascii") as file:
                    watched.update(int(number) for number in re.findall(r"^tfd:\s*(\d+)", file.read(), re.M))
            except FileNotFoundError:
                pass
        return len(connected - watched)

    def expect_no_more_files_than(self, before):
        """Waits until all files opened since `before` are closed. Files are counted, because an
        open draft changes its name."""
        wait_until(self, lambda: len(self.open_files()) <= len(before))

    def wait_until_durable(self, job):
        wait_until(self, lambda: self.get(f"/v1/jobs/{job}").expect(200).json["durable"])

    def files(self):
        """Returns every file of the state directory except the catalogue's."""
        found = []
        for folder, _, names in os.walk(self.state):
            found += [os.path.join(folder, name) for name in names]
        return sorted(path for path in found if "catalogue" not in os.path.basename(path))


def flip(path, at, mask=0x40):
    """Changes bits of one byte of a file."""
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ mask]))


def pause():
    """Leaves the processor to the daemon between two looks at a condition."""
    time.sleep(0.01)


def wait_until(daemon, is_so):
    """Waits until the condition holds, and queries the daemon meanwhile to check that it is
    alive."""
    ends = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < ends, "never"
        daemon.get("/livez")
        pause()


def drafts(daemon):
    """Returns the open graph files that have no name yet, or a temporary one."""
    found = (path for path in daemon.open_files() if "/graphs/" in path)
    return [path for path in found if path.endswith(" (deleted)") or "/.tmp-" in path]


def curl(*arguments, body=None):
    """Returns (exit code, HTTP status, body) of one curl call; body is its standard input."""
    done = subprocess.run(["curl", "-sS", "-m", "300", "-w", "\n%{http_code}", *arguments],
                          input=body, capture_output=True)
    body, _, status = done.stdout.rpartition(b"\n")
    return done.returncode, int(status or 0), body


def slow_graph(n=3000):
    """Returns a graph that keeps a CPU solver busy for a while: it has no small separator, so the dense
    plan is the best, and its distances along the ring exceed 16 bits."""
    lines = [f"p sp {n} {5 * n}"]
    for i in range(1, n + 1):
        lines.append(f"a {i} {i % n + 1} {1 + i % 97}")
        for k in (7919, 104729, 1299709, 15485863):
            lines.append(f"a {i} {(i * k + k // 7) % n + 1} {10**6 + i % 1009}")
    return "\n".join(lines).encode() + b"\n"


def distances_of(edges, vertices, directed=True):
    """Runs Dijkstra from every vertex: {(source, target): distance}, without unreachable pairs."""
    import heapq

    rows = {v: [] for v in vertices}
    for source, target, weight in edges:
        rows[source].append((target, weight))
        if not directed:
            rows[target].append((source, weight))
    found = {}
    for start in vertices:
        heap = [(0, start)]
        while heap:
            length, vertex = heapq.heappop(heap)
            if (start, vertex) in found:
                continue
            found[start, vertex] = length
            for target, weight in rows[vertex]:
                if (start, target) not in found:
                    heapq.heappush(heap, (length + weight, target))
    return found


def tests_of(module):
    """Returns the test functions of a module's globals in order; APSPD_TEST_ONLY selects some by
    a pattern."""
    pattern = os.environ.get("APSPD_TEST_ONLY") or "*"
    found = {name: test for name, test in module.items() if name.startswith("test_") and callable(test)}
    chosen = {name: test for name, test in found.items() if fnmatch.fnmatchcase(name, pattern)}
    if found and not chosen:
        sys.exit(f"no test function matches {pattern!r}; there are: {', '.join(found)}")
    return chosen


def routes():
    """Returns (methods, path, query parameters) of each route in the source's table."""
    text = ""
    for name in ("query.h", "router.c"):
        with open(os.path.join(ROOT, "server/http/request", name), encoding="utf-8") as file:
            text += file.read().replace("\\\n", "")
    lists = dict(re.findall(r"#define (\w+)\s+(\"\w+\"(?:,\s*\"\w+\")*)\n", text))
    for row in text.partition("\n/* clang-format on */")[0].split("\n    {METHOD_")[1:]:
        given = re.search(r"\.parameters = \{(.*?)\}", row)
        words = re.sub(r"\b[A-Z_]+\b", lambda name: lists[name[0]], given[1]) if given else ""
        methods, path = re.match(r"([A-Z_ |]+), \"(.*?)\"", row).groups()
        yield methods.replace("METHOD_", "").split(" | "), path, re.findall(r"\"(\w+)\"", words)


def run(tests, arguments=()):
    """Runs test functions in order. Those with a parameter share one daemon, and the state that
    the module's prepare(daemon) sets up."""
    failed = 0
    daemon = None
    for name, test in tests_of(tests).items():
        began = time.monotonic()
        try:
            if test.__code__.co_argcount and daemon is None:
                daemon = Daemon(*arguments)
                if "prepare" in tests:
                    tests["prepare"](daemon)
            test(daemon) if test.__code__.co_argcount else test()
            print(f"ok {name} {time.monotonic() - began:.1f} s", flush=True)
        except Exception:
            failed += 1
            print("FAILED", name, flush=True)
            traceback.print_exc(file=sys.stdout)
    try:
        if daemon is not None:
            daemon.close()
    except Exception:
        failed += 1
        traceback.print_exc(file=sys.stdout)
    sys.exit(1 if failed else 0)
