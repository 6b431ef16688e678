"""Large answers to a client that does not read them: the service uses at most 1 MiB for the
connection, besides the request body."""

import json
import os
import pathlib
import random
import socket
import struct

import harness

# Meson makes malloc fill all memory, so reserved but unused memory would count.
os.environ.pop("MALLOC_PERTURB_", None)

LIMIT_KIB = 1024
VERTICES = 1000
PAIRS = 4_000 if harness.QUICK else 400_000
NAMED_PAIRS = 100 if harness.QUICK else 4_000
BINARY = "application/octet-stream"
TYPES = {"json": "application/json", "csv": "text/csv", "binary": BINARY}
DIGITS = 500_000_000


def connect(daemon):
    """Connects with a receive window so small that almost nothing of an answer is in flight."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    connection.settimeout(300)
    connection.connect(("127.0.0.1", daemon.port))
    return connection


def send(connection, method, path, body=b"", **headers):
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"Content-Length: {len(body)}"] if body else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def read(connection, size=None):
    """Reads the answer up to this size, or to the end of the connection."""
    kept, count = [], 0
    while (size is None or count < size) and (part := connection.recv(1 << 16)):
        kept.append(part)
        count += len(part)
    return b"".join(kept)


def growth_kib(daemon, method, path, body=b"", **headers):
    """Returns how much the service's memory grew before the rest is read, and at the end; and
    the size of the answer."""
    with connect(daemon) as connection:
        # The buffers of the thread and the pages of the result do not belong to this answer.
        send(connection, "GET", "/livez")
        warm = read(connection, 1)
        assert warm.startswith(b"HTTP/1.1 200"), warm
        pathlib.Path(f"/proc/{daemon.process.pid}/clear_refs").write_text("5")
        before = daemon.status_kib("VmRSS")
        send(connection, method, path, body, Connection="close", **headers)
        first = read(connection, 1)
        assert first.startswith(b"HTTP/1.1 200"), (path, headers, first[:300])
        stalled = daemon.status_kib("VmHWM") - before
        size = len(first) + len(read(connection))
    return stalled, daemon.status_kib("VmHWM") - before, size


def check(daemon, name, least, method, path, body=b"", beside=0, **headers):
    """Checks the memory growth for one request. beside: bytes that may be used besides the body."""
    grown = growth_kib(daemon, method, path, body, **headers)
    allowed = LIMIT_KIB + (len(body) + beside) // 1024
    print(f"{name}: a body of {len(body)} bytes, an answer of {grown[2]}, at most {max(grown[:2])} KiB", flush=True)
    assert harness.QUICK or grown[2] >= least, (name, grown)
    # Sanitizers do not return freed memory.
    assert harness.QUICK or max(grown[:2]) <= allowed, (name, grown, allowed)


def solve(daemon, body, query=""):
    """Returns the ID of the graph, whose result is on the disk and in memory."""
    job = daemon.solve(body, query)
    daemon.wait_until_durable(job["id"])
    # Text formats read the result through the mapping, whose pages count; npy is sent directly from
    # the file.
    daemon.get(f"/v1/graphs/{job['graph']}/matrix?format=csv").expect(200)
    # The edges stay in a cache, which has its own limit.
    name = daemon.get(f"/v1/graphs/{job['graph']}/vertices").json["vertices"][0]
    daemon.get(f"/v1/graphs/{job['graph']}/path?source={name}&target={name}").expect(200)
    return job["graph"]


def numbers(daemon):
    """Uploads a ring whose distances have many digits; returns the ID of its graph."""
    n = VERTICES
    lines = "".join(f"a {i} {i % n + 1} {DIGITS // n}\n" for i in range(1, n + 1))
    return solve(daemon, f"p sp {n} {n}\n{lines}".encode())


def names(daemon):
    """Uploads a path of vertices with long names that are even longer in each text format."""
    line = ["first", *('"' * 990 + str(i) for i in range(VERTICES - 2)), "last"]
    body = {"nodes": [{"id": name} for name in line], "directed": True,
            "links": [{"source": s, "target": t, "weight": 3} for s, t in zip(line, line[1:])]}
    return solve(daemon, json.dumps(body).encode(), "?format=json")


def bodies(pairs):
    """Returns the pairs in every format, for a graph whose vertices are numbered from 1."""
    text = [(s + 1, t + 1) for s, t in pairs]
    return {
        "json": json.dumps({"pairs": text}, separators=(",", ":")).encode(),
        "csv": "".join(f"{s},{t}\n" for s, t in text).encode(),
        "binary": b"".join(struct.pack("<2I", *pair) for pair in pairs),
    }


def test_distances_of_pairs_are_returned_in_every_format(daemon):
    graph = numbers(daemon)
    chooser = random.Random(1)
    pairs = [(chooser.randrange(9), chooser.randrange(VERTICES // 2, VERTICES)) for _ in range(PAIRS)]
    for asked, body in bodies(pairs).items():
        for answered, accept in TYPES.items():
            least = PAIRS * {"json": 9, "csv": 14, "binary": 4}[answered]
            check(daemon, f"{asked} to {answered}", least, "POST", f"/v1/graphs/{graph}/distances", body,
                  Content_Type=TYPES[asked], Accept=accept)
    for coding in ("gzip", "zstd"):
        check(daemon, coding, PAIRS // 2, "POST", f"/v1/graphs/{graph}/distances", bodies(pairs)["csv"],
              Content_Type="text/csv", Accept_Encoding=coding)


def test_the_memory_used_by_responses_with_long_names_is_bounded(daemon):
    graph = names(daemon)
    base = f"/v1/graphs/{graph}"
    rows = [(i % VERTICES, i * 7 % VERTICES) for i in range(NAMED_PAIRS)]
    check(daemon, "pairs to CSV", NAMED_PAIRS * 3900, "POST", base + "/distances", bodies(rows)["binary"],
          Content_Type=BINARY, Accept="text/csv")
    everything = VERTICES * 1900
    pairs = json.dumps({"pairs": [["first", "last"]] * 5}).encode()
    check(daemon, "paths", 5 * everything, "POST", base + "/paths", pairs)
    check(daemon, "path", everything, "GET", f"{base}/path?source=first&target=last")
    check(daemon, "nearest", everything, "GET", f"{base}/nearest?source=first&k=100000")
    check(daemon, "within", everything, "GET", f"{base}/within?source=first&max=1e9")
    # The whole graph is read: 28 bytes per edge, and the names.
    check(daemon, "edges", 2 * everything, "GET", base + "/edges", beside=VERTICES * 1024)
    check(daemon, "vertices", everything, "GET", base + "/vertices")
    check(daemon, "row", everything, "GET", f"{base}/row/first")
    check(daemon, "table", 2 * everything, "POST", base + "/table", b"{}")


def test_the_memory_used_by_responses_with_lists_and_statistics_is_bounded(daemon):
    graph = numbers(daemon)
    check(daemon, "heatmap", 0, "GET", f"/v1/graphs/{graph}/heatmap?size=256")
    check(daemon, "stats", 0, "GET", f"/v1/graphs/{graph}/stats")
    count = 10 if harness.QUICK else 1000
    connection = daemon.connect()
    for i in range(count):
        daemon.ask("POST", "/v1/jobs", f"p sp 2 1\na 1 2 {i + 1}\n".encode(), {"Prefer": "wait=600"}, connection)
    connection.close()
    solve(daemon, b"p sp 2 1\na 2 1 1\n")
    for path in ("jobs", "graphs"):
        check(daemon, path, 0, "GET", f"/v1/{path}?limit=1000")
    ids, cursor = set(), ""
    while cursor is not None:
        page = daemon.get("/v1/jobs?limit=1000" + (cursor and "&cursor=" + cursor)).expect(200).json
        assert page["jobs"] and ids.isdisjoint(job["id"] for job in page["jobs"])
        ids.update(job["id"] for job in page["jobs"])
        cursor = page["next"]
    assert len(ids) >= count, len(ids)


if __name__ == "__main__":
    # Freed memory is returned at once, so that no answer reuses memory of another.
    os.environ["MALLOC_TRIM_THRESHOLD_"] = "65536"
    harness.run(globals(), ("--http.threads", "1", "--solver", "cpu"))
