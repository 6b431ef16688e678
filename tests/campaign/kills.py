"""Sends kill -9 at random times during submissions, cancels and queries; all daemons have the same
growing state directory. Every acknowledged job exists afterwards and has the correct answer or is
cancelled. Every second kill happens while a cancel has no answer yet."""

import random
import threading
import time

import campaign

ARGUMENTS = campaign.arguments(kills=1000, seed=0)

import crash
import harness

LONG = 700  # vertices of the graph whose job is cancelled


class Load:
    """Two clients that submit, one that cancels, and one that queries existing results."""

    def __init__(self, daemon, salts, old):
        self.daemon, self.salts, self.old = daemon, salts, old
        self.lock = threading.Lock()
        self.kept = {}  # job -> salt
        self.unsure = []
        self.cancelling = threading.Event()
        self.cancels = {}  # job -> whether its cancellation was acknowledged
        self.wrong = []
        self.asked = 0
        self.threads = [threading.Thread(target=kind) for kind in (self.submit, self.submit, self.cancel, self.ask)]
        for thread in self.threads:
            thread.start()

    def submit(self):
        while True:
            with self.lock:
                salt = next(self.salts)
            try:
                answer = self.daemon.submit(crash.graph(salt), Idempotency_Key=f"key-{salt}")
            except crash.CLOSED:
                self.unsure.append(salt)
                return
            assert answer.status in (200, 202), answer.body
            self.kept[answer.json["id"]] = salt

    def cancel(self):
        while True:
            with self.lock:
                salt = next(self.salts)
            try:
                job = self.daemon.submit(crash.graph(salt, LONG)).expect(202).json["id"]
                self.cancels[job] = False
                self.cancelling.set()
                self.cancels[job] = self.daemon.ask("DELETE", f"/v1/jobs/{job}").status == 202
            except crash.CLOSED:
                return
            self.cancelling.clear()

    def ask(self):
        while self.old:
            job, salt = self.old[self.asked % len(self.old)]
            try:
                answer = self.daemon.get(f"/v1/graphs/{job}/distance?source=1&target=3")
            except crash.CLOSED:
                return
            self.asked += 1
            right = answer.status == 409 or answer.json.get("distance") == crash.answer_of(salt)
            if not right:
                self.wrong.append(answer.body)

    def join(self):
        for thread in self.threads:
            thread.join()
        assert not self.wrong, self.wrong[:3]


def verify(daemon, job, salt):
    document = daemon.finish(job)
    assert document["state"] == "done", document
    answer = daemon.get(f"/v1/graphs/{job}/distance?source=1&target=3", Prefer="wait=60")
    assert answer.expect(200).json["distance"] == crash.answer_of(salt), (job, answer.body)
    again = daemon.submit(crash.graph(salt), Idempotency_Key=f"key-{salt}")
    assert again.expect(200).json["id"] == job, again.body


def kill_once(daemon, chooser, salts, known, ledger, on_cancel):
    load = Load(daemon, salts, chooser.sample(known, min(50, len(known))))
    threading.Event().wait(chooser.uniform(0.01, 0.12))
    if on_cancel:
        load.cancelling.wait()
        threading.Event().wait(chooser.uniform(0, 0.002))
    ledger.count("kills on cancels", load.cancelling.is_set())
    daemon.kill()
    load.join()
    began_s = time.monotonic()
    daemon.start()
    seconds = time.monotonic() - began_s
    known += load.kept.items()
    ledger.count("jobs acknowledged", len(load.kept))
    ledger.count("questions", load.asked)
    # Checks the latest jobs, which a kill is most likely to affect, and a few older ones.
    for job, salt in list(load.kept.items())[-6:] + chooser.sample(known, min(4, len(known))):
        verify(daemon, job, salt)
    for job, is_acknowledged in load.cancels.items():
        state = daemon.finish(job)["state"]
        assert state == "cancelled" or state == "done" and not is_acknowledged, (job, state, is_acknowledged)
    ledger.count("cancels acknowledged", sum(load.cancels.values()))
    return seconds


def main():
    ledger = campaign.Ledger(ARGUMENTS.seconds)
    chooser = random.Random(ARGUMENTS.seed)
    salts = iter(range(1, 10**9))
    known, starts_s = [], []
    limits = ("--jobs.queue_limit", "10000", "--jobs.history_limit", "1000000", "--http.threads", "2")
    with harness.Daemon(*limits) as daemon:
        for i in range(ARGUMENTS.kills):
            if ledger.is_over() or ledger.failures > 0:
                break
            starts_s.append(ledger.attempt(f"kill {i}", kill_once, daemon, chooser, salts, known, ledger, i % 2 == 1))
            if i % 100 == 99:
                print(f"{i + 1} kills, {len(known)} jobs, {ledger.failures} failed", flush=True)
        lost = 0
        for job, salt in known if ledger.failures == 0 else ():
            answer = daemon.get(f"/v1/jobs/{job}")
            lost += answer.status != 200 or answer.json["state"] not in ("queued", "running", "done")
        print(f"{lost} of {len(known)} jobs lost")
        ledger.failures += lost
    found = sorted(seconds for seconds in starts_s if seconds is not None)
    late = [seconds for seconds in starts_s[-100:] if seconds is not None]
    print(f"from start to ready: p50 {1000 * found[len(found) // 2]:.0f} ms, "
          f"p99 {1000 * found[int(0.99 * len(found))]:.0f} ms; of the last 100 at most "
          f"{1000 * max(late):.0f} ms, with {len(known)} jobs")
    ledger.close()


main()
