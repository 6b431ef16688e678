"""Whole uploads, from the first byte sent to the answer received: POST /v1/graphs, one at a time.

    bench_upload.py APSPD BARE [--beside APSPD] [--edges N] [--vertices N] [--rounds R]

In each format, with edges sorted by source and target and in random order; of a graph that is new,
whose answer says that it is on the disk, and of the same once more. In turn with a bare responder
of libmicrohttpd that throws the body away, and with another build of apspd. Prints one line per
figure: megabytes per second, the median of the rounds and the best, and the median's ratio to the
bare responder's. A state directory lies where TMPDIR says, whose disk decides about new graphs. The
exit status is 1 when an answer is not as expected."""

import argparse
import contextlib
import os
import socket
import statistics
import sys
import time

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "http"))

import harness
import load_network
import load_servers

PIECE = 500_000  # edges made into text at once
FORMATS = {"dimacs": "dimacs", "csv": "edges", "nthu": "nthu"}
WEIGHTS = range(100, 1000)  # of three digits, so that another one does not move what follows


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for program in ("apspd", "bare"):
        parser.add_argument(program)
    parser.add_argument("--beside", metavar="APSPD", help="another build, in turn with the first")
    parser.add_argument("--edges", type=int, default=8_000_000)
    parser.add_argument("--vertices", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=list(FORMATS))
    parser.add_argument("--orders", nargs="+", choices=ORDERS, default=list(ORDERS))
    return parser.parse_args()


def make_edges(options, order):
    """Rows of source, target and weight; no two alike."""
    random = numpy.random.default_rng(1)
    pairs = options.vertices * options.vertices
    keys = numpy.unique(random.integers(0, pairs, options.edges))
    if order == "random":
        random.shuffle(keys)
    weights = random.integers(WEIGHTS.start, WEIGHTS.stop, len(keys))
    return numpy.stack([keys // options.vertices, keys % options.vertices, weights], 1)


ORDERS = ("sorted", "random")


def as_text(edges, base, line):
    pieces = []
    for begin in range(0, len(edges), PIECE):
        rows = (edges[begin : begin + PIECE] + [base, base, 0]).tolist()
        pieces.append("".join(line % tuple(row) for row in rows).encode())
    return b"".join(pieces)


def write(edges, options, name):
    """The body, whose last edge is the one that differs from upload to upload."""
    if name == "nthu":
        head = numpy.array([options.vertices, len(edges)], "<i4").tobytes()
        return bytearray(head + edges.astype("<i4").tobytes())
    if name == "dimacs":
        head = f"p sp {options.vertices} {len(edges)}\n".encode()
        return bytearray(head + as_text(edges, 1, "a %d %d %d\n"))
    return bytearray(b"source,target,weight\n" + as_text(edges, 0, "%d,%d,%d\n"))


def change_weight(body, name, weight):
    """In its place, at the end of the body."""
    if name == "nthu":
        body[-4:] = weight.to_bytes(4, "little")
    else:
        body[-4:] = b"%d\n" % weight


def send(port, path, body):
    """Its status, and megabytes per second."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port)) as connection:
        began = time.perf_counter()
        connection.sendall(head.encode())
        connection.sendall(body)
        answer = bytearray()
        while piece := connection.recv(1 << 16):
            answer += piece
        return int(answer[9:12]), len(body) / (time.perf_counter() - began) / 1e6


class Figures:
    """Rates by what was measured, and whether all answers were right."""

    def __init__(self):
        self.rates = {}
        self.right = True

    def add(self, subject, sent, expected):
        status, rate = sent
        self.right = self.right and status == expected
        self.rates.setdefault(subject, []).append(rate)

    def show(self, what):
        bare = statistics.median(self.rates["bare"])
        for subject, rates in self.rates.items():
            median = statistics.median(rates)
            print(
                f"{what:14} {subject:14} {median:6.0f} MB/s  best {max(rates):6.0f}"
                f"  x bare {median / bare:.2f}",
                flush=True,
            )


def upload_twice(daemon, name, body, label, figures):
    path = f"/v1/graphs?format={FORMATS[name]}"
    figures.add(f"{label}new", send(daemon.port, path, body), 201)
    figures.add(f"{label}known", send(daemon.port, path, body), 200)
    # So that neither the disk nor the table of graphs grows from round to round.
    for graph in daemon.get("/v1/graphs").expect(200).json["graphs"]:
        daemon.ask("DELETE", f"/v1/graphs/{graph['id']}").expect(204)


def measure(options, daemons, bare_port, name, body):
    figures = Figures()
    for turn in range(options.rounds):
        change_weight(body, name, WEIGHTS[turn])
        figures.add("bare", send(bare_port, "/", body), 200)
        for label, daemon in daemons.items():
            upload_twice(daemon, name, body, label, figures)
    return figures


def start(program):
    harness.BINARY = program
    return harness.Daemon()


def main():
    options = parse_arguments()
    load_network.enter()
    right = True
    with contextlib.ExitStack() as stack:
        daemons = {"": stack.enter_context(start(options.apspd))}
        if options.beside:
            daemons["beside, "] = stack.enter_context(start(options.beside))
        url, _ = stack.enter_context(load_servers.bare_responder(options.bare, threads=4))
        for order in options.orders:
            edges = make_edges(options, order)
            for name in options.formats:
                body = write(edges, options, name)
                bare_port = int(url.rpartition(":")[2])
                figures = measure(options, daemons, bare_port, name, body)
                figures.show(f"{name}, {order}")
                right = right and figures.right
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
