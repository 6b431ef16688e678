"""Measures whole jobs, from the upload to the answer, and how long each phase takes.

    bench_phases.py APSPD GRAPH... [--beside APSPD] [--runs N] [--rest S] [--json FILE]
                    [DAEMON'S OPTIONS ...]
    bench_phases.py --chart FILE OUT.svg

Uploads, solves and deletes each graph with each build in turn: APSPD, the one of --beside, and APSPD with
solver.plans = none. Prints a row for each graph and build: the median milliseconds of the total (from the first byte
of the upload to the answer that says done), of the upload and of each phase of the job, and the total as a multiple
of the first build's. All daemons get the options, for example --worker.isolation thread. --rest waits before each
upload, because the disk may still be writing the previous result. --json saves the rows of APSPD, one object a line;
--chart draws them: for each graph, a bar with the share of each phase."""

import argparse
import json
import os
import select
import statistics
import sys
import time
from xml.sax.saxutils import escape

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))

import harness

PHASES = ("plan", "fill", "h2d", "compute", "d2h", "write")
# For each colour of the chart, its label and its phases; the last one is the remaining time.
PARTS = (("upload", ("upload",)), ("plan", ("plan",)), ("compute", ("compute",)), ("to the host", ("d2h",)),
         ("other", ()))
STYLE = """<style>
text{font-family:system-ui,'DejaVu Sans',Arial,sans-serif;font-size:13px;fill:#24292f}
.p0{fill:#56b4e9}.p1{fill:#e69f00}.p2{fill:#0072b2}.p3{fill:#009e73}.p4{fill:#c3c9cf}
</style>
"""
NAMES, BARS, ENDS, LINE = 350, 420, 80, 22
TYPES = {".nthu": "nthu", ".gr": "dimacs", ".mtx": "mtx", ".graph": "metis"}


def chart(rows):
    """Returns the chart: horizontal bars of equal length, because bars of the times themselves
    would make those of small graphs invisible."""
    height = (len(rows) + 2) * LINE
    width = NAMES + BARS + ENDS
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">\n'
             f"<title>Shares of the time from upload to answer</title>\n{STYLE}"
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n']
    for number, (name, _) in enumerate(PARTS):
        left = NAMES + number * BARS // len(PARTS)
        parts.append(f'<rect class="p{number}" x="{left}" y="5" width="12" height="12"/>'
                     f'<text x="{left + 16}" y="16">{name}</text>\n')
    for place, row in enumerate(rows):
        top = (place + 1) * LINE + 6
        left = float(NAMES)
        parts.append(f'<text x="{NAMES - 8}" y="{top + 13}" text-anchor="end">{escape(row["graph"])}</text>')
        for number, (_, phases) in enumerate(PARTS):
            share = sum(row[phase] for phase in phases) / row["whole"]
            long = BARS * share if phases else NAMES + BARS - left
            parts.append(f'<rect class="p{number}" x="{left:.1f}" y="{top}" width="{max(long, 0):.1f}" '
                         f'height="{LINE - 5}"/>')
            left += long
        parts.append(f'<text x="{NAMES + BARS + 8}" y="{top + 13}">{row["whole"]:.0f} ms</text>\n')
    return "".join(parts) + "</svg>\n"


def draw(source, target):
    with open(source, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    with open(target, "w", encoding="utf-8") as file:
        file.write(chart(rows))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("apspd")
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--beside")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rest", type=float, default=0)
    parser.add_argument("--json")
    return parser.parse_known_args()


def start(binary, options):
    harness.BINARY = binary
    return harness.Daemon("--log.level", "error", *options)


def run_once(daemon, body, kind):
    """Returns milliseconds: the total, the upload, and each phase."""
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
                select.select([], [], [], asked.rest)
                runs[build].append(run_once(daemon, body, TYPES.get(ending)))
        first = None
        for build, measured in runs.items():
            # The first run is a warm-up.
            figures = [statistics.median(column) for column in zip(*(row for row, _ in measured[1:]))]
            first = first or figures[0]
            print(f"| {name} | {build} | {measured[-1][1]} | {figures[0]:.1f} | {figures[0] / first:.2f} | "
                  + " | ".join(f"{value:.1f}" for value in figures[1:]) + " |", flush=True)
            if asked.json and build == "this":
                with open(asked.json, "a", encoding="utf-8") as file:
                    file.write(json.dumps(dict(zip(("whole", "upload", *PHASES), figures), graph=name)) + "\n")
    for daemon in daemons.values():
        daemon.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--chart"]:
        draw(*sys.argv[2:])
    else:
        main()
