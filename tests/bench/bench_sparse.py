"""Compares the CPU solver on sparse graphs with the libraries that people would use instead.

    bench_sparse.py APSP GRAPH.gr... [--rows 1000] [--runs 3]

Runs `apsp solve --solver cpu` on each DIMACS graph, from its file to a matrix on disk; then, in those of SciPy, igraph
and graph-tool that this Python can import, Dijkstra's algorithm from each vertex. The libraries are timed on --rows
random sources, once each, in memory; their time for all sources is extrapolated, divided by the number of processors
that apsp has. x is that time as a multiple of apsp's.

If the matrix is larger than the memory in which the system buffers writes, the speed of the disk determines apsp's
time. TMPDIR sets the folder of the matrix."""

import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile
import time

from bench_cpu import module


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("apsp")
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    return parser.parse_args()


def read(path):
    """Returns n and {(source, target): least weight}."""
    n, edges = 0, {}
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words and words[0] == "p":
                n = int(words[2])
            elif words and words[0] == "a":
                ends, weight = (int(words[1]) - 1, int(words[2]) - 1), int(words[3])
                if ends[0] != ends[1]:
                    edges[ends] = min(weight, edges.get(ends, weight))
    return n, edges


def scipy_call(n, edges):
    graphs, sparse = module("scipy.sparse.csgraph"), module("scipy.sparse")
    if graphs is None or sparse is None:
        return None
    sources, targets = zip(*edges)
    # csr_matrix keeps an explicitly stored weight of 0, so it is still an edge.
    matrix = sparse.csr_matrix((list(edges.values()), (sources, targets)), shape=(n, n), dtype=float)
    return lambda rows: graphs.dijkstra(matrix, indices=rows)


def igraph_call(n, edges):
    igraph = module("igraph")
    if igraph is None:
        return None
    graph = igraph.Graph(n=n, edges=list(edges), directed=True)
    weights = list(edges.values())
    return lambda rows: graph.distances(source=rows, weights=weights)


def graph_tool_call(n, edges):
    graph_tool = module("graph_tool.all")
    if graph_tool is None:
        return None
    graph = graph_tool.Graph(directed=True)
    graph.add_vertex(n)
    weights = graph.new_edge_property("int")
    graph.add_edge_list([(*ends, weight) for ends, weight in edges.items()], eprops=[weights])

    def run(rows):
        for row in rows:
            graph_tool.shortest_distance(graph, source=row, weights=weights)

    return run


def apsp_s(options, path):
    """Returns the median seconds of a solve and of its rounds."""
    totals, rounds = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.runs):
            done = subprocess.run(
                [options.apsp, "solve", path, os.path.join(folder, "matrix.npy"), "--solver", "cpu", "--json"],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
            timings = json.loads(done.stdout.splitlines()[-1])["timings"]
            totals.append(timings["total_s"])
            rounds.append(timings["compute_s"])
    return statistics.median(totals), statistics.median(rounds)


def compare(options, path):
    name = os.path.basename(path)
    n, edges = read(path)
    total_s, rounds_s = apsp_s(options, path)
    print(f"{name:16} {'apsp, file to file':24} {total_s * 1e3:12.1f} ms {1:8.1f} x", flush=True)
    print(f"{name:16} {'  of which the rounds':24} {rounds_s * 1e3:12.1f} ms", flush=True)
    rows = random.Random(1).sample(range(n), min(options.rows, n))
    cores = len(os.sched_getaffinity(0))
    calls = {"SciPy dijkstra": scipy_call, "igraph distances": igraph_call,
             "graph-tool dijkstra": graph_tool_call}
    for library, make in calls.items():
        call = make(n, edges)
        if call is None:
            print(f"{name:16} {library:24} is not installed")
            continue
        begin_s = time.perf_counter()
        call(rows)
        seconds = (time.perf_counter() - begin_s) * n / len(rows) / cores
        print(f"{name:16} {library:24} {seconds * 1e3:12.1f} ms {seconds / total_s:8.1f} x", flush=True)


def main():
    options = parse_arguments()
    for path in options.graphs:
        compare(options, path)


main()
