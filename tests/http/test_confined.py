"""The running daemon has dropped its privileges and entered the sandbox, in every thread, and
still serves requests."""

import concurrent.futures
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile

import harness
from harness import SMALL

REQUIRED = ("--service.confinement", "required")
# Enough jobs that their rows exceed the memory that SQLite uses for sorting.
HISTORY = 3000
FIELDS = {"CapInh": 0, "CapPrm": 0, "CapEff": 0, "CapAmb": 0, "NoNewPrivs": 1, "Seccomp": 2}


def fields(path):
    lines = pathlib.Path(path).read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def threads(daemon):
    """Returns the status of each thread; one may end between listing and reading."""
    folder = f"/proc/{daemon.process.pid}/task"
    found = []
    for thread in os.listdir(folder):
        try:
            found.append(fields(f"{folder}/{thread}/status"))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def last_event(daemon, name):
    import json

    events = [json.loads(line) for line in daemon.log().decode().splitlines()]
    return [event for event in events if event["event"] == name][-1]


def run_and_fail(*arguments):
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        done = subprocess.run(
            [harness.BINARY, "--listen", "127.0.0.1:0", "--state-dir", f"{folder}/s", *arguments],
            capture_output=True, text=True)
    return done.returncode, done.stderr


def test_every_thread_is_confined(daemon):
    daemon.solve(SMALL, "?name=small&verify=true")
    found = threads(daemon)
    assert len(found) > 4, found
    for status in found:
        for field, value in FIELDS.items():
            assert int(status[field], 16) == value, (field, status[field], status["Name"])
    limits = pathlib.Path(f"/proc/{daemon.process.pid}/limits").read_text()
    core = next(line for line in limits.splitlines() if line.startswith("Max core file size"))
    assert core.split()[4:6] == ["0", "0"], core


def test_the_log_lists_no_missing_part_of_the_sandbox(daemon):
    event = last_event(daemon, "confined")
    assert event["seccomp"] == "on" and "without" not in event, event
    assert event["landlock"] >= 2, event


def test_a_confined_service_serves_every_kind_of_request(daemon):
    job = daemon.solve(SMALL, "?name=again&verify=true")
    assert job["state"] == "done", job
    assert daemon.distance("again", 1, 3) == 12
    for path in ("/livez", "/readyz?verbose", "/version", "/openapi.json", "/docs", "/v1/devices",
                 "/v1/graphs/again/matrix?format=csv", "/v1/graphs/again/matrix?format=npy",
                 "/v1/graphs/again/path?source=1&target=3", "/v1/graphs/again/stats"):
        daemon.get(path).expect(200)
    daemon.ask("DELETE", "/v1/graphs/again")


def test_a_replaced_configuration_file_is_read_on_reload(_):
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        path = pathlib.Path(folder, "apspd.ini")
        path.write_text("[log]\nlevel = info\n")
        with harness.Daemon(*REQUIRED, "--config", str(path)) as daemon:
            other = pathlib.Path(folder, "new")
            other.write_text("[log]\nlevel = debug\n")
            other.rename(path)
            daemon.process.send_signal(signal.SIGHUP)
            harness.wait_until(daemon, lambda: b'"reload' in daemon.log())
            assert b'"reloaded"' in daemon.log(), daemon.log()
            assert last_event(daemon, "reloaded")["log_level"] == "debug"


def test_the_service_listens_on_a_host_name(_):
    try:
        socket.getaddrinfo("localhost", 0)
    except OSError:
        return
    with harness.Daemon(*REQUIRED, "--listen", "localhost:0") as daemon:
        daemon.get("/livez").expect(200)


def test_setting_confinement_to_off_disables_the_sandbox(_):
    with harness.Daemon("--service.confinement", "off") as daemon:
        assert all(status["Seccomp"] == "0" for status in threads(daemon))
        assert b'"confined"' not in daemon.log()


def test_root_does_not_take_over_the_state_of_another_user(_):
    if os.geteuid() != 0:
        return
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        state = os.path.join(folder, "state")
        os.mkdir(state, 0o700)
        os.chown(state, 65534, 65534)
        code, words = run_and_fail("--state-dir", state)
        assert code == 78 and "belongs to another user" in words, (code, words)


def test_the_state_directory_is_private_and_protected(_):
    before = os.umask(0)
    try:
        with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
            state = os.path.join(folder, "state")
            with harness.Daemon(state=state):
                modes = {name: os.stat(os.path.join(state, name)).st_mode & 0o7777
                         for name in (".", "graphs", "catalogue.db")}
            assert modes == {".": 0o700, "graphs": 0o700, "catalogue.db": 0o600}, modes
            os.chmod(state, 0o1777)
            code, words = run_and_fail("--state-dir", state)
            assert code == 78 and "users may write" in words and "chmod" in words, (code, words)
    finally:
        os.umask(before)


def test_a_large_history_is_read_after_a_restart(_):
    """SQLite sorts larger sets in temporary files, which a confined daemon cannot create."""
    with harness.Daemon(*REQUIRED) as daemon:
        daemon.solve(SMALL)

        def submit(number):
            return daemon.submit(SMALL, Idempotency_Key=f"{number:0120}").expect(200)

        with concurrent.futures.ThreadPoolExecutor(16) as clients:
            jobs = [answer.json["id"] for answer in clients.map(submit, range(HISTORY))]
        daemon.terminate()
        daemon.start()
        for job in jobs[::500]:
            assert daemon.get(f"/v1/jobs/{job}").expect(200).json["state"] == "done"


if __name__ == "__main__":
    with harness.Daemon() as probe:
        if last_event(probe, "confined").get("without"):
            print(probe.log().decode())
            sys.exit(harness.SKIPPED)
    harness.run(globals(), REQUIRED)
