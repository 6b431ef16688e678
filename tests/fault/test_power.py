"""Kills, power cuts and failures at calls that change the state directory, some of all: what was
acknowledged is kept. The long form, tests/campaign/calls.py, takes every call."""

import os
import random
import signal

import crash
import harness

# Of some 230 calls.
CHOSEN = 10


def some(calls, offset):
    return range(1 + offset, calls + 1, max(1, calls // CHOSEN))


def test_power_cuts():
    library = crash.shim("disk_shim")
    calls = crash.count_calls(library, power=True)
    for k in some(calls, 3):
        crash.run_fault(library, power=True, at=k, act="kill")


def test_kills():
    library = crash.shim("disk_shim")
    calls = crash.count_calls(library)
    for k in some(calls, 7):
        crash.run_fault(library, at=k, act="kill")


def test_failures():
    library = crash.shim("disk_shim")
    calls = crash.count_calls(library)
    acts = list(crash.ERRNOS.values()) + ["short"]
    for i, k in enumerate(some(calls, 5)):
        crash.run_fault(library, power=True, at=k, act=acts[i % len(acts)])


def test_a_small_result_that_cannot_be_written_at_once_is_written_later():
    library = crash.shim("disk_shim")
    for isolation in ("thread", "process"):
        place = crash.Place()
        fault = place.environment(library, at=1, only="pwrite", act=crash.ERRNOS["EIO"],
                                  folder=os.path.join(place.state, "results"))
        with crash.Daemon("--worker.isolation", isolation, state=place.state, environment=fault) as daemon:
            assert daemon.solve(crash.graph(1))["state"] == "done", isolation
            assert place.failures() == 1, isolation
        place.close()


def test_some_of_what_was_not_synced_is_there_after_a_power_cut():
    library = crash.shim("disk_shim")
    calls = crash.count_calls(library, power=True)
    for k in some(calls, 9):
        crash.run_fault(library, power=True, chooser=random.Random(k), at=k, act="kill")


def test_a_failed_fsync_is_never_ignored():
    """The daemon leaves with 74; what waited was refused, and nothing was acknowledged after. At the
    start SQLite lets that of a folder pass: the daemon's own sync of it follows."""
    library = crash.shim("disk_shim")
    syncs = crash.count_calls(library, only="fsync")
    passed = 0
    for k in range(1, syncs + 1):
        _, told, code = crash.run_fault(
            library, power=True, only="fsync", at=k, act=crash.ERRNOS["EIO"])
        assert not told.late or told.failed_at_start, (k, told.late)
        if told.failed_at_start == 0:
            assert code == 74 or told.completed, (k, code)
        passed += bool(told.failed_at_start)
    assert passed <= 2, passed


def test_a_signal_while_the_daemon_leaves_does_not_change_its_exit_code():
    library = crash.shim("disk_shim")
    for _ in range(3):
        place = crash.Place()
        fault = place.environment(library, only="fsync", act=crash.ERRNOS["EIO"])
        daemon = crash.Daemon(state=place.state, environment=fault)
        place.arm(1)
        assert daemon.submit(crash.graph(1)).status >= 500
        while daemon.process.poll() is None:
            daemon.process.send_signal(signal.SIGTERM)
        assert daemon.end() == 74
        place.close()


if __name__ == "__main__":
    crash.shim("disk_shim")
    harness.run(globals())
