"""kill -9 at random instants under changes of a name and questions to it: no change that was
acknowledged is lost, none is undone, and no answer mixes two.

Change k gives every road of a ring the length k, so that a whole row of distances tells which change
answers, and whether it does alone."""

import itertools
import json
import random
import threading

import campaign

ARGUMENTS = campaign.arguments(kills=1000, seed=0)

import crash
import harness

JSON = {"Content-Type": "application/json"}
VERTICES = 60


def ring(length):
    return [[v, v % VERTICES + 1, length] for v in range(1, VERTICES + 1)]


class Load:
    """Two clients that ask, and one that changes, until the daemon is killed."""

    def __init__(self, daemon, name, numbers, done):
        self.daemon, self.name, self.numbers = daemon, name, numbers
        self.done = done  # the last change that was seen in an answer, or as done
        self.last = done  # that was sent
        self.kept = []  # jobs
        self.acknowledged = done
        self.wrong = []
        self.asked = 0
        self.threads = [threading.Thread(target=kind) for kind in (self.change, self.ask, self.ask)]
        for thread in self.threads:
            thread.start()

    def change(self):
        path = f"/v1/graphs/{self.name}/edges"
        while True:
            self.last = next(self.numbers)
            wait = {"Prefer": "wait=60"} if self.last % 3 == 0 else {}
            try:
                answer = self.daemon.ask("PATCH", path, json.dumps(ring(self.last)), {**JSON, **wait})
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
                answer = self.daemon.get(f"/v1/graphs/{self.name}/row/1")
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


def judge(answer, least, most):
    """The change that answers, or None for a wrong answer."""
    if answer.status != 200:
        return None
    row = answer.json["distances"]
    length = row[1]
    return length if row == [v * length for v in range(VERTICES)] and least <= length <= most else None


def unfinished(daemon):
    jobs = daemon.get("/v1/jobs?limit=1000").json["jobs"]
    return [job for job in jobs if job["state"] not in harness.FINAL]


def kill_once(daemon, chooser, name, numbers, done, ledger):
    load = Load(daemon, name, numbers, done)
    threading.Event().wait(chooser.uniform(0.01, 0.15))
    daemon.kill()
    load.join()
    daemon.start()
    ledger.count("changes acknowledged", len(load.kept))
    ledger.count("questions", load.asked)
    for job in load.kept:
        document = daemon.finish(job)
        assert document["state"] == "done", document
    # A change that was under way may have come in as well: its job is solved again.
    harness.wait_until(daemon, lambda: not unfinished(daemon))
    length = judge(daemon.get(f"/v1/graphs/{name}/row/1", Prefer="wait=60"), load.acknowledged, load.last)
    assert length is not None and length >= load.done, (length, load.acknowledged, load.last, load.done)
    return length


def main():
    ledger = campaign.Ledger(ARGUMENTS.seconds)
    chooser = random.Random(ARGUMENTS.seed)
    with harness.Daemon("--http.threads", "2") as daemon:
        done = {}
        for form in ("matrix", "hierarchy"):
            edges = "".join(f"{s} {t} {w}\n" for s, t, w in ring(1))
            daemon.solve(edges.encode(), f"?name={form}&result={form}&directed=true")
            done[form] = (itertools.count(2), 1)
        for i in range(ARGUMENTS.kills):
            if ledger.is_over() or ledger.failures > 0:
                break
            form = ("matrix", "hierarchy")[i % 2]
            numbers, last = done[form]
            found = ledger.attempt(f"kill {i}", kill_once, daemon, chooser, form, numbers, last, ledger)
            done[form] = (numbers, found)
        harness.wait_until(daemon, lambda: len(daemon.get("/v1/graphs?limit=1000").json["graphs"]) <= 6)
        graphs = daemon.get("/v1/graphs?limit=1000").json["graphs"]
        print(f"{len(graphs)} graphs are left of all")
        ledger.failures += len(graphs) > 2 * 3
    ledger.close()


main()
