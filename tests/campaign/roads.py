"""Compares distances and paths from hierarchies with SciPy's Dijkstra, before and after changes of
weights.

    roads.py APSPD APSP GRAPH.gr... [--rows 100] [--pairs 10000] [--changes 2]

Each graph, directed with weights above 0, is solved once, and then each round changes 100 of
its weights. In every round whole rows, pairs and paths are compared: every edge of a
path must be an edge of the graph, and the weights of a path must add up to the distance."""

import argparse
import json
import sys
import time

import campaign

sys.argv, arguments = sys.argv[:3], sys.argv

import harness
import numpy
import scipy.sparse
import scipy.sparse.csgraph

JSON = {"Content-Type": "application/json"}
UNREACHABLE = 2**30 - 1


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("apspd")
    parser.add_argument("apsp")
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=10000)
    parser.add_argument("--changes", type=int, default=2)
    return parser.parse_args(arguments[1:])


def read_edges(path):
    """Returns sources, targets and weights, sorted by source and target; of parallel edges, only
    the shortest is kept."""
    with open(path, "rb") as file:
        lines = file.read().splitlines()
    n = next(int(line.split()[2]) for line in lines if line.startswith(b"p "))
    edges = numpy.array([line.split()[1:] for line in lines if line.startswith(b"a ")], dtype=numpy.int64)
    edges = edges[edges[:, 0] != edges[:, 1]]
    edges = edges[numpy.lexsort((edges[:, 2], edges[:, 1], edges[:, 0]))]
    is_first = numpy.ones(len(edges), dtype=bool)
    is_first[1:] = (edges[1:, :2] != edges[:-1, :2]).any(axis=1)
    return n, edges[is_first]


def compare(daemon, n, edges, draw, arguments, ledger):
    graph = scipy.sparse.csr_matrix((edges[:, 2], (edges[:, 0] - 1, edges[:, 1] - 1)), shape=(n, n))
    known = {(s, t): w for s, t, w in edges.tolist()} if n < 200000 else None
    per_row = -(-arguments.pairs // arguments.rows)
    for source in draw.integers(n, size=arguments.rows).tolist():
        wanted = scipy.sparse.csgraph.dijkstra(graph, indices=source)
        wanted = numpy.where(numpy.isinf(wanted), UNREACHABLE, wanted).astype(numpy.int32)
        answer = daemon.get(f"/v1/graphs/it/matrix?format=raw&rows={source}:{source + 1}").expect(200)
        found = numpy.frombuffer(answer.body, dtype=numpy.int32)
        assert (found == wanted).all(), (source, numpy.flatnonzero(found != wanted)[:5])
        ledger.count("distances", n)
        targets = draw.integers(n, size=per_row).tolist()
        body = json.dumps({"pairs": [[source + 1, target + 1] for target in targets]})
        answer = daemon.ask("POST", "/v1/graphs/it/distances", body=body, headers=JSON).expect(200).json
        lengths = [None if wanted[target] == UNREACHABLE else int(wanted[target]) for target in targets]
        assert answer["distances"] == lengths, source
        ledger.count("pairs", len(targets))
        body = json.dumps({"pairs": [[source + 1, target + 1] for target in targets[:10]]})
        paths = daemon.ask("POST", "/v1/graphs/it/paths", body=body, headers=JSON).expect(200).json["paths"]
        for path, length in zip(paths, lengths):
            check_path(path, length, graph, known)
            ledger.count("paths")


def check_path(path, length, graph, known):
    assert path["distance"] == length, path
    if length is None:
        return
    assert sum(path["weights"]) == length, path
    for s, t, w in zip(path["vertices"], path["vertices"][1:], path["weights"]):
        assert (known[s, t] if known is not None else graph[s - 1, t - 1]) == w, (s, t, w)


def change(daemon, edges, draw, ledger):
    chosen = draw.choice(len(edges), size=100, replace=False)
    factors = draw.choice([0.3, 0.9, 1.2, 5], size=100)
    edges[chosen, 2] = numpy.maximum(1, edges[chosen, 2] * factors)
    began = time.monotonic()
    answer = daemon.ask("PATCH", "/v1/graphs/it/edges", json.dumps(edges[chosen].tolist()),
                        {**JSON, "Prefer": "wait=600"}).expect(200)
    assert answer.json["state"] == "done", answer.json
    ledger.count("changes")
    print(f"  PATCH of 100 weights to done: {(time.monotonic() - began) * 1000:.1f} ms", flush=True)


def run(path, arguments, ledger):
    print(path, flush=True)
    draw = numpy.random.default_rng(1)
    n, edges = read_edges(path)
    with harness.Daemon() as daemon:
        with open(path, "rb") as file:
            job = daemon.solve(file.read(), "?name=it&result=hierarchy")
        assert job["state"] == "done", job
        for round_ in range(arguments.changes + 1):
            if round_ > 0:
                change(daemon, edges, draw, ledger)
            compare(daemon, n, edges, draw, arguments, ledger)


def main():
    arguments = parse_arguments()
    ledger = campaign.Ledger(1e9)
    for path in arguments.graphs:
        ledger.attempt(path, run, path, arguments, ledger)
    ledger.close()


main()
