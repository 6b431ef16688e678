"""Measures the hierarchy of a country: copies of a road network, joined by a few roads.

    bench_country.py APSPD GRAPH [--copies N] [--runs N] [--pairs N] [--result FORM] [--write FILE]

GRAPH is a DIMACS file of arcs. Prints a line for each question: the median wall time, and the median processor time
of the daemon, which depends less on other programs. The questions: the time from the first byte of the upload until
the job is done (with the weight of one road changed each time), without a stored order and with it; random pairs in
one binary request, new pairs each time; and `PATCH` of 100 weights, in both directions. --write only writes the
graph."""

import argparse
import os
import pathlib
import random
import statistics
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))

import harness

JOINS = 20  # roads between each copy and the next


def make_country(path, copies):
    lines = [line.split() for line in pathlib.Path(path).read_text().splitlines()]
    n = next(int(line[2]) for line in lines if line[:1] == ["p"])
    arcs = [tuple(map(int, line[1:4])) for line in lines if line[:1] == ["a"]]
    draw = random.Random(1)
    joins = []
    for copy in range(1, copies):
        for _ in range(JOINS):
            a, b = (copy - 1) * n + draw.randint(1, n), copy * n + draw.randint(1, n)
            weight = draw.randint(1, 1000) * 10
            joins += [(a, b, weight), (b, a, weight)]
    text = [f"p sp {n * copies} {len(arcs) * copies + len(joins)}\n"]
    text += ["".join(f"a {a + copy * n} {b + copy * n} {w}\n" for a, b, w in arcs) for copy in range(copies)]
    text += [f"a {a} {b} {w}\n" for a, b, w in joins]
    roads = {(a, b) for a, b, _ in arcs if a < b}
    return bytearray("".join(text).encode()), n * copies, sorted(roads)


def processor_s(daemon):
    fields = pathlib.Path(f"/proc/{daemon.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def measure(daemon, what, runs, ask):
    passed, used = [], []
    for run in range(runs):
        began, used_before = time.perf_counter(), processor_s(daemon)
        ask(run)
        passed.append(time.perf_counter() - began)
        used.append(processor_s(daemon) - used_before)
    print(f"{what:28} {statistics.median(passed):8.3f} s {statistics.median(used):8.2f} s of processors", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("apspd")
    parser.add_argument("graph")
    parser.add_argument("--copies", type=int, default=50)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--result", default="auto")
    parser.add_argument("--write")
    options = parser.parse_args()
    graph, n, roads = make_country(options.graph, options.copies)
    if options.write:
        pathlib.Path(options.write).write_bytes(graph)
        return
    draw = random.Random(2)

    def upload_first(run):
        for order in pathlib.Path(daemon.state, "orders").iterdir():
            order.unlink()
        upload(run)

    def upload(run):
        for a, b in (roads[0], roads[0][::-1]):
            begin = graph.index(b" ", graph.index(b"\na %d %d " % (a, b)) + len(f"\na {a} {b}")) + 1
            graph[begin : graph.index(b"\n", begin)] = b"%d" % (run + 1000)
        job = daemon.solve(graph, f"?name=it&result={options.result}")
        assert job["state"] == "done", job

    def ask_pairs(_):
        pairs = struct.pack(f"<{2 * options.pairs}I", *(draw.randrange(n) for _ in range(2 * options.pairs)))
        daemon.ask("POST", "/v1/graphs/it/distances", body=pairs,
                   headers={"Content-Type": "application/octet-stream"}).expect(200)

    def patch(_):
        edges = []
        for a, b in draw.sample(roads, 50):
            weight = draw.randint(1, 5000)
            edges += [[a, b, weight], [b, a, weight]]
        answer = daemon.ask("PATCH", "/v1/graphs/it/edges", body=harness.json.dumps(edges),
                            headers={"Content-Type": "application/json", "Prefer": "wait=60"})
        assert daemon.finish(answer.json["id"])["state"] == "done", answer.json

    with harness.Daemon() as daemon:
        measure(daemon, "first upload to done", options.runs, upload_first)
        measure(daemon, "later upload to done", options.runs, lambda run: upload(options.runs + run))
        measure(daemon, f"{options.pairs} pairs", options.runs, ask_pairs)
        measure(daemon, "PATCH of 100 weights", options.runs, patch)


if __name__ == "__main__":
    main()
