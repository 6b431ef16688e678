"""Makes solvers fail in separate processes: each failure costs one process and nothing else. The
program under test has a CPU solver that fails by a plan (solver_fault.c)."""

import os
import select
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "http"))
import harness
import isolation
from isolation import Asker, STAGES, child_of, daemon, expire, losses, restarts, ring, until, until_hung

# Tests every fifth case; the long form, tests/campaign/workers.py, tests all of them.
FEW = 5


def test_an_error_at_any_stage_affects_only_its_job():
    codes = isolation.all_codes()
    cases = [(code, stage) for code in codes for stage in STAGES]
    # Tests each status at about a third of the stages; in quick runs at about one stage.
    cases = cases[:: len(STAGES) + 1 if harness.QUICK else 3]
    cases = [(10 + i, code, stage) for i, (code, stage) in enumerate(cases)]
    with daemon() as (found, plan):
        cached = found.solve(harness.SMALL)["graph"]
        # Each fault occurs once, so a lost device can be opened again.
        plan.write(*((n, stage, "status", code, 1) for n, code, stage in cases))
        with Asker(found, cached, 12):
            jobs = [found.submit(ring(n)).expect(202).json["id"] for n, _, _ in cases]
            for job, (n, code, stage) in zip(jobs, cases):
                document = found.finish(job)
                ended = document["state"], document["problem"] and document["problem"]["code"]
                if code in isolation.LOST:
                    assert ended == ("done", None), (code, stage, document)
                    assert document["workers_lost"] == 1, (code, stage, document)
                else:
                    assert ended == isolation.ENDS.get(code, ("failed", code)), (code, stage, document)
                    assert document["workers_lost"] == 0, (code, stage, document)
        assert not os.listdir(os.path.join(found.state, "quarantine"))
        lost = sum(code in isolation.LOST for _, code, _ in cases)
        assert restarts(found) == lost == losses(found), found.log()[-3000:]
        assert (b"the solver exited with code 80" in found.log()) == (lost > 0)
        assert found.solve(ring(9))["state"] == "done"


def test_opening_a_device_is_retried_after_a_failure():
    with daemon() as (found, _):
        cached = found.solve(harness.SMALL)["graph"]
        with Asker(found, cached, 12):
            for code in isolation.all_codes()[:: 3 * FEW if harness.QUICK else FEW]:
                assert isolation.fail_to_open(found, "status", code) == code


def test_each_cuda_error_maps_to_the_right_status():
    with daemon() as (found, _):
        cached = found.solve(harness.SMALL)["graph"]
        with Asker(found, cached, 12):
            # Causes each CUDA error once; the stage changes from error to error.
            for i, error in enumerate(isolation.CUDA[:: 3 if harness.QUICK else 1]):
                isolation.fail_in_job(found, STAGES[i % len(STAGES)], error, 20 + i)
            isolation.fail_to_open(found, "cuda", 46)
        isolation.fail_at_close(found, 700)
    assert isolation.fail_at_start(802) == 78
    assert isolation.fail_at_start(999) == 80


def test_the_service_survives_every_worker_death_at_every_stage():
    deaths = (("exit", 0), ("exit", 3), ("exit", 79), ("exit", 82), ("exit", 85), ("signal", 9),
              ("signal", 11), ("signal", 31), ("send", 0))
    cases = [(10 + i, *death, stage) for i, (death, stage) in
             enumerate((death, stage) for death in deaths for stage in STAGES)]
    cases = cases[:: len(STAGES) + 1 if harness.QUICK else 3]
    with daemon() as (found, plan):
        cached = found.solve(harness.SMALL)["graph"]
        # Each job dies once and then succeeds. Without successes, the delay between restarts would
        # grow.
        plan.write(*((n, stage, action, argument, 1) for n, action, argument, stage in cases))
        with Asker(found, cached, 12):
            for n, action, argument, stage in cases:
                document = found.solve(ring(n))
                assert document["state"] == "done", (action, argument, stage, document)
                assert document["workers_lost"] == 1, (action, argument, stage, document)
                assert found.distance(document["graph"], 1, n) == n - 1
        assert restarts(found) == len(cases)


def test_a_hung_process_is_detected_and_killed():
    with daemon() as (found, plan):
        cached = found.solve(harness.SMALL)["graph"]
        with Asker(found, cached, 12):
            for n, stage in ((20, "round"), (21, "alloc")):
                plan.write((n, stage, "hang", 0, 1))
                job = found.submit(ring(n)).expect(202).json["id"]
                until_hung(found, job)
                expire(found, "stall")
                document = found.finish(job)
                assert document["state"] == "done" and document["workers_lost"] == 1, document
        reasons = [event["reason"] for event in found.events("worker_lost")]
        assert reasons == ["the solver made no progress and was killed"] * 2, reasons
        # A process that is stopped while idle sends no heartbeat.
        before = restarts(found)
        os.kill(child_of(found), signal.SIGSTOP)
        expire(found, "silence")
        until(found, "/v1/devices", lambda a: a.json["devices"][0]["restarts"] > before)
        assert b"the solver sent no heartbeat and was killed" in found.log()
        assert found.solve(ring(22))["state"] == "done"


def test_a_worker_stopped_during_a_solve_is_replaced():
    # Without planning, the first round begins soon.
    with daemon("--solver.plans", "none") as (found, _):
        job = found.submit(harness.slow_graph(1500 if harness.QUICK else 2500), "?result=matrix").expect(202).json["id"]
        until(found, f"/v1/jobs/{job}", lambda answer: answer.json["progress"] > 0)
        os.kill(child_of(found), signal.SIGSTOP)
        expire(found, "silence")
        document = found.finish(job)
        assert document["state"] == "done" and document["workers_lost"] == 1, document
        assert b"the solver sent no heartbeat and was killed" in found.log()


def test_a_hung_job_can_be_cancelled():
    with daemon() as (found, plan):
        plan.write((20, "round", "hang", 0, 1))
        job = found.submit(ring(20)).json["id"]
        until_hung(found, job)
        found.ask("DELETE", f"/v1/jobs/{job}").expect(202)
        expire(found, "stall")
        assert found.finish(job)["state"] == "cancelled"


def test_a_worker_killed_from_outside_is_replaced():
    with daemon() as (found, plan):
        cached = found.solve(harness.SMALL)["graph"]
        plan.write((20, "round", "hang", 0, 1))
        job = found.submit(ring(20)).json["id"]
        until_hung(found, job)
        with Asker(found, cached, 12):
            os.kill(child_of(found), signal.SIGKILL)
            document = found.finish(job)
        assert document["state"] == "done" and document["workers_lost"] == 1, document


def test_a_job_that_kills_three_workers_fails_even_after_a_restart():
    with daemon() as (found, plan):
        killer = (30, "round", "signal", 9, 0)
        # After the first failure no other worker can be opened, so the daemon can be killed.
        plan.write(killer, (0, "open", "exit", 1, 0))
        job = found.submit(ring(30)).json["id"]
        until(found, f"/v1/jobs/{job}", lambda answer: answer.json["workers_lost"] == 1)
        until(found, f"/v1/jobs/{job}", lambda answer: answer.json["state"] == "queued")
        found.kill()
        plan.write(killer)
        before = losses(found)
        found.start()
        document = found.finish(job)
        assert document["state"] == "failed" and document["workers_lost"] == 3, document
        assert document["problem"]["code"] == "PoisonJob", document
        assert "signal 9" in document["problem"]["detail"], document
        assert losses(found) == before + 2
        assert found.solve(ring(31))["state"] == "done"
        found.kill()
        found.start()
        assert found.get(f"/v1/jobs/{job}").json["problem"]["code"] == "PoisonJob"


def test_a_compromised_solver_cannot_escape_the_sandbox():
    with daemon() as (found, _):
        report = found.events("worker_confined")[0]
        if report.get("seccomp") != "on":
            print("a build or a kernel without confinement:", report)
            return
        # The daemon started the first process before it dropped its own rights, and the second
        # after.
        for n in (20, 21):
            outcomes, descriptors = isolation.attempts(found, n)
            needed = {name: outcomes.pop(name) for name in ("thread", "map", "machine", "talk", "write")}
            assert set(needed.values()) == {"done"}, needed
            assert len(outcomes) >= 50, outcomes
            if report["landlock"] > 0:
                let = {name: what for name, what in outcomes.items() if what != "refused"}
                assert not let, let
            assert descriptors == 2, "the graph's and the result's, and no other"
            expect_bare(child_of(found))
            isolation.kill_worker(found)


def expect_bare(process):
    fields = {"CapEff": 0, "CapPrm": 0, "NoNewPrivs": 1, "Seccomp": 2}
    for thread in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{thread}/status") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        for field, value in fields.items():
            assert int(status[field], 16) == value, (field, status)


def test_a_process_that_breaks_the_protocol_counts_as_lost():
    with daemon() as (found, _):
        for i, (what, stage) in enumerate(isolation.MESSAGES):
            isolation.send(found, what, stage, 400 + i)


def test_a_plan_that_does_not_fit_in_memory_is_replaced_by_the_dense_plan():
    with daemon() as (found, plan):
        n, graph = isolation.rings(8, 150)
        plan.write((n, "fits", "refuse", 0, 1))
        document = found.solve(graph)
        assert (document["state"], document["plan"]["kind"]) == ("done", "dense"), document
        document = found.solve(isolation.rings(8, 150, weight=2)[1])
        assert (document["state"], document["plan"]["kind"]) == ("done", "nested_dissection"), document


def test_jobs_wait_for_device_memory_that_other_processes_use():
    size = isolation.bytes_of
    memory = (size(600), 2 * size(1300))
    with daemon(memory=memory) as (found, plan):
        children = sorted(isolation.children_of(found))
        limit = found.get("/v1/limits").json["vertex_limit"]
        assert size(limit) <= memory[1] < size(limit + 1), limit
        refused = found.submit(f"p sp {limit + 1} 1\n".encode(), "?result=matrix").expect(413, "TooLarge").json
        assert str(limit) in refused["hint"] + refused["detail"] and "memory" in refused["hint"], refused
        # The shortage is recognized before the solve, or only during it; in the last two cases it
        # ends after two attempts, or never.
        plan.write((1200, "fits", "has", size(1200), 0), (1208, "memory", "has", size(1208), 1),
                   (20, "memory", "has", size(20) - 1, 2), (21, "memory", "has", size(21) - 1, 0))
        lengths = (150, 151, 152)
        rings = [found.submit(isolation.rings(8, n)[1]).expect(202).json["id"] for n in lengths]
        ones = [found.submit(ring(n)).expect(202).json["id"] for n in (20, 21, 700)]
        for job, length, kind in zip(rings, lengths, ("dense", "nested_dissection", "nested_dissection")):
            isolation.expect_short(found, job, length, plan=kind)
        for job, length, kind in zip(ones, (20, 21, 700), ("dense", None, "nested_dissection")):
            isolation.expect_short(found, job, length, kind is not None, kind)
        assert [plan.struck(line) for line in (2, 3)] == [2, isolation.MEMORY_ATTEMPTS]
        # No job was put back because a device was too small for it.
        assert len(found.events("job_put_back")) == 1 + 2 + isolation.MEMORY_ATTEMPTS - 1
        assert found.solve(ring(22))["state"] == "done"
        assert losses(found) == 0 and sorted(isolation.children_of(found)) == children


def test_the_worker_exits_with_its_daemon():
    with daemon() as (found, plan):
        plan.write((20, "round", "hang", 0, 1))
        until_hung(found, found.submit(ring(20)).json["id"])
        watched = os.pidfd_open(child_of(found))
        found.kill()
        assert select.select([watched], [], [], harness.PATIENCE_S)[0], "the worker outlived its daemon"
        os.close(watched)
        found.start()


def test_a_worker_that_is_down_is_reported_and_replaced():
    with daemon() as (found, plan):
        cached = found.solve(harness.SMALL)["graph"]
        assert found.get("/readyz?verbose").json["checks"]["worker"] is True
        plan.write((0, "open", "exit", 1, 0))
        os.kill(child_of(found), signal.SIGKILL)
        until(found, "/readyz", lambda answer: answer.status == 503).expect(503, "NotReady")
        assert found.get("/v1/devices").json["devices"][0]["state"] == "restarting"
        assert found.distance(cached, 1, 3) == 12
        found.get("/livez").expect(200)
        job = found.submit(ring(20)).expect(202).json["id"]
        assert found.get(f"/v1/jobs/{job}").json["state"] == "queued"
        plan.write()
        assert found.finish(job)["state"] == "done"
        found.get("/readyz").expect(200)
        assert found.get("/v1/devices").json["devices"][0]["state"] == "ready"


def check_a_lie(way):
    with daemon(isolation=way) as (found, plan):
        # Every row has an error, because the rows that are verified are random.
        plan.write((40, "download", "lie", "each", 1))
        document = found.solve(ring(40))
        assert document["state"] == "failed", document
        assert document["problem"]["code"] == "NotVerified", document
        path = f"/v1/graphs/{document['graph']}/distance?source=1&target=2"
        found.get(path).expect(409, "NotSolved")
        assert found.solve(ring(40))["state"] == "done"
        assert found.distance(document["graph"], 1, 2) == 1


def test_a_wrong_matrix_is_never_published():
    check_a_lie("thread")
    check_a_lie("process")


def test_a_device_lost_in_thread_mode_ends_the_daemon_with_exit_code_80():
    with daemon(isolation="thread") as (found, plan):
        plan.write((20, "round", "status", "DeviceLost", 1))
        job = found.submit(ring(20)).json["id"]
        assert found.process.wait(harness.PATIENCE_S) == 80
        found.process.stdout.close()
        found.check_log()
        found.start()
        document = found.finish(job)
        assert document["state"] == "done" and document["workers_lost"] == 1, document


harness.run(globals())
