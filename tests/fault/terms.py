"""Sends SIGTERM under load and checks what becomes of the requests."""

import random
import threading
import time

import crash
import harness


QUESTION = "/v1/graphs/town/distance?source=1&target=3"


class Load:
    """Clients of each kind, which run until their daemon refuses connections; and the answers that
    they received."""

    def __init__(self, daemon, lasting, seed):
        self.daemon, self.lasting = daemon, lasting
        self.lock = threading.Lock()
        self.answered = 0
        self.cut = []  # incomplete answers
        self.unread = 0  # number of requests without an answer, because the connection ended
        self.first = all_jobs(daemon) - {lasting}
        self.kept = set()  # acknowledged jobs
        kinds = (self.keep_asking, self.ask_anew, self.submit, self.poll)
        self.threads = [threading.Thread(target=kind, args=(random.Random(f"{seed}/{i}"),))
                        for i, kind in enumerate(kinds * 2)]
        for thread in self.threads:
            thread.start()

    def exchange(self, connection, method, path, body=None, headers=None):
        """Returns the answer. Closes the connection and returns None if there was no complete
        answer."""
        try:
            if connection.sock is None:
                connection.connect()
        except OSError:
            return None
        try:
            connection.request(method, path, body=body, headers=headers or {})
            response = connection.getresponse()
        except crash.CLOSED:
            with self.lock:
                self.unread += 1
            connection.close()
            return None
        try:
            answer = harness.Answer(response.status, response.headers, response.read())
        except crash.CLOSED as error:
            with self.lock:
                self.cut.append((path, error))
            connection.close()
            return None
        with self.lock:
            self.answered += 1
        return answer

    def is_listening(self):
        connection = self.daemon.connect()
        try:
            connection.connect()
            connection.close()
            return True
        except OSError:
            return False

    def keep_asking(self, _):
        connection = self.daemon.connect()
        while (answer := self.exchange(connection, "GET", QUESTION)) or self.is_listening():
            if answer is not None and (answer.status, answer.json["distance"]) != (200, 12):
                self.cut.append(answer.body)
        connection.close()

    def ask_anew(self, _):
        connection = self.daemon.connect()
        while self.exchange(connection, "GET", "/v1/graphs/town/matrix") or self.is_listening():
            connection.close()

    def submit(self, chooser):
        connection = self.daemon.connect()
        while True:
            answer = self.exchange(connection, "POST", "/v1/jobs", crash.graph(chooser.randrange(10**6)))
            connection.close()
            if answer is not None and answer.status == 202:
                with self.lock:
                    self.kept.add(answer.json["id"])
            elif answer is None and not self.is_listening():
                return

    def poll(self, _):
        connection = self.daemon.connect()
        path = f"/v1/jobs/{self.lasting}?wait=60"
        while self.exchange(connection, "GET", path) or self.is_listening():
            pass
        connection.close()

    def join(self):
        for thread in self.threads:
            thread.join()


def run(seed):
    """Sends SIGTERM under load, and checks the answers and the stored jobs; returns the load and
    the seconds until the exit."""
    chooser = random.Random(seed)
    limits = ("--jobs.queue_limit", "100000", "--jobs.drain_s", "1")
    with harness.Daemon(*harness.LASTING, *limits) as daemon:
        daemon.solve(harness.SMALL, "?name=town")
        lasting = daemon.submit(harness.slow_graph(4000)).expect(202).json["id"]
        load = Load(daemon, lasting, seed)
        threading.Event().wait(chooser.uniform(0.05, 0.3))
        began_s = time.monotonic()
        try:
            daemon.terminate()
        finally:
            seconds = time.monotonic() - began_s
            load.join()
        daemon.start()
        jobs = all_jobs(daemon)
        daemon.kill()
        assert not load.cut, load.cut[:3]
        assert jobs - load.kept == {lasting} | load.first, "a job that nobody was told of"
        assert jobs >= load.kept, "a job that is not there any more"
        daemon.start()
        return load, seconds


def all_jobs(daemon):
    found, cursor = set(), ""
    while cursor is not None:
        page = daemon.get(f"/v1/jobs?limit=100{cursor}").expect(200).json
        found |= {job["id"] for job in page["jobs"]}
        cursor = "&cursor=" + page["next"] if page["next"] else None
    return found
