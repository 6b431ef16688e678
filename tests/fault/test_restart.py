"""Sends kill -9 at random times: acknowledged jobs exist afterwards, with the same IDs.
APSPD_TEST_KILLS sets the number of kills; the default is five, or two with smaller jobs in a
slow build."""

import os
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "http"))

import harness

KILLS = int(os.environ.get("APSPD_TEST_KILLS", "2" if harness.QUICK else "5"))
SEED = int(os.environ.get("APSPD_TEST_SEED", str(int(time.time()))))


# Number of vertices: enough that a job runs when the daemon is killed, and few enough that the
# other jobs end soon.
VERTICES = 400 if harness.QUICK else 1200


def graph(salt, n=VERTICES):
    lines = [f"p sp {n} {2 * n}"]
    for i in range(1, n + 1):
        lines.append(f"a {i} {i % n + 1} {1 + salt}")
        lines.append(f"a {i} {(i * 7919 + salt) % n + 1} {5000}")
    return "\n".join(lines).encode() + b"\n"


def submit_until_killed(daemon, first, acknowledged):
    """Submits graphs until the daemon is killed; records (job, salt) of each acknowledged one."""
    salt = first
    try:
        while True:
            answer = daemon.submit(graph(salt), Idempotency_Key=f"key-{salt}")
            if answer.status not in (200, 202):
                return
            acknowledged.append((answer.json["id"], salt))
            salt += 1
    except (OSError, harness.http.client.HTTPException):
        return


def test_kills_lose_no_accepted_data():
    chooser = random.Random(SEED)
    print(f"seed {SEED}, {KILLS} kills")
    salt = 0
    resumed = 0
    with harness.Daemon("--jobs.queue_limit", "100") as daemon:
        for round_ in range(KILLS):
            acknowledged = []
            thread = threading.Thread(target=submit_until_killed, args=(daemon, salt, acknowledged))
            instant = time.monotonic() + chooser.uniform(0.02, 0.7)
            thread.start()
            # Sends queries until it is time for the kill.
            while time.monotonic() < instant:
                daemon.get("/v1/jobs?limit=5")
            daemon.kill()
            thread.join()
            daemon.start()
            for job, its_salt in acknowledged[:3] + acknowledged[-2:]:
                state = daemon.get(f"/v1/jobs/{job}").expect(200).json["state"]
                resumed += state in ("queued", "running")
                document = daemon.finish(job)
                assert document["state"] == "done", (round_, document)
                assert document["input"]["format"] == "dimacs", (round_, document)
                assert document["input"]["bytes"] == len(graph(its_salt)), (round_, document)
                assert daemon.distance(job, 1, 2) == min(1 + its_salt, 5000), (round_, job)
                again = daemon.submit(graph(its_salt), Idempotency_Key=f"key-{its_salt}")
                assert again.expect(200).json["id"] == job, (round_, again.body)
            for job, _ in acknowledged:
                daemon.get(f"/v1/jobs/{job}").expect(200)
                daemon.ask("DELETE", f"/v1/jobs/{job}")
            salt += len(acknowledged) + 1
    print(f"{salt - KILLS} jobs acknowledged, {resumed} went on after their kill, 0 lost")


def test_a_name_refers_to_the_old_graph_until_the_new_graph_is_solved():
    """Kills the daemon while the new graph is solved, and right afterwards; a failed or
    cancelled job moves no name."""
    with harness.Daemon(*harness.LASTING) as daemon:
        daemon.solve(graph(1, 100), "?name=live")
        slow = daemon.submit(harness.slow_graph(harness.LASTING_SIZE), "?name=live").expect(202).json["id"]
        for _ in range(2):
            assert daemon.distance("live", 1, 2) == 2
            daemon.kill()
            daemon.start()
        daemon.ask("DELETE", f"/v1/jobs/{slow}").expect(202)
        assert daemon.finish(slow)["state"] == "cancelled"
        failed = daemon.solve(b"p sp 2 2\na 1 2 -5\na 2 1 1\n", "?name=live")
        assert failed["state"] == "failed", failed
        assert daemon.distance("live", 1, 2) == 2
        for salt in (5, 6, 7):
            job = daemon.submit(graph(salt, 100), "?name=live").expect(202).json["id"]
            daemon.wait_until_durable(job)
            daemon.kill()
            daemon.start()
            assert daemon.distance("live", 1, 2) == 1 + salt


def test_a_running_job_finishes_under_its_id_after_a_kill():
    with harness.Daemon() as daemon:
        job = daemon.submit(harness.slow_graph(1000 if harness.QUICK else 3000)).expect(202).json["id"]
        harness.wait_until(daemon, lambda: daemon.get(f"/v1/jobs/{job}").json["state"] != "queued")
        daemon.kill()
        daemon.start()
        document = daemon.finish(job)
        assert document["state"] == "done" and document["id"] == job, document


def test_results_and_names_survive_a_kill():
    with harness.Daemon() as daemon:
        job = daemon.solve(harness.SMALL, "?name=kept")
        daemon.wait_until_durable(job["id"])
        tag = daemon.get("/v1/graphs/kept/matrix").expect(200).headers["ETag"]
        daemon.kill()
        daemon.start()
        assert daemon.get("/v1/graphs/kept/matrix").expect(200).headers["ETag"] == tag
        assert daemon.distance("kept", 1, 3) == 12
        assert daemon.distance(job["id"], 1, 4) is None


if __name__ == "__main__":
    harness.run(globals())
