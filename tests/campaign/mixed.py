"""Mixed traffic whose graphs are deleted as fast as they arrive. At the end, the anonymous memory
of the daemon is within 10 MiB of what it was after the first fifth of the time. The caches of edges
and labels are small, so that they are soon full and only a leak lets the memory grow."""

import json
import random
import threading

import campaign

ARGUMENTS = campaign.arguments(clients=4, pause_ms=5, seed=0)

import crash
import harness

GROWTH_KIB = 10 << 10
EVERY_S = 0.5
JSON = {"Content-Type": "application/json"}
# Queries of each graph in random order; the status of each answer must be 200.
QUESTIONS = (
    ("GET", "distance?source=1&target=3", None),
    ("GET", "path?source=1&target=3", None),
    ("GET", "row/2", None),
    ("GET", "nearest?source=1&k=5", None),
    ("GET", "stats", None),
    ("GET", "matrix?format=csv", None),
    ("GET", "matrix", None),
    ("POST", "distances", json.dumps({"pairs": [[i, i % 40 + 1] for i in range(1, 41)]})),
    ("POST", "table", json.dumps({"sources": [1, 2, 3], "destinations": [4, 5]})),
)


def live(daemon, chooser, ledger):
    """Uploads one graph, queries and changes it, and deletes it."""
    salt, n = chooser.randrange(1, 10**9), chooser.choice((40, 60, 200, 600))
    query = f"?result={chooser.choice(('matrix', 'hierarchy'))}&name=n-{salt}"
    job = daemon.submit(crash.graph(salt, n), query).expect(202).json["id"]
    if chooser.random() < 0.1:
        ledger.count("cancels", daemon.ask("DELETE", f"/v1/jobs/{job}").status == 202)
    document = daemon.finish(job)
    graphs = [document["graph"]]
    if document["state"] == "done":
        for method, path, body in chooser.sample(QUESTIONS, 4):
            answer = daemon.ask(method, f"/v1/graphs/n-{salt}/{path}", body, JSON if body else None).expect(200)
            assert not path.startswith("distance?") or answer.json["distance"] == crash.answer_of(salt), answer.body
            ledger.count("questions")
        if chooser.random() < 0.3:
            change = json.dumps([[1, 2, salt + 3]])
            changed = daemon.ask("PATCH", f"/v1/graphs/n-{salt}/edges", change, JSON).json
            document = daemon.finish(changed["id"])
            assert document["state"] == "done", document
            assert daemon.distance(document["graph"], 1, 3) == crash.answer_of(salt) + 2
            graphs.append(document["graph"])
            ledger.count("changes")
    daemon.submit(b"p sp 3 1\na 1 %d 2\n" % salt).expect(422)
    for graph in reversed(graphs):
        # The graph before the change is deleted automatically.
        status = daemon.ask("DELETE", f"/v1/graphs/{graph}").status
        assert status in (204, 404, 409), status
    ledger.count("graphs", len(graphs))


def client(daemon, number, ledger):
    chooser = random.Random(f"{ARGUMENTS.seed}/{number}")
    while not ledger.is_over() and ledger.failures == 0:
        ledger.attempt(f"client {number}", live, daemon, chooser, ledger)
        threading.Event().wait(ARGUMENTS.pause_ms / 1000)


def anonymous_kib(daemon):
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon:"))


def main():
    ledger = campaign.Ledger(min(ARGUMENTS.seconds, 1800))
    samples = []
    # Small enough to be full before the second fifth begins.
    limits = ("--jobs.history_limit", "100", "--hierarchy.label_budget", "4MiB")
    with harness.Daemon(*limits, "--solver", "cpu") as daemon:
        threads = [threading.Thread(target=client, args=(daemon, i, ledger)) for i in range(ARGUMENTS.clients)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            samples.append(anonymous_kib(daemon))
            threading.Event().wait(EVERY_S)
        left = daemon.get("/v1/graphs?limit=1000").expect(200).json["graphs"]
    # Compares the minimum of each fifth, because requests use memory temporarily.
    fifths = [min(samples[i * len(samples) // 5 : (i + 1) * len(samples) // 5]) for i in range(5)]
    growth = fifths[4] - fifths[1]
    print("MiB of each fifth:", *(f"{kib / 1024:.1f}" for kib in fifths), f"; {len(left)} graphs are left")
    ledger.failures += growth > GROWTH_KIB
    ledger.close()


main()
