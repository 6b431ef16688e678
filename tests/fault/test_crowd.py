"""Clients that send slowly, stall or stay idle are disconnected, and no other client is affected.
This is the short form of tests/campaign/campaign_crowd.py."""

import os
import re
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))

import access
import harness
from harness import SMALL

from crowd import Crowd, Guests, ring

PATH = "/v1/graphs/town/distance?source=1&target=3"


def test_slow_clients_are_disconnected_and_other_clients_are_served():
    limits = ("--http.header_timeout_s", "2", "--http.stall_timeout_s", "2")
    with harness.Daemon(*limits) as daemon:
        daemon.solve(SMALL, "?name=town")
        daemon.solve(ring(600 if harness.QUICK else 1500), "?name=ring")
        guests = Guests(daemon.port, PATH, b'"distance":12')
        crowd = Crowd(daemon.port, 80)
        crowd.join()
        guests.stop()
        assert not guests.failures and guests.latencies_s, guests.failures[:3]
        for kind in ("header", "body", "segments", "silent"):
            assert all(one.got == b"" for one in crowd.of(kind)), [one.got for one in crowd.of(kind)][:3]
        # The connection ends after the deadline, not before.
        assert all(one.closed_s >= one.opened_s + 2 for one in crowd.attackers)
        assert all(one.got and b"HTTP/1.1 200".startswith(one.got[:12]) for one in crowd.of("answer"))


def test_a_slow_tls_handshake_is_aborted():
    certificate = access.Certificate()
    with harness.Daemon("--http.header_timeout_s", "2", *certificate.flags()) as daemon:
        crowd = Crowd(daemon.port, 20, kinds=("handshake", "silent"))
        crowd.join()
        assert all(one.closed_s >= one.opened_s + 2 for one in crowd.attackers)


def test_a_new_connection_replaces_an_idle_connection_at_the_limit():
    with harness.Daemon("--http.connection_limit", "8", "--http.header_timeout_s", "3600",
                        "--http.connection_timeout_s", "3600") as daemon:
        daemon.solve(SMALL, "?name=town")
        idle = [socket.create_connection(("127.0.0.1", daemon.port)) for _ in range(12)]
        while (answer := daemon.get(PATH)).status != 200:
            # Until the idle connections are old enough to be closed, the answer is 503.
            answer.expect(503, "ConnectionLimit")
            assert answer.headers["Retry-After"] == "1" and answer.headers["Connection"] == "close"
            harness.pause()
        assert answer.json["distance"] == 12
        for one in idle:
            one.close()


def test_requests_on_hundreds_of_idle_connections_are_answered():
    count = 600
    with harness.Daemon() as daemon:
        daemon.solve(SMALL, "?name=town")
        kept = [socket.create_connection(("127.0.0.1", daemon.port), timeout=600) for _ in range(count)]
        named = set()
        for _ in range(2):
            for one in kept:
                one.sendall(f"GET {PATH} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            for one in kept:
                answer = one.recv(4096)
                assert answer.startswith(b"HTTP/1.1 200 ") and b'"distance":12' in answer, answer
                named.add(re.search(rb"X-Request-Id: (\w+)", answer).group(1))
        assert len(named) == 2 * count, len(named)
        for one in kept:
            one.close()


def test_one_address_cannot_use_all_connections():
    with harness.Daemon("--http.address_limit", "5", "--http.connection_limit", "100") as daemon:
        kept = [daemon.connect() for _ in range(5)]
        for one in kept:
            daemon.ask("GET", "/livez", connection=one).expect(200)
        refused = daemon.get("/livez").expect(429, "AddressLimit")
        assert refused.json["limit"] == 5 and refused.headers["Connection"] == "close"
        with socket.create_connection(("127.0.0.1", daemon.port), source_address=("127.0.0.2", 0)) as other:
            other.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert other.recv(4096).startswith(b"HTTP/1.1 200")
        daemon.ask("GET", "/livez", connection=kept[0]).expect(200)
        for one in kept:
            one.close()
        harness.wait_until(daemon, lambda: daemon.get("/livez").status == 200)


def nicenesses(folder):
    """Returns [(name, niceness)] of the threads of a process."""
    found = []
    for thread in os.listdir(folder):
        with open(f"{folder}/{thread}/stat", encoding="ascii") as file:
            name, rest = re.fullmatch(r"\d+ \((.*)\) (.*)\n", file.read()).groups()
        found.append((name, int(rest.split()[16])))
    return found


def children_of(folder):
    found = []
    for thread in os.listdir(folder):
        with open(f"{folder}/{thread}/children", encoding="ascii") as file:
            found += file.read().split()
    return found


def test_solver_threads_have_lower_priority_than_http_threads():
    own = os.getpriority(os.PRIO_PROCESS, 0)
    for isolation in ("thread", "process"):
        with harness.Daemon("--worker.isolation", isolation, "--solver", "cpu", "--http.threads", "3",
                            "--solver.cpu_threads", "2", "--service.confinement", "auto") as daemon:
            daemon.solve(ring(600))  # large enough that the pool works on it
            folder = f"/proc/{daemon.process.pid}/task"
            threads = nicenesses(folder)
            answering = [niceness for name, niceness in threads if name.startswith("http-")]
            assert answering and set(answering) == {own}, threads
            solving = nicenesses(f"/proc/{children_of(folder)[0]}/task") if isolation == "process" else threads
            # The two solver threads are nicer; the heartbeat thread has the daemon's niceness.
            assert [niceness for _, niceness in solving].count(min(own + 10, 19)) >= 2, solving
            assert isolation == "thread" or own in [niceness for _, niceness in solving], solving
            # The threads of libuv's pool, which sort the edges of graphs, are nicer too.
            assert [niceness for _, niceness in threads].count(min(own + 5, 19)) >= 4, threads


if __name__ == "__main__":
    harness.run(globals())
