"""Tests a full disk, a second daemon, and a state directory of another format. The disk is a small
file system in memory, in its own mount namespace; the test is skipped if the kernel refuses it."""

import contextlib
import hashlib
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "http"))

import crash
import harness
import mounts

MIB = 1 << 20


class Disk:
    def __init__(self, mib):
        self.path = tempfile.mkdtemp(prefix="apspd-disk-")
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m", "none", self.path], check=True)
        self.state = os.path.join(self.path, "state")
        self.filler = os.path.join(self.path, "filler")

    def free(self):
        info = os.statvfs(self.path)
        return info.f_bavail * info.f_frsize

    def fill(self, leave=0):
        """Fills the disk except for `leave` bytes; the daemon may use the last bytes meanwhile."""
        size = max(0, self.free() - leave)
        with contextlib.suppress(OSError), open(self.filler, "ab") as file:
            file.write(b"x" * size)

    def drain(self):
        os.unlink(self.filler)

    def close(self):
        subprocess.run(["umount", self.path], check=True)
        os.rmdir(self.path)


def with_disk(test, mib, *arguments):
    disk = Disk(mib)
    try:
        with harness.Daemon("--store.disk_reserve", "0", *arguments, state=disk.state) as daemon:
            test(daemon, disk)
    finally:
        disk.close()


def test_the_service_reports_a_full_disk_and_recovers():
    def script(daemon, disk):
        job = daemon.solve(crash.graph(1), "?name=first")
        daemon.wait_until_durable(job["id"])
        disk.fill()
        # A job is refused, or it is accepted with the last bytes and queued until there is space.
        taken = []
        for salt in range(2, 40):
            answer = daemon.submit(crash.graph(salt, n=200))
            if answer.status == 507:
                answer.expect(507, "DiskFull")
                break
            taken.append((answer.expect(202).json["id"], salt))
        else:
            raise AssertionError("never full")
        assert daemon.distance("first", 1, 3) == crash.answer_of(1)
        stored = daemon.ask("POST", "/v1/graphs", body=crash.graph(500, n=200))
        assert stored.status == 507, stored.body
        assert stored.headers.get_all("Retry-After") == ["60"], stored.headers
        disk.drain()
        while daemon.submit(crash.graph(41)).status == 507:
            pass
        for job, salt in taken:
            document = daemon.finish(job)
            assert document["state"] == "done", document
            assert daemon.distance(job, 1, 3) == crash.answer_of(salt)

    with_disk(script, 12)


def test_graphs_can_be_deleted_from_a_full_disk():
    def script(daemon, disk):
        first = daemon.solve(crash.graph(1, n=700))
        daemon.wait_until_durable(first["id"])
        disk.fill()
        assert daemon.ask("DELETE", f"/v1/graphs/{first['graph']}").status == 204
        daemon.get(f"/v1/graphs/{first['graph']}").expect(404)

    with_disk(script, 16)


def test_results_of_waiting_jobs_reserve_disk_space():
    """Space that a waiting job has reserved is not given to another job, so the disk limits the
    queue."""

    def script(daemon, disk):
        n = 1000
        slow = daemon.submit(harness.slow_graph(1400)).expect(202).json["id"]
        # Waits until the result file exists: while it is created, its space counts twice.
        while True:
            job = daemon.get(f"/v1/jobs/{slow}").json
            if job["state"] not in ("queued", "running") or job["progress"] > 0:
                break
        taken = 0
        for salt in range(1, 40):
            answer = daemon.submit(crash.graph(salt, n=n), "?result=matrix")
            if answer.status == 507:
                assert answer.json["actual"] > answer.json["limit"], answer.body
                assert answer.json["hint"], answer.body
                break
            taken += 1
        assert 3 <= taken <= 40 * MIB // (4 * n * n), taken
        daemon.ask("DELETE", f"/v1/jobs/{slow}")
        for job in daemon.get("/v1/jobs?limit=100").json["jobs"]:
            document = daemon.finish(job["id"])
            assert document["state"] in ("done", "cancelled"), document

    with_disk(script, 40)


def test_a_matrix_too_large_for_the_disk_is_refused_at_the_header_line():
    def script(daemon, disk):
        daemon.solve(crash.graph(1))
        connection = daemon.connect()
        connection.putrequest("POST", "/v1/jobs?format=dimacs&result=matrix")
        connection.putheader("Content-Length", "1000000")
        connection.endheaders(b"p sp 1700 10\n".ljust(1000000))
        response = connection.getresponse()
        problem = harness.json.loads(response.read())
        assert response.status == 507 and problem["code"] == "DiskFull", problem
        assert response.headers.get_all("Retry-After") == ["60"], response.headers
        assert problem["actual"] == 4 * 1700 * 1700 and problem["limit"] <= 12 * MIB, problem
        assert problem["hint"], problem
        connection.close()

    with_disk(script, 12)


def refused(state):
    done = subprocess.run(
        [harness.BINARY, "--listen", "127.0.0.1:0", "--state-dir", state], capture_output=True, timeout=600)
    return done.returncode, done.stderr.decode()


def print_of(state):
    """Returns the contents of a state directory: the name and all bytes of each file."""
    found = hashlib.sha256()
    for folder, folders, names in sorted(os.walk(state)):
        folders.sort()
        for name in sorted(names):
            path = pathlib.Path(folder, name)
            about = path.stat()
            found.update(f"{path} {about.st_mode} {about.st_size} {about.st_mtime_ns}\n".encode())
            found.update(path.read_bytes())
    return found.hexdigest()


def test_an_unusable_state_directory_is_refused_and_left_unchanged():
    with harness.Daemon() as daemon:
        job = daemon.solve(harness.SMALL)["id"]
        daemon.wait_until_durable(job)
        before = print_of(daemon.state)
        code, words = refused(daemon.state)
        assert code == 78 and "in use by another process" in words, (code, words)
        assert print_of(daemon.state) == before
        daemon.terminate()
        path = pathlib.Path(daemon.state, "FORMAT")
        own = path.read_text()
        foreign = own.replace(own.split()[-1], "0123456789abcdef" * 2)
        version = int(own.split()[2])
        beginning = f"apspd state {version}"
        assert own.startswith(beginning), own
        for text, expected in ((own.replace(beginning, f"apspd state {version + 1}"), "run the newer apspd"),
                               (own.replace(beginning, f"apspd state {version - 1}"), "run the older apspd"),
                               (foreign, "belongs to another"), (f"{beginning}\n", "damaged"),
                               ("something\n", "does not belong to")):
            path.write_text(text)
            before = print_of(daemon.state)
            code, words = refused(daemon.state)
            assert code == 78 and expected in words, (code, words)
            assert print_of(daemon.state) == before, text
        path.write_text(own)
        daemon.start()
        assert daemon.get("/v1/graphs").json["graphs"]


def listed(count):
    """Returns a graph of 3000 vertices in nthu with sorted edges."""
    return struct.pack("<2i", 3000, count) + b"".join(
        struct.pack("<3i", i // 900, i % 900 * 3, i % 7) for i in range(count)
    )


def test_a_graph_refused_for_lack_of_space_leaves_no_files():
    """The graph is accepted later, when there is space, and the other graphs are still stored."""

    def script(daemon, disk):
        job = daemon.solve(crash.graph(1), "?name=first")
        daemon.wait_until_durable(job["id"])
        body = listed(600_000)
        for kept in (0, 1, 4):
            disk.fill(leave=kept * MIB)
            daemon.ask("POST", "/v1/graphs?format=nthu", body=body).expect(507, "DiskFull")
            assert not harness.drafts(daemon)
            assert daemon.distance("first", 1, 3) == crash.answer_of(1)
            disk.drain()
            while daemon.submit(crash.graph(41 + kept)).status == 507:
                pass
        daemon.ask("POST", "/v1/graphs?format=nthu", body=body).expect(201)

    with_disk(script, 40)


if __name__ == "__main__":
    mounts.enter_namespace()
    harness.run(globals())
