"""Measures the service under load, compared with the bare responder and nginx; writes tables.

    load_report.py APSPD APSP BARE CLIENT [--out DIR] [--seconds S] [--rounds R] ...

Writes report.md and report.json to DIR. Without flags, the program takes less than five minutes;
--seconds 2 --rounds 5 varies less. Nginx is left out if it is not installed. As root, the program
measures in a separate network namespace (load_network.py). The exit status is 1 if any answer was
wrong or did not arrive."""

import argparse
import contextlib
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "http"))

import harness
import load_network
import load_servers
from load_servers import Target

PAIRS = 1000
RANGE_BYTES = 65536
# Not 256: if exactly 128 connections of a thread, or twice as many, are ready at once,
# libmicrohttpd 0.9 polls for more before it handles them, and all wait until another event occurs.
CONNECTIONS = "1,4,16,64,250,1000"
# Maximum number of connections that upload: more would only wait for each other's megabytes.
UPLOAD_CONNECTIONS_MOST = 64
SUBJECTS = ("apspd", "bare", "nginx")
FIGURES = ("rate", "bytes_per_s", "p50_us", "p99_us", "cpu_us", "errors")

# For each request: its title, its description, and whether bytes are counted instead of answers.
QUESTIONS = {
    "distance": ("One distance", "GET .../distance, answered with 47 bytes of JSON; nginx returns them as "
                 "a constant", False),
    "distances_json": (f"{PAIRS} distances, JSON", "POST .../distances, over a connection for each; the bare "
                       "responder receives as much and returns as much", False),
    "distances_binary": (f"{PAIRS} distances, binary", "The same as u32 pairs and i4 distances", False),
    "npy": ("The whole matrix, .npy", "GET .../matrix; nginx sends the same bytes from a file", True),
    "range": ("A part of the matrix", f"GET .../matrix with a Range of {RANGE_BYTES >> 10} KiB", True),
    "upload_dimacs": ("Upload of DIMACS", "POST /v1/graphs of a graph that is known: received, read, put in "
                      "order, its id made; the bare responder only receives", True),
    "upload_csv": ("Upload of CSV edges", "The same graph", True),
    "upload_nthu": ("Upload of nthu", "The same graph", True),
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for program in ("apspd", "apsp", "bare", "client"):
        parser.add_argument(program)
    parser.add_argument("--out", default="http-report")
    parser.add_argument("--questions", nargs="+", choices=QUESTIONS, default=list(QUESTIONS))
    parser.add_argument("--connections", default=CONNECTIONS)
    parser.add_argument("--seconds", type=float, default=0.3, help="of one measurement")
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds; the median counts")
    parser.add_argument("--threads", type=int, default=4, help="of all servers")
    parser.add_argument("--vertices", type=int, default=1000, help="of the graph asked about")
    parser.add_argument("--upload-vertices", type=int, default=20000, help="of the graph uploaded")
    parser.add_argument("--job-vertices", type=int, default=12000, help="of the job beside")
    parser.add_argument("--job-threads", type=int, default=0, help="of its solver; 0 is as many as there are")
    parser.add_argument("--nginx", default=shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin"))
    options = parser.parse_args()
    options.connections = sorted({int(count) for count in options.connections.split(",")})
    return options


class House:
    """Starts all servers; returns the targets of each request: {request: {subject: Target}}."""

    def __init__(self, options, stack):
        self.daemon = stack.enter_context(harness.Daemon(
            "--http.threads", str(options.threads), "--solver", "cpu",
            "--solver.cpu_threads", str(options.job_threads)))
        self.server = self.daemon.url, self.daemon.process.pid
        self.folder = self.daemon.scratch
        graph = load_servers.generate(options.apsp, self.folder, "road", options.vertices)
        with open(graph, "rb") as file:
            document = self.daemon.solve(file.read(), "?result=matrix")
        assert document["state"] == "done", document
        self.vertices = document["summary"]["n"]
        self.path = f"/v1/graphs/{document['graph']}"
        self.targets = {}
        with open(os.path.join(self.folder, "m.npy"), "wb") as file:
            file.write(self.daemon.get(self.path + "/matrix").expect(200).body)
        self.find_job(options)
        self.add_distance(options, stack)
        self.add_pairs(options, stack)
        self.add_downloads()
        self.add_uploads(options)
        self.targets = {question: self.targets[question] for question in options.questions}

    def find_job(self, options):
        graph = load_servers.generate(options.apsp, self.folder, "gnp", options.job_vertices)
        with open(graph, "rb") as file:
            answer = self.daemon.ask("POST", "/v1/graphs", body=file.read())
        assert answer.status in (200, 201), answer.body[:400]
        self.job_graph = answer.json["id"]

    def add_distance(self, options, stack):
        path = self.path + "/distance?source={}&target={}"
        self.bare = stack.enter_context(load_servers.bare_responder(options.bare, options.threads))
        port = stack.enter_context(load_servers.nginx(options.nginx, self.folder, options.threads))
        self.nginx = port and f"http://127.0.0.1:{port}", None
        self.add("distance", Target(self.server, path), Target(self.bare, path),
                 Target(self.nginx, "/distance?source={}&target={}"))

    def add_pairs(self, options, stack):
        made = load_servers.write_pairs(self.folder, self.vertices, PAIRS)
        for question, (body, header) in made.items():
            path = self.path + "/distances"
            with open(body, "rb") as file:
                name, value = header.split(": ")
                answer = self.daemon.ask("POST", path, body=file.read(), headers={name: value}).expect(200)
            bare = stack.enter_context(
                load_servers.bare_responder(options.bare, options.threads, len(answer.body)))
            self.add(question, Target(self.server, path, body, header), Target(bare, path, body, header))

    def add_downloads(self):
        last = min(RANGE_BYTES, os.path.getsize(os.path.join(self.folder, "m.npy"))) - 1
        for question, header in (("npy", None), ("range", f"Range: bytes=0-{last}")):
            ours = Target(self.server, self.path + "/matrix", header=header)
            self.add(question, ours, None, Target(self.nginx, "/m.npy", header=header))

    def add_uploads(self, options):
        made = load_servers.write_uploads(options.apsp, self.folder, options.upload_vertices)
        for question, (body, query) in made.items():
            path = "/v1/graphs" + query
            self.add(question, Target(self.server, path, body), Target(self.bare, path, body))

    def add(self, question, apspd, bare, nginx=None):
        found = {"apspd": apspd, "bare": bare, "nginx": nginx if self.nginx[0] else None}
        self.targets[question] = {subject: target for subject, target in found.items() if target}


def measure_once(options, house, target, connections, job):
    """Returns the statistics of a target; with a job, of a period during which the job ran
    throughout."""
    while True:
        if job:
            job.freshen()
        figures = load_servers.run_client(options.client, target, connections, options.seconds, house.vertices)
        if not job or job.runs():
            return figures
        print("# the job ended before the measurement: once more", flush=True)


def measure(options, house, question, connections, job):
    """Returns the medians of the rounds for each subject. The subjects take turns, so that a
    slow period of the machine affects all of them, and not always the same one."""
    found = {subject: [] for subject in house.targets[question]}
    for _ in range(options.rounds):
        for subject, target in house.targets[question].items():
            found[subject].append(measure_once(options, house, target, connections, job))
    points = []
    for subject, rounds in found.items():
        point = {"question": question, "subject": subject, "connections": connections, "busy": job is not None}
        for figure in FIGURES:
            point[figure] = (sum if figure == "errors" else statistics.median)(f.get(figure, 0) for f in rounds)
        point["words"] = next((f["words"] for f in rounds if "words" in f), None)
        points.append(point)
    return points


def print_point(point):
    print(f"{point['question']:17} {point['subject']:6} {point['connections']:5} "
          f"{'job ' if point['busy'] else 'idle'} {point['rate']:9.0f}/s {point['bytes_per_s'] / 1e6:8.1f} MB/s "
          f"p50 {point['p50_us'] / 1e3:8.2f} p99 {point['p99_us'] / 1e3:8.2f} ms cpu {point['cpu_us']:6.2f} us "
          f"errors {point['errors']:.0f}",
          flush=True)


def measure_all(options, house, job):
    points = []
    for question in house.targets:
        for connections in options.connections:
            if question.startswith("upload") and connections > UPLOAD_CONNECTIONS_MOST:
                continue
            for point in measure(options, house, question, connections, job):
                points.append(point)
                print_point(point)
    return points


# ---- The report ----


def processor():
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for row in file:
            if row.startswith("model name"):
                return row.split(":", 1)[1].strip()
    return platform.machine()


def describe(options, house, began_s):
    version = house.daemon.get("/version").expect(200).json
    nginx = None
    if options.nginx:
        done = subprocess.run([options.nginx, "-v"], capture_output=True, text=True, check=True)
        nginx = (done.stdout + done.stderr).strip()
    return {
        "schema": "apsp-load/1",
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began_s)),
        "took_s": round(time.time() - began_s, 1),
        "processor": processor(),
        "processors": os.cpu_count(),
        "kernel": platform.release(),
        "network": load_network.describe(),
        "load_average": os.getloadavg(),
        "apspd": version.get("version"),
        "nginx": nginx,
        "seconds": options.seconds,
        "rounds": options.rounds,
        "threads": options.threads,
        "vertices": house.vertices,
        "upload_bytes": {question: os.path.getsize(targets["apspd"].body)
                         for question, targets in house.targets.items() if question.startswith("upload")},
    }


def rate_of(question):
    """Returns (unit, function that computes the rate of a point)."""
    if QUESTIONS[question][2]:
        return "MB/s", lambda point: point["bytes_per_s"] / 1e6
    return "answers/s", lambda point: point["rate"]


def table(question, points):
    subjects = [s for s in SUBJECTS if any(p["subject"] == s for p in points)]
    unit, rate = rate_of(question)
    head = ["connections", "beside"]
    for subject in subjects:
        head += [f"{subject} {unit}", "p50 ms", "p99 ms"]
    head += [f"x {subject}" for subject in subjects[1:]] + ["errors"]
    rows = ["| " + " | ".join(head) + " |", "|---:|---|" + "---:|" * (len(head) - 2)]
    for busy in (False, True):
        for connections in sorted({p["connections"] for p in points}):
            those = {p["subject"]: p for p in points if (p["connections"], p["busy"]) == (connections, busy)}
            cells = [str(connections), "a job" if busy else ""]
            for subject in subjects:
                p = those[subject]
                cells += [f"{rate(p):,.0f}", f"{p['p50_us'] / 1e3:.2f}", f"{p['p99_us'] / 1e3:.2f}"]
            for subject in subjects[1:]:
                base = rate(those[subject])
                cells.append(f"{rate(those['apspd']) / base:.2f}" if base else "")
            cells.append(f"{sum(p['errors'] for p in those.values()):.0f}")
            rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


def write(options, about, points):
    os.makedirs(options.out, exist_ok=True)
    parts = [
        "# apspd under load\n",
        f"{about['started']}, {about['processors']} x {about['processor']}, Linux {about['kernel']}, {about['network']}, "
        f"load average {about['load_average'][0]:.1f} at the end; apspd {about['apspd']}, {about['nginx'] or 'no nginx'}; "
        f"{about['threads']} threads each, a graph of {about['vertices']} vertices, {about['rounds']} x "
        f"{about['seconds']} s a point. The client shares the processors. x: the rate of apspd over that one's.\n",
    ]
    for question in dict.fromkeys(p["question"] for p in points):
        title, words, _ = QUESTIONS[question]
        those = [p for p in points if p["question"] == question]
        parts.append(f"## {title}\n\n{words}.\n\n{table(question, those)}\n")
    with open(os.path.join(options.out, "report.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(parts))
    with open(os.path.join(options.out, "report.json"), "w", encoding="utf-8") as file:
        json.dump({**about, "points": points}, file, indent=1)


def main():
    options = parse_arguments()
    began_s = time.time()
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(files, min(most, 16384)), most))
    load_network.enter()
    with contextlib.ExitStack() as stack:
        house = House(options, stack)
        points = measure_all(options, house, None)
        with load_servers.job_beside(house.daemon, house.job_graph) as job:
            points += measure_all(options, house, job)
        about = describe(options, house, began_s)
    write(options, about, points)
    errors = sum(p["errors"] for p in points)
    for p in points:
        if p["words"]:
            print(f"# {p['question']} {p['subject']} {p['connections']}: {p['words']}")
    print(f"{options.out}/report.md: {len(points)} points in {about['took_s']:.0f} s, {errors:.0f} errors")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
