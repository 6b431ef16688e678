"""A daemon whose solver fails by a plan (fault_plan.h), in a separate process. Used by
test_isolation.py and its long form, tests/campaign/workers.py."""

import contextlib
import datetime
import fcntl
import json
import os
import re
import select
import shutil
import signal
import struct
import tempfile
import threading

import harness
import stuck

SOURCE = os.path.join(os.path.dirname(__file__), "..", "..", "proto", "status.c")
# Stages of a solve, in order. The stage "open" comes before them, and "close" after them.
STAGES = ("alloc", "upload", "round", "sync", "download")


def ring(n, weight=1):
    edges = "".join(f"a {i} {i % n + 1} {weight}\n" for i in range(1, n + 1))
    return f"p sp {n} {n}\n{edges}".encode()


def rings(count, length, weight=1):
    """Returns n and a graph of separate rings, for which a plan omits most tiles."""
    edges = [f"a {k * length + i} {k * length + i % length + 1} {weight}"
             for k in range(count) for i in range(1, length + 1)]
    n = count * length
    return n, "\n".join([f"p sp {n} {n}", *edges, ""]).encode()


class Plan:
    """The plan of faults, which every solver process reads before each stage. Its file is in the
    state directory, because confined processes can open files there when they start."""

    def __init__(self, folder):
        os.mkdir(folder)
        self.path = os.path.join(folder, "plan")
        self.tally = self.path + ".tally"
        for path in (self.path, self.tally):
            with open(path, "w"):
                pass

    def write(self, *faults):
        """Writes faults, each (vertices, stage, action, argument, times)."""
        with open(self.path, "r+") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            os.truncate(self.tally, 0)
            os.truncate(self.path, 0)
            file.writelines(" ".join(map(str, fault)) + "\n" for fault in faults)
            file.flush()

    def struck(self, line=0):
        """Returns how often the fault in this line of the plan has occurred."""
        with open(self.tally, "rb") as file:
            data = file.read()[4 * line : 4 * line + 4]
        return struct.unpack("=I", data)[0] if len(data) == 4 else 0


class Daemon(harness.Daemon):
    """A daemon with faulty solvers. gpus: the number of solvers that pose as GPUs. memory: the
    bytes of memory of each such solver, instead of gpus. calls: whether the state directory has a
    file of stuck.Mount, for the action `stuck`."""

    def __init__(self, *arguments, isolation="process", plan=(), gpus=0, memory=(), calls=False,
                 group="none"):
        gpus = len(memory) or gpus
        self.folder = tempfile.mkdtemp(prefix="apspd-test-plan-")
        state = os.path.join(self.folder, "state")
        os.mkdir(state)
        self.plan = Plan(os.path.join(state, "fault"))
        self.plan.write(*plan)
        self.words = {"FAULT_PLAN": self.plan.path,
                      "FAULT_SCENE": make_scene(self.folder), "FAULT_GPUS": str(gpus or ""),
                      "FAULT_MEMORY": ",".join(map(str, memory))}
        self.calls = stuck.Mount(os.path.join(state, "fault", "calls")) if calls else None
        self.words["FAULT_CALL"] = self.calls.path if calls else ""
        try:
            super().__init__("--worker.isolation", isolation, "--solver", "gpu" if gpus else "cpu",
                             "--worker.stall_s", "600", "--jobs.queue_limit", "1000", "--solver.group", group,
                             *arguments, state=state)
        except AssertionError:
            # The daemon did not start.
            self.process.wait()
            self.process.stdout.close()
            self.ended = True
            self.close()
            raise

    def start(self):
        """Starts the daemon with its own plan; other daemons of this test have other plans."""
        os.environ.update(self.words)
        super().start()
        for name in self.words:
            os.environ.pop(name, None)

    def close(self):
        try:
            super().close()
        finally:
            if self.calls is not None:
                self.calls.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def events(self, name=None):
        """Returns the logged events in order, all or those of one name."""
        lines = [line for line in self.log().decode().split("\n")[:-1] if line.startswith("{")]
        events = [json.loads(line) for line in lines]
        return [event for event in events if name is None or event["event"] == name]


def make_scene(folder):
    """Creates files that a compromised solver would like to read. They are next to the plan, where
    only confinement prevents a solver from opening them."""
    scene = os.path.join(folder, "state", "fault")
    for name in ("state", "state/sub", "outside"):
        os.mkdir(os.path.join(scene, name))
    for name in ("state/file", "outside/file"):
        with open(os.path.join(scene, name), "w"):
            pass
    os.symlink("../outside/file", os.path.join(scene, "state", "link"))
    return scene


@contextlib.contextmanager
def daemon(*arguments, **named):
    with Daemon(*arguments, **named) as found:
        yield found, found.plan


def child_of(found):
    """Returns the worker process."""
    children = children_of(found)
    assert len(children) == 1, children
    return children[0]


def children_of(found):
    """Returns the children of all threads. When a thread ends, another one inherits its
    children; then the list is read again."""
    path = f"/proc/{found.process.pid}/task"
    while True:
        children = []
        try:
            for thread in os.listdir(path):
                with open(f"{path}/{thread}/children") as file:
                    children += map(int, file.read().split())
            return children
        except (FileNotFoundError, ProcessLookupError):
            continue


def until(found, path, accept):
    """Repeats the request until accept(answer) is true; returns the answer."""
    while True:
        answer = found.get(path)
        if accept(answer):
            return answer
        harness.pause()


def until_hung(found, job, line=0, times=1):
    """Waits until the job hangs at the stage that the fault plan names."""
    until(found, f"/v1/jobs/{job}", lambda answer: answer.json["state"] == "running")
    while found.plan.struck(line) < times:
        harness.pause()


def expire(found, stage):
    """Makes a deadline of the worker pass at once (watch_fault.c): `stall`, for the next round, or
    `silence`, for the next heartbeat."""
    found.plan.write((0, stage, "late", 0, 1))


def states(found):
    return [device["state"] for device in found.get("/v1/devices").json["devices"]]


def restarts(found):
    return found.get("/v1/devices").json["devices"][0]["restarts"]


def losses(found):
    return len(found.events("worker_lost"))


def end_worker(found):
    """Kills the worker and waits until the daemon has noticed."""
    before = losses(found)
    os.kill(child_of(found), signal.SIGKILL)
    until(found, "/v1/devices", lambda _: losses(found) > before)


def kill_worker(found):
    """Kills the worker and waits until it is replaced."""
    before = restarts(found)
    os.kill(child_of(found), signal.SIGKILL)
    until(found, "/v1/devices", lambda answer: answer.json["devices"][0]["restarts"] > before)


def seconds_of(event):
    return datetime.datetime.fromisoformat(event["time"].replace("Z", "+00:00")).timestamp()


def times_to_replace(found):
    """Returns for each loss of a process the seconds until the next process was open."""
    times = []
    lost = None
    for event in found.events():
        if event["event"] == "worker_lost":
            lost = seconds_of(event)
        elif event["event"] == "worker_started" and lost is not None:
            times.append(seconds_of(event) - lost)
            lost = None
    return times


def until_ready(found):
    until(found, "/v1/devices", lambda answer: answer.json["devices"][0]["state"] == "ready")


def until_all_ready(found):
    until(found, "/v1/devices", lambda _: set(states(found)) == {"ready"})


class Asker(threading.Thread):
    """A thread that queries a cached distance repeatedly and records wrong answers. It pauses
    briefly between queries, so that the daemon has the processors."""

    def __init__(self, found, graph, distance):
        super().__init__()
        self.question = found, graph, distance
        self.asked = 0
        self.wrong = []
        self.ended = threading.Event()

    def run(self):
        found, graph, distance = self.question
        connection = found.connect()
        while not self.ended.wait(0.01):
            path = f"/v1/graphs/{graph}/distance?source=1&target=3"
            answer = found.ask("GET", path, connection=connection)
            self.asked += 1
            if answer.status != 200 or answer.json["distance"] != distance:
                self.wrong.append(answer.body)
        connection.close()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()
        assert self.asked > 0 and not self.wrong, (self.asked, self.wrong[:3])


def all_codes():
    with open(SOURCE) as file:
        codes = re.findall(r'\[STATUS_\w+\] = \{"(\w+)"', file.read())
    assert len(codes) > 40
    return [code for code in codes if code != "Ok"]


# ---- Statuses, and errors of CUDA ----

# State and problem code of a job whose worker reports a status that the daemon does not pass on:
# Cancelled ends the job; NegativeCycle and Corrupt are checked and refuted; and after
# NoDeviceMemory the job is tried again.
ENDS = {"Cancelled": ("cancelled", None), "NegativeCycle": ("failed", "NotVerified"),
        "Corrupt": ("failed", "NotVerified"), "NoDeviceMemory": ("done", None)}
# Statuses that mean that the device is lost.
LOST = ("DeviceLost", "NoDevice")

# CUDA errors in a job. Error 2 means too little memory: the job is retried, and no worker is lost.
CUDA = (2, 35, 46, 214, 700, 702, 710, 716, 717, 718, 719, 802, 999)
# Exit codes of a daemon that cannot open its only device at the start, by CUDA error.
STARTS = {2: 74, 35: 78, 46: 78, 802: 78}


def fail_to_open(found, action, argument):
    """Makes the next process fail to open its device. The process after it succeeds, and the
    waiting job is done. Returns the code of the failure."""
    before = len(found.events("worker_not_started"))
    found.plan.write((0, "open", action, argument, 1))
    end_worker(found)
    document = found.solve(ring(9, 1 + before))
    assert document["state"] == "done" and document["workers_lost"] == 0, document
    refused = found.events("worker_not_started")[before:]
    assert len(refused) == 1, refused
    return refused[0]["code"]


def fail_in_job(found, stage, error, n):
    """Causes a CUDA error at this stage of a job on n vertices."""
    lost = losses(found)
    found.plan.write((n, stage, "cuda", error, 1))
    document = found.solve(ring(n))
    events = found.events("worker_lost")[lost:]
    ended = document["state"], document["problem"] and document["problem"]["code"]
    if error == 2:
        assert ended == ("done", None) and not events, (document, events)
        assert document["workers_lost"] == 0, document
    else:
        assert ended == ("done", None) and document["workers_lost"] == 1, document
        assert [event["reason"] for event in events] == ["the solver exited with code 80"], events
        assert found.distance(document["graph"], 1, n) == n - 1


def fail_at_close(found, error):
    """Causes a CUDA error while the device is closed: durable data is kept, and the daemon exits
    normally."""
    graph = found.solve(harness.SMALL)["graph"]
    found.plan.write((0, "close", "cuda", error, 1))
    found.terminate()
    assert found.plan.struck() == 1
    found.start()
    assert found.distance(graph, 1, 3) == 12


def fail_at_start(error):
    """Causes a CUDA error when the daemon opens its device at the start; returns its exit code."""
    try:
        with Daemon(plan=((0, "open", "cuda", error, 0),)):
            pass
    except AssertionError as failure:
        return int(re.search(r'"event":"stopped","exit_code":(\d+)', str(failure)).group(1))
    return 0


# ---- Processes that break the protocol ----

# Messages that break the protocol, each with the stage of a job at which the process sends it.
MESSAGES = (("nonsense", "download"), ("truncated", "download"),
            ("oversize", "download"), ("longer", "download"),
            ("unknown", "download"), ("impossible", "download"),
            ("descriptors", "download"), ("task", "download"),
            ("setup", "download"), ("opened", "download"),
            ("stale", "figures"), ("stale", "open"))


def send(found, what, stage, n):
    """Checks that the daemon drops a process that sends this message, and queues its job again."""
    cached = found.solve(ring(9))["graph"]
    lost = losses(found)
    opened = len(found.events("worker_not_started"))
    found.plan.write((0 if stage != "download" else n, stage, "send", what, 1))
    if stage == "open":
        end_worker(found)
        lost += 1
    document = found.solve(ring(n))
    assert document["state"] == "done", (what, document)
    if stage != "open":
        until(found, "/v1/devices", lambda _: losses(found) > lost)
        lost += 1
    until_ready(found)
    assert document["workers_lost"] == (stage != "open"), (what, document)
    refused = len(found.events("worker_not_started")) - opened
    assert refused == (stage == "open"), (what, found.events()[-6:])
    assert losses(found) == lost, (what, found.events()[-6:])
    assert found.distance(document["graph"], 1, n) == n - 1
    assert found.distance(cached, 1, 3) == 2


# ---- Memory of the device ----

def bytes_of(n):
    """Returns the bytes that the simulated solver needs for n vertices with the dense plan;
    another plan needs twice as many."""
    return 4 * n * n


# The same value as in server/scheduler/scheduler_internal.h.
MEMORY_ATTEMPTS = 16


def expect_short(found, job, length, done=True, plan="dense"):
    """Checks the end of a job that lacked memory: no worker is lost, and a finished result is
    correct."""
    document = found.finish(job)
    assert document["workers_lost"] == 0, document
    if done:
        assert (document["state"], document["plan"]["kind"]) == ("done", plan), document
        assert found.distance(document["graph"], 1, 3) == 2
        assert found.distance(document["graph"], 3, 1) == length - 2
    else:
        assert (document["state"], document["problem"]["code"]) == ("failed", "NoDeviceMemory"), document
        assert "memory" in document["problem"]["detail"], document


# ---- Escape attempts ----

def attempts(found, n):
    """Returns the outcome of each escape attempt of a solver process, by name (refused, done or
    broken), and the number of its descriptors without its socket and the standard streams."""
    found.plan.write((n, "alloc", "attempts", 0, 1))
    assert found.solve(ring(n))["state"] == "done"
    log = found.log().decode()
    return dict(re.findall(r"^attempt (\w+) (\S+)$", log, re.M)), int(
        re.findall(r"^descriptors (\d+)$", log, re.M)[-1])


def wait_for_end(process, seconds):
    """Returns whether the process ends within this many seconds."""
    watched = os.pidfd_open(process)
    try:
        return bool(select.select([watched], [], [], seconds)[0])
    finally:
        os.close(watched)
