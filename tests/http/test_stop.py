"""Sends SIGTERM during all kinds of work: long polls are answered, the exit code is 0, and jobs
continue after the next start."""

import signal
import threading

import harness
from harness import LASTING, SMALL
from test_watch import cancel, start_slow


def test_a_shutdown_answers_polls_and_preserves_jobs():
    with harness.Daemon("--jobs.drain_s", "1", *LASTING) as daemon:
        running, waiting = start_slow(daemon, 1)
        answers = []

        def poll(job):
            answers.append(daemon.get(f"/v1/jobs/{job}?wait=60").expect(200).json)

        threads = [threading.Thread(target=poll, args=(job,)) for job in [running, waiting] * 5]
        for thread in threads:
            thread.start()
        harness.wait_until(daemon, lambda: daemon.held() >= len(threads))
        daemon.terminate()
        for thread in threads:
            thread.join()
        assert len(answers) == 10, answers
        daemon.start()
        # Jobs keep their IDs; the job that was queued again takes long.
        assert daemon.get(f"/v1/jobs/{running}").json["state"] in ("queued", "running")
        assert cancel(daemon, running)["id"] == running
        document = daemon.finish(waiting)
        assert document["state"] == "done" and document["id"] == waiting, document


def test_a_draining_service_refuses_jobs():
    with harness.Daemon("--jobs.drain_s", "600", *LASTING) as daemon:
        running, waiting = start_slow(daemon, 2)
        connection = daemon.connect()
        daemon.ask("GET", "/livez", connection=connection)
        daemon.process.send_signal(signal.SIGTERM)
        while daemon.ask("GET", "/readyz", connection=connection).status == 200:
            pass
        daemon.ask("GET", "/readyz", connection=connection).expect(503, "Draining")
        daemon.ask("GET", "/livez", connection=connection).expect(200)
        answer = daemon.ask("POST", "/v1/jobs", body=SMALL, connection=connection)
        answer.expect(503, "Draining")
        assert int(answer.headers["Retry-After"]) >= 1
        # The end of this job ends the drain.
        daemon.ask("DELETE", f"/v1/jobs/{running}", connection=connection).expect(202)
        connection.close()
        assert daemon.process.wait(600) == 0
        daemon.process.stdout.close()
        daemon.check_log()
        daemon.start()
        assert daemon.get(f"/v1/jobs/{running}").json["state"] == "cancelled"
        assert daemon.finish(waiting)["state"] == "done"


def test_an_idle_service_stops_immediately():
    for _ in range(5):
        with harness.Daemon("--http.connection_timeout_s", "600") as daemon:
            connections = [daemon.connect() for _ in range(5)]
            for connection in connections:
                daemon.ask("GET", "/livez", connection=connection)
            daemon.terminate(60)
            for connection in connections:
                connection.close()


if __name__ == "__main__":
    harness.run(globals())
