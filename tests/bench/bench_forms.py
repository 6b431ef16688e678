"""Compares answers from a hierarchy with those from the matrix of the same graph, in the same run.

    bench_forms.py APSPD [GRAPH] [--rounds R] [--pairs N] [--without-matrix]

GRAPH is a DIMACS file of arcs; by default, a generated grid of 10,000 vertices with lakes. Prints a line for each
question: the median seconds of the hierarchy and of the matrix, and their ratio. The exit status is 1 if the binary
answers of the two differ. The matrix of a large graph takes minutes and n * n * 4 bytes on disk; --without-matrix
leaves it out."""

import argparse
import contextlib
import http.client
import os
import statistics
import sys
import time

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "http")]

import harness
import test_hierarchy

PIECE = 1 << 20


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("apspd")
    parser.add_argument("graph", nargs="?")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--without-matrix", action="store_true")
    return parser.parse_args()


def ask(connection, method, path, body=None, media_type=None):
    """Returns the size of the answer and a checksum of its bytes."""
    connection.request(method, path, body, {"Content-Type": media_type} if body else {})
    answer = connection.getresponse()
    assert answer.status == 200, (path, answer.status, answer.read(500))
    size, total = 0, 0
    while piece := answer.read(PIECE):
        size += len(piece)
        total += int.from_bytes(piece[:64], "big") + int.from_bytes(piece[-64:], "big")
    return size, total


def make_questions(n, pairs):
    draw = numpy.random.default_rng(1)
    json = "application/json"
    table = {size: {key: draw.integers(1, n + 1, size).tolist() for key in ("sources", "destinations")}
             for size in (200, 1000)}
    questions = {
        f"{count} pairs, binary": ("POST", "distances", draw.integers(0, n, (count, 2)).astype("<u4").tobytes(),
                                   "application/octet-stream") for count in (10_000, pairs)}
    questions |= {f"table {size} x {size}, JSON": ("POST", "table", harness.json.dumps(body).encode(), json)
                  for size, body in table.items()}
    questions["row, JSON"] = ("GET", "row/7")
    questions["column, npy"] = ("GET", "matrix?cols=7:8")
    questions["matrix, npy"] = ("GET", "matrix")
    questions["stats"] = ("GET", "stats")
    questions["heatmap"] = ("GET", "heatmap")
    return questions


def time_pairs(connection, n, count):
    """Returns the seconds per pair when each pair has a separate request."""
    draw = numpy.random.default_rng(2).integers(1, n + 1, (count, 2)).tolist()
    times = []
    for s, t in draw:
        began = time.perf_counter()
        ask(connection, "GET", f"/v1/graphs/it/distance?source={s}&target={t}")
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def compare(options, connections, n):
    """Prints the times of all questions; returns the questions whose answers differ."""
    differ = []
    for what, (method, path, *body) in make_questions(n, options.pairs).items():
        answers = {}
        times = {form: [] for form in connections}
        for _ in range(options.rounds):
            for form, connection in connections.items():
                began = time.perf_counter()
                connection.close()  # the service closes idle connections
                answers[form] = ask(connection, method, f"/v1/graphs/it/{path}", *body)
                times[form].append(time.perf_counter() - began)
        print_line(what, {form: statistics.median(times[form]) for form in times},
                   f"{times['hierarchy'][0]:.4f} s the first time")
        if len(set(answers.values())) > 1:
            differ.append(what)
    print_line("a pair", {form: time_pairs(connection, n, 2000) for form, connection in connections.items()}, "")
    return differ


def main():
    options = parse_arguments()
    graph = open(options.graph, "rb").read() if options.graph else test_hierarchy.roads(10_000, 1)
    connections = {}
    with contextlib.ExitStack() as stack:
        for form in ["hierarchy"] if options.without_matrix else ["hierarchy", "matrix"]:
            daemon = stack.enter_context(harness.Daemon())
            began = time.perf_counter()
            job = daemon.solve(graph, f"?name=it&result={form}")
            assert job["state"] == "done", job
            print(f"{form}: {job['summary']['n']} vertices, {job['result']['bytes'] / 1e6:.1f} MB, "
                  f"done in {time.perf_counter() - began:.2f} s")
            connections[form] = http.client.HTTPConnection(daemon.host, daemon.port, timeout=600)
        differ = compare(options, connections, job["summary"]["n"])
    print(f"DIFFERENT: {differ}" if differ else "every answer is the same")
    return 1 if differ else 0


def print_line(what, seconds, remark):
    both = [seconds["hierarchy"], seconds.get("matrix", float("nan"))]
    print(f"{what:26} {both[0]:9.5f} s {both[1]:9.5f} s {both[0] / both[1]:7.2f} x  {remark}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
