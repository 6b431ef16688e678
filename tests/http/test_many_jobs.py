"""Many small jobs at once: each has its own document, result and failure."""

import random
import threading

import harness

JOBS = 40 if harness.QUICK else 150
NEGATIVE = b"p sp 3 3\na 1 2 1\na 2 3 -5\na 3 1 1\n"


def make_edges(number):
    """Returns a ring with chords that is different for every number."""
    draw = random.Random(number)
    n = 2 + number % 60
    edges = [(v, v % n + 1, draw.randrange(1, 100)) for v in range(1, n + 1)]
    for _ in range(n):
        source, target = draw.sample(range(1, n + 1), 2)
        edges.append((source, target, draw.randrange(1, 100)))
    return n, edges


def text_of(n, edges):
    lines = [f"p sp {n} {len(edges)}"] + [f"a {s} {t} {w}" for s, t, w in edges]
    return "\n".join(lines).encode() + b"\n"


def submit_all(daemon, numbers):
    """Returns job IDs by number, submitted by several clients at once."""
    jobs = {}

    def submit(some):
        for number in some:
            jobs[number] = daemon.submit(text_of(*make_edges(number))).expect(202).json["id"]

    threads = [threading.Thread(target=submit, args=(numbers[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(jobs) == len(numbers)
    return jobs


def check_distances(daemon, document, number):
    n, edges = make_edges(number)
    expected = harness.distances_of(edges, range(1, n + 1))
    draw = random.Random(-number)
    for _ in range(3):
        source, target = draw.randrange(1, n + 1), draw.randrange(1, n + 1)
        found = daemon.distance(document["id"], source, target)
        assert found == expected[source, target], (number, source, target, found)


def test_each_of_many_jobs_has_its_own_outcome(_):
    with harness.Daemon("--jobs.queue_limit", "1000", *harness.LASTING) as daemon:
        check_many_behind_one(daemon)


def check_many_behind_one(daemon):
    slow = daemon.submit(harness.slow_graph(harness.LASTING_SIZE)).expect(202).json["id"]
    jobs = submit_all(daemon, list(range(JOBS)))
    bad = daemon.submit(NEGATIVE).expect(202).json["id"]
    daemon.submit(b"p sp 3 1\na 1 nonsense 2\n").expect(422)
    dropped = daemon.submit(text_of(*make_edges(JOBS))).expect(202).json["id"]
    more = submit_all(daemon, list(range(JOBS + 1, JOBS + 20)))
    assert daemon.get(f"/v1/jobs/{dropped}").json["state"] == "queued"
    daemon.ask("DELETE", f"/v1/jobs/{dropped}").expect(202)
    daemon.ask("DELETE", f"/v1/jobs/{slow}").expect(202)

    assert daemon.finish(slow)["state"] == "cancelled"
    assert daemon.finish(dropped)["state"] == "cancelled"
    failed = daemon.finish(bad)
    assert failed["state"] == "failed" and failed["problem"]["code"] == "NegativeCycle", failed
    for number, job in {**jobs, **more}.items():
        document = daemon.finish(job)
        assert document["state"] == "done" and document["progress"] == 1, document
        assert document["summary"]["n"] == make_edges(number)[0], document
        assert document["created"] <= document["started"] <= document["finished"], document
        assert document["timings"]["compute_s"] > 0, document
        check_distances(daemon, document, number)


def test_many_jobs_survive_a_restart(daemon):
    jobs = submit_all(daemon, list(range(1000, 1000 + JOBS)))
    daemon.kill()
    daemon.start()
    for number, job in jobs.items():
        document = daemon.finish(job)
        assert document["state"] == "done", document
        check_distances(daemon, document, number)


if __name__ == "__main__":
    harness.run(globals(), ("--solver", "cpu", "--jobs.queue_limit", "1000"))
