"""Measures the rate of large answers: pairs, the matrix in each format, and the .npy file compared with nginx.

    bench_answers.py APSPD APSP [--vertices N] [--pairs N] [--rounds R] [--nginx PROGRAM]

Each figure is the median of the rounds and stands beside a baseline from the same run: Python and NumPy doing the
same work in memory, without HTTP; for the download, nginx serving the same bytes from the same disk. Without nginx,
that line is left out. The exit status is 1 if an answer is wrong."""

import argparse
import io
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "http"), os.path.join(HERE, "http")]

import harness
import load_servers

PIECE = 1 << 20


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for program in ("apspd", "apsp"):
        parser.add_argument(program)
    parser.add_argument("--vertices", type=int, default=4000)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--nginx", default=shutil.which("nginx"))
    return parser.parse_args()


def timed(work):
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def median(rounds, work):
    """Returns the median seconds of the rounds, and the result of the last round."""
    times = [timed(work) for _ in range(rounds)]
    return statistics.median(seconds for seconds, _ in times), times[-1][1]


def download(port, path, keep=False, body=None, media_type=None):
    """Sends one request on a new connection; returns the size of the answer's body or, with keep, the body."""
    head = f"{'POST' if body else 'GET'} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    if body:
        head += f"Content-Type: {media_type}\r\nContent-Length: {len(body)}\r\n"
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(head.encode() + b"\r\n")
        if body:
            connection.sendall(body)
        buffer = bytearray(PIECE)
        kept, size, start = [], 0, b""
        while count := connection.recv_into(buffer):
            if b"\r\n\r\n" not in start:
                start += buffer[:count]
            size += count
            if keep:
                kept.append(bytes(buffer[:count]))
    head, _, _ = start.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), start[:300]
    return b"".join(kept)[len(head) + 4 :] if keep else size - len(head) - 4


def solve(options, daemon, kind):
    path = os.path.join(daemon.scratch, f"{kind}.gr")
    command = [options.apsp, "generate", "--shape", "road", "--n", str(options.vertices), "--seed", "1"]
    command += ["--kind", "f4"] if kind == "f4" else []
    subprocess.run([*command, path], check=True, stdout=subprocess.DEVNULL)
    with open(path, "rb") as file:
        job = daemon.solve(file.read(), f"?kind={kind}&result=matrix")
    assert job["state"] == "done", job
    matrix = numpy.load(io.BytesIO(daemon.get(f"/v1/graphs/{job['id']}/matrix").body))
    return job["id"], matrix


def print_line(name, value, unit, baseline, baseline_name):
    print(f"{name:24} {value:9.2f} {unit:10} {value / baseline:6.2f} x {baseline_name}", flush=True)


def bench_pairs(options, daemon, kind, graph, matrix):
    rows = numpy.random.default_rng(1).integers(0, len(matrix), (options.pairs, 2)).astype("<u4")
    names = (rows + 1).tolist()
    as_json = json.dumps({"pairs": names}, separators=(",", ":")).encode()
    as_csv = "".join(f"{s},{t}\n" for s, t in names).encode()
    path = f"/v1/graphs/{graph}/distances"
    truth = matrix[rows[:, 0], rows[:, 1]]
    baselines = {
        "binary": (rows.tobytes(), "application/octet-stream", "numpy indexing",
                   lambda: matrix[rows[:, 0], rows[:, 1]].tobytes()),
        "json": (as_json, "application/json", "json.loads", lambda: json.loads(as_json)),
        "csv": (as_csv, "text/csv", "str.split", lambda: [x.split(b",") for x in as_csv.split(b"\n")]),
    }
    for form, (body, media_type, name, baseline) in baselines.items():
        answer = daemon.ask("POST", path, body=body, headers={"Content-Type": media_type}).expect(200)
        if form == "binary":
            assert answer.body == truth.tobytes()
        elif form == "json":
            assert numpy.array_equal(numpy.array(answer.json["distances"], truth.dtype), truth)
        seconds, _ = median(options.rounds, lambda: download(daemon.port, path, False, body, media_type))
        base, _ = median(options.rounds, baseline)
        print_line(f"pairs {kind} {form}", options.pairs / seconds / 1e6, "Mpairs/s",
                   options.pairs / base / 1e6, name)


def bench_text(options, daemon, kind, graph, matrix):
    part = [[None if not numpy.isfinite(x) else x for x in row] for row in matrix[:200].tolist()]
    base, printed = median(options.rounds, lambda: json.dumps(part))
    rate = len(printed) / base / 1e6
    for form in ("json", "csv", "ndjson", "mtx"):
        path = f"/v1/graphs/{graph}/matrix?format={form}"
        seconds, size = median(options.rounds, lambda: download(daemon.port, path))
        print_line(f"matrix {kind} {form}", size / seconds / 1e6, "MB/s", rate, "json.dumps")


def bench_download(options, daemon, kind, graph):
    path = f"/v1/graphs/{graph}/matrix"
    with open(os.path.join(daemon.scratch, "m.npy"), "wb") as file:
        file.write(daemon.get(path).body)
    with load_servers.nginx(options.nginx, daemon.scratch) as port:
        if port is None:
            print("no nginx: the download has no baseline here")
            return
        ours, theirs = [], []
        for _ in range(4 * options.rounds):
            seconds, size = timed(lambda: download(daemon.port, path))
            ours.append(size / seconds / 1e6)
            seconds, size = timed(lambda: download(port, "/m.npy"))
            theirs.append(size / seconds / 1e6)
        print_line(f"download {kind} npy", statistics.median(ours), "MB/s",
                   statistics.median(theirs), "nginx")


def main():
    options = parse_arguments()
    with harness.Daemon("--solver", "cpu") as daemon:
        for kind in ("i4", "f4"):
            graph, matrix = solve(options, daemon, kind)
            bench_pairs(options, daemon, kind, graph, matrix)
            bench_text(options, daemon, kind, graph, matrix)
            bench_download(options, daemon, kind, graph)


if __name__ == "__main__":
    main()
