"""Measures one solve by several processes on this machine, compared with one process.

    bench_ranks.py BUILD_DIR [--ranks 1,2] [--n 4096] [--runs N] [GRAPH...]

Each process has one thread. Each run measures every number of processes once. The baseline is apsp with one
thread. Graphs: random graphs of --n vertices, directed and undirected, in 32 and 16 bits and in f4, and the GRAPH
files. Prints the least seconds of computing, which include gathering the rows from all processes."""

import argparse
import json
import os
import subprocess
import tempfile

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build")
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--n", type=int, default=4096)
    parser.add_argument("--runs", type=int, default=3)
    return parser.parse_args()


def make_graphs(build, folder, n):
    for name, more in (("directed", ["--directed", "--max-weight", "100000"]),
                       ("directed 16-bit", ["--directed"]),
                       ("directed f4", ["--directed", "--kind", "f4"]),
                       ("undirected", ["--max-weight", "100000"]), ("undirected 16-bit", []),
                       ("undirected f4", ["--kind", "f4"])):
        path = os.path.join(folder, f"{name} {n}.gr")
        subprocess.run([os.path.join(build, "apsp"), "generate", "--shape", "gnp", "--n", str(n), "--degree",
                        "50", *more, path], check=True, stdout=subprocess.DEVNULL)
        yield path


def solve(command, graph, folder):
    done = subprocess.run([*command, "solve", graph, os.path.join(folder, "out.npy"), "--json", "--solver",
                           "cpu", "--solver.cpu_threads", "1"], check=True, stdout=subprocess.PIPE,
                          env=ENVIRONMENT)
    timings = json.loads(done.stdout.splitlines()[-1])["timings"]
    return timings["fill_s"] + timings["compute_s"]


def main():
    asked = parse_arguments()
    counts = [int(count) for count in asked.ranks.split(",")]
    commands = {0: [os.path.join(asked.build, "apsp")]}
    for count in counts:
        commands[count] = ["mpirun", "--oversubscribe", "-np", str(count), os.path.join(asked.build, "apsp-mpi")]
    print("| graph | apsp s |" + "".join(f" {count} ranks s | x |" for count in counts))
    print("|---|---:|" + "---:|---:|" * len(counts))
    with tempfile.TemporaryDirectory() as folder:
        for graph in [*make_graphs(asked.build, folder, asked.n), *asked.graphs]:
            best = dict.fromkeys(commands, float("inf"))
            for _ in range(asked.runs):
                for count, command in commands.items():
                    best[count] = min(best[count], solve(command, graph, folder))
            name = os.path.splitext(os.path.basename(graph))[0]
            print(f"| {name} | {best[0]:.2f} |"
                  + "".join(f" {best[count]:.2f} | {best[0] / best[count]:.2f} |" for count in counts), flush=True)


if __name__ == "__main__":
    main()
