"""The long form of tests/fault/test_crowd.py: thousands of clients, with figures.

  python3 tests/campaign/campaign_crowd.py APSPD APSP [drip | idle | queries]...

drip: 4,000 clients that drip, while others ask. idle: 10,000 connections that stay, and what they
take in memory. queries: 2,000 questions a second, each at its time whether the one before has been
answered or not, while a job and an upload run. The exit status is 1 where a figure misses its goal."""

import http.client
import os
import queue
import resource
import select
import socket
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("fault", "http"):
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), folder))

import harness
from harness import SMALL

from crowd import Crowd, Guests, ring

PATH = "/v1/graphs/town/distance?source=1&target=3"
failed = False


def report(name, value, goal, good):
    global failed
    failed |= not good
    print(f"{name}: {value} (goal {goal}){'' if good else '  MISSED'}", flush=True)


def resident_mb(daemon):
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    raise AssertionError("no VmRSS")


def drip():
    with harness.Daemon("--http.address_limit", "0") as daemon:
        daemon.solve(SMALL, "?name=town")
        daemon.solve(ring(2000), "?name=ring")
        alone = Guests(daemon.port, PATH, b'"distance":12', pause_s=0.01)
        select.select([], [], [], 5)
        alone.stop()
        guests = Guests(daemon.port, PATH, b'"distance":12', pause_s=0.01)
        crowd = Crowd(daemon.port, 4000, drip_s=1.0)
        crowd.opened.wait()
        memory_mb = resident_mb(daemon)
        crowd.join()
        guests.stop()
        served = 1 - len(guests.failures) / len(guests.latencies_s)
        report("drip: good answers", f"{100 * served:.3f} % of {len(guests.latencies_s)}", "100 %", served == 1)
        print(f"drip: p99 of good clients before the attack {alone.quantile_ms(0.99):.1f} ms")
        p99 = guests.quantile_ms(0.99)
        report("drip: p99 of good clients", f"{p99:.1f} ms", "100 ms", p99 <= 100)
        for kind, limit_s in (("header", 10), ("body", 20), ("answer", 60), ("silent", 10)):
            longest = max(one.closed_s - one.opened_s for one in crowd.of(kind))
            report(f"drip: longest {kind}", f"{longest:.1f} s", f"{limit_s + 3} s", longest <= limit_s + 3)
        print(f"drip: memory with 4,000 attackers {memory_mb:.1f} MB")


def idle():
    limits = ("--http.connection_limit", "12000", "--http.address_limit", "0",
              "--http.header_timeout_s", "3600", "--http.connection_timeout_s", "3600")
    with harness.Daemon(*limits) as daemon:
        daemon.solve(SMALL, "?name=town")
        before_mb = resident_mb(daemon)
        kept = []
        for _ in range(10000):
            one = socket.create_connection(("127.0.0.1", daemon.port))
            one.sendall(f"GET {PATH} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            kept.append(one)
        for one in kept:
            assert one.recv(4096).startswith(b"HTTP/1.1 200"), one
        memory_mb = resident_mb(daemon)
        guests = Guests(daemon.port, PATH, b'"distance":12', pause_s=0.01)
        select.select([], [], [], 10)
        guests.stop()
        report("idle: good answers", len(guests.failures), "0 failures", not guests.failures)
        print(f"idle: memory without them {before_mb:.1f} MB")
        report("idle: memory of 10,000 that have asked once", f"{memory_mb:.1f} MB", "150 MB", memory_mb <= 150)
        p99 = guests.quantile_ms(0.99)
        report("idle: p99 of others", f"{p99:.1f} ms", "20 ms", p99 <= 20)
        for one in kept:
            one.close()


class OpenLoop:
    """Asks at fixed times; a latency is counted from when the question was due."""

    def __init__(self, port, rate, seconds, workers=16):
        self.latencies_s = []
        self.failures = []
        self.due = queue.SimpleQueue()
        self.threads = [threading.Thread(target=self.run, args=(port,)) for _ in range(workers)]
        for thread in self.threads:
            thread.start()
        began_s = time.perf_counter()
        for i in range(int(rate * seconds)):
            at_s = began_s + i / rate
            wait_s = at_s - time.perf_counter()
            if wait_s > 0:
                select.select([], [], [], wait_s)
            self.due.put(at_s)
        for _ in self.threads:
            self.due.put(None)
        for thread in self.threads:
            thread.join()

    def run(self, port):
        request = f"GET {PATH} HTTP/1.1\r\nHost: a\r\n\r\n".encode()
        with socket.create_connection(("127.0.0.1", port)) as connection:
            while (at_s := self.due.get()) is not None:
                connection.sendall(request)
                answer = connection.recv(4096)
                self.latencies_s.append(time.perf_counter() - at_s)
                if b'"distance":12' not in answer:
                    self.failures.append(answer[:100])


def upload_for_ever(port, stopped):
    """One upload after the other, none of them a graph in the end."""
    line = b"a 1 2 3\n" * 8192
    while not stopped.is_set():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.putrequest("POST", "/v1/graphs")
        connection.putheader("Content-Length", str(len(line) * 1000))
        connection.endheaders()
        connection.send(b"p sp 9 9000000\n")
        for _ in range(1000):
            if not stopped.is_set():
                connection.send(line)
        if not stopped.is_set():
            assert connection.getresponse().status == 422  # edges are missing
        connection.close()


def queries():
    with harness.Daemon() as daemon:
        daemon.solve(SMALL, "?name=town")
        job = daemon.submit(harness.slow_graph(12000)).expect(202).json["id"]
        stopped = threading.Event()
        uploader = threading.Thread(target=upload_for_ever, args=(daemon.port, stopped))
        uploader.start()
        loop = OpenLoop(daemon.port, 2000, 20)
        state = daemon.get("/v1/jobs/" + job).json["state"]
        stopped.set()
        uploader.join()
        found = sorted(loop.latencies_s)
        p50, p99, p999 = (1000 * found[int(q * len(found))] for q in (0.5, 0.99, 0.999))
        report("queries: failures", len(loop.failures), "0", not loop.failures)
        report("queries: p50, p99, p99.9", f"{p50:.2f}, {p99:.2f}, {p999:.2f} ms", "p99 5 ms", p99 <= 5)
        print(f"queries: the job was {state} at the end, {len(found)} answers")
        daemon.ask("DELETE", "/v1/jobs/" + job)


if __name__ == "__main__":
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    for name in sys.argv[3:] or ("drip", "idle", "queries"):
        {"drip": drip, "idle": idle, "queries": queries}[name]()
    sys.exit(1 if failed else 0)
