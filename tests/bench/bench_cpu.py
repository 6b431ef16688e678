"""The CPU solver beside the Python libraries that people would use instead.

    bench_cpu.py APSP [--sizes 256,512,1024] [--runs 3]

Runs `apsp bench --solver cpu` for f8, then the libraries that this Python can import (SciPy's
floyd_warshall and dijkstra, NetworkX, igraph) on random graphs of the same sizes and as many edges,
the median of the runs. One line per figure; x is how many times longer than apsp, all threads."""

import argparse
import importlib
import json
import random
import statistics
import subprocess
import time

EDGES_PER_VERTEX = 16
WEIGHT_MAX = 1000
# Interpreted loops over n^3 relaxations: beyond this they take minutes.
SLOW_VERTICES = 256


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("apsp")
    parser.add_argument("--sizes", default="256,512,1024")
    parser.add_argument("--runs", type=int, default=3)
    return parser.parse_args()


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def make_edges(n):
    """As sparse as those of apsp bench, every vertex over vertex 0 within reach of every other."""
    draw = random.Random(1)
    edges = {}
    for source in range(n):
        for _ in range(min(EDGES_PER_VERTEX - 2, n - 1)):
            edges[source, draw.randrange(n)] = draw.randint(1, WEIGHT_MAX)
        edges[source, 0] = edges[0, source] = WEIGHT_MAX
    return [(s, t, w) for (s, t), w in edges.items() if s != t]


def scipy_calls(n, edges):
    graphs = module("scipy.sparse.csgraph")
    sparse = module("scipy.sparse")
    if graphs is None or sparse is None:
        return
    sources, targets, weights = zip(*edges)
    matrix = sparse.csr_matrix((weights, (sources, targets)), shape=(n, n), dtype=float)
    yield "SciPy floyd_warshall", lambda: graphs.floyd_warshall(matrix)
    yield "SciPy dijkstra", lambda: graphs.dijkstra(matrix)


def networkx_calls(n, edges):
    networkx = module("networkx")
    if networkx is None:
        return
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from(edges)
    if module("numpy") is not None:
        yield "NetworkX floyd_warshall_numpy", lambda: networkx.floyd_warshall_numpy(graph)
    if n <= SLOW_VERTICES:
        yield "NetworkX floyd_warshall", lambda: networkx.floyd_warshall(graph)


def igraph_calls(n, edges):
    igraph = module("igraph")
    if igraph is None:
        return
    graph = igraph.Graph(n=n, edges=[edge[:2] for edge in edges], directed=True)
    weights = [edge[2] for edge in edges]
    yield "igraph distances", lambda: graph.distances(weights=weights)


def median_s(call, runs):
    times = []
    for _ in range(runs):
        begin_s = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin_s)
    return statistics.median(times)


def apsp_seconds(options):
    """Size -> seconds of fill and compute."""
    done = subprocess.run(
        [options.apsp, "bench", "--solver", "cpu", "--sizes", options.sizes, "--kinds", "f8"]
        + ["--directed", "--runs", str(options.runs), "--json", "-"],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    return {row["n"]: row["fill_s"] + row["compute_s"] for row in json.loads(done.stdout)["rows"]}


def main():
    options = parse_arguments()
    for n, apsp_s in apsp_seconds(options).items():
        print(f"n={n:<6} {'apsp, f8':32} {apsp_s * 1e3:10.2f} ms {1:8.1f} x")
        edges = make_edges(n)
        for library in (scipy_calls, networkx_calls, igraph_calls):
            for name, call in library(n, edges):
                seconds = median_s(call, options.runs)
                print(f"n={n:<6} {name:32} {seconds * 1e3:10.2f} ms {seconds / apsp_s:8.1f} x", flush=True)


if __name__ == "__main__":
    main()
