"""Kills, power cuts and failures at calls that change the state directory, some of all: what was
acknowledged is kept. The long form, tests/campaign/calls.py, takes every call."""

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


def test_a_failed_fsync_is_never_made_good():
    """The daemon leaves with 74; what waited was refused, and nothing was acknowledged after."""
    library = crash.shim("disk_shim")
    syncs = crash.count_calls(library, only="fsync")
    for k in range(syncs // 2, syncs - 2, max(1, syncs // 5)):
        calls, told, code = crash.run_fault(
            library, power=True, only="fsync", at=k, act=crash.ERRNOS["EIO"])
        assert code == 74, (k, code)
        assert not told.completed, k


if __name__ == "__main__":
    crash.shim("disk_shim")
    harness.run(globals(), each=False)
