"""Solvers that fail: in processes of their own they cost one process each, and nothing else.

The program under test has a CPU solver that fails by a plan (solver_fault.c)."""

import contextlib
import os
import re
import select
import signal
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "http"))
import harness

SOURCE = os.path.join(os.path.dirname(__file__), "..", "..", "proto", "status.c")
STAGES = ("alloc", "upload", "round", "download")
# Loaded machines and sanitizers keep a healthy process waiting.
STALL_S = 4 if harness.QUICK else 2


def ring(n, weight=1):
    edges = "".join(f"a {i} {i % n + 1} {weight}\n" for i in range(1, n + 1))
    return f"p sp {n} {n}\n{edges}".encode()


class Plan:
    """Who fails, and how; read by every solver's process before each stage."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "plan")
        self.write()

    def write(self, *faults):
        """Each (vertices, stage, action, argument, times)."""
        with contextlib.suppress(FileNotFoundError):
            for name in os.listdir(os.path.dirname(self.path)):
                if name.startswith("plan."):
                    os.unlink(os.path.join(os.path.dirname(self.path), name))
        with open(self.path + ".new", "w") as file:
            file.writelines(" ".join(map(str, fault)) + "\n" for fault in faults)
        os.rename(self.path + ".new", self.path)


@contextlib.contextmanager
def daemon(*arguments, isolation="process", batch=False):
    import tempfile

    with tempfile.TemporaryDirectory(prefix="apspd-test-plan-") as folder:
        plan = Plan(folder)
        os.environ["FAULT_PLAN"] = plan.path
        os.environ["FAULT_BATCH"] = "1" if batch else ""
        with harness.Daemon(
            # The plan of what is to fail is a file, which confined solvers could not read.
            "--service.confinement", "off",
            "--worker.isolation", isolation, "--solver", "cpu", "--jobs.queue_limit", "1000", *arguments
        ) as found:
            yield found, plan


def child_of(found):
    """The worker's process."""
    path = f"/proc/{found.process.pid}/task"
    children = []
    for thread in os.listdir(path):
        with open(f"{path}/{thread}/children") as file:
            children += file.read().split()
    assert len(children) == 1, children
    return int(children[0])


def until(found, path, accept):
    """Asks until the answer is as it should be: the harness's timeout ends what never comes."""
    while True:
        answer = found.get(path)
        if accept(answer):
            return answer


def until_hung(found, job, times=1):
    """The job is where its plan lets it hang."""
    until(found, f"/v1/jobs/{job}", lambda answer: answer.json["state"] == "running")
    wait_for_file(os.path.join(os.path.dirname(os.environ["FAULT_PLAN"]), "plan.0"), times)


def wait_for_file(path, size):
    while not os.path.exists(path) or os.path.getsize(path) < size:
        pass


def restarts(found):
    return found.get("/v1/devices").json["devices"][0]["restarts"]


def losses(found):
    return found.log().count(b'"event":"worker_lost"')


class Asker(threading.Thread):
    """Asks for a cached distance without a pause, and remembers what was not right."""

    def __init__(self, found, graph, distance):
        super().__init__()
        self.question = found, graph, distance
        self.asked = 0
        self.wrong = []
        self.ended = threading.Event()

    def run(self):
        found, graph, distance = self.question
        connection = found.connect()
        while not self.ended.is_set():
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


# What a worker says of its own accord ends otherwise: it was not cancelled, it does not know of a
# cycle that the graph does not have.
ENDS = {"Cancelled": ("cancelled", None), "NegativeCycle": ("failed", "NotVerified")}


def test_every_status_at_every_stage_ends_its_job_alone():
    codes = all_codes()
    cases = [(code, stage) for code in codes for stage in STAGES]
    if harness.QUICK:
        cases = cases[:: len(STAGES) + 1]
    cases = [(10 + i, code, stage) for i, (code, stage) in enumerate(cases)]
    with daemon("--worker.stall_s", "60") as (found, plan):
        cached = found.solve(harness.SMALL)["graph"]
        # A device that is lost once is had again.
        plan.write(*((n, stage, "status", code, 1) for n, code, stage in cases))
        with Asker(found, cached, 12):
            jobs = [found.submit(ring(n)).expect(202).json["id"] for n, _, _ in cases]
            for job, (n, code, stage) in zip(jobs, cases):
                document = found.finish(job)
                ended = document["state"], document["problem"] and document["problem"]["code"]
                if code == "DeviceLost":
                    assert ended == ("done", None), (code, stage, document)
                    assert document["workers_lost"] == 1, (code, stage, document)
                else:
                    assert ended == ENDS.get(code, ("failed", code)), (code, stage, document)
                    assert document["workers_lost"] == 0, (code, stage, document)
        lost = sum(code == "DeviceLost" for _, code, _ in cases)
        assert restarts(found) == lost == losses(found), found.log()[-3000:]
        assert (b"it left with code 80" in found.log()) == (lost > 0)
        assert found.solve(ring(9))["state"] == "done"


def test_every_death_at_every_stage_is_survived():
    deaths = (("exit", 0), ("exit", 3), ("exit", 79), ("exit", 82), ("exit", 85), ("signal", 9),
              ("signal", 11), ("signal", 31), ("babble", 0))
    cases = [(10 + i, *death, stage) for i, (death, stage) in
             enumerate((death, stage) for death in deaths for stage in STAGES)]
    if harness.QUICK:
        cases = cases[::3]
    with daemon("--worker.stall_s", "60") as (found, plan):
        cached = found.solve(harness.SMALL)["graph"]
        # Backing off would make this long: each second job ends well.
        plan.write(*((n, stage, action, argument, 1) for n, action, argument, stage in cases))
        with Asker(found, cached, 12):
            for n, action, argument, stage in cases:
                document = found.solve(ring(n))
                assert document["state"] == "done", (action, argument, stage, document)
                assert document["workers_lost"] == 1, (action, argument, stage, document)
                assert found.distance(document["graph"], 1, n) == n - 1
        assert restarts(found) == len(cases)


def test_a_hang_is_seen_and_ended():
    with daemon("--worker.stall_s", str(STALL_S)) as (found, plan):
        cached = found.solve(harness.SMALL)["graph"]
        plan.write((20, "round", "hang", 0, 1), (21, "alloc", "hang", 0, 1))
        with Asker(found, cached, 12):
            for n in (20, 21):
                document = found.solve(ring(n))
                assert document["state"] == "done" and document["workers_lost"] >= 1, document
        assert found.log().count(b"it made no progress and was ended") >= 2
        # Stopped, with nothing to do: no heart beats.
        before = restarts(found)
        os.kill(child_of(found), signal.SIGSTOP)
        until(found, "/v1/devices", lambda a: a.json["devices"][0]["restarts"] > before)
        assert b"it gave no sign of life and was ended" in found.log()
        assert found.solve(ring(22))["state"] == "done"


def test_a_job_that_is_cancelled_while_it_hangs_is_cancelled():
    with daemon("--worker.stall_s", str(STALL_S)) as (found, plan):
        plan.write((20, "round", "hang", 0, 1))
        job = found.submit(ring(20)).json["id"]
        until_hung(found, job)
        found.ask("DELETE", f"/v1/jobs/{job}").expect(202)
        assert found.finish(job)["state"] == "cancelled"


def test_a_worker_killed_from_outside_is_replaced():
    with daemon("--worker.stall_s", "60") as (found, plan):
        cached = found.solve(harness.SMALL)["graph"]
        plan.write((20, "round", "hang", 0, 1))
        job = found.submit(ring(20)).json["id"]
        until_hung(found, job)
        with Asker(found, cached, 12):
            os.kill(child_of(found), signal.SIGKILL)
            document = found.finish(job)
        assert document["state"] == "done" and document["workers_lost"] == 1, document


def test_a_job_that_kills_three_workers_fails_across_restarts():
    with daemon("--worker.stall_s", "60") as (found, plan):
        killer = (30, "round", "signal", 9, 0)
        # The first death is the last before the daemon's: no other worker can be had.
        plan.write(killer, (0, "open", "exit", 1, 0))
        job = found.submit(ring(30)).json["id"]
        until(found, f"/v1/jobs/{job}", lambda answer: answer.json["workers_lost"] == 1)
        until(found, f"/v1/jobs/{job}", lambda answer: answer.json["state"] == "queued")
        found.kill()
        plan.write(killer)
        before = losses(found)
        found.start()
        document = found.finish(job)
        assert document["state"] == "failed" and document["workers_lost"] == 3, document
        assert document["problem"]["code"] == "PoisonJob", document
        assert "signal 9" in document["problem"]["detail"], document
        assert losses(found) == before + 2
        assert found.solve(ring(31))["state"] == "done"
        found.kill()
        found.start()
        assert found.get(f"/v1/jobs/{job}").json["problem"]["code"] == "PoisonJob"


def test_who_shares_a_load_with_a_killer_is_solved():
    with daemon("--worker.stall_s", "60", batch=True) as (found, plan):
        plan.write((50, "round", "hang", 0, 1), (33, "alloc", "signal", 9, 0))
        first = found.submit(ring(50)).json["id"]
        until_hung(found, first)
        jobs = [found.submit(ring(n)).json["id"] for n in (31, 32, 33, 34, 35)]
        os.kill(child_of(found), signal.SIGKILL)
        ends = [found.finish(job) for job in jobs]
        assert found.finish(first)["state"] == "done"
        assert [end["state"] for end in ends] == ["done", "done", "failed", "done", "done"], ends
        assert ends[2]["problem"]["code"] == "PoisonJob", ends[2]
        assert [end["workers_lost"] for end in ends] == [1, 1, 3, 1, 1], ends


def test_a_confined_daemon_starts_solvers_again():
    with daemon("--service.confinement", "auto") as (found, _):
        job = found.solve(ring(20))
        assert job["state"] == "done", job
        os.kill(child_of(found), signal.SIGKILL)
        until(found, "/v1/devices", lambda answer: answer.json["devices"][0]["restarts"] == 1)
        job = found.solve(ring(21))
        assert job["state"] == "done", job


def test_the_worker_leaves_with_its_daemon():
    with daemon("--worker.stall_s", "60") as (found, plan):
        plan.write((20, "round", "hang", 0, 1))
        until_hung(found, found.submit(ring(20)).json["id"])
        watched = os.pidfd_open(child_of(found))
        found.kill()
        assert select.select([watched], [], [], 120)[0], "the worker outlived its daemon"
        os.close(watched)
        found.start()


def test_a_worker_that_is_down_is_told_and_comes_back():
    with daemon("--worker.stall_s", "60") as (found, plan):
        cached = found.solve(harness.SMALL)["graph"]
        assert found.get("/readyz?verbose").json["checks"]["worker"] is True
        plan.write((0, "open", "exit", 1, 0))
        os.kill(child_of(found), signal.SIGKILL)
        until(found, "/readyz", lambda answer: answer.status == 503).expect(503, "NotReady")
        assert found.get("/v1/devices").json["devices"][0]["state"] == "restarting"
        assert found.distance(cached, 1, 3) == 12
        found.get("/livez").expect(200)
        job = found.submit(ring(20)).expect(202).json["id"]
        assert found.get(f"/v1/jobs/{job}").json["state"] == "queued"
        plan.write()
        assert found.finish(job)["state"] == "done"
        found.get("/readyz").expect(200)
        assert found.get("/v1/devices").json["devices"][0]["state"] == "ready"


def check_a_lie(isolation):
    with daemon("--worker.stall_s", "60", isolation=isolation) as (found, plan):
        plan.write((40, "download", "lie", 0, 1))
        document = found.solve(ring(40))
        assert document["state"] == "failed", document
        assert document["problem"]["code"] == "NotVerified", document
        path = f"/v1/graphs/{document['graph']}/distance?source=1&target=2"
        found.get(path).expect(409, "NotSolved")
        assert found.solve(ring(40))["state"] == "done"
        assert found.distance(document["graph"], 1, 2) == 1


def test_a_wrong_matrix_is_never_published():
    check_a_lie("thread")
    check_a_lie("process")


def test_a_device_lost_in_a_thread_ends_the_daemon_with_its_own_code():
    with daemon(isolation="thread") as (found, plan):
        plan.write((20, "round", "status", "DeviceLost", 1))
        job = found.submit(ring(20)).json["id"]
        assert found.process.wait(60) == 80
        found.process.stdout.close()
        found.check_log()
        found.start()
        document = found.finish(job)
        assert document["state"] == "done" and document["workers_lost"] == 1, document


harness.run(globals(), each=False)
