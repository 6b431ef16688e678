"""No upload uses more memory than its client's share of http.upload_memory, whatever its format."""

import gzip
import io
import os
import random
import struct
import subprocess

import harness

# Meson makes the C library fill all memory, so that unused memory would count.
os.environ.pop("MALLOC_PERTURB_", None)

LIMIT_MIB = 32
PART = LIMIT_MIB << 19  # a client without a key can use half of the memory
SIDE = 2200
EDGES = 1_200_000  # at least 20 bytes for each edge


def npy(side):
    """Returns a u2 matrix of ones and twos, which can be compressed to a thirtieth of its size."""
    header = f"{{'descr': '<u2', 'fortran_order': False, 'shape': ({side}, {side}), }}"
    header += " " * (117 - len(header)) + "\n"
    bits = random.Random(1).randbytes(side * side // 8 + 1)
    pairs = [b"".join(b"\2\0" if byte >> i & 1 else b"\1\0" for i in range(8)) for byte in range(256)]
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + \
        b"".join(pairs[byte] for byte in bits)[: 2 * side * side]


def names(count):
    return [f"{number:09d}" for number in range(count)]


def nodes_of_graphml():
    text = io.StringIO()
    text.write('<graphml><graph edgedefault="directed">')
    for name in names(400_000):
        text.write(f'<node id="{name}"/>')
    text.write("</graph></graphml>")
    return text.getvalue().encode()


def bodies():
    """Yields name, query, headers and body."""
    table = b"\n".join(b"\t".join(b"%d" % (1 + (i * j) % 7) for j in range(1100)) for i in range(1100)) + b"\n"
    edges = b"".join(b"%d %d 1\n" % (i % 1000, i // 1000) for i in range(EDGES))
    yield "npy in zstd", "?format=npy", {"Content-Encoding": "zstd"}, \
        subprocess.run(["zstd", "-qc"], input=npy(SIDE), capture_output=True, check=True).stdout
    yield "npy", "?format=npy", {}, npy(1000)
    yield "matrix", "?format=matrix", {}, table
    yield "edges in gzip", "?format=edges", {"Content-Encoding": "gzip"}, gzip.compress(edges, 1)
    yield "edges", "", {}, edges
    yield "names", "?format=edges", {}, b"".join(b"v%d w%d\n" % (i, i) for i in range(400_000))
    yield "json", "", {}, b'{"n":1200,"edges":[' + b",".join(
        b"[%d,%d,1]" % (i % 1000, i // 1000) for i in range(EDGES)) + b"]}"
    yield "json nodes", "", {}, b'{"nodes":[' + b",".join(
        b'{"id":"%s"}' % name.encode() for name in names(400_000)) + b'],"links":[]}'
    yield "graphml", "?format=graphml", {}, nodes_of_graphml()
    yield "dimacs", "", {}, b"p sp 1000 1200000\n" + b"a 1 2 3\n" * EDGES
    yield "vertices of a header", "", {}, b"p sp 2000000 1\na 1 2 3\n"
    yield "edges of a header", "", {}, b"p sp 1000 1000000\na 1 2 3\n"
    yield "vertices of a parameter", "?n=2000000", {}, b"1 2 3\n"
    yield "vertices of a member", "", {}, b'{"edges":[[0,1]],"n":2000000}'
    yield "mtx", "", {}, b"%%MatrixMarket matrix coordinate integer general\n1000 1000 1000000\n1 2 3\n"
    yield "metis", "?format=metis", {}, b"1000 1000000\n2\n"
    yield "nthu", "?format=nthu", {}, struct.pack("<2i", 1000, EDGES) + struct.pack("<3i", 1, 2, 3) * EDGES


def test_the_error_for_a_body_above_the_memory_limit_contains_both_sizes(_):
    with harness.Daemon("--http.upload_memory", f"{LIMIT_MIB}MiB") as daemon:
        before = daemon.status_kib("VmHWM")
        for name, query, headers, body in bodies():
            answer = daemon.ask("POST", "/v1/graphs" + query, body, headers)
            assert answer.status == 413, (name, answer.status, answer.body[:300])
            problem = answer.expect(413, "BodyTooLarge").json
            assert problem["limit"] == PART < problem["actual"] and problem["hint"], (name, problem)
        # Sanitizers do not return freed memory.
        assert harness.QUICK or daemon.status_kib("VmHWM") - before < LIMIT_MIB << 10, (before, daemon.status_kib("VmHWM"))
        daemon.submit(harness.SMALL, "?wait=30").expect(200)


def test_a_small_compressed_body_cannot_exceed_the_upload_memory(_):
    packed = subprocess.run(["zstd", "-qc"], input=npy(5000), capture_output=True, check=True).stdout
    with harness.Daemon("--http.upload_memory", f"{LIMIT_MIB}MiB") as daemon:
        before = daemon.status_kib("VmHWM")
        for _ in range(4):
            daemon.ask("POST", "/v1/jobs", packed, {"Content-Encoding": "zstd"}).expect(413, "BodyTooLarge")
        assert harness.QUICK or daemon.status_kib("VmHWM") - before < LIMIT_MIB << 10, (before, daemon.status_kib("VmHWM"))


def test_a_body_that_fits_is_accepted(_):
    with harness.Daemon("--http.upload_memory", f"{LIMIT_MIB}MiB") as daemon:
        daemon.ask("POST", "/v1/graphs?format=npy", npy(850)).expect(201)


if __name__ == "__main__":
    harness.run(globals())
