"""Tests the traceparent header of requests and jobs."""

import json

import harness
from harness import LASTING, SMALL, slow_graph
from test_watch import cancel

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"


def events_of(daemon, job):
    lines = [json.loads(line) for line in daemon.log().splitlines()]
    return {line["event"]: line for line in lines if line.get("job") == job}


def test_the_trace_of_a_job_is_logged_and_survives_a_restart(_):
    with harness.Daemon() as daemon:
        answer = daemon.submit(SMALL, traceparent=PARENT).expect(202)
        assert answer.headers["traceparent"] == PARENT, answer.headers
        job = answer.json["id"]
        assert answer.json["traceparent"] == PARENT, answer.json
        assert daemon.finish(job)["traceparent"] == PARENT
        events = events_of(daemon, job)
        for name in ("job_accepted", "job_started", "job_done"):
            assert events[name]["trace_id"] == TRACE, events
        other = PARENT.replace("b7ad", "cafe")
        known = daemon.submit(SMALL, traceparent=other).expect(200).json
        assert known["state"] == "done" and known["traceparent"] == other, known
        running = daemon.submit(slow_graph(5000), traceparent=other).expect(202).json["id"]
        daemon.kill()
        daemon.start()
        assert daemon.get(f"/v1/jobs/{job}").json["traceparent"] == PARENT
        assert daemon.get(f"/v1/jobs/{running}").json["traceparent"] == other
        assert cancel(daemon, running)["traceparent"] == other


def test_a_repeated_submission_returns_the_first_trace(daemon):
    body = SMALL.replace(b"20", b"31")
    first = daemon.submit(body, traceparent=PARENT, Idempotency_Key="t").expect(202).json
    other = PARENT.replace("b7ad", "cafe")
    again = daemon.submit(body, traceparent=other, Idempotency_Key="t")
    assert again.json["id"] == first["id"] and again.json["traceparent"] == PARENT, again.body
    assert again.headers["traceparent"] == other, again.headers


def test_an_invalid_trace_is_ignored(daemon):
    for index, value in enumerate(("", "00-x", PARENT.upper(), PARENT + "0", PARENT + "," + PARENT)):
        answer = daemon.submit(SMALL.replace(b"20", b"%d" % (40 + index)), traceparent=value)
        assert "traceparent" not in answer.expect(202).json, (value, answer.body)
        assert answer.headers["traceparent"] is None, answer.headers


if __name__ == "__main__":
    harness.run(globals(), LASTING)
