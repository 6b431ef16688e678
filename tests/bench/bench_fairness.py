"""How long others wait while 16 clients have answers computed: `bench_fairness.py APSPD APSP [SIDE]`.

The p50 and p99 of /livez and of `distance`, in milliseconds, beside such clients, and alone as the
baseline. The graph is a generated road network of SIDE x SIDE vertices, as a hierarchy and (of 50 x 50)
as a matrix."""

import json
import multiprocessing
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, __file__.rsplit("/bench/", 1)[0] + "/http")
import harness  # noqa: E402
import test_hierarchy  # noqa: E402

CLIENTS = 16
SECONDS = 4
SIDE = int(sys.argv[3]) if len(sys.argv) > 3 else 447


def questions(n):
    pairs = [(i * 7919 % n, i * 104729 % n) for i in range(2_000_000)]
    named = json.dumps({"pairs": [[a + 1, b + 1] for a, b in pairs[:20_000]]}).encode()
    binary = b"".join(struct.pack("<II", *pair) for pair in pairs)
    json_type = "application/json"
    yield "one column", "GET", "matrix?cols=0:1&format=raw", json_type, b""
    yield "100 columns", "GET", "matrix?cols=0:100&format=raw", json_type, b""
    yield "rows", "GET", "matrix?rows=0:1000&format=ndjson", json_type, b""
    yield "table to one", "POST", "table", json_type, b'{"destinations":[5]}'
    yield "2,000,000 pairs", "POST", "distances", "application/octet-stream", binary
    yield "20,000 paths", "POST", "paths", json_type, named
    yield "within", "GET", "within?source=1&max=1000000000", json_type, b""
    yield "heat map", "GET", "heatmap?size=16", json_type, b""
    yield "statistics", "GET", "stats", json_type, b""


def ask_on(daemon, name, ended, method, route, media_type, body):
    """Repeats the request until it is told to end; discards the answers."""
    about = f"Content-Type: {media_type}\r\nContent-Length: {len(body)}\r\n" if body else ""
    head = f"{method} /v1/graphs/{name}/{route} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{about}\r\n"
    while not ended.is_set():
        with socket.create_connection((daemon.host, daemon.port), 60) as client:
            client.settimeout(0.2)
            try:
                client.sendall(head.encode() + body)
            except OSError:
                continue
            while not ended.is_set():
                try:
                    if not client.recv(1 << 20):
                        break
                except TimeoutError:
                    pass
                except OSError:
                    break


def probe(daemon, path):
    connection = daemon.connect()
    times = []
    ends = time.monotonic() + SECONDS
    while time.monotonic() < ends:
        begin = time.monotonic()
        daemon.ask("GET", path, connection=connection).expect(200)
        times.append(1000 * (time.monotonic() - begin))
    connection.close()
    times.sort()
    return times[len(times) // 2], times[len(times) * 99 // 100]


def ask_with_all(daemon, name, ended, question):
    clients = [threading.Thread(target=ask_on, args=(daemon, name, ended, *question)) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()


def measure(daemon, name, what, question):
    ended = multiprocessing.Event()
    clients = multiprocessing.Process(target=ask_with_all, args=(daemon, name, ended, question))
    if question:
        clients.start()
    figures = [probe(daemon, path) for path in ("/livez", f"/v1/graphs/{name}/distance?source=1&target=99")]
    ended.set()
    if question:
        clients.join()
    print(f"{name:10} {what:16} livez p50 {figures[0][0]:7.2f} p99 {figures[0][1]:7.2f} ms,"
          f"  distance p50 {figures[1][0]:7.2f} p99 {figures[1][1]:7.2f} ms", flush=True)


with harness.Daemon("--hierarchy.sweep_limit_s", "86400") as daemon:
    for name, side in (("hierarchy", SIDE), ("matrix", 50)):
        job = daemon.solve(test_hierarchy.roads(side * side, 5), f"?name={name}&result={name}")
        assert job["state"] == "done", job
        measure(daemon, name, "alone", None)
        for what, *question in questions(side * side):
            measure(daemon, name, what, question)
