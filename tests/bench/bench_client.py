"""Compares the Python client with SciPy and NetworkX: time from a graph in memory to the table in memory.

    bench_client.py APSPD APSP [--sparse 1000,4000] [--dense 1000] [--rounds R] [--solver auto]

Random graphs: sparse ones are grids of roads with weights from 1 to 1000, dense ones are complete. Each figure is the
median of the rounds; every round has new weights, so that the service has no stored result. x is a library's time as a
multiple of that of `client.solve(graph).table()`. NetworkX's floyd_warshall_numpy is measured up to 1,000 vertices. The
exit status is 1 if two tables differ."""

import argparse
import os
import statistics
import sys
import time

import networkx
import numpy
import scipy.sparse
from scipy.sparse.csgraph import shortest_path

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "http"), os.path.join(HERE, "..", "..", "clients", "python")]

import apspd
import harness

NETWORKX_LIMIT = 1000


def parse_arguments():
    def sizes(text):
        return [int(size) for size in text.split(",") if size]

    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for program in ("apspd", "apsp"):
        parser.add_argument(program)
    parser.add_argument("--sparse", type=sizes, default=[1000, 4000])
    parser.add_argument("--dense", type=sizes, default=[1000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--solver", default="auto")
    return parser.parse_args()


def make(shape, n, chance):
    if shape == "dense":
        return scipy.sparse.csr_matrix(chance.integers(1, 1001, (n, n)).astype(float))
    side = int(n**0.5)
    grid = networkx.to_scipy_sparse_array(networkx.grid_2d_graph(side, n // side), format="csr", dtype=float)
    grid.data = chance.integers(1, 1001, len(grid.data)).astype(float)
    return scipy.sparse.csr_matrix(grid)


def timed(call, *arguments):
    start = time.perf_counter()
    return call(*arguments), time.perf_counter() - start


def bench(client, shape, n, rounds):
    """Prints one line per library; returns whether all tables are equal."""
    chance = numpy.random.default_rng(n)
    calls = {"client": lambda graph: client.solve(graph).table(), "scipy": shortest_path}
    if n <= NETWORKX_LIMIT:
        calls["networkx"] = networkx.floyd_warshall_numpy
    seconds, same = {name: [] for name in calls}, True
    for _ in range(rounds):
        graph = make(shape, n, chance)
        tables = {}
        for name, call in calls.items():
            own = networkx.from_scipy_sparse_array(graph, create_using=networkx.DiGraph) if name == "networkx" else graph
            tables[name], took = timed(call, own)
            seconds[name].append(took)
        same = same and all((table == tables["client"]).all() for table in tables.values())
    base = statistics.median(seconds["client"])
    for name, found in seconds.items():
        took = statistics.median(found)
        print(f"{shape:6} n={graph.shape[0]:<6} {name:8} {took:9.3f} s  {took / base:8.1f} x", flush=True)
    return same


def main():
    arguments = parse_arguments()
    with harness.Daemon("--solver", arguments.solver) as daemon, apspd.Client(daemon.url) as client:
        print("device:", client.solve([(0, 1)]).job["device"])
        sizes = [("dense", n) for n in arguments.dense] + [("sparse", n) for n in arguments.sparse]
        if not all([bench(client, shape, n, arguments.rounds) for shape, n in sizes]):
            sys.exit("tables differ")


if __name__ == "__main__":
    main()
