"""Tests jobs while they wait, run and end: long polls, lists, cancellation."""

import threading
import time

import harness
from harness import LASTING, LASTING_SIZE, SMALL, slow_graph


def until_running(daemon, job):
    """Polls repeatedly until the job runs: a poll sent after the start would wait for the end."""
    harness.wait_until(daemon, lambda: daemon.get(f"/v1/jobs/{job}").json["state"] != "queued")


def start_slow(daemon, salt):
    """Starts a job that runs until it is cancelled, and another that waits behind it; the daemon
    is LASTING."""
    running = daemon.submit(slow_graph(LASTING_SIZE + salt)).expect(202).json["id"]
    waiting = daemon.submit(slow_graph(100 + salt)).expect(202).json["id"]
    until_running(daemon, running)
    return running, waiting


def cancel(daemon, job):
    answer = daemon.ask("DELETE", f"/v1/jobs/{job}")
    assert answer.status in (202, 409), answer.body
    return daemon.finish(job)


def test_a_running_job_and_a_queued_job_can_be_cancelled(daemon):
    running, waiting = start_slow(daemon, 1)
    document = daemon.get(f"/v1/jobs/{running}").json
    assert document["state"] == "running" and 0 <= document["progress"] < 1, document
    assert daemon.get(f"/v1/jobs/{waiting}").json["state"] == "queued"
    daemon.ask("DELETE", f"/v1/jobs/{waiting}").expect(202)
    assert daemon.finish(waiting)["state"] == "cancelled"
    daemon.ask("DELETE", f"/v1/jobs/{running}").expect(202)
    assert daemon.finish(running)["state"] == "cancelled"
    daemon.ask("DELETE", f"/v1/jobs/{running}").expect(409, "JobFinished")


PHASES = ["planning", "solving", "writing", "checking", "publishing"]


def dense_graph(n):
    """Returns a graph for which only the dense plan is considered."""
    return f"p sp {n} {40 * n}\n".encode() + b"".join(
        b"a %d %d %d\n" % (i, (i * k + k // 7) % n + 1, 1 + (i * k) % 997)
        for i in range(1, n + 1) for k in range(3, 83, 2))


def grid_graph(side):
    """Returns a graph with small separators, for which a plan is worthwhile."""
    at = lambda row, column: row * side + column + 1
    edges = [(at(row, column), at(row + down, column + 1 - down), 1 + (row * column) % 9)
             for row in range(side) for column in range(side) for down in (0, 1)
             if row + down < side and column + 1 - down < side]
    return f"p sp {side * side} {2 * len(edges)}\n".encode() + b"".join(
        b"a %d %d %d\na %d %d %d\n" % (u, v, w, v, u, w) for u, v, w in edges)


def test_progress_counts_all_phases_and_never_falls(daemon):
    for body, kind in ((dense_graph(1000 if harness.QUICK else 3000), "dense"), (grid_graph(64), "nested_dissection")):
        job = daemon.submit(body, "?result=matrix").expect(202).json["id"]
        connection = daemon.connect()
        seen = []
        while not seen or seen[-1]["state"] in ("queued", "running"):
            seen.append(daemon.ask("GET", f"/v1/jobs/{job}", connection=connection).json)
        connection.close()
        done = seen.pop()
        assert done["state"] == "done" and done["plan"]["kind"] == kind, done
        assert done["progress"] == 1 and done["phase"] is None and done["eta_s"] is None, done
        running = [document for document in seen if document["state"] == "running"]
        assert running and all(document["phase"] is None for document in seen if document["state"] != "running"), seen
        shares = [document["progress"] for document in seen]
        assert shares == sorted(shares) and shares[-1] < 1, shares
        phases = [PHASES.index(document["phase"]) for document in running]
        assert phases == sorted(phases) and PHASES.index("solving") in phases, phases
        left = [document["eta_s"] for document in running if document["phase"] != "planning"]
        assert all(eta_s > 0 for eta_s in left), left


def test_a_long_poll_ends_after_its_timeout(daemon):
    running, waiting = start_slow(daemon, 2)
    start = time.monotonic()
    document = daemon.get(f"/v1/jobs/{waiting}?wait=0.3").expect(200).json
    spent = time.monotonic() - start
    assert document["state"] != "queued" or spent > 0.25, (document, spent)
    answer = daemon.get(f"/v1/jobs/{waiting}", Prefer="respond-async, wait=0.1").expect(200)
    assert answer.headers["Preference-Applied"] == "wait=0.1"
    cancel(daemon, waiting)
    cancel(daemon, running)


def test_a_change_of_state_ends_all_long_polls(daemon):
    running, waiting = start_slow(daemon, 3)
    states = []

    def poll():
        states.append(daemon.get(f"/v1/jobs/{waiting}?wait=60").expect(200).json["state"])

    threads = [threading.Thread(target=poll) for _ in range(20)]
    for thread in threads:
        thread.start()
    harness.wait_until(daemon, lambda: daemon.held() == 20)
    cancel(daemon, waiting)
    for thread in threads:
        thread.join()
    assert len(states) == 20 and "queued" not in states, states
    cancel(daemon, running)


def test_jobs_can_be_filtered_by_state(daemon):
    done = daemon.solve(SMALL)["id"]
    listed = daemon.get("/v1/jobs?state=done&limit=1000").expect(200).json["jobs"]
    assert done in [job["id"] for job in listed]
    assert all(job["state"] == "done" for job in listed)
    seen = []
    cursor = ""
    while True:
        page = daemon.get(f"/v1/jobs?limit=3{cursor}").expect(200).json
        seen += [job["id"] for job in page["jobs"]]
        if page["next"] is None:
            break
        cursor = "&cursor=" + page["next"]
    assert len(seen) == len(set(seen)) and done in seen, seen
    daemon.get("/v1/jobs?state=asleep").expect(400, "BadParameter")
    daemon.get("/v1/jobs?limit=0").expect(400, "BadParameter")


def test_a_request_for_an_unknown_job_gets_404(daemon):
    for job in ("j_00000000000000000000000000", "nothing", "j_"):
        daemon.get(f"/v1/jobs/{job}").expect(404, "NoSuchJob")
        daemon.ask("DELETE", f"/v1/jobs/{job}").expect(404, "NoSuchJob")


def test_an_invalid_or_too_long_wait_is_refused(daemon):
    daemon.get("/v1/jobs/x?wait=61").expect(400, "BadParameter")
    daemon.get("/v1/jobs/x?wait=soon").expect(400, "BadParameter")


def test_a_failed_job_reports_the_vertices_of_its_negative_cycle(daemon):
    document = daemon.solve(b"p sp 3 3\na 1 2 1\na 2 3 -5\na 3 1 2\n")
    assert document["state"] == "failed", document
    assert document["problem"]["code"] == "NegativeCycle", document
    assert sorted(document["problem"]["cycle"]) == [1, 2, 3], document


def test_a_query_with_prefer_wait_waits_for_the_solve(daemon):
    job = daemon.submit(slow_graph(500 if harness.QUICK else 1500)).expect(202).json
    answer = daemon.get(f"/v1/graphs/{job['graph']}/distance?source=1&target=2", Prefer="wait=60")
    assert answer.expect(200).json["distance"] == 2
    daemon.get(f"/v1/graphs/{job['id']}/distance?source=1&target=2").expect(200)


def test_a_full_queue_refuses_a_job_before_reading_its_body(_):
    with harness.Daemon("--jobs.queue_limit", "1", *LASTING) as daemon:
        running = daemon.submit(slow_graph(LASTING_SIZE + 4)).expect(202).json["id"]
        until_running(daemon, running)
        waiting = daemon.submit(slow_graph(104), Idempotency_Key="w").expect(202).json["id"]
        again = daemon.submit(slow_graph(104), Idempotency_Key="w").expect(202)
        assert again.json["id"] == waiting, again.body
        daemon.submit(slow_graph(105), Idempotency_Key="new").expect(429, "QueueFull")
        connection = daemon.connect()
        connection.putrequest("POST", "/v1/jobs")
        connection.putheader("Content-Length", "1000000")
        connection.endheaders()
        response = connection.getresponse()
        assert response.status == 429 and int(response.headers["Retry-After"]) >= 1
        connection.close()
        cancel(daemon, waiting)
        cancel(daemon, running)


def test_every_job_that_was_sent_is_either_accepted_or_refused(_):
    with harness.Daemon("--jobs.queue_limit", "10", *LASTING) as daemon:
        running = daemon.submit(slow_graph(LASTING_SIZE + 6)).expect(202).json["id"]
        until_running(daemon, running)
        answers = []

        def upload(salt):
            body = b"p sp 200 1\na 1 2 %d\n" % (salt + 1) + b"c padding\n" * 5000
            answers.append(daemon.submit(body))

        threads = [threading.Thread(target=upload, args=(salt,)) for salt in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        taken = [answer.expect(202).json["id"] for answer in answers if answer.status != 429]
        refused = [answer.expect(429, "QueueFull") for answer in answers if answer.status == 429]
        assert len(taken) == len(set(taken)) == 10 and len(refused) == 54, (taken, len(refused))
        assert all(int(answer.headers["Retry-After"]) >= 1 for answer in refused)
        queued = daemon.get("/v1/jobs?state=queued").expect(200).json["jobs"]
        assert {job["id"] for job in queued} == set(taken), queued
        cancel(daemon, running)
        assert all(daemon.finish(job)["state"] == "done" for job in taken)


if __name__ == "__main__":
    harness.run(globals(), LASTING)
