"""Fixtures of the crash tests: a script of several jobs, which runs against a daemon whose file
operations or allocations fail at one call; and checks of what a normal daemon finds afterwards."""

import errno
import functools
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "http"))

import harness

# Paths of the libraries to preload; "" in builds without them, such as builds with sanitizers.
SHIMS = os.environ.get("APSPD_TEST_SHIMS", "")
CLOSED = (OSError, harness.http.client.HTTPException)
SECTOR = 512


def shim(name):
    path = os.path.join(SHIMS, f"lib{name}.so")
    if not SHIMS or not os.path.exists(path):
        print(f"skipped: this build has no {name}")
        sys.exit(harness.SKIPPED)
    return path


def graph(salt, n=40):
    """Returns a ring with chords, for which distance(1, 3) = 2 * salt + 2."""
    lines = [f"p sp {n} {2 * n}"]
    for i in range(1, n + 1):
        lines.append(f"a {i} {i % n + 1} {1 + salt}")
        lines.append(f"a {i} {(i * 7 + 3) % n + 1} 100000")
    return "\n".join(lines).encode() + b"\n"


def answer_of(salt):
    return 2 * salt + 2


@functools.cache
def large_graph():
    """Returns a graph in nthu with so many edges, sorted, that the daemon writes them to the file
    while they arrive; distance(0, 2) = 14."""
    n, degree = 600, 440
    head = struct.pack("<2i", n, n * degree)
    edges = (sorted((i + j) % n for j in range(1, degree + 1)) for i in range(n))
    return head + b"".join(
        struct.pack("<3i", i, target, 7 if target == (i + 1) % n else 100000)
        for i, row in enumerate(edges)
        for target in row
    )


LARGE_ANSWER = 14


def store_large(daemon):
    try:
        return daemon.ask("POST", "/v1/graphs?format=nthu", body=large_graph())
    except (BrokenPipeError, ConnectionResetError):
        if daemon.process.poll() is not None:
            raise
        return harness.Answer(507, {}, b"refused while the body was sent")


@functools.cache
def dense_graph(n=60):
    """Returns a complete graph, of which change_dense() changes an edge; distance(1, 3) = 14."""
    edges = ((i, j) for i in range(1, n + 1) for j in range(1, n + 1) if i != j)
    return "".join(f"{i},{j},{7 if j == i + 1 else 100000}\n" for i, j in edges).encode()


CHANGED_ANSWER = 16


def store_dense(daemon, query=""):
    return daemon.ask("POST", f"/v1/graphs?format=edges&directed=true{query}", body=dense_graph())


def change_dense(daemon):
    """Changes the graph by its name, which moves to the changed graph."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": "key-change"}
    return daemon.ask("PATCH", "/v1/graphs/dense/edges", body="[[1, 2, 9]]", headers=headers)


def submit_roads(daemon):
    """Submits 30 roads of 100 vertices, of which change_roads() changes an edge; the file of the new
    hierarchy shares the file of the old hierarchy."""
    roads = "".join(f"{i},{i + 1},3\n" for i in range(1, 3000) if i % 100 > 0).encode()
    return daemon.submit(roads, "?format=edges&name=roads&result=hierarchy", Idempotency_Key="key-roads")


def change_roads(daemon):
    headers = {"Content-Type": "application/json", "Idempotency-Key": "key-roads-change"}
    return daemon.ask("PATCH", "/v1/graphs/roads/edges", body="[[1, 2, 9]]", headers=headers)


ROADS_ANSWER = 12


def present_names(folder):
    """Returns {name: (inode, whether it is a folder)}."""
    if not os.path.isdir(folder):
        return {}
    with os.scandir(folder) as entries:
        return {entry.name: (entry.inode(), entry.is_dir()) for entry in entries}


def some_sectors(synced, written, chooser):
    """Returns a file in which each sector has either its content at the last sync or its current
    content."""
    if synced == written:
        return synced
    size = chooser.choice((len(synced), len(written)))
    share = chooser.choice((0.0, 0.1, 0.5, 0.9, 1.0))
    sectors = []
    for at in range(0, size, SECTOR):
        source = written if chooser.random() < share else synced
        sectors.append(source[at : at + SECTOR].ljust(min(SECTOR, size - at), b"\0"))
    return b"".join(sectors)


class Place:
    """A folder in memory, where fsync takes no time, with a state directory and a copy of the data
    that was synced."""

    def __init__(self):
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.path = tempfile.mkdtemp(prefix="apspd-crash-", dir=base)
        self.root = os.path.join(self.path, "root")
        self.state = os.path.join(self.root, "state")
        self.image = os.path.join(self.path, "image")
        self.count = os.path.join(self.path, "count")
        for folder in (self.root, self.image, self.image + "/files", self.image + "/names"):
            os.mkdir(folder)
        pathlib.Path(self.count).write_bytes(b"\0" * 4096)

    def environment(self, library, **fault):
        return {
            "LD_PRELOAD": library,
            "FAULT_FOLDER": self.root,
            "FAULT_COUNT": self.count,
            "FAULT_IMAGE": self.image,
            **{f"FAULT_{name.upper()}": str(value) for name, value in fault.items()},
        }

    def calls(self):
        return struct.unpack("<Q", pathlib.Path(self.count).read_bytes()[:8])[0]

    def failures(self):
        """Returns the number of calls that have been made to fail."""
        return struct.unpack("<Q", pathlib.Path(self.count).read_bytes()[8:16])[0]

    def arm(self, calls):
        """Plans the fault for the call that comes this many calls from now, or for none if 0;
        returns the number of that call."""
        at = self.calls() + calls
        with open(self.count, "r+b") as file:
            os.pwrite(file.fileno(), struct.pack("<Q", at), 16)
        return at

    def sync(self):
        """Marks everything as synced to the disk."""
        for kind in ("files", "names"):
            shutil.rmtree(os.path.join(self.image, kind))
            os.mkdir(os.path.join(self.image, kind))
        for folder, _, files in os.walk(self.root):
            entries = present_names(folder).items()
            lines = "".join(f"{inode} {is_folder:d} {name}\n" for name, (inode, is_folder) in entries)
            pathlib.Path(self.image, "names", str(os.stat(folder).st_ino)).write_text(lines)
            for name in files:
                path = os.path.join(folder, name)
                shutil.copyfile(path, os.path.join(self.image, "files", str(os.stat(path).st_ino)))

    def cut_power(self, chooser=None):
        """Replaces the state directory by the state after a power cut: unsynced data is lost.
        With a chooser, each unsynced name and sector is randomly kept or lost."""
        left = self.root + ".left"
        self.rebuilt = {}  # inode -> its path in the new directory
        shutil.rmtree(left, ignore_errors=True)
        os.mkdir(left)
        self._rebuild(os.stat(self.root).st_ino, left, self.root, chooser)
        shutil.rmtree(self.root)
        os.rename(left, self.root)

    def _synced_names(self, inode):
        """Returns {name: (inode, whether it is a folder)}."""
        names = pathlib.Path(self.image, "names", str(inode))
        lines = names.read_text().splitlines() if names.exists() else []
        entries = (line.split(" ", 2) for line in lines)
        return {name: (int(child), kind == "1") for child, kind, name in entries
                if name not in (".", "..")}

    def _rebuild(self, inode, folder, live, chooser):
        """Rebuilds a folder from the names that it had at the last sync and, with a chooser, from
        its current names."""
        names = self._synced_names(inode)
        for name, entry in (sorted(present_names(live).items()) if chooser else ()):
            if names.get(name) != entry and chooser.random() < 0.5:
                names[name] = entry
        for name in sorted(names) if chooser else ():
            if not os.path.exists(os.path.join(live, name)) and chooser.random() < 0.5:
                del names[name]
        for name, (child, is_folder) in names.items():
            path = os.path.join(folder, name)
            now = os.path.join(live, name)
            if is_folder:
                os.mkdir(path, 0o700)
                self._rebuild(child, path, now, chooser)
                continue
            if child in self.rebuilt:
                os.link(self.rebuilt[child], path)
                continue
            self.rebuilt[child] = path
            kept = pathlib.Path(self.image, "files", str(child))
            content = kept.read_bytes() if kept.exists() else b""
            if chooser and os.path.exists(now) and os.stat(now).st_ino == child:
                content = some_sectors(content, pathlib.Path(now).read_bytes(), chooser)
            pathlib.Path(path).write_bytes(content)
            os.chmod(path, 0o600)

    def close(self):
        shutil.rmtree(self.path, ignore_errors=True)


class Daemon(harness.Daemon):
    """A daemon with additional environment variables; its start may fail."""

    def __init__(self, *arguments, state, environment=None, limit=None):
        self.environment = environment or {}
        self.limit = limit
        # Not confined, because the preloaded library writes files that a confined daemon cannot
        # open.
        super().__init__("--jobs.queue_limit", "100", "--http.threads", "2", "--service.confinement",
                         "off", *arguments, state=state)

    def start(self):
        before = dict(os.environ)
        command = harness.BINARY
        try:
            os.environ.update(self.environment)
            if self.limit is not None:
                # A shell sets the limit, so that it applies only to the daemon.
                script = os.path.join(os.path.dirname(self.state), "limited")
                pathlib.Path(script).write_text(
                    f'#!/bin/sh\n{self.limit}\nexec "{command}" "$@"\n')
                os.chmod(script, 0o755)
                harness.BINARY = script
            super().start()
        finally:
            harness.BINARY = command
            os.environ.clear()
            os.environ.update(before)

    def end(self):
        """Ends the daemon, whatever its state; returns the exit code."""
        if self.process.poll() is None:
            self.process.kill()
        code = self.process.wait()
        self.process.stdout.close()
        self.ended = True
        self.check_log()
        shutil.rmtree(self.scratch, ignore_errors=True)
        return code


class Told:
    """Everything that the daemon acknowledged before it ended."""

    def __init__(self):
        self.jobs = {}  # ID -> (salt, idempotency key)
        self.durable = set()
        self.graphs = {}  # ID -> salt
        self.large = None  # ID of the large graph
        self.dense = None  # ID of the graph that is changed
        self.changed = None  # job of the change
        self.roads = None  # job of the hierarchy that is changed
        self.new_roads = None  # job of its change
        self.deleted = set()
        self.failed = set()  # jobs that have ended as failed
        self.unsure = set()  # graphs whose deletion was not acknowledged
        self.names = {}  # name -> job
        self.refused = []
        self.late = []  # acknowledgements of requests that were sent after a call had failed
        self.failed_at_start = None  # failed calls before the daemon listened; None if it never did
        self.failed_sync = False  # a sync has failed; the daemon must exit
        self.completed = False


def document_of(daemon, job):
    """Returns the document of the job once it has ended; repeats the request if the daemon lacked
    memory for the response."""
    while True:
        answer = daemon.get(f"/v1/jobs/{job}?wait=30")
        if answer.status == 503:
            continue
        if answer.expect(200).json["state"] in harness.FINAL:
            return answer.json


def note(told, answer, statuses, failed):
    """Records an acknowledgement and returns the ID in it; returns None for a refusal."""
    if answer.status not in statuses:
        told.refused.append((answer.status, answer.body))
        return None
    if failed:
        told.late.append(answer.body)
    return answer.json["id"]


def run_script(daemon, told, failures=lambda: 0, polls=200):
    """Runs six jobs, and stores, names, deletes and changes graphs; raises an exception when
    the daemon has ended. The number of polls for durability is limited, because after a fault a
    result may never become durable."""
    before = failures()
    for salt in range(1, 6):
        key = f"key-{salt}"
        query = "?name=third" if salt == 3 else ""
        failed = failures() > before
        answer = daemon.submit(graph(salt), query, Idempotency_Key=key)
        job = note(told, answer, (200, 202), failed)
        if job is not None:
            told.jobs[job] = (salt, key)
            if salt == 3:
                told.names["third"] = job
    failed = failures() > before
    stored = note(told, daemon.ask("POST", "/v1/graphs", body=graph(9)), (200, 201), failed)
    if stored is not None:
        told.graphs[stored] = 9
        told.unsure.add(stored)
        if daemon.ask("DELETE", f"/v1/graphs/{stored}").status == 204:
            told.deleted.add(stored)
            told.unsure.discard(stored)
    failed = failures() > before
    told.large = note(told, store_large(daemon), (200, 201), failed)
    failed = failures() > before
    told.dense = note(told, store_dense(daemon, "&name=dense"), (200, 201), failed)
    if told.dense is not None:
        failed = failures() > before
        told.changed = note(told, change_dense(daemon), (202,), failed)
    failed = failures() > before
    told.roads = note(told, submit_roads(daemon), (200, 202), failed)
    if told.roads is not None:
        document_of(daemon, told.roads)
        failed = failures() > before
        told.new_roads = note(told, change_roads(daemon), (202,), failed)
    for job in [*told.jobs, *filter(None, [told.changed, told.roads, told.new_roads])]:
        document = document_of(daemon, job)
        if document["state"] != "done":
            told.failed.add(job)
            continue
        for _ in range(polls):
            if document["durable"]:
                told.durable.add(job)
                break
            document = document_of(daemon, job)
    told.completed = True


def check(place, told, arguments=(), n=40):
    """Checks that a daemon without faults, on the same directory, still has everything that was
    acknowledged."""
    daemon = Daemon(*arguments, state=place.state)
    try:
        for job in told.durable:
            document = daemon.get(f"/v1/jobs/{job}").expect(200).json
            assert document["state"] == "done" and document["durable"], ("redone", document)
        for job, (salt, key) in told.jobs.items():
            document = daemon.finish(job)
            if job in told.failed and document["state"] == "failed":
                continue
            assert document["state"] == "done", document
            assert daemon.distance(job, 1, 3) == answer_of(salt), job
            again = daemon.submit(graph(salt, n), "?name=third" if salt == 3 else "",
                                  Idempotency_Key=key)
            assert again.expect(200).json["id"] == job, (again.body, job)
        for name, job in told.names.items():
            daemon.get(f"/v1/graphs/{name}").expect(200)
            if job not in told.failed:
                assert daemon.distance(name, 1, 3) == answer_of(told.jobs[job][0]), name
        for gone in told.deleted:
            daemon.get(f"/v1/graphs/{gone}").expect(404)
        for name in told.graphs.keys() - told.deleted - told.unsure:
            daemon.get(f"/v1/graphs/{name}").expect(200)
        job = daemon.solve(graph(77))
        assert job["state"] == "done", job
        assert daemon.distance(job["id"], 1, 3) == answer_of(77)
        if told.large is not None:
            assert daemon.solve(json.dumps({"graph": told.large}))["state"] == "done"
            assert daemon.distance(told.large, 0, 2) == LARGE_ANSWER
        assert store_large(daemon).status in ((200,) if told.large is not None else (200, 201))
        dense = store_dense(daemon, "&name=dense" if told.dense is None else "")
        assert dense.status in ((200,) if told.dense is not None else (200, 201)), dense.body
        changed = change_dense(daemon)
        assert told.changed in (None, changed.json["id"]), (changed.body, told.changed)
        assert daemon.finish(changed.json["id"])["state"] == "done"
        assert daemon.distance("dense", 1, 3) == CHANGED_ANSWER
        for told_job, ask in ((told.roads, submit_roads), (told.new_roads, change_roads)):
            job = ask(daemon).json["id"]
            assert told_job in (None, job), (told_job, job)
            assert told_job in told.failed or daemon.finish(job)["state"] == "done", job
        if told.new_roads is None or told.new_roads not in told.failed:
            assert daemon.distance("roads", 1, 3) == ROADS_ANSWER
    finally:
        code = daemon.end()
    return code


def run_fault(library, power=False, chooser=None, **fault):
    """Runs the script with one fault, followed by a power cut if `power`. Returns (calls,
    acknowledgements, exit code or None if the daemon survived)."""
    place = Place()
    told = Told()
    code = None
    try:
        try:
            daemon = Daemon(state=place.state, environment=place.environment(library, **fault))
        except AssertionError:
            daemon = None  # the daemon ended before it listened
        if daemon is not None:
            told.failed_at_start = place.failures()
            try:
                run_script(daemon, told, place.failures, 200 if fault else 20_000)
            except CLOSED:
                pass
            told.failed_sync = fault.get("only") == "fsync" and place.failures() > 0
            if daemon.process.poll() is None and (told.failed_sync or not told.completed):
                try:
                    daemon.process.wait(10)
                except subprocess.TimeoutExpired:
                    pass  # the daemon continues
            code = daemon.process.poll()
            log = daemon.log()[-1000:].decode()
            assert code in (None, 0, 70, 74, 75, 78, -9), (f"exit code {code}", log)
            daemon.end()
        if power:
            place.cut_power(chooser)
        check(place, told)
        return place.calls(), told, code
    finally:
        place.close()


def count_calls(library, **fault):
    calls, told, _ = run_fault(library, **fault)
    assert told.completed and len(told.durable) == 8 and not told.refused, vars(told)
    return calls


ERRNOS = {name: getattr(errno, name) for name in ("EIO", "ENOSPC", "EINTR", "EDQUOT", "EMFILE", "ENOMEM")}
