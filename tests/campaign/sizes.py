"""Requests that are too much by what they announce: sizes in numbers, bodies, headers, as in
tests/http/test_sizes.py. One row each: the answer, the least time of three to it, in ms, how many bytes of
the body the service took, and by how much the most memory that it ever had grew, in KiB.

  python3 tests/campaign/sizes.py APSPD APSP

More than 5 ms, than the line with the number, or than 1 MiB of growth ends it with 1."""

import re
import socket
import struct
import time

import campaign

import harness
import test_sizes
from test_sizes import HEADERS

MOST_MS, MOST_KIB = 5, 1024
HEAD = "POST /v1/jobs{} HTTP/1.1\r\nHost: localhost\r\n{}\r\n"
# Beyond all limits but those of the connection, where the rest is; each is refused without a body.
ANNOUNCED = {
    "a body of 2^40 bytes": HEAD.format("", f"Content-Length: {2**40}\r\n"),
    "a body of 2^63 bytes": HEAD.format("", f"Content-Length: {2**63}\r\n"),
    "a body of 2^64 + 1 bytes": HEAD.format("", f"Content-Length: {2**64 + 1}\r\n"),
    "a body of 2^40 bytes, asked for first": HEAD.format(
        "", f"Content-Length: {2**40}\r\nExpect: 100-continue\r\n"),
    "200 headers": HEAD.format("", "Content-Length: 10\r\n" + "X-A: b\r\n" * 200),
    "5,000 headers": HEAD.format("", "Content-Length: 10\r\n" + "X-A: b\r\n" * 5000),
    "a header of 70,000 bytes": HEAD.format("", f"Content-Length: 10\r\nX-A: {'b' * 70000}\r\n"),
    "a target of 70,000 bytes": HEAD.format("?name=" + "a" * 70000, "Content-Length: 10\r\n"),
}


def npy(shape):
    text = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({shape}), }}"
    text += " " * (117 - len(text)) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def cases():
    """(name, head, the beginning of the body)"""
    for name, head in ANNOUNCED.items():
        yield name, head.encode(), b""
    numbers = [(kind, n, HEADERS[kind].format(n).encode()) for kind in HEADERS
               for n in test_sizes.TOO_MANY + test_sizes.NO_NUMBER]
    numbers += [("nthu", n, struct.pack("<II", n, 1)) for n in test_sizes.TOO_MANY if n < 2**32]
    numbers += [("npy", n, npy(f"{n}, {n}")) for n in test_sizes.TOO_MANY]
    for kind, n, body in numbers:
        head = HEAD.format("?format=" + kind, f"Content-Length: {test_sizes.ANNOUNCED}\r\n")
        yield f"{kind}, n = {str(n)[:24]}", head.encode(), body


def ask(daemon, head, body):
    """The seconds from when the last byte was sent to when the answer came, and its status; the rest of
    the body never comes. Where the connection is ended while its head is sent there may be none."""
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as connection:
        began = time.perf_counter()
        try:
            connection.sendall(head + body)
            got = connection.recv(65536)
        except ConnectionError:
            got = b""
        return time.perf_counter() - began, got[9:12].decode() or "end"


def bytes_taken(daemon):
    found = re.search(rb"^apspd_upload_bytes_total (\d+)", daemon.get("/metrics").body, re.M)
    return int(found.group(1))


def try_case(daemon, ledger, name, head, body):
    peak, taken = test_sizes.peak_kib(daemon), bytes_taken(daemon)
    asked = [ask(daemon, head, body) for _ in range(3)]
    least_ms, status = 1000 * min(asked)[0], asked[0][1]
    grown, taken = test_sizes.peak_kib(daemon) - peak, (bytes_taken(daemon) - taken) // 3
    print(f"{name}: {status}, {least_ms:.2f} ms, {taken} bytes of its body, {grown} KiB", flush=True)
    ledger.worst = [max(pair) for pair in zip(ledger.worst, (least_ms, taken, grown))]
    assert status[0] in "4e" and least_ms <= MOST_MS and grown <= MOST_KIB, name
    assert taken <= len(body), name


def main():
    given = campaign.arguments()
    ledger = campaign.Ledger(given.seconds)
    ledger.worst = [0, 0, 0]
    with harness.Daemon("--graph.vertex_limit", str(test_sizes.LIMIT), "--solver", "cpu") as daemon:
        test_sizes.warm(daemon)
        for case in cases():
            ledger.attempt(case[0], try_case, daemon, ledger, *case)
        daemon.get("/livez").expect(200)
    ledger.count("cases", ledger.counts.pop("runs"))
    print("at most {:.2f} ms, {} bytes of a body, {} KiB".format(*ledger.worst))
    ledger.close()


main()
