"""Long computations of answers yield their HTTP thread to other requests, and end when their
client disconnects."""

import json
import select
import socket

import harness
import test_hierarchy

# One HTTP thread: a request that is served during a long answer is served by the computing thread.
ARGUMENTS = ("--http.threads", "1", "--hierarchy.sweep_limit_s", "86400")
CLIENTS = 16
SIDE = 60 if harness.QUICK else 100
VERTICES = SIDE * SIDE
PAIRS = {"pairs": [[1 + i * 7 % VERTICES, 1 + i * 31 % VERTICES] for i in range(VERTICES)]}
# Sweeps from all vertices, which compute for seconds before the first byte of the answer.
LONG = ("GET", "heatmap?size=1", None)
ROUTES = (
    LONG,
    ("GET", "stats", None),
    ("GET", "matrix?format=ndjson", None),
    ("GET", "matrix?format=raw&cols=0:200", None),
    ("GET", "matrix?format=raw&cols=0:1", None),
    ("GET", f"within?source=1&max={10 ** 8}", None),
    ("POST", "distances", PAIRS),
    ("POST", "paths", PAIRS),
    ("POST", "table", {"destinations": [9]}),
)


def begin(daemon, method, route, body):
    """Sends the request on a connection and reads nothing."""
    text = b"" if body is None else json.dumps(body).encode()
    about = "" if body is None else f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n"
    client = socket.create_connection((daemon.host, daemon.port), 600)
    client.sendall(f"{method} /v1/graphs/roads/{route} HTTP/1.1\r\nHost: localhost\r\n{about}\r\n".encode() + text)
    return client


def computing(daemon):
    for line in daemon.get("/metrics").body.decode().splitlines():
        if line.startswith("apspd_http_computing "):
            return int(line.split()[1])
    raise AssertionError("no such metric")


def prepare(daemon):
    job = daemon.solve(test_hierarchy.roads(VERTICES, 5), "?name=roads&result=hierarchy")
    assert job["result"]["kind"] == "hierarchy", job


def test_other_clients_are_served_while_long_responses_are_computed(daemon):
    for route in ROUTES:
        clients = [begin(daemon, *route) for _ in range(CLIENTS)]
        for _ in range(5):
            daemon.get("/livez").expect(200)
            daemon.get("/v1/graphs/roads/distance?source=1&target=9").expect(200)
        if route == LONG:
            # The short requests were answered before any of the long ones, so the thread did not
            # finish a computation first.
            assert computing(daemon) == CLIENTS
            assert select.select(clients, [], [], 0)[0] == []
        for client in clients:
            client.close()
        harness.wait_until(daemon, lambda: computing(daemon) == 0)


def test_every_response_is_computed_to_completion(daemon):
    """The computations take turns on one thread, and each response is the right one."""
    rows = [daemon.get(f"/v1/graphs/roads/row/{1 + i}?format=raw").expect(200).body for i in range(8)]
    clients = [begin(daemon, "GET", f"row/{1 + i % 8}?format=raw", None) for i in range(2 * CLIENTS)]
    for i, client in enumerate(clients):
        received = b""
        while not received.endswith(rows[i % 8]):
            part = client.recv(1 << 20)
            assert part, (i, len(received))
            received += part
        client.close()


def test_a_shutdown_ends_running_computations(daemon):
    """The shutdown also ends pool threads that compute statistics for the first time."""
    for seed, route in ((5, LONG), (6, ("GET", "stats", None))):
        daemon.solve(test_hierarchy.roads(VERTICES, seed), "?name=roads&result=hierarchy")
        clients = [begin(daemon, *route) for _ in range(CLIENTS)]
        harness.wait_until(daemon, lambda: computing(daemon) == CLIENTS)
        daemon.terminate()
        for client in clients:
            client.close()
        daemon.start()


if __name__ == "__main__":
    harness.run(globals(), ARGUMENTS)
