"""A matrix of 10,000 x 10,000 over HTTP: refused in JSON, streamed in bounded memory, resumed.

    campaign_matrix.py APSPD APSP [--vertices N] [--limit-mib M]

The memory is the daemon's own (RssAnon: without the pages of the mapped result), looked at after
each MiB that arrives; what it grows by while an answer is sent must stay below the limit."""

import argparse
import hashlib
import os
import re
import socket
import subprocess
import sys
import time

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))

import harness

PIECE = 1 << 20
UNREACHABLE = 2**30 - 1


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for program in ("apspd", "apsp"):
        parser.add_argument(program)
    parser.add_argument("--vertices", type=int, default=10_000)
    parser.add_argument("--limit-mib", type=float, default=64)
    return parser.parse_args()


def own_memory(daemon):
    with open(f"/proc/{daemon.process.pid}/status") as status:
        return int(re.search(r"RssAnon:\s+(\d+) kB", status.read()).group(1)) / 1024


class Download:
    """One answer as it arrives; `head` is there at once, and pieces() gives the body."""

    def __init__(self, daemon, path, **headers):
        self.daemon = daemon
        self.connection = socket.create_connection(("127.0.0.1", daemon.port))
        self.file = self.connection.makefile("rb", buffering=PIECE)
        lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.status = int(self.file.readline().split()[1])
        self.head = {}
        for line in iter(self.file.readline, b"\r\n"):
            name, value = line.decode().rstrip().split(": ", 1)
            self.head[name] = value
        self.most = 0

    def chunk(self):
        size = int(self.file.readline(), 16)
        bytes_ = self.file.read(size)
        assert self.file.readline() == b"\r\n"
        return bytes_

    def read(self):
        if self.head.get("Transfer-Encoding") == "chunked":
            return self.chunk()
        return self.file.read(PIECE)

    def pieces(self):
        since = PIECE
        while piece := self.read():
            since += len(piece)
            if since >= PIECE:
                self.most = max(self.most, own_memory(self.daemon))
                since = 0
            yield piece
        self.close()

    def close(self):
        self.file.close()
        self.connection.close()


def solve(options, daemon):
    path = os.path.join(daemon.scratch, "road.gr")
    subprocess.run([options.apsp, "generate", "--shape", "road", "--n", str(options.vertices),
                    "--seed", "1", path], check=True, stdout=subprocess.DEVNULL)
    with open(path, "rb") as file:
        document = daemon.solve(file.read())
    assert document["state"] == "done", document
    return f"/v1/graphs/{document['graph']}/matrix"


def check_refusal(daemon, path, cells):
    limit = daemon.get("/v1/limits").expect(200).json["json_cell_limit"]
    if cells <= limit:
        print(f"json     {cells} cells are not above the limit of {limit}")
        return
    problem = daemon.get(path + "?format=json").expect(413, "TooLarge").json
    assert problem["limit"] == limit and problem["actual"] == cells, problem
    print(f"json     refused: {problem['hint']}")


def check_rows(lines, matrix, separator, nothing):
    """Each row of a text, as it arrives, beside the matrix."""
    rest = b""
    row = 0
    for piece in lines:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            words = line.strip(b"[]").split(separator)
            read = numpy.array([UNREACHABLE if w == nothing else int(w) for w in words])
            assert numpy.array_equal(read, matrix[row]), row
            row += 1
    assert rest == b"" and row == len(matrix), row


def check_stream(options, daemon, path, name, check):
    before = own_memory(daemon)
    began = time.perf_counter()
    download = Download(daemon, f"{path}?format={name}")
    assert download.status == 200, (name, download.status)
    size = check(download)
    seconds = time.perf_counter() - began
    growth = download.most - before
    print(f"{name:8} {size / 1e6:8.1f} MB in {seconds:6.1f} s, {growth:6.2f} MiB more memory")
    assert growth < options.limit_mib, (name, growth)


def counted(download, found):
    for piece in download.pieces():
        found[0] += len(piece)
        yield piece


def text_check(matrix, separator, nothing):
    def check(download):
        found = [0]
        check_rows(counted(download, found), matrix, separator, nothing)
        return found[0]

    return check


def size_check(least):
    def check(download):
        size = sum(len(piece) for piece in download.pieces())
        assert size >= least, size
        return size

    return check


def check_resume(daemon, path, body):
    """Cut at a third, then the rest by its range and tag; all of it under a tag that is not it."""
    first = Download(daemon, path)
    assert int(first.head["Content-Length"]) == len(body)
    kept = b""
    while len(kept) < len(body) // 3:
        kept += first.read()
    first.close()
    tag = first.head["ETag"]
    rest = Download(daemon, path, Range=f"bytes={len(kept)}-", If_Range=tag)
    assert rest.status == 206, rest.status
    assert rest.head["Content-Range"] == f"bytes {len(kept)}-{len(body) - 1}/{len(body)}", rest.head
    whole = hashlib.sha256(kept)
    for piece in rest.pieces():
        whole.update(piece)
    assert whole.hexdigest() == hashlib.sha256(body).hexdigest()
    other = Download(daemon, path, Range=f"bytes={len(kept)}-", If_Range='"other"')
    assert other.status == 200 and int(other.head["Content-Length"]) == len(body), other.head
    other.close()
    print(f"resumed  at {len(kept)} of {len(body)}, sha256 {whole.hexdigest()}")


def main():
    options = parse_arguments()
    with harness.Daemon("--solver", "cpu") as daemon:
        path = solve(options, daemon)
        body = []
        check_stream(options, daemon, path, "npy",
                     lambda download: body.extend(download.pieces()) or sum(map(len, body)))
        body = b"".join(body)
        matrix = numpy.frombuffer(body, "<i4", offset=128).reshape(options.vertices, -1)
        check_refusal(daemon, path, matrix.size)
        check_stream(options, daemon, path, "csv", text_check(matrix, b",", b""))
        check_stream(options, daemon, path, "ndjson", text_check(matrix, b",", b"null"))
        check_stream(options, daemon, path, "mtx", size_check(2 * matrix.size))
        check_resume(daemon, path, body)
    print("all right")


if __name__ == "__main__":
    main()
