"""How true the time left is: jobs are asked how far they are until they are done.

    bench_progress.py APSPD GRAPH... [--runs N] [DAEMON'S OPTIONS ...]

Each graph is solved N times by one daemon, the first time by what the solver assumes, later by what it
has learned. Prints a row for each run: the seconds from the first time it was seen running to done, the
share of each phase, the largest factor between eta_s and the time that was left, over all answers from
a tenth of the way to nine tenths, the largest difference in seconds from a tenth on, the largest
difference between progress and the share of the time, and how often progress fell or was 1 before the
end. A second table follows the course of the last run of each graph."""

import argparse
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))

import harness

TYPES = {".nthu": "nthu", ".gr": "dimacs", ".mtx": "mtx", ".graph": "metis"}
STEP_S = 0.005


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("apspd")
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--runs", type=int, default=2)
    return parser.parse_known_args()


def watch(daemon, body, kind):
    """[(seconds, document)] from the first time it was seen running until done."""
    job = daemon.submit(body, "?format=" + kind if kind else "").expect(202).json["id"]
    pause = threading.Event()
    connection = daemon.connect()
    seen = []
    while True:
        document = daemon.ask("GET", "/v1/jobs/" + job, connection=connection).json
        now = time.monotonic()
        if document["state"] != "queued":
            seen.append((now, document))
        if document["state"] not in ("queued", "running"):
            assert document["state"] == "done", document
            connection.close()
            daemon.ask("DELETE", "/v1/graphs/" + document["graph"])
            begin = seen[0][0]
            return [(at - begin, document) for at, document in seen]
        pause.wait(STEP_S)


def factor(eta_s, left_s):
    if eta_s is None or eta_s <= 0:
        return float("inf")
    return max(eta_s / left_s, left_s / eta_s)


def judge(seen):
    whole = seen[-1][0]
    asked = [(at / whole, whole - at, document) for at, document in seen[:-1]]
    later = [one for one in asked if one[0] >= 0.1]
    judged = [one for one in later if one[0] <= 0.9] or later
    phases = {}
    for (at, document), (until, _) in zip(seen, seen[1:]):
        phase = document.get("phase") or "-"
        phases[phase] = phases.get(phase, 0) + (until - at) / whole
    shares = [document["progress"] for _, document in seen]
    faults = sum(one > other for one, other in zip(shares, shares[1:]))
    faults += sum(share >= 1 for share in shares[:-1])
    return (whole, " ".join(f"{phase} {100 * share:.0f} %" for phase, share in phases.items()),
            max(factor(document["eta_s"], left) for _, left, document in judged),
            max(abs((document["eta_s"] or 0) - left) for _, left, document in later),
            max(abs(document["progress"] - at) for at, _, document in asked), faults)


def course(name, seen):
    whole = seen[-1][0]
    for tenth in range(1, 10):
        at, document = min(seen, key=lambda one: abs(one[0] - whole * tenth / 10))
        eta_s = document["eta_s"]
        print(f"| {name} | {at / whole:.2f} | {document.get('phase')} | {document['progress']:.3f} | "
              f"{whole - at:.3f} | {'-' if eta_s is None else f'{eta_s:.3f}'} |")


def main():
    asked, options = parse_arguments()
    harness.BINARY = asked.apspd
    last = {}
    print("| graph | plan | run | seconds | phases | factor | off by, s | progress off by | fell or 1 |")
    print("|---|---|---:|---:|---|---:|---:|---:|---:|")
    for path in asked.graphs:
        name, ending = os.path.splitext(os.path.basename(path))
        with open(path, "rb") as file:
            body = file.read()
        with harness.Daemon("--log.level", "error", *options) as daemon:
            for run in range(1, asked.runs + 1):
                last[name] = watch(daemon, body, TYPES.get(ending))
                whole, phases, worst, off_s, off, faults = judge(last[name])
                kind = last[name][-1][1]["plan"]["kind"]
                print(f"| {name} | {kind} | {run} | {whole:.3f} | {phases} | {worst:.2f} | {off_s:.3f} | {off:.3f} | "
                      f"{faults} |", flush=True)
    print("\n| graph | share of the time | phase | progress | left, s | eta_s |\n|---|---:|---|---:|---:|---:|---:|")
    for name, seen in last.items():
        course(name, seen)


if __name__ == "__main__":
    main()
