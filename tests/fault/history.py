"""Random histories of concurrent clients that submit, poll, query, cancel and delete while the
daemon is killed, and a sequential model that must explain every answer.

The state of one graph in the model has three parts: whether the graph exists (False, True, or
HIDDEN by a deletion that is not on the disk yet), its result (0 none, 1 in memory, 2 durable), and
its jobs by their Idempotency-Key. A job has one of these states: Q queued; R running; K running,
with a cancellation requested; C like K, with the request on the disk; d done and x cancelled,
neither on the disk; y cancelled, with the request on the disk but not the end of the job; D done
and X cancelled, both on the disk; L done, with a result that a kill has removed. A kill undoes
exactly the changes that were not durable. A call without an answer before a kill may or may not
have taken effect."""

import itertools
import random
import threading

import crash
import harness

HIDDEN = "hidden"
SIZES = (40, 300, 700)
HALF = "half"
FRESH = (False, 0, ())
MONOTONE = {"queued": 0, "running": 1, "done": 2, "failed": 2, "cancelled": 2}


# ---- The model: generators of (next state, answer) ----
# The answer is HALF for a state that others can see before the call has its answer.

def with_job(jobs, key, state):
    return tuple(sorted({**dict(jobs), key: state}.items()))


def seen(state, key):
    """Returns the state and durability in the document of a job."""
    present, result, jobs = state
    job = dict(jobs)[key]
    name = {"Q": "queued", "R": "running", "K": "running", "C": "running", "d": "done", "D": "done",
            "L": "done", "x": "cancelled", "y": "cancelled", "X": "cancelled"}[job]
    durable = job in "QRKCX" or (job in "DL" and present != HIDDEN
                                and (not present or result == 2 or (job == "D" and result == 0)))
    return name, durable


def answers_to_submit(state, key, _):
    present, result, jobs = state
    if key in dict(jobs):
        yield state, (200, key) + seen(state, key)
    elif present != HIDDEN:
        job = "D" if present and result else "Q"
        yield (True, result if present else 0, with_job(jobs, key, job)), HALF


def answers_to_look(state, key, _):
    if key in dict(state[2]):
        yield state, (200,) + seen(state, key)


def answers_to_query(state, _key, _half):
    present, result, _ = state
    yield state, (404,) if present is not True else (200,) if result else (409,)


def answers_to_cancel(state, key, half):
    present, result, jobs = state
    job = dict(jobs).get(key)
    if half:
        for kept in {"K": "C", "C": "C", "x": "yX", "y": "y", "X": "X"}.get(job, ""):
            told = "running" if kept == "C" else "cancelled"
            yield (present, result, with_job(jobs, key, kept)), (202, told)
    elif job == "Q":
        yield (present, result, with_job(jobs, key, "x")), HALF
    elif job in ("R", "K", "C"):
        yield (present, result, with_job(jobs, key, "C" if job == "C" else "K")), HALF
    elif job is not None:
        yield state, (409,)


def answers_to_delete(state, _, half):
    present, _, jobs = state
    if half:
        if present == HIDDEN:
            yield (False, 0, jobs), (204,)
    elif present is not True:
        yield state, (404,)
    elif any(job in "QRKC" for _, job in jobs):
        yield state, (409,)
    else:
        left = tuple((name, "D" if job == "L" else job) for name, job in jobs)
        yield (HIDDEN, 0, left), HALF


ANSWERS = {"submit": answers_to_submit, "look": answers_to_look, "query": answers_to_query,
           "cancel": answers_to_cancel, "delete": answers_to_delete}


def steps(state):
    """Yields the states after one step of the daemon itself."""
    present, result, jobs = state
    for key, job in jobs:
        for later in {"Q": "R", "R": "d", "K": "xC", "C": "y", "d": "D", "x": "yX", "y": "X"}.get(job, ""):
            if later == "R" and present and result:
                yield present, result, with_job(jobs, key, "d")  # another job has solved the graph
            known = max(result, 1) if later == "d" else 2 if later == "D" and result else result
            yield present, known, with_job(jobs, key, later)
    if result == 1:
        yield present, 2, jobs


def after_kill(state):
    """Yields every state in which a restart may find the graph."""
    present, result, jobs = state
    left = [(present, result)]
    if present == HIDDEN:
        left = [(False, 0), (True, 2), (True, 0)]
    elif result == 1:
        left = [(present, 2), (present, 0)]
    for there, kept in left:
        is_lost = there and kept == 0 and (present == HIDDEN or result == 1)
        found = {"Q": "Q", "R": "Q", "K": "QX", "C": "X", "d": "QL" if is_lost else "QD", "x": "QX",
                 "y": "X", "X": "X", "D": "QLD" if is_lost else "D", "L": "D" if kept == 2 else "QL"}
        choices = [[(key, new) for new in found[job]] for key, job in jobs]
        for chosen in itertools.product(*choices):
            yield there, kept, tuple(chosen)


# ---- The check ----

class Anomaly(Exception):
    pass


def successors(configuration, calls):
    """Yields what may follow a (state, completed calls, half-completed call) after one more call.
    A call that has returned must have given the recorded answer."""
    state, taken = configuration
    for after in steps(state):
        yield after, taken
    for number, (kind, key, answer) in calls.items():
        if number in taken:
            continue
        half = (number, HALF) in taken
        for after, told in ANSWERS[kind](state, key, half):
            if told == HALF:
                yield after, taken | {(number, HALF)}
            elif answer in (None, told):
                yield after, taken - {(number, HALF)} | {number}


def linearize(configurations, calls, wanted):
    """Returns all configurations in which the wanted call has just completed."""
    found, open_, ended = set(configurations), list(configurations), set()
    while open_:
        state, taken = configuration = open_.pop()
        if wanted in taken:
            ended.add((state, taken - {wanted}))
            continue
        for reached in successors(configuration, calls):
            if reached not in found:
                found.add(reached)
                open_.append(reached)
    return ended


def everything(configurations, calls):
    """Returns all states in which a kill may happen."""
    found, open_ = set(configurations), list(configurations)
    while open_:
        for reached in successors(open_.pop(), calls):
            if reached not in found:
                found.add(reached)
                open_.append(reached)
    return {state for state, _ in found}


def check(events):
    """Checks the events of one graph in order: ("call", number, kind, key), ("return", number,
    answer), ("kill",). All answers are known before the check."""
    answers = {event[1]: event[2] for event in events if event[0] == "return"}
    configurations = {(FRESH, frozenset())}
    calls = {}
    for i, event in enumerate(events):
        if event[0] == "call":
            _, number, kind, key = event
            calls[number] = (kind, key, answers.get(number))
        elif event[0] == "return":
            configurations = linearize(configurations, calls, event[1])
            if not configurations:
                raise Anomaly(f"nothing explains {calls[event[1]]}", events[max(0, i - 30) : i + 1])
            del calls[event[1]]
        else:
            states = everything(configurations, calls)
            configurations = {(after, frozenset()) for state in states for after in after_kill(state)}
            calls = {}


def check_monotone(events):
    """Checks that the states of jobs only move forward, except that a kill may undo changes that
    were not durable."""
    best = {}  # key -> (rank, state, durable) of completed calls
    calls = {}
    for event in events:
        if event[0] == "call":
            _, number, kind, key = event
            calls[number] = (kind, key, best.get(key))
        elif event[0] == "return":
            kind, key, before = calls.pop(event[1])
            if kind not in ("look", "submit") or event[2][0] != 200:
                continue
            name, durable = event[2][-2:]
            if before is not None and MONOTONE[name] < before[0]:
                raise Anomaly(f"{key}: {name} after {before[1]}", events)
            if before is not None and before[0] == 2 and before[1] != name:
                raise Anomaly(f"{key}: {name} after {before[1]}", events)
            if MONOTONE[name] >= best.get(key, (0,))[0]:
                best[key] = (MONOTONE[name], name, durable and MONOTONE[name] == 2)
        else:
            best = {key: entry for key, entry in best.items() if entry[2]}
            calls = {}


# ---- The clients ----

class History:
    """A random history: some graphs, some clients, and the answers that the clients received."""

    def __init__(self, seed, graphs=4, clients=3, keys=3):
        self.seed, self.keys, self.clients = seed, keys, clients
        self.salts = range(1, graphs + 1)
        self.bodies = {salt: crash.graph(salt, SIZES[salt % len(SIZES)]) for salt in self.salts}
        self.events = {salt: [] for salt in self.salts}
        self.numbers = itertools.count()
        self.lock = threading.Lock()
        self.ids = {}  # key -> job
        self.graph_ids = {}
        self.wrong = []
        self.count = 0
        self.kill_at = None
        self.turn = threading.Condition(self.lock)

    def note(self, salt, *event):
        with self.lock:
            self.events[salt].append(event)
            self.count += event[0] == "call"
            self.turn.notify_all()

    def ask(self, daemon, salt, kind, key):
        """Makes one call; returns False if the daemon has ended."""
        number = next(self.numbers)
        self.note(salt, "call", number, kind, key)
        try:
            answer = getattr(self, kind)(daemon, salt, key)
        except crash.CLOSED:
            return False
        self.note(salt, "return", number, answer)
        return True

    def submit(self, daemon, salt, key):
        answer = daemon.submit(self.bodies[salt], Idempotency_Key=key)
        if answer.status not in (200, 202):
            return answer.status, answer.body[:200]
        document = answer.json
        with self.lock:
            if self.ids.setdefault(key, document["id"]) != document["id"]:
                self.wrong.append(("two jobs", key))
            self.graph_ids[salt] = document["graph"]
        return 200, key, document["state"], is_kept(document)

    def look(self, daemon, _, key):
        answer = daemon.get(f"/v1/jobs/{self.ids[key]}")
        if answer.status != 200:
            return answer.status, answer.body[:200]
        return 200, answer.json["state"], is_kept(answer.json)

    def query(self, daemon, salt, _):
        answer = daemon.get(f"/v1/graphs/{self.graph_ids[salt]}/distance?source=1&target=3")
        if answer.status == 200 and answer.json["distance"] != crash.answer_of(salt):
            self.wrong.append((salt, answer.body))
        return (answer.status,)

    def cancel(self, daemon, _, key):
        answer = daemon.ask("DELETE", f"/v1/jobs/{self.ids[key]}")
        return (202, answer.json["state"]) if answer.status == 202 else (answer.status,)

    def delete(self, daemon, salt, _):
        return (daemon.ask("DELETE", f"/v1/graphs/{self.graph_ids[salt]}").status,)

    def client(self, daemon, chooser):
        """Makes calls until the daemon has ended or the number of calls is reached."""
        while self.kill_at is None or self.count < self.kill_at:
            salt = chooser.choice(self.salts)
            kind = chooser.choices(list(ANSWERS), (6, 6, 6, 2, 1))[0]
            key = f"{salt}-{chooser.randrange(self.keys)}"
            if kind in ("look", "cancel") and key not in self.ids or salt not in self.graph_ids:
                kind = "submit"
            if not self.ask(daemon, salt, kind, key):
                return

    def round(self, daemon, number, calls):
        """Lets all clients make calls at the same time. In every round but the last, kills the
        daemon while they do."""
        threads = []
        for i in range(self.clients):
            chooser = random.Random(f"{self.seed}/{number}/{i}")
            threads.append(threading.Thread(target=self.client, args=(daemon, chooser)))
        aim = self.count + calls
        for thread in threads:
            thread.start()
        with self.turn:
            while self.count < aim:
                self.turn.wait()
        daemon.kill()
        for thread in threads:
            thread.join()
        for salt in self.salts:
            self.note(salt, "kill")
        daemon.start()

    def end(self, daemon):
        """Waits until every job has ended, and checks that every stored graph can be queried."""
        for key in sorted(self.ids):
            daemon.finish(self.ids[key])
            self.ask(daemon, int(key.split("-")[0]), "look", key)
        for salt in self.graph_ids:
            self.ask(daemon, salt, "query", None)

    def check(self):
        if self.wrong:
            raise Anomaly("wrong answers", self.wrong[:3])
        for salt in self.salts:
            check(self.events[salt])
            check_monotone(self.events[salt])


def is_kept(document):
    """Returns the `durable` of an ended job. Returns True for other jobs, whose `durable` promises
    nothing."""
    return document["durable"] if document["state"] in harness.FINAL else True


def run(seed, kills=5, calls=40):
    """Runs one history; returns the number of calls that were checked."""
    history = History(seed)
    chooser = random.Random(seed)
    with harness.Daemon("--jobs.queue_limit", "1000") as daemon:
        for number in range(kills):
            history.round(daemon, number, chooser.randrange(calls // 2, calls * 3 // 2))
        history.end(daemon)
    history.check()
    return history.count
