"""Tests which devices solve a job if several devices can solve graphs together or separately, and
the plan of a waiting job. The solvers are those of solver_fault.c, which pose as GPUs."""

import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "http"))
import harness
import isolation
try:
    from description import Description
except ImportError:
    Description = None  # without jsonschema
from isolation import children_of, daemon, ring, until, until_hung

SIZE = isolation.bytes_of


def memory_of(n, devices=2):
    """Returns the memory of each device: just enough for a graph of n vertices."""
    return (SIZE(n) * 8 // 7 + 2,) * devices


def devices_of(found):
    return [device["indexes"] for device in found.get("/v1/devices").expect(200).json["devices"]]


def solved_by(found, document):
    assert document["state"] == "done", document
    assert found.distance(document["graph"], 1, 3) == 2
    return [share["index"] for share in document.get("devices", [])]


def intervals(found, together):
    """Returns {job: (start, end, whether all devices solved it)} in the order of the starts. Start
    and end are positions in the log."""
    places = {}
    for place, event in enumerate(found.events()):
        if event["event"] in ("job_started", "job_done"):
            places.setdefault(event["job"], []).append(place)
    return {job: (*found_at, job in together) for job, found_at in places.items()}


def test_a_job_too_large_for_one_device_uses_all_devices():
    with daemon(memory=memory_of(600), group="auto") as (found, _):
        assert devices_of(found) == [[0], [1], [0, 1]]
        assert len(children_of(found)) == 3
        limit = found.get("/v1/limits").json["vertex_limit"]
        # While all devices work together, no memory is reserved for another process.
        assert 600 * 2**0.5 - 1 <= limit < 620 * (2 * 8 / 7) ** 0.5, limit
        refused = found.submit(f"p sp {limit + 1} 1\n".encode(), "?result=matrix").expect(413, "TooLarge").json
        assert str(limit) in refused["hint"] + refused["detail"], refused
        document = found.solve(ring(700))
        assert solved_by(found, document) == [0, 1]
        assert document["devices"][1]["compute_s"] >= 0, document
        assert solved_by(found, found.solve(ring(40))) == []
        assert solved_by(found, found.solve(ring(600))) == []
        # The devices of the job are also reported after a restart.
        found.terminate()
        found.start()
        answer = found.get(f"/v1/jobs/{document['id']}").expect(200)
        assert answer.json["devices"] == document["devices"], answer.json
        if Description is not None:
            spec = Description(found.get("/openapi.json").json)
            spec.check("GET", "/v1/jobs/{id}", answer)
            spec.check("GET", "/v1/devices", found.get("/v1/devices"))


def test_no_other_job_runs_during_a_group_job():
    with daemon(memory=memory_of(300), group="auto") as (found, _):
        sizes = [(400 + i // 5) if i % 5 == 2 else 100 + i for i in range(40)]
        jobs = [found.submit(ring(n)).expect(202).json["id"] for n in sizes]
        documents = [found.finish(job) for job in jobs]
        together = {document["id"] for document in documents if solved_by(found, document)}
        assert together == {job for job, n in zip(jobs, sizes) if n >= 400}
        by_job = intervals(found, together)
        ranges = list(by_job.values())
        assert len(ranges) == len(jobs), ranges
        for begin, end, is_group in ranges:
            others = [other for other in ranges if other[0] < end and other[1] > begin]
            assert not is_group or others == [(begin, end, is_group)], others


def test_no_later_job_overtakes_a_group_job_that_waits_for_devices():
    with daemon(memory=memory_of(300), group="auto") as (found, plan):
        singles = sorted(children_of(found))[:2]
        plan.write((50, "round", "hang", 0, 2))
        held = [found.submit(graph).expect(202).json["id"] for graph in (ring(50), ring(50, 2))]
        for times, job in enumerate(held, 1):
            until_hung(found, job, times=times)
        large = found.submit(ring(400)).expect(202).json["id"]
        later = [found.submit(ring(100 + i)).expect(202).json["id"] for i in range(4)]
        for process in singles:
            os.kill(process, signal.SIGKILL)
            until(found, "/v1/devices", lambda answer: not any(
                device["state"] == "restarting" for device in answer.json["devices"]))
        documents = {job: found.finish(job) for job in (*held, large, *later)}
        assert solved_by(found, documents[large]) == [0, 1]
        starts = [event["job"] for event in found.events("job_started")]
        assert all(starts.index(large) < starts.index(job) for job in later), starts


def test_a_large_job_uses_all_devices_while_the_queue_is_empty():
    if harness.QUICK:
        return  # a slow build takes too long for 8,192 vertices
    n, graph = isolation.rings(64, 128)
    assert n == 8192
    with daemon(memory=memory_of(3 * n), group="auto") as (found, _):
        document = found.finish(found.submit(graph).expect(202).json["id"])
        assert solved_by(found, document) == [0, 1]
        document = found.solve(isolation.rings(63, 128)[1])
        assert solved_by(found, document) == []


def test_an_estimate_names_the_device_that_would_solve_the_graph():
    with daemon(memory=memory_of(9000), group="auto") as (found, _):
        def estimate(**asked):
            return found.ask("POST", "/v1/estimate", json.dumps(asked)).expect(200).json

        for n, together in ((100, False), (8191, False), (8192, True), (9000, True), (12000, True)):
            device = estimate(n=n, m=n)["device"]
            assert (device == "2 false GPUs") == together, (n, device)
        graph = found.ask("POST", "/v1/graphs", ring(700)).expect(201).json["id"]
        device = estimate(graph=graph)["device"]
        assert device != "2 false GPUs", device


def test_the_loss_of_a_group_counts_as_an_attempt():
    with daemon(memory=memory_of(600), group="auto") as (found, plan):
        plan.write((700, "round", "exit", 1, 1), (701, "round", "signal", int(signal.SIGSEGV), 0))
        lost = found.submit(ring(700)).expect(202).json["id"]
        doomed = found.submit(ring(701)).expect(202).json["id"]
        small = [found.submit(ring(n)).expect(202).json["id"] for n in range(20, 30)]
        document = found.finish(lost)
        assert solved_by(found, document) == [0, 1] and document["workers_lost"] == 1, document
        document = found.finish(doomed)
        assert document["problem"]["code"] == "PoisonJob" and document["workers_lost"] == 3, document
        for job in small:
            assert solved_by(found, found.finish(job)) == []
        assert solved_by(found, found.solve(ring(702))) == [0, 1]


def test_single_devices_work_while_the_group_is_down():
    with daemon(memory=memory_of(600), group="auto") as (found, plan):
        plan.write((700, "round", "exit", 1, 1), (0, "open", "exit", 1, 0))
        large = found.submit(ring(700)).expect(202).json["id"]
        document = found.solve(ring(20))
        assert solved_by(found, document) == []
        assert found.get(f"/v1/jobs/{large}").json["state"] in ("queued", "running")
        plan.write()
        assert solved_by(found, found.finish(large)) == [0, 1]


def test_every_job_is_solved_on_all_devices_if_group_is_set_to_all():
    with daemon(memory=memory_of(600, 3), group="all") as (found, _):
        assert devices_of(found) == [[0, 1, 2]]
        assert len(children_of(found)) == 1
        assert solved_by(found, found.solve(ring(1000))) == [0, 1, 2]


def test_no_group_is_formed_for_a_single_device_or_with_grouping_disabled():
    with daemon(memory=memory_of(600), group="none") as (found, _):
        assert devices_of(found) == [[0], [1]]
        found.submit(ring(700), "?result=matrix").expect(413, "TooLarge")
    with daemon(memory=memory_of(600, 1), group="auto") as (found, _):
        assert devices_of(found) == [[0]]


def street(seed):
    """Returns a narrow band of crossings, for which a plan is worthwhile and cached."""
    n = 2000
    edges = [f"a {a} {b} {seed}\na {b} {a} {seed}" for a in range(1, n + 1) for b in (a + 1, a + 2) if b <= n]
    return "\n".join([f"p sp {n} {2 * len(edges)}", *edges, ""]).encode()


def held_worker(found, plan, n=50):
    """Starts a job that hangs until its process is killed; returns the job."""
    plan.write((n, "round", "hang", 0, 1))
    held = found.submit(ring(n)).expect(202).json["id"]
    until_hung(found, held)
    return held


def test_cancelled_jobs_do_not_affect_the_plan_of_a_later_job():
    with daemon(memory=memory_of(3000, 1)) as (found, plan):
        held_worker(found, plan)
        for _ in range(20):
            waiting = found.submit(street(1)).expect(202).json
            found.ask("DELETE", f"/v1/jobs/{waiting['id']}").expect(202)
            found.ask("DELETE", f"/v1/graphs/{waiting['graph']}").expect(204)
        os.kill(*children_of(found), signal.SIGKILL)
        document = found.solve(street(2))
        assert document["state"] == "done" and document["plan"]["kind"] != "dense", document
        assert found.distance(document["graph"], 1, 3) == 2
        found.terminate()


harness.run(globals())
