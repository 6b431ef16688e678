"""Large graphs, whose edges go to the graph's file while they come: those listed in order."""

import contextlib
import gzip
import os
import random
import struct

import access
import harness
from harness import drafts, wait_until

VERTICES = 1_500
EDGES_PER_VERTEX = 250  # more than are worth it, in all


def make_edges(salt=0):
    """In order, with a loop at each vertex and an edge in six twice, the second one shorter, as long or longer."""
    edges = []
    for source in range(VERTICES):
        for i in range(EDGES_PER_VERTEX):
            edges.append((source, i * 6 + (source + salt) % 6, (source * 31 + i * 17) % 1000 + 1))
            if i % 6 == 0:
                edges.append((source, edges[-1][1], edges[-1][2] + i % 3 - 1))
        edges.append((source, source, 5))
    return sorted(edges, key=lambda edge: edge[:2])


def nthu(edges, vertices=VERTICES):
    return struct.pack("<2i", vertices, len(edges)) + b"".join(struct.pack("<3i", *edge) for edge in edges)


def dimacs(edges):
    lines = [f"p sp {VERTICES} {len(edges)}"] + [f"a {s + 1} {t + 1} {w}" for s, t, w in edges]
    return "\n".join(lines).encode() + b"\n"


def shuffled(edges):
    edges = list(edges)
    random.Random(1).shuffle(edges)
    return edges


def damage_draft(daemon, at):
    """A byte of the open file without a name."""
    found = drafts(daemon)
    folder = f"/proc/{daemon.process.pid}/fd"
    for name in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            if os.readlink(f"{folder}/{name}") in found:
                break
    else:
        raise AssertionError("no draft")
    with open(f"{folder}/{name}", "r+b", buffering=0) as file:
        wait_until(daemon, lambda: os.fstat(file.fileno()).st_size > at)
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 0x40]))


def begin(daemon, body, *words, **headers):
    return harness.Sending(daemon, body, len(body) * 9 // 10, *words, **headers)


def begin_streamed(daemon, body):
    """Begins until it has the file: that of the upload before may have just ended."""
    for _ in range(100):
        sending = begin(daemon, body)
        for _ in range(1000):
            if drafts(daemon):
                return sending
            daemon.get("/livez")
        sending.cut()
    raise AssertionError("never streamed")


def test_the_file_holds_the_graph():
    """Distances, and paths after a restart, of the same graph that came in another order and another format."""
    edges = make_edges()
    with harness.Daemon() as streamed, harness.Daemon() as other:
        sending = begin_streamed(streamed, nthu(edges))
        stored = sending.end().expect(201).json
        assert stored["input"]["format"] == "nthu", stored
        plain = other.ask("POST", "/v1/graphs?format=nthu", body=nthu(shuffled(edges))).expect(201).json
        for key in ("id", "n", "m", "bytes", "directed", "summary"):
            assert stored.get(key) == plain.get(key), (key, stored, plain)
        matrices = []
        for daemon in (streamed, other):
            job = daemon.solve(b'{"graph": "%s"}' % stored["id"].encode())
            assert job["state"] == "done", job
            matrices.append(daemon.get(f"/v1/graphs/{stored['id']}/matrix?format=npy").expect(200).body)
        assert matrices[0] == matrices[1]
        streamed.terminate()
        streamed.start()
        for target in (9, 699, 1497):
            path = streamed.get(f"/v1/graphs/{stored['id']}/path?source=3&target={target}").expect(200).json
            again = other.get(f"/v1/graphs/{stored['id']}/path?source=3&target={target}").expect(200).json
            assert path == again and sum(path["weights"]) == path["distance"], (path, again)


def test_a_job_is_solved_from_the_file():
    edges = make_edges()
    with harness.Daemon() as daemon:
        for path, body in (("?format=nthu", nthu(edges)), ("?format=dimacs", dimacs(edges))):
            sending = begin(daemon, body, "/v1/jobs" + path)
            wait_until(daemon, lambda: drafts(daemon))
            job = daemon.finish(sending.end().expect(202).json["id"])
            assert job["state"] == "done", job
            assert job["summary"]["m"] == len({edge[:2] for edge in edges if edge[0] != edge[1]}), job


def test_a_compressed_body_streams_as_well():
    edges = make_edges()
    with harness.Daemon() as daemon:
        sending = begin(daemon, gzip.compress(nthu(edges), 1), Content_Encoding="gzip")
        wait_until(daemon, lambda: drafts(daemon))
        stored = sending.end().expect(201).json
        assert daemon.ask("POST", "/v1/graphs?format=nthu", body=nthu(edges)).expect(200).json["id"] == stored["id"]


def test_a_body_that_cannot_bring_what_its_head_says_holds_no_room():
    edges = make_edges()
    body = bytearray(nthu(edges))
    body[4:8] = struct.pack("<i", len(edges) * 12)
    with harness.Daemon() as daemon:
        sending = begin(daemon, bytes(body))
        for _ in range(300):
            assert not drafts(daemon)
            daemon.get("/livez")
        sending.end().expect(422)


def test_what_is_cut_leaves_nothing():
    body = nthu(make_edges())
    with harness.Daemon() as daemon:
        daemon.get("/livez")
        before = daemon.open_files()
        for _ in range(5):
            begin_streamed(daemon, body).cut()
            daemon.expect_no_more_files_than(before)
        assert not [path for path in daemon.files() if "/graphs/" in path]
        begin_streamed(daemon, body).end().expect(201)
        daemon.expect_no_more_files_than(before)
        begin_streamed(daemon, body).end().expect(200)
        daemon.expect_no_more_files_than(before)


def test_what_is_refused_late_leaves_nothing():
    """An edge that leaves the vertices, the last one missing, one too many."""
    edges = make_edges()
    body = nthu(edges)
    bad = body[:-12] + struct.pack("<3i", VERTICES, 0, 1)
    short = body[:-12]
    long = body + struct.pack("<3i", 0, 0, 1)
    with harness.Daemon() as daemon:
        daemon.get("/livez")
        before = daemon.open_files()
        for wrong in (bad, short, long):
            begin_streamed(daemon, wrong).end().expect(422)
            daemon.expect_no_more_files_than(before)
        assert not [path for path in daemon.files() if "/graphs/" in path]


def test_a_kind_that_does_not_hold_it_is_refused():
    edges = make_edges()
    edges[7] = (*edges[7][:2], -1)
    with harness.Daemon() as daemon:
        daemon.get("/livez")
        before = daemon.open_files()
        sending = begin(daemon, nthu(edges), "/v1/jobs?format=nthu&kind=u2")
        wait_until(daemon, lambda: drafts(daemon))
        sending.end().expect(422, "WeightRange")
        daemon.expect_no_more_files_than(before)


def test_what_is_beyond_a_quota_is_not_written():
    body = nthu(make_edges())
    who = "small:submitter bytes=1000000"
    keys = access.Keys(who)
    with harness.Daemon("--http.keys_file", keys.path) as daemon:
        sending = begin(daemon, body, Authorization="Bearer " + keys.key(who))
        for _ in range(300):
            assert not drafts(daemon)
            daemon.get("/livez")
        sending.end().expect(507, "StorageQuota")


def test_a_file_that_changes_is_not_believed():
    """Its first target, and a weight: at the end the components are counted, and edges out of order are read
    back."""
    edges = make_edges()
    first_target = 144
    for at, listed in ((first_target, edges), (first_target + 4 * len(edges) + 40, edges[300:] + edges[:300])):
        body = nthu(listed)
        with harness.Daemon() as daemon:
            sending = begin_streamed(daemon, body)
            damage_draft(daemon, at)
            sending.end().expect(500, "Corrupt")
            begin_streamed(daemon, body).end().expect(201)


def test_others_are_stored_meanwhile():
    """One graph at a time has the file; the others do as well without."""
    first = make_edges(0)
    second = make_edges(1)
    with harness.Daemon() as daemon, harness.Daemon() as other:
        sending = begin_streamed(daemon, nthu(first))
        stored = [daemon.ask("POST", "/v1/graphs?format=nthu", body=nthu(second)).expect(201).json["id"]]
        stored.append(sending.end().expect(201).json["id"])
        for edges in (second, first):
            plain = other.ask("POST", "/v1/graphs?format=nthu", body=nthu(shuffled(edges))).expect(201).json
            assert plain["id"] == stored.pop(0)


def test_a_decimal_or_an_edge_out_of_order_takes_the_edges_back():
    edges = make_edges()
    with harness.Daemon() as daemon, harness.Daemon() as other:
        last = edges[-1]
        for changed in (dimacs(edges[:-1] + [(last[0], last[1], 2.5)]), dimacs(edges[:-1] + [(0, 1, 1)])):
            sending = begin(daemon, changed, "/v1/graphs?format=dimacs")
            wait_until(daemon, lambda: drafts(daemon))
            stored = sending.end().expect(201).json
            lines = changed.decode().splitlines(True)
            plain = "".join(lines[:1] + shuffled(lines[1:])).encode()
            assert other.ask("POST", "/v1/graphs?format=dimacs", body=plain).expect(201).json["id"] == stored["id"]
            wait_until(daemon, lambda: not drafts(daemon))


def test_a_stop_does_not_wait_for_what_has_not_come():
    """The daemon leaves while an upload has the file; at its next start nothing is left of that."""
    body = nthu(make_edges())
    with harness.Daemon() as daemon:
        sending = begin_streamed(daemon, body)
        daemon.terminate()
        sending.cut()
        daemon.start()
        assert not [path for path in daemon.files() if "/graphs/" in path]
        begin_streamed(daemon, body).end().expect(201)


if __name__ == "__main__":
    harness.run(globals(), each=False)
