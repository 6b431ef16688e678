"""SIGTERM in the middle of everything: polls are answered, exit 0, the job goes on after a start."""

import signal
import threading

import harness
from harness import SMALL, slow_graph


# Both outlast what is done while they run, and are solved to their end.
LONGER = 1200 if harness.QUICK else 7000
LONG = 800 if harness.QUICK else 4500


def until_running(daemon, job):
    while daemon.get(f"/v1/jobs/{job}").json["state"] == "queued":
        pass


def test_a_stop_answers_polls_and_keeps_the_jobs():
    with harness.Daemon("--jobs.drain_s", "1") as daemon:
        running = daemon.submit(slow_graph(LONGER)).expect(202).json["id"]
        waiting = daemon.submit(slow_graph(200)).expect(202).json["id"]
        until_running(daemon, running)
        answers = []

        def poll(job):
            answers.append(daemon.get(f"/v1/jobs/{job}?wait=60").expect(200).json)

        threads = [threading.Thread(target=poll, args=(job,)) for job in [running, waiting] * 5]
        for thread in threads:
            thread.start()
        for _ in range(100):
            daemon.get("/livez")
        daemon.terminate()
        for thread in threads:
            thread.join(10)
        assert len(answers) == 10, answers
        daemon.start()
        for job in (waiting, running):
            document = daemon.finish(job)
            assert document["state"] == "done" and document["id"] == job, document


def test_a_draining_service_takes_no_jobs():
    with harness.Daemon("--jobs.drain_s", "30") as daemon:
        job = daemon.submit(slow_graph(LONG)).expect(202).json["id"]
        until_running(daemon, job)
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
        connection.close()
        assert daemon.process.wait(60) == 0
        daemon.process.stdout.close()
        daemon.check_log()
        daemon.start()
        assert daemon.get(f"/v1/jobs/{job}").json["state"] == "done"


def test_an_idle_service_stops_at_once():
    for _ in range(5):
        with harness.Daemon() as daemon:
            connections = [daemon.connect() for _ in range(5)]
            for connection in connections:
                daemon.ask("GET", "/livez", connection=connection)
            daemon.terminate(10)
            for connection in connections:
                connection.close()


if __name__ == "__main__":
    harness.run(globals(), each=False)
