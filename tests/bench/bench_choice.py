"""Compares the form that `result=auto` chooses with each form: seconds until the job is done, and for random pairs.

    bench_choice.py APSPD APSP [GRAPH...] [--runs N] [--pairs N] [--limit N]

Uploads each graph with result=auto, matrix and hierarchy in turn; after each turn, deletes the graph and its stored
order. Generated graphs come first: a grid of 200 x 200 and 25,000 vertices with random neighbours. Prints a row for
each graph: the median seconds until done, the form that auto chose, the time of auto as a multiple of the faster
form's, and its time for the pairs (the median of five binary requests a turn) as a multiple of the matrix's. Above
--limit vertices the matrix is not measured."""

import argparse
import os
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))

import harness

FORMS = ("auto", "matrix", "hierarchy")
MADE_UP = (("grid-200", ("--shape", "grid", "--n", "40000")),
           ("random-25000", ("--shape", "gnp", "--degree", "4", "--n", "25000", "--directed")))


def solve(daemon, graph, form):
    began = time.perf_counter()
    answer = daemon.submit(graph, f"?result={form}", Prefer="wait=60", Content_Type="application/octet-stream")
    if answer.status not in (200, 202):
        return None, answer.json
    job = daemon.finish(answer.json["id"])
    return (time.perf_counter() - began if job["state"] == "done" else None), job


def ask(daemon, job, pairs):
    began = time.perf_counter()
    daemon.ask("POST", f"/v1/graphs/{job['graph']}/distances", body=pairs,
               headers={"Content-Type": "application/octet-stream"}).expect(200)
    return time.perf_counter() - began


def measure(daemon, graph, forms, runs, count):
    done, asked, took = {}, {}, ""
    draw = random.Random(1)
    for _ in range(runs):
        for form in forms:
            seconds, job = solve(daemon, graph, form)
            if seconds is None:
                continue
            n = job["summary"]["n"]
            pairs = struct.pack(f"<{2 * count}I", *(draw.randrange(n) for _ in range(2 * count)))
            done.setdefault(form, []).append(seconds)
            asked.setdefault(form, []).append([ask(daemon, job, pairs) for _ in range(5)])
            took = job["result"]["kind"] if form == "auto" else took
            daemon.ask("DELETE", f"/v1/graphs/{job['graph']}").expect(204)
            for order in pathlib.Path(daemon.state, "orders").iterdir():
                order.unlink()
    return {f: statistics.median(s) for f, s in done.items()}, {f: statistics.median(x for s in v for x in s) for f, v in asked.items()}, took


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("apspd")
    parser.add_argument("apsp")
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--limit", type=int, default=30_000, help="vertices of a matrix")
    options = parser.parse_args()
    print(f"{'graph':24} {'auto':>9} {'matrix':>9} {'hierarchy':>9}   took       of the faster   pairs of the matrix's")
    with tempfile.TemporaryDirectory(prefix="apspd-bench-") as folder:
        paths = list(options.graphs)
        for name, flags in MADE_UP:
            paths.append(os.path.join(folder, name + ".gr"))
            subprocess.run([options.apsp, "generate", paths[-1], *flags], check=True, capture_output=True)
        with harness.Daemon() as daemon:
            for path in paths:
                graph = pathlib.Path(path).read_bytes()
                _, job = solve(daemon, graph, "auto")
                daemon.ask("DELETE", f"/v1/graphs/{job['graph']}")
                is_small = job["summary"]["n"] <= options.limit
                forms = FORMS if is_small else ("auto", "hierarchy")
                done, asked, took = measure(daemon, graph, forms, options.runs, options.pairs)
                faster = min(s for form, s in done.items() if form != "auto")
                pairs = f"{asked['auto'] / asked['matrix']:10.2f}" if "matrix" in asked else " " * 9 + "-"
                columns = " ".join(f"{done[form]:9.3f}" if form in done else " " * 8 + "-" for form in FORMS)
                print(f"{os.path.basename(path):24} {columns}   {took:9} {done['auto'] / faster:10.2f}   {pairs}",
                      flush=True)


if __name__ == "__main__":
    main()
