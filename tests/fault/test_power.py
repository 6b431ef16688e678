"""Kills the daemon, cuts the power or lets a call fail, at some of the calls that change the state
directory: acknowledged data is preserved. The long form, tests/campaign/calls.py, tests every
call."""

import os
import random
import signal

import crash
import harness

# Number of calls that are tested; the script makes about 440.
CHOSEN = 7


def some(calls, offset):
    return range(1 + offset, calls + 1, max(1, calls // CHOSEN))


def test_power_cuts_lose_no_acknowledged_data():
    library = crash.shim("disk_shim")
    calls = crash.count_calls(library, power=True)
    for k in some(calls, 3):
        crash.run_fault(library, power=True, at=k, act="kill")


def test_kills_lose_no_acknowledged_data():
    library = crash.shim("disk_shim")
    calls = crash.count_calls(library)
    for k in some(calls, 7):
        crash.run_fault(library, at=k, act="kill")


def test_failed_system_calls_lose_no_acknowledged_data():
    library = crash.shim("disk_shim")
    calls = crash.count_calls(library)
    acts = list(crash.ERRNOS.values()) + ["short"]
    for i, k in enumerate(some(calls, 5)):
        crash.run_fault(library, power=True, at=k, act=acts[i % len(acts)])


def test_a_fault_at_the_link_of_a_changed_hierarchy_loses_no_acknowledged_data():
    library = crash.shim("disk_shim")
    assert crash.count_calls(library, only="linkat") == 1
    for act in ("kill", crash.ERRNOS["EIO"], crash.ERRNOS["ENOSPC"]):
        crash.run_fault(library, power=True, only="linkat", at=1, act=act)


def test_a_small_result_is_written_again_after_a_failed_write():
    library = crash.shim("disk_shim")
    for isolation in ("thread", "process"):
        place = crash.Place()
        fault = place.environment(library, at=1, only="pwrite", act=crash.ERRNOS["EIO"],
                                  folder=os.path.join(place.state, "results"))
        with crash.Daemon("--worker.isolation", isolation, state=place.state, environment=fault) as daemon:
            assert daemon.solve(crash.graph(1))["state"] == "done", isolation
            assert place.failures() == 1, isolation
        place.close()


def test_power_cuts_that_keep_some_unsynced_data_lose_no_acknowledged_data():
    library = crash.shim("disk_shim")
    calls = crash.count_calls(library, power=True)
    for k in some(calls, 9):
        crash.run_fault(library, power=True, chooser=random.Random(k), at=k, act="kill")


def test_a_failed_fsync_is_never_ignored():
    """The daemon refuses the waiting requests, acknowledges nothing more, and exits with 74. Only
    at the start, SQLite ignores a failed sync of a folder, which the daemon then syncs itself."""
    library = crash.shim("disk_shim")
    syncs = crash.count_calls(library, only="fsync")
    passed = 0
    for k in range(1, syncs + 1):
        _, told, code = crash.run_fault(
            library, power=True, only="fsync", at=k, act=crash.ERRNOS["EIO"])
        assert not told.late or told.failed_at_start, (k, told.late)
        if told.failed_at_start == 0:
            assert code == 74 or (told.completed and not told.failed_sync), (k, code)
        passed += bool(told.failed_at_start)
    assert passed <= 2, passed


def test_a_signal_during_shutdown_does_not_change_the_exit_code():
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
