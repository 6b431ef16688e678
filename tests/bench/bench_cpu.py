"""Compares the CPU solver with the Python libraries that people would use instead.

    bench_cpu.py APSP [--beside APSP] [--sizes 256,512,1024] [--dense 2048] [--runs 3]

First, for --sizes: `apsp bench --solver cpu` for f8, then the libraries that this Python can import (SciPy's
floyd_warshall and dijkstra, NetworkX, igraph) on random graphs with as many vertices and edges. x is a library's
time as a multiple of apsp's on all threads.

Then, for --dense: SciPy's floyd_warshall on a complete graph, and each instruction set of apsp on one and two
threads, for i4 and i4 in 16 bits, directed and undirected. x is the speed as a multiple of SciPy's. (The time of apsp
does not depend on the edges, as its dense plan computes every pair.) With --beside, compares with
another build instead of SciPy: the builds take turns, and the best of --runs turns is printed as a share of the
limit, for which the higher limit that the two builds measured is used.

Last, for --sizes: the least processor time of `apsp solve`, from the file to the written matrix, for a random graph
and a grid, each with integer weights and with hundredths. A distance in hundredths takes 8 bytes instead of 4; the
line `decimals over integers` subtracts the time of writing 4 n^2 more bytes to a mapped file.

Figures are medians of the runs unless stated otherwise, one line each."""

import argparse
import importlib
import itertools
import json
import math
import mmap
import os
import random
import resource
import statistics
import subprocess
import tempfile
import time

EDGES_PER_VERTEX = 16
WEIGHT_MAX = 1000
# NetworkX is measured up to this size: its interpreted loops take minutes for larger graphs.
SLOW_VERTICES = 256


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("apsp")
    parser.add_argument("--beside", help="another build of apsp")
    parser.add_argument("--sizes", default="256,512,1024", help="'' for none")
    parser.add_argument("--dense", type=int, default=2048, help="vertices; 0 for none")
    parser.add_argument("--runs", type=int, default=3)
    return parser.parse_args()


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def make_edges(n):
    """Returns as many edges as the graphs of apsp bench have; vertex 0 connects every pair of vertices."""
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


def apsp_rows(options, *flags, apsp=None):
    """Returns the rows of apsp bench, or an empty list if this processor lacks the instruction set."""
    done = subprocess.run(
        [apsp or options.apsp, "bench", "--solver", "cpu", "--runs", str(options.runs), "--json", *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check="--solver.cpu_isa" not in flags,
    )
    return json.loads(done.stdout)["rows"] if done.returncode == 0 else []


def compare_sparse(options):
    for row in apsp_rows(options, "--sizes", options.sizes, "--kinds", "f8", "--directed"):
        n, apsp_s = row["n"], row["fill_s"] + row["compute_s"]
        print(f"n={n:<6} {'apsp, f8':50} {apsp_s * 1e3:10.2f} ms {1:8.1f} x")
        edges = make_edges(n)
        for library in (scipy_calls, networkx_calls, igraph_calls):
            for name, call in library(n, edges):
                seconds = median_s(call, options.runs)
                print(f"n={n:<6} {name:50} {seconds * 1e3:10.2f} ms {seconds / apsp_s:8.1f} x", flush=True)


def scipy_dense_s(n, runs):
    graphs, numpy = module("scipy.sparse.csgraph"), module("numpy")
    if graphs is None or numpy is None:
        return None
    matrix = numpy.random.default_rng(1).integers(1, WEIGHT_MAX + 1, (n, n)).astype(float)
    numpy.fill_diagonal(matrix, 0)
    return median_s(lambda: graphs.floyd_warshall(matrix), runs)


def compare_dense(options):
    n = options.dense
    scipy_s = scipy_dense_s(n, options.runs)
    if scipy_s is not None:
        print(f"n={n:<6} {'SciPy floyd_warshall, complete graph':50} {scipy_s * 1e3:10.2f} ms {1:8.1f} x", flush=True)
    for isa in ("avx512", "avx2", "portable"):
        for threads in (1, 2):
            flags = ("--sizes", str(n), "--kinds", "i4,u2", "--solver.cpu_isa", isa)
            for row in apsp_rows(options, *flags, "--solver.cpu_threads", str(threads)):
                directed = "" if row["directed"] else ", undirected"
                name = f"apsp {row['label']}{directed}, {isa}, {threads} thread{'s' * (threads > 1)}"
                ratio = f"{scipy_s / row['compute_s']:8.1f} x " if scipy_s is not None else ""
                limit = row["limit_fraction"] * 100
                print(f"n={n:<6} {name:50} {row['compute_s'] * 1e3:10.2f} ms {ratio}{limit:6.1f} % of the limit",
                      flush=True)


def compare_builds(options):
    n = options.dense
    for isa, threads in itertools.product(("avx512", "avx2", "portable"), (1, 2)):
        flags = ("--sizes", str(n), "--kinds", "i4,u2", "--directed")
        flags += ("--solver.cpu_isa", isa, "--solver.cpu_threads", str(threads))
        rows = {}
        for _, apsp in itertools.product(range(options.runs), (options.beside, options.apsp)):
            for row in apsp_rows(options, *flags, apsp=apsp):
                rows.setdefault(row["label"], []).append((apsp, row["compute_s"], row["limit_fraction"]))
        for label, turns in rows.items():
            limit = max(n**3 / seconds / fraction for _, seconds, fraction in turns)
            for apsp in (options.beside, options.apsp):
                best_s = min(seconds for build, seconds, _ in turns if build == apsp)
                name = f"{label}, {isa}, {threads} thread{'s' * (threads > 1)}, {apsp}"
                print(f"n={n:<6} {name:60} {best_s * 1e3:10.2f} ms {n**3 / best_s / limit * 100:6.1f} % of the limit",
                      flush=True)


def make_grid(n):
    """Returns the roads of a town: a square grid with edges in both directions, for which a plan omits most tiles."""
    draw = random.Random(2)
    side = math.isqrt(n)
    pairs = [(v, v + 1) for v in range(n - 1) if (v + 1) % side] + [(v, v + side) for v in range(n - side)]
    return [(*ends, draw.randint(1, WEIGHT_MAX)) for s, t in pairs for ends in ((s, t), (t, s))]


def children_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def solve_s(apsp, graph, matrix):
    """Returns the processor time of one solve."""
    before_s = children_s()
    subprocess.run([apsp, "solve", graph, matrix, "--solver", "cpu"], check=True, stderr=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL)
    return children_s() - before_s


def write_s(path, size):
    """Returns the processor time of writing this many bytes to a mapped file, as a solve writes its
    rows."""
    piece = bytes(1 << 16)
    with open(path, "w+b") as file:
        os.posix_fallocate(file.fileno(), 0, size)
        with mmap.mmap(file.fileno(), size) as mapping:
            before_s = time.process_time()
            for _ in range(size // len(piece)):
                mapping.write(piece)
            return time.process_time() - before_s


def compare_decimals(options):
    with tempfile.TemporaryDirectory() as folder:
        matrix = os.path.join(folder, "matrix.npy")
        for make, n in itertools.product((make_edges, make_grid), map(int, options.sizes.split(","))):
            shape = "grid" if make == make_grid else "random"
            edges = make(n)
            graphs = {}
            for name, unit in (("integers", 1), ("hundredths", 100)):
                graphs[name] = os.path.join(folder, f"{name}.gr")
                with open(graphs[name], "w", encoding="ascii") as file:
                    file.write(f"p sp {n} {len(edges)}\n")
                    file.writelines(f"a {s + 1} {t + 1} {w / unit:g}\n" for s, t, w in edges)
            runs = [{name: solve_s(options.apsp, graph, matrix) for name, graph in graphs.items()}
                    for _ in range(options.runs)]
            least = {name: min(run[name] for run in runs) for name in graphs}
            bytes_s = min(write_s(matrix, 4 * n * n) for _ in range(options.runs))
            rows = {"integers": least["integers"], "hundredths": least["hundredths"], "4 n^2 bytes": bytes_s,
                    "decimals over integers": least["hundredths"] - bytes_s}
            for name, seconds in rows.items():
                print(f"n={n:<6} {f'{shape}, {name}':50} {seconds * 1e3:10.2f} ms "
                      f"{seconds / least['integers']:8.2f} x", flush=True)


def main():
    options = parse_arguments()
    if options.beside:
        compare_builds(options)
        return
    if options.sizes:
        compare_sparse(options)
    if options.dense:
        compare_dense(options)
    if options.sizes:
        compare_decimals(options)


if __name__ == "__main__":
    main()
