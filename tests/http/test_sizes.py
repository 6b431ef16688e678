"""Tests sizes and weights at the limits of machine integers: each is refused or accepted as
soon as its line has arrived, and takes almost no memory."""

import socket
import struct

import harness

LIMIT = 20000  # vertices
GROWTH_LIMIT_KIB = 1024
BODY_BYTES = 1 << 16
# int n*n wraps at 46341, int n*n*4 at 23171, unsigned n*n*4 at 32768, 64-bit n*n*4 at 1518500250.
TOO_MANY = [23170, 23171, 32767, 32768, 46340, 46341, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 2,
            2**32 - 1, 2**32, 2**32 + 1, 1518500249, 1518500250, 2**53, 2**63 - 1, 2**63, 2**64,
            2**64 + 1]
NO_NUMBER = ["-1", "1.5", "1e9", "NaN", "inf", "0x10", "", "1" + "0" * 400]
HEADERS = {
    "dimacs": "p sp {} 1\na 1 1 1\n",
    "mtx": "%%MatrixMarket matrix coordinate integer general\n{0} {0} 1\n",
    "metis": "{} 1\n",
    "json": '{{"n":{},"edges":[',
}
WEIGHTS = ["nan", "inf", "-inf", "1e400", "-1e400", "0x10", "1,5", "--1", "1e", ".", "9" * 400,
           str(2**63), str(-2**63 - 1)]
GOOD_WEIGHTS = ["0", "-0", "+1", "1e-400", "4.9e-324", "2147483647", "9007199254740991", "1e15"]


def begin(daemon, kind, data):
    """Sends an upload that begins with data and continues with spaces; returns the status and the
    answer."""
    head = (f"POST /v1/jobs?format={kind} HTTP/1.1\r\nHost: localhost\r\n"
            f"Content-Length: {BODY_BYTES}\r\n\r\n").encode()
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=600) as connection:
        connection.sendall(head + data.ljust(BODY_BYTES))
        got = b""
        while b"\r\n\r\n" not in got or b"}" not in got:
            part = connection.recv(65536)
            if not part:
                break
            got += part
    return int(got.split()[1]) if got else 0, got


def expect(daemon, kind, data, statuses):
    before = daemon.status_kib("VmHWM")
    status, got = begin(daemon, kind, data)
    assert status in statuses, (kind, data[:100], got)
    grown = daemon.status_kib("VmHWM") - before
    assert harness.QUICK or grown <= GROWTH_LIMIT_KIB, (kind, data[:100], grown)


def warm(daemon):
    """Makes a first upload, so that buffers and threads do not count later."""
    for kind, header in HEADERS.items():
        for _ in range(8):
            begin(daemon, kind, header.format(2**40).encode())


def test_a_size_above_the_limit_is_refused_at_the_header_line(daemon):
    warm(daemon)
    for kind, header in HEADERS.items():
        for n in TOO_MANY:
            expect(daemon, kind, header.format(n).encode(), (413, 422))
    for n in (23171, 46341, 2**31):
        status, got = begin(daemon, "dimacs", HEADERS["dimacs"].format(n).encode())
        assert status == 413 and b'"TooLarge"' in got and b'"limit":%d' % LIMIT in got, got


def test_a_size_that_is_not_a_number_is_refused_at_the_header_line(daemon):
    for kind, header in HEADERS.items():
        for n in NO_NUMBER:
            expect(daemon, kind, header.format(n).encode(), (400, 413, 422))


def test_binary_formats_obey_the_same_size_limits(daemon):
    for n in (23171, 46341, 2**31 - 1, 2**31, 2**32 - 1):
        expect(daemon, "nthu", struct.pack("<II", n, 1), (413, 422))
    for shape in ("46341, 46341", "4294967296, 4294967296", "3, 4", "-1, -1", "1.5, 1.5",
                  "18446744073709551617, 18446744073709551617"):
        text = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({shape}), }}"
        text += " " * (117 - len(text)) + "\n"
        data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
        expect(daemon, "npy", data, (413, 422))


def test_graphs_of_zero_to_two_vertices_are_solved(daemon):
    for body in (b"p sp 1 0\n", b"p sp 2 1\na 1 2 3\n"):
        assert daemon.solve(body, "?format=dimacs")["state"] == "done"
    answer = daemon.submit(b"p sp 0 0\n", "?format=dimacs")
    assert answer.status in (200, 202, 422), answer.body


def test_edges_that_contradict_the_header_are_refused(daemon):
    for body in (b"p sp 2 1\na 1 2 3\na 2 1 3\n", b"p sp 2 3\na 1 2 3\n", b"p sp 2 1\na 0 1 3\n",
                 b"p sp 2 1\na 1 3 3\n", b"p sp 2 1\na 1 4294967297 3\n",
                 b"p sp 2 1\na 1 18446744073709551617 3\n"):
        answer = daemon.submit(body, "?format=dimacs").expect(422)
        assert answer.json["line"] >= 1, (body, answer.json)


def test_invalid_weights_are_refused_with_their_line_number(daemon):
    before = daemon.status_kib("VmHWM")
    for weight in WEIGHTS:
        answer = daemon.submit(f"p sp 2 1\na 1 2 {weight}\n".encode(), "?format=dimacs")
        assert answer.status == 422, (weight, answer.status, answer.body)
        assert answer.json.get("line", 2) == 2, (weight, answer.json)
    assert harness.QUICK or daemon.status_kib("VmHWM") - before <= 4 * GROWTH_LIMIT_KIB
    for weight in GOOD_WEIGHTS:
        answer = daemon.submit(f"p sp 2 1\na 1 2 {weight}\n".encode(), "?format=dimacs&kind=f8")
        assert answer.status in (200, 202, 422), (weight, answer.body)
        if answer.status != 422:
            job = daemon.finish(answer.json["id"])
            assert job["state"] == "done", (weight, job)


if __name__ == "__main__":
    harness.run(globals(), ("--graph.vertex_limit", str(LIMIT), "--solver", "cpu"))
