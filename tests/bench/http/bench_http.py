"""Distances per second over 64 kept connections, idle and while a job runs, beside a bare responder.

    bench_http.py APSPD APSP BARE CLIENT [--connections N] [--seconds S] [--rounds R] ...

The subjects take turns, so that a slow minute of the machine meets all of them. Prints one line per
figure: the median of the rounds, and its ratio to the idle bare responder; cpu is what the threads
that answer spent on one answer, the steadiest figure where others use the machine. The exit status
is 1 when any answer was wrong, any connection broke, or the job did not run through its
measurement."""

import argparse
import contextlib
import os
import re
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "http"))

import harness

FIGURES = (
    ("rate", "answers/s"),
    ("cpu_us", "us"),
    ("p50_us", "us"),
    ("p90_us", "us"),
    ("p99_us", "us"),
    ("p99.9_us", "us"),
    ("max_us", "us"),
)
SUBJECTS = ("bare idle", "distance idle", "bare with job", "distance with job")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for program in ("apspd", "apsp", "bare", "client"):
        parser.add_argument(program)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=4, help="of one measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=4, help="of both servers")
    parser.add_argument("--vertices", type=int, default=3000, help="of the graph asked about")
    parser.add_argument("--job-vertices", type=int, default=8000, help="of the job beside")
    return parser.parse_args()


@contextlib.contextmanager
def bare_responder(options):
    """Its address and process; it ends with the pipe, however this program ends."""
    with subprocess.Popen(
        [options.bare, str(options.threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        line = process.stdout.readline().decode()
        match = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+)\n", line)
        assert match, line
        yield match.group(1), process.pid


def generate(options, daemon, shape, vertices):
    """The bytes of a made graph."""
    path = os.path.join(daemon.scratch, f"{shape}.gr")
    subprocess.run(
        [options.apsp, "generate", "--shape", shape, "--n", str(vertices), "--seed", "1", path],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    with open(path, "rb") as file:
        return file.read()


def solve_asked(options, daemon):
    """The path of a question about the solved graph."""
    document = daemon.solve(generate(options, daemon, "road", options.vertices))
    assert document["state"] == "done", document
    count = document["summary"]["n"]
    assert daemon.distance(document["graph"], 1, 1) == 0
    return f"/v1/graphs/{document['graph']}/distance?source={{}}&target={{}}", count


def store_job_graph(options, daemon):
    body = generate(options, daemon, "gnp", options.job_vertices)
    answer = daemon.ask("POST", "/v1/graphs", body=body)
    assert answer.status in (200, 201), answer.body[:400]
    return answer.json["id"]


@contextlib.contextmanager
def running_job(daemon, graph):
    """A job that runs all the while; it is cancelled before it leaves a result."""
    body = b'{"graph":"%s"}' % graph.encode()
    job = daemon.submit(body, Content_Type="application/json").expect(202).json["id"]
    document = daemon.get(f"/v1/jobs/{job}").json
    while document["state"] == "queued":
        document = daemon.get(f"/v1/jobs/{job}?wait=30").expect(200).json
    yield
    document = daemon.get(f"/v1/jobs/{job}").expect(200).json
    assert document["state"] == "running", (
        f"the job is {document['state']} before the measurement ends: "
        "give --job-vertices a larger number"
    )
    daemon.ask("DELETE", f"/v1/jobs/{job}").expect(202)
    assert daemon.finish(job)["state"] == "cancelled"


def answering_s(process):
    """Processor time of the threads of libmicrohttpd so far, the solver's left out."""
    spent_ns = 0
    for task in os.listdir(f"/proc/{process}/task"):
        folder = f"/proc/{process}/task/{task}"
        with open(f"{folder}/comm") as name, open(f"{folder}/schedstat") as times:
            if name.read().startswith("MHD"):
                spent_ns += int(times.read().split()[0])
    return spent_ns / 1e9


def measure(options, subject, server, path, vertices, found):
    """Adds the figures of one run of the client to found[subject]."""
    address, process = server
    before_s = answering_s(process)
    done = subprocess.run(
        [options.client, address, path]
        + [str(options.connections), str(options.seconds), str(vertices)],
        capture_output=True,
        text=True,
        timeout=options.seconds + 60,
    )
    print(f"# {subject}: {done.stdout.strip()}", flush=True)
    assert done.returncode == 0, (subject, done.stdout, done.stderr)
    figures = {key: float(value) for key, value in re.findall(r"(\S+)=(\S+)", done.stdout)}
    figures["cpu_us"] = (answering_s(process) - before_s) * 1e6 / figures["answers"]
    found[subject].append(figures)


def run_round(options, daemon, bare, asked, job_graph, found):
    served = daemon.url, daemon.process.pid
    measure(options, "bare idle", bare, *asked, found)
    measure(options, "distance idle", served, *asked, found)
    with running_job(daemon, job_graph):
        measure(options, "bare with job", bare, *asked, found)
        measure(options, "distance with job", served, *asked, found)


def report(found):
    for figure, unit in FIGURES:
        baseline = statistics.median(one[figure] for one in found["bare idle"])
        for subject in SUBJECTS:
            value = statistics.median(one[figure] for one in found[subject])
            name = figure.removesuffix("_us")
            digits = 2 if figure == "cpu_us" else 0
            print(f"{subject:18} {name:6} {value:9.{digits}f} {unit:10} {value / baseline:6.2f} x bare idle")
    print("errors 0")


def main():
    options = parse_arguments()
    found = {subject: [] for subject in SUBJECTS}
    arguments = ("--http.threads", str(options.threads), "--solver", "cpu")
    with harness.Daemon(*arguments) as daemon, bare_responder(options) as bare:
        asked = solve_asked(options, daemon)
        job_graph = store_job_graph(options, daemon)
        for _ in range(options.rounds):
            run_round(options, daemon, bare, asked, job_graph, found)
    report(found)


if __name__ == "__main__":
    main()
