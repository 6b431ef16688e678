"""Clients that submit, and after a kill submit again what was not answered, each key in all by two of
them: one job for each key, whoever asks and however often, and as many jobs as keys."""

import random
import threading

import campaign

ARGUMENTS = campaign.arguments(submits=100_000, clients=4, seed=0)

import crash
import harness

# Different keys about one graph: it is the keys that are tried.
GRAPH = crash.graph(1, n=8)
LATEST = 60  # keys, of which a client takes one that was taken before


class Submitter(threading.Thread):
    def __init__(self, book, daemon, seed):
        super().__init__()
        self.book, self.daemon = book, daemon
        self.chooser = random.Random(seed)
        self.wrong = []
        self.start()

    def run(self):
        while (key := self.book.take(self.chooser)) is not None:
            try:
                answer = self.daemon.submit(GRAPH, Idempotency_Key=key)
            except crash.CLOSED:
                self.book.give_back(key)
                return
            if answer.status not in (200, 202) or not self.book.note(key, answer.json["id"]):
                self.wrong.append((key, answer.status, answer.body))
                return


class Book:
    """Keys to be submitted, each twice and more, and the job that each was told to have."""

    def __init__(self, submits):
        self.lock = threading.Lock()
        self.left = submits
        self.again = []
        self.last = 0
        self.jobs = {}

    def take(self, chooser):
        with self.lock:
            if self.left == 0:
                return None
            self.left -= 1
            if self.again:
                return self.again.pop()
            if self.last > 0 and chooser.random() < 0.5:
                return f"key-{max(1, self.last - chooser.randrange(LATEST))}"
            self.last += 1
            return f"key-{self.last}"

    def give_back(self, key):
        with self.lock:
            self.left += 1
            self.again.append(key)

    def note(self, key, job):
        with self.lock:
            return self.jobs.setdefault(key, job) == job


def count_jobs(daemon):
    """Of the whole listing, each once."""
    found, cursor = set(), ""
    while True:
        page = daemon.get(f"/v1/jobs?limit=1000{cursor}").expect(200).json
        for document in page["jobs"]:
            assert document["id"] not in found, document
            found.add(document["id"])
        if page["next"] is None:
            return found
        cursor = "&cursor=" + page["next"]


def submit_until_killed(daemon, book, chooser, ledger):
    submitters = [Submitter(book, daemon, chooser.random()) for _ in range(ARGUMENTS.clients)]
    submitters[0].join(chooser.uniform(0.5, 3))
    daemon.kill()
    for submitter in submitters:
        submitter.join()
        assert not submitter.wrong, submitter.wrong
    daemon.start()
    ledger.count("kills")


def main():
    ledger = campaign.Ledger(ARGUMENTS.seconds)
    chooser = random.Random(ARGUMENTS.seed)
    book = Book(ARGUMENTS.submits)
    limits = ("--jobs.queue_limit", "100000", "--jobs.history_limit", "1000000", "--http.threads", "2")
    with harness.Daemon(*limits) as daemon:
        while book.left > 0 and not ledger.is_over() and ledger.failures == 0:
            ledger.attempt("kill", submit_until_killed, daemon, book, chooser, ledger)
        found = count_jobs(daemon)
    # The last kill may have left keys that have a job but were not answered.
    unsure = len(book.again)
    ledger.failures += not set(book.jobs.values()) <= found
    ledger.failures += not len(book.jobs) <= len(found) <= len(book.jobs) + unsure
    ledger.count("submits", ARGUMENTS.submits - book.left)
    ledger.count("keys", len(book.jobs))
    ledger.count("jobs", len(found))
    ledger.close()


main()
