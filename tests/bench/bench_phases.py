"""From upload to answer: whole jobs through the daemon, and where their time goes.

    bench_phases.py APSPD GRAPH... [--beside APSPD] [--runs N] [DAEMON'S OPTIONS ...]

Each graph is uploaded, solved and removed, by each build in turn: APSPD, the one of --beside, and
APSPD with solver.plans = none. Prints a row for each graph and build: the medians of the whole (the
first byte of the upload to the answer that says done), of the upload and of the job's own phases in
milliseconds, and the whole as a multiple of the first build's. The options (--worker.kind thread) go
to all daemons."""

import argparse
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))

import harness

PHASES = ("plan", "fill", "h2d", "compute", "d2h", "write")
TYPES = {".nthu": "nthu", ".gr": "dimacs", ".mtx": "mtx", ".graph": "metis"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("apspd")
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--beside")
    parser.add_argument("--runs", type=int, default=3)
    return parser.parse_known_args()


def start(binary, options):
    harness.BINARY = binary
    return harness.Daemon("--log.level", "error", *options)


def run_once(daemon, body, kind):
    """Milliseconds: the whole, the upload, and each phase."""
    begin = time.monotonic()
    job = daemon.submit(body, "?format=" + kind if kind else "").expect(202).json
    accepted = time.monotonic()
    document = daemon.finish(job["id"])
    done = time.monotonic()
    assert document["state"] == "done", document
    timings = dict(document["timings"], plan_s=document["plan"]["planning_s"])
    daemon.ask("DELETE", "/v1/graphs/" + document["graph"])
    return [1e3 * (done - begin), 1e3 * (accepted - begin)] + [
        1e3 * (timings.get(phase + "_s") or 0) for phase in PHASES], document["plan"]["kind"]


def main():
    asked, options = parse_arguments()
    daemons = {"this": start(asked.apspd, options)}
    if asked.beside:
        daemons["beside"] = start(asked.beside, options)
    daemons["dense"] = start(asked.apspd, [*options, "--solver.plans", "none"])
    print("| graph | build | plan | whole | x | upload | " + " | ".join(PHASES) + " |")
    print("|---|---|---|" + "---:|" * (3 + len(PHASES)))
    for path in asked.graphs:
        name, ending = os.path.splitext(os.path.basename(path))
        with open(path, "rb") as file:
            body = file.read()
        runs = {build: [] for build in daemons}
        for _ in range(asked.runs + 1):
            for build, daemon in daemons.items():
                runs[build].append(run_once(daemon, body, TYPES.get(ending)))
        first = None
        for build, measured in runs.items():
            # The first one warms up.
            figures = [statistics.median(column) for column in zip(*(row for row, _ in measured[1:]))]
            first = first or figures[0]
            print(f"| {name} | {build} | {measured[-1][1]} | {figures[0]:.1f} | {figures[0] / first:.2f} | "
                  + " | ".join(f"{value:.1f}" for value in figures[1:]) + " |", flush=True)
    for daemon in daemons.values():
        daemon.close()


if __name__ == "__main__":
    main()
