"""The long form of tests/fault/test_crowd.py: thousands of clients, with measurements.

  python3 tests/campaign/campaign_crowd.py APSPD APSP [drip | handshakes | idle | queries]...

drip: 4,000 clients send single bytes while other clients send queries. handshakes: 1,000 clients
stall in the TLS handshake. idle: 10,000 connections stay open, and their memory is measured.
queries: 2,000 queries per second, each sent on schedule even if the previous one has no answer yet.
Periods of one second alternate between an otherwise idle service, a job on all processors, an
upload, and both. For each case, the medians of its periods are reported, and the maximum within
the fastest fifth of the periods. As root, the campaign runs in a separate network
namespace (load_network.py). The exit code is 1 if a measurement misses its goal."""

import os
import re
import resource
import select
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("fault", "http", "bench/http"):
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), folder))

import access
import harness
import load_network
import load_servers
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


def report_longest(crowd, kind, limit_s):
    """Reports the longest time from the client's arrival, or from its answer, to the end of its
    connection."""
    longest = max(one.closed_s - (one.began_s or one.opened_s) for one in crowd.of(kind))
    report(f"drip: longest {kind}", f"{longest:.2f} s", f"{limit_s + 1} s", longest <= limit_s + 1)


def handshakes():
    """Measures, as drip() does, clients that stall in the TLS handshake."""
    certificate = access.Certificate()
    with harness.Daemon("--http.address_limit", "0", *certificate.flags()) as daemon:
        crowd = Crowd(daemon.port, 1000, kinds=("handshake",), drip_s=1.0)
        crowd.join()
        report_longest(crowd, "handshake", 10)


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
        for kind, limit_s in (("header", 10), ("segments", 10), ("body", 10), ("answer", 30), ("silent", 10)):
            report_longest(crowd, kind, limit_s)
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
            one.sendall(f"GET {PATH} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
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


class Uploader:
    """A process that uploads one large graph repeatedly until it is stopped."""

    SENDER = """
import http.client, sys
line = b"a 1 2 3\\n" * 8192
while True:
    connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
    connection.putrequest("POST", "/v1/graphs")
    connection.putheader("Content-Length", str(len(line) * 8000))
    connection.endheaders()
    connection.send(b"p sp 9 90000000\\n")
    for _ in range(8000):
        connection.send(line)
"""

    def __init__(self, port):
        self.process = subprocess.Popen([sys.executable, "-c", self.SENDER, str(port)])

    def stop(self):
        assert self.process.poll() is None, "the upload has ended"
        self.process.kill()
        self.process.wait()


def ask_openly(client, daemon, rate, seconds):
    """Returns the client's statistics of queries sent on schedule over 64 connections; an error
    ends the campaign."""
    done = subprocess.run([client, "--rate", str(rate), daemon.url, PATH, "64", str(seconds)],
                          capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return {key: float(value) for key, value in re.findall(r"(\S+)=(\S+)", done.stdout)}


def ask_beside(client, daemon, rate, beside, job):
    """Measures queries for one second, with a job, an upload, both or neither in the background."""
    if "job" in beside:
        job.freshen()
    uploading = Uploader(daemon.port) if "upload" in beside else None
    found = ask_openly(client, daemon, rate, 1)
    if uploading is not None:
        uploading.stop()
    if "job" in beside:
        assert job.runs(), "the job has ended before the second has"
        job.stop()
    return found


def queries(rate=2000, rounds=15):
    """Alternates between the cases every second, so that a slow period of the machine affects all
    of them."""
    client = os.path.join(os.path.dirname(os.path.abspath(harness.BINARY)), "tests/bench/http/bench_http_client")
    sides = ("nothing", "a job", "an upload", "a job and an upload")
    found = {side: [] for side in sides}
    with harness.Daemon("--solver", "cpu") as daemon:
        daemon.solve(SMALL, "?name=town")
        graph = daemon.ask("POST", "/v1/graphs", body=harness.slow_graph(12000)).json["id"]
        with load_servers.job_beside(daemon, graph) as job:
            for _ in range(rounds):
                for side in sides:
                    found[side].append(ask_beside(client, daemon, rate, side, job))
    for side, seconds in found.items():
        for name, goal_ms in (("p50_us", 0.5), ("p99_us", 5), ("p99.9_us", 20)):
            values = sorted(one[name] / 1000 for one in seconds)
            median, calm = values[len(values) // 2], values[len(values) // 5]
            before = sorted(one[name] / 1000 for one in found["nothing"])[len(values) // 2]
            figure = (f"{median:.2f} ms, {median / before:.1f} x of beside nothing, "
                      f"the calmest fifth {calm:.2f} ms or less")
            report(f"queries: {rate}/s beside {side}: {name[:-3]}", figure, f"{goal_ms} ms",
                   median <= goal_ms)
    answers = sum(int(one["answers"]) for seconds in found.values() for one in seconds)
    print(f"queries: {answers} answers, 0 errors")


if __name__ == "__main__":
    load_network.enter()
    sys.setswitchinterval(0.0005)  # the watching thread soon sees ends
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    for name in sys.argv[3:] or ("drip", "handshakes", "idle", "queries"):
        {"drip": drip, "handshakes": handshakes, "idle": idle, "queries": queries}[name]()
    sys.exit(1 if failed else 0)
