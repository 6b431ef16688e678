"""Measures small jobs per second, from the first upload until the last job is done.

    bench_jobs.py APSPD [--jobs N] [--vertices N] [--edges N] [--connections N] [--beside N]
                  [DAEMON'S OPTIONS ...]

All graphs differ. Prints a line for each figure: jobs accepted per second (each is durable when accepted), jobs done
per second, the daemon's processor time per job, and the total seconds of the solver. With --beside N,
measures three times, then again with N more graphs stored and solved, and prints the ratio of the median acceptance
rates. The exit status is 1 if a job did not end as done."""

import argparse
import multiprocessing
import os
import random
import socket
import statistics
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))

import harness

FORK = multiprocessing.get_context("fork")
OPTIONS = (
    "--jobs.queue_limit", "100000",
    "--jobs.history_limit", "1000000",
    "--log.level", "error",
)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("apspd")
    parser.add_argument("--jobs", type=int, default=10000)
    parser.add_argument("--vertices", type=int, default=128)
    parser.add_argument("--edges", type=int, default=512)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--beside", type=int, default=0)
    return parser.parse_known_args()


def make_graph(options, number):
    """Returns a ring with random edges in the binary format nthu."""
    draw = random.Random(number)
    n = options.vertices
    edges = [(i, (i + 1) % n, draw.randrange(1, 1000)) for i in range(n)]
    while len(edges) < options.edges:
        edges.append((draw.randrange(n), draw.randrange(n), draw.randrange(1, 1000)))
    flat = [value for edge in edges for value in edge]
    return struct.pack(f"<{2 + len(flat)}i", n, len(edges), *flat)


def read_answer(stream):
    status = int(stream.readline().split()[1])
    length = 0
    keeps = True
    while (line := stream.readline()) not in (b"\r\n", b""):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
        keeps = keeps and (name.lower(), value.strip()) != (b"connection", b"close")
    return status, keeps, stream.read(length)


def submit(port, requests):
    """Sends requests one after the other; opens a new connection when an answer has closed the last one."""
    connection = stream = None
    for request in requests:
        if connection is None:
            connection = socket.create_connection(("127.0.0.1", port))
            stream = connection.makefile("rb")
        connection.sendall(request)
        status, keeps, body = read_answer(stream)
        assert status in (200, 202), (status, body)
        if not keeps:
            connection.close()
            connection = None


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def list_all(daemon):
    jobs = []
    cursor = ""
    while cursor is not None:
        page = daemon.get("/v1/jobs?limit=1000" + (f"&cursor={cursor}" if cursor else "")).json
        jobs += page["jobs"]
        cursor = page["next"]
    return jobs


def wait_for_all(daemon):
    for state in ("queued", "running"):
        while jobs := daemon.get(f"/v1/jobs?limit=1&state={state}").json["jobs"]:
            daemon.finish(jobs[0]["id"])


def submit_all(daemon, requests, connections):
    """Sends requests on several connections. Each has a process, because threads would wait for each
    other longer than for the daemon."""
    clients = [FORK.Process(target=submit, args=(daemon.port, requests[i::connections])) for i in range(connections)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
        assert client.exitcode == 0, client.exitcode


def make_requests(options, first):
    head = b"POST /v1/jobs?format=nthu HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
    graphs = (make_graph(options, first + number) for number in range(options.jobs))
    return [head % len(graph) + graph for graph in graphs]


def measure(daemon, options, first):
    """Prints the statistics of one run; returns the number of jobs accepted per second."""
    requests = make_requests(options, first)
    began_cpu_s = cpu_seconds(daemon.process.pid)
    began_s = time.monotonic()
    submit_all(daemon, requests, options.connections)
    accepted_s = time.monotonic() - began_s
    wait_for_all(daemon)
    done_s = time.monotonic() - began_s
    cpu_s = cpu_seconds(daemon.process.pid) - began_cpu_s
    print(f"accepted           {options.jobs / accepted_s:10.0f} jobs/s")
    print(f"done               {options.jobs / done_s:10.0f} jobs/s")
    print(f"processor          {cpu_s / options.jobs * 1e6:10.0f} us/job", flush=True)
    return options.jobs / accepted_s


def fill(daemon, options):
    """Stores and solves --beside rings of three vertices, which differ in their weights."""
    for first in range(0, options.beside, options.jobs):
        count = min(options.jobs, options.beside - first)
        ring = argparse.Namespace(jobs=count, vertices=3, edges=3)
        submit_all(daemon, make_requests(ring, 10**9 + first), options.connections)
        wait_for_all(daemon)


def main():
    options, rest = parse_arguments()
    harness.BINARY = options.apspd
    with harness.Daemon(*OPTIONS, *rest) as daemon:
        rounds = range(0, (3 if options.beside > 0 else 1) * options.jobs, options.jobs)
        empty = [measure(daemon, options, first) for first in rounds]
        jobs = list_all(daemon)
        done = [job for job in jobs if job["state"] == "done"]
        compute_s = sum(job["timings"]["compute_s"] for job in done)
        print(f"compute            {compute_s * 1e3:10.2f} ms in all")
        if len(done) != len(jobs) or len(jobs) != len(rounds) * options.jobs:
            print(f"{len(jobs) - len(done)} jobs did not end as done")
            sys.exit(1)
        if options.beside > 0:
            fill(daemon, options)
            print(f"beside {options.beside} graphs:")
            full = [measure(daemon, options, 10**8 + first) for first in rounds]
            print(f"full to empty      {statistics.median(full) / statistics.median(empty):10.2f}")


if __name__ == "__main__":
    main()
