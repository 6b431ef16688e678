"""Kills and power cuts while clients change and query a named graph, at random times and at calls
that change the state directory: no acknowledged change is lost or undone, and no answer mixes two
changes. Change k gives every road of a ring the length k, so the distances in an answer show from
which change it comes, and whether they all come from the same one."""

import itertools
import json
import random
import signal
import threading

import campaign

ARGUMENTS = campaign.arguments(kills=1000, seed=0)

import crash
import harness

JSON = {"Content-Type": "application/json"}
KEPT = 3  # number of graphs of one name that may be stored
# The fault of the disk, chosen when a daemon starts; and the data that is lost at its kill: none,
# or all or some of the unsynced data.
STOPS = (
    ({"act": "kill"}, None),
    ({"act": "kill"}, "some"),
    ({"act": "short"}, None),
    ({"act": "short"}, "all"),
    ({"act": "short"}, "some"),
)
VERTICES = 60
# Edges that never change: most of the hierarchy stays the same, so that its file is a delta.
TAIL = "".join(f"{v} {v + 1} 1\n" for v in range(VERTICES, 6000))


def ring(length):
    return [[v, v % VERTICES + 1, length] for v in range(1, VERTICES + 1)]


class Graph:
    """A named ring, solved as a matrix or as a hierarchy."""

    def __init__(self):
        self.numbers = itertools.count(2)
        self.done = 1


GRAPHS = {"matrix": Graph(), "hierarchy": Graph()}


class Load:
    """Two clients that query and one that changes, until the daemon is killed."""

    def __init__(self, daemon, name, ledger):
        self.daemon, self.name, self.ledger = daemon, name, ledger
        self.graph = GRAPHS[name]
        self.done = done = self.graph.done  # last change seen in an answer or as done
        self.last = done  # last change sent
        self.kept = []  # accepted jobs
        self.acknowledged = done
        self.wrong = []
        self.asked = 0
        self.threads = [threading.Thread(target=kind) for kind in (self.change, self.ask, self.ask)]
        for thread in self.threads:
            thread.start()

    def change(self):
        path = f"/v1/graphs/{self.name}/edges"
        while True:
            self.last = next(self.graph.numbers)
            wait = {"Prefer": "wait=60"} if self.last % 3 == 0 else {}
            try:
                answer = self.daemon.ask("PATCH", path, json.dumps(ring(self.last)),
                                         {**JSON, **wait})
            except crash.CLOSED:
                return
            if answer.status not in (200, 202):
                self.wrong.append(answer.body)
                return
            self.kept.append(answer.json["id"])
            self.acknowledged = self.last
            if answer.json["state"] == "done":
                self.done = max(self.done, self.last)

    def ask(self):
        while True:
            least = self.done
            try:
                answer = question(self.daemon, self.name)
            except crash.CLOSED:
                return
            length = judge(answer, least, self.last)
            if length is None:
                self.wrong.append(answer.body)
                return
            self.done = max(self.done, length)
            self.asked += 1

    def join(self):
        for thread in self.threads:
            thread.join()
        assert not self.wrong, self.wrong[:3]


def question(daemon, name, **headers):
    pairs = [[1, v] for v in range(1, VERTICES + 1)]
    return daemon.ask("POST", f"/v1/graphs/{name}/distances", json.dumps({"pairs": pairs}),
                      {**JSON, **headers})


def judge(answer, least, most):
    """Returns the number of the change from which an answer comes, or None for a wrong answer."""
    if answer.status != 200:
        return None
    found = answer.json["distances"]
    length = found[1]
    return length if found == [v * length for v in range(len(found))] and least <= length <= most else None


def unfinished(daemon):
    jobs = daemon.get("/v1/jobs?limit=1000").json["jobs"]
    return [job for job in jobs if job["state"] not in harness.FINAL]


class Service:
    """A daemon on a faulty disk."""

    def __init__(self, chooser):
        self.chooser = chooser
        self.place = crash.Place()
        self.library = crash.shim("disk_shim")
        self.fault, self.lost = STOPS[0]
        self.daemon = crash.Daemon(state=self.place.state, environment=self.environment())

    def environment(self):
        return self.place.environment(self.library, **self.fault)

    def stop_once(self, name, ledger):
        load = Load(self.daemon, name, ledger)
        due = 0
        if self.chooser.random() < 0.5:
            due = self.place.arm(self.chooser.randrange(1, 60 if self.fault["act"] == "kill" else 3))
        threading.Event().wait(self.chooser.uniform(0.01, 0.15))
        self.daemon.kill()
        assert self.daemon.process.returncode == -signal.SIGKILL, self.daemon.log()[-3000:]
        ledger.count("faults at a call", 0 < due <= self.place.calls())
        self.place.arm(0)
        load.join()
        if self.lost is not None:
            self.place.cut_power(self.chooser if self.lost == "some" else None)
            self.place.sync()
            ledger.count("power cuts")
        self.fault, self.lost = self.chooser.choice(STOPS)
        self.daemon.environment = self.environment()
        self.daemon.start()
        ledger.count("changes acknowledged", len(load.kept))
        ledger.count("questions", load.asked)
        self.verify(load)

    def verify(self, load):
        for job in load.kept:
            document = self.daemon.finish(job)
            assert document["state"] == "done", document
        # A change without an answer may have been accepted too; its job is then solved again.
        harness.wait_until(self.daemon, lambda: not unfinished(self.daemon))
        answer = question(self.daemon, load.name, Prefer="wait=60")
        length = judge(answer, load.acknowledged, load.last)
        assert length is not None and length >= load.done, (
            answer.body[:300], load.acknowledged, load.last, load.done)
        load.graph.done = length

    def graphs(self):
        return self.daemon.get("/v1/graphs?limit=1000").json["graphs"]


def main():
    ledger = campaign.Ledger(ARGUMENTS.seconds)
    service = Service(random.Random(ARGUMENTS.seed))
    daemon, place = service.daemon, service.place
    try:
        edges = "".join(f"{s} {t} {w}\n" for s, t, w in ring(1)).encode()
        for name in GRAPHS:
            tail = TAIL.encode() if name == "hierarchy" else b""
            daemon.solve(edges + tail, f"?result={name}&directed=true&format=edges&name={name}")
        for i in range(ARGUMENTS.kills):
            if ledger.is_over() or ledger.failures > 0:
                break
            ledger.attempt(f"kill {i}", service.stop_once, list(GRAPHS)[i % len(GRAPHS)], ledger)
        most = KEPT * len(GRAPHS)
        harness.wait_until(daemon, lambda: len(service.graphs()) <= most)
        print(f"{len(service.graphs())} graphs are left of all")
        daemon.close()
    finally:
        place.close()
    ledger.close()


main()
