"""Tests a solver process that is stuck in a call of its driver: when it is killed, it does not end
until the call returns. Skipped if the kernel has no FUSE or does not permit mounts."""

import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "http"))
import harness
import mounts
import stuck
from isolation import Asker, children_of, daemon, expire, ring, states, until, until_all_ready


def story(found):
    """Returns the logged events of processes, in order: starts, losses and ends."""
    names = [event["event"] for event in found.events()]
    return [name.removeprefix("worker_") for name in names
            if name in ("worker_started", "worker_lost", "worker_stuck", "worker_exited")]


def lose(found, n):
    """Submits a job on n vertices whose process gets stuck, and waits until its device counts as
    lost; returns the job and the process."""
    found.plan.write((n, "round", "stuck", 0, 1))
    before = set(children_of(found))
    times = len(found.events("worker_stuck"))
    job = found.submit(ring(n)).expect(202).json["id"]
    found.calls.wait_for_read()
    expire(found, "stall")
    until(found, "/v1/devices", lambda _: len(found.events("worker_stuck")) > times)
    assert "lost" in states(found) and set(children_of(found)) == before
    held = [child for child in before if stuck.holds(child)]
    assert len(held) == 1, held
    return job, held[0]


def test_a_device_counts_as_lost_until_the_driver_call_returns():
    with daemon(calls=True) as (found, _):
        cached = found.solve(harness.SMALL)["graph"]
        for n in (20, 21):
            with Asker(found, cached, 12):
                job, process = lose(found, n)
                document = until(found, f"/v1/jobs/{job}", lambda a: a.json["state"] == "queued").json
                assert document["workers_lost"] == 1, document
                other = found.submit(ring(9, n)).expect(202).json["id"]
                assert found.get(f"/v1/jobs/{other}").json["state"] == "queued"
                found.get("/readyz").expect(503, "NotReady")
                assert b"\napspd_ready 0\n" in found.get("/metrics").body
                found.get("/livez").expect(200)
                assert children_of(found) == [process], "nobody else is let to the device"
                assert found.events("worker_lost")[-1]["reason"] == "the solver made no progress and was killed"
                assert found.events("worker_stuck")[-1]["pid"] == process
                found.calls.release()
                assert found.finish(job)["state"] == found.finish(other)["state"] == "done"
            assert found.events("worker_exited")[-1]["pid"] == process
            assert states(found) == ["ready"]
            found.get("/readyz").expect(200)
        assert story(found) == ["started", *["lost", "stuck", "exited", "started"] * 2]


def test_a_job_of_a_lost_device_moves_to_another_device():
    with daemon(gpus=2, calls=True) as (found, _):
        assert states(found) == ["ready", "ready"]
        job, process = lose(found, 20)
        document = found.finish(job)
        assert (document["state"], document["workers_lost"]) == ("done", 1), document
        for n in range(30, 40):
            assert found.solve(ring(n))["state"] == "done"
        found.get("/readyz").expect(200)
        assert sorted(states(found)) == ["lost", "ready"]
        assert process in children_of(found) and len(children_of(found)) == 2
        found.calls.release()
        until_all_ready(found)
        assert found.solve(ring(41))["state"] == "done"
        assert story(found) == ["started", "started", "lost", "stuck", "exited", "started"]


def test_the_daemon_exits_without_waiting_for_a_stuck_process():
    with daemon(calls=True) as (found, plan):
        cached = found.solve(harness.SMALL)["graph"]
        job, process = lose(found, 20)
        found.terminate()
        assert stuck.holds(process)
        plan.write()
        found.start()
        assert found.distance(cached, 1, 3) == 12
        assert found.finish(job)["state"] == "done"
        assert stuck.holds(process), "it was not waited for"


def test_a_process_stuck_while_exiting_is_abandoned():
    with daemon(calls=True) as (found, plan):
        graph = found.solve(ring(20))["graph"]
        plan.write((0, "close", "stuck", 0, 1))
        process, = children_of(found)
        found.terminate()
        assert stuck.holds(process)
        found.start()
        assert found.distance(graph, 1, 20) == 19


def test_a_shutdown_does_not_wait_for_a_device_to_open():
    with daemon(calls=True) as (found, plan):
        plan.write((0, "open", "stuck", 0, 1))
        os.kill(children_of(found)[0], signal.SIGKILL)
        found.calls.wait_for_read()
        process, = children_of(found)
        assert states(found) == ["restarting"]
        found.terminate()
        assert stuck.holds(process)
        found.start()


def test_a_shutdown_does_not_wait_for_a_driver_call_that_hangs():
    with daemon(calls=True) as (found, plan):
        plan.write((20, "round", "stuck", 0, 1))
        job = found.submit(ring(20)).expect(202).json["id"]
        found.calls.wait_for_read()
        process, = children_of(found)
        found.terminate()
        assert stuck.holds(process)
        found.start()
        assert found.finish(job)["state"] == "done"


if __name__ == "__main__":
    if not os.access(stuck.DEVICE, os.R_OK | os.W_OK):
        print("skipped: no FUSE here")
        sys.exit(harness.SKIPPED)
    mounts.enter_namespace()
    harness.run(globals())
