"""Plans of real graphs as a table: python3 bench_plan.py APSP [--solver gpu|cpu] GRAPH...

One row a graph, by apsp plan --json. A .graph file (METIS) is read here and handed on as an edge list;
.txt and .csv are taken as the file lists them, --undirected as undirected."""

import argparse
import json
import os
import subprocess
import sys

COLUMNS = ("graph", "n", "m", "tiles", "padded", "rounds", "work", "largest separator", "planned",
           "expected", "dense")


def edges_of(path):
    """The edge list of a METIS file, one direction of each edge."""
    with open(path, encoding="ascii") as file:
        lines = [line for line in file if not line.startswith("%")]
    header = lines[0].split()
    step = 2 if len(header) > 2 and header[2].endswith("1") else 1
    edges = []
    for source, line in enumerate(lines[1 : int(header[0]) + 1]):
        for target in line.split()[::step]:
            if int(target) - 1 > source:
                edges.append(f"{source} {int(target) - 1}\n")
    return "".join(edges).encode()


def plan(apsp, solver, undirected, path):
    command = [apsp, "plan", "--json", "--solver", solver]
    content = None
    if path.endswith(".graph"):
        content = edges_of(path)
        command += ["--from", "edges", "--directed", "false", "-"]
    else:
        command += (["--directed", "false"] if undirected else []) + [path]
    done = subprocess.run(command, input=content, capture_output=True, check=False)
    if done.returncode != 0:
        sys.stderr.write(f"{path}: {done.stderr.decode()}")
        return None
    return json.loads(done.stdout)


def row_of(path, told):
    made = told["plan"]
    return (os.path.basename(path), told["graph"]["n"], told["graph"]["m"], told["tiles"],
            told["padded"], told["rounds"], f"{100 * made['work_fraction']:.3g} %",
            made["largest_separator"], f"{1e3 * made['planning_s']:.1f} ms",
            f"{1e3 * told['expected_s']:.3g} ms", f"{1e3 * told['dense_s']:.3g} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("apsp")
    parser.add_argument("--solver", default="gpu", choices=("gpu", "cpu"))
    parser.add_argument("--undirected", action="store_true")
    parser.add_argument("graphs", nargs="+")
    asked = parser.parse_args()
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + "---|" * len(COLUMNS))
    for path in asked.graphs:
        told = plan(asked.apsp, asked.solver, asked.undirected, path)
        if told is not None:
            print("| " + " | ".join(str(cell) for cell in row_of(path, told)) + " |")


if __name__ == "__main__":
    main()
