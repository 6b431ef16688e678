"""Tests the log: JSON lines that connect requests with jobs, and a level that SIGHUP changes."""

import json
import os
import signal
import tempfile

import harness
from harness import SMALL

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def lines_of(daemon, **members):
    lines = [json.loads(line) for line in daemon.log().splitlines()]
    return [one for one in lines if all(one.get(k) == v for k, v in members.items())]


def until_logged(daemon, count=1, **members):
    """Waits for log lines: a request is logged after its answer was sent, so the client may see the
    answer first."""
    for _ in range(10_000):
        found = lines_of(daemon, **members)
        if len(found) >= count:
            return found
        daemon.get("/livez")
    raise AssertionError(members)


def test_log_lines_of_a_job_name_its_request_and_trace():
    with harness.Daemon() as daemon:
        answer = daemon.submit(SMALL, X_Request_Id="mine-1", traceparent=PARENT).expect(202)
        job = answer.json["id"]
        daemon.finish(job)
        (accepted,) = lines_of(daemon, event="job_accepted")
        assert accepted["job"] == job and accepted["request"] == "mine-1", accepted
        assert accepted["trace_id"] == PARENT[3:35], accepted
        assert lines_of(daemon, event="job_done", job=job)[0]["trace_id"] == PARENT[3:35]
        assert not lines_of(daemon, event="request")


def test_every_request_is_logged_at_level_debug():
    with harness.Daemon("--log.level", "debug") as daemon:
        answer = daemon.submit(SMALL, "?name=x", X_Request_Id="mine-2", traceparent=PARENT)
        (line,) = until_logged(daemon, event="request", request="mine-2")
        assert line["level"] == "debug" and line["method"] == "POST", line
        assert line["path"] == "/v1/jobs" and line["status"] == 202, line
        assert line["job"] == answer.json["id"] and line["trace_id"] == PARENT[3:35], line
        assert line["body_bytes"] == len(SMALL) and line["seconds"] >= 0, line
        daemon.get("/v1/jobs/none?wait=0", X_Request_Id="mine-3").expect(404)
        (line,) = until_logged(daemon, event="request", request="mine-3")
        assert line["path"] == "/v1/jobs/none" and line["status"] == 404, line
        assert "job" not in line and "trace_id" not in line, line


def reload(daemon, path, level, count):
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"[log]\nlevel = {level}\n")
    daemon.process.send_signal(signal.SIGHUP)
    return until_logged(daemon, count, event="reloaded" if level != "loud" else "reload_failed")


def test_sighup_reloads_the_log_level():
    file = tempfile.NamedTemporaryFile("w", suffix=".ini")
    with harness.Daemon("--config", file.name) as daemon:
        # On one connection, the service reads a request only when it is done with the previous one,
        # whether that was logged or not.
        connection = daemon.connect()
        for name in ("before", "between"):
            daemon.ask("GET", "/livez", headers={"X-Request-Id": name}, connection=connection)
        assert reload(daemon, file.name, "debug", 1)[-1]["log_level"] == "debug"
        daemon.get("/livez", X_Request_Id="while")
        until_logged(daemon, event="request", request="while")
        assert reload(daemon, file.name, "loud", 1)[-1]["line"] == 2
        daemon.get("/livez", X_Request_Id="still")
        until_logged(daemon, event="request", request="still")
        assert reload(daemon, file.name, "info", 2)[-1]["log_level"] == "info"
        daemon.get("/livez", X_Request_Id="after")
        daemon.solve(SMALL)
        assert not lines_of(daemon, event="request", request="before")
        assert not lines_of(daemon, event="request", request="after")
        assert lines_of(daemon, event="job_done")
    file.close()
    assert not os.path.exists(file.name)


if __name__ == "__main__":
    harness.run(globals())
