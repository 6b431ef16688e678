"""Leaves out one step of durability after the other, in a build configured with -Domissions=true: every
time one of the tests must go red."""

import os
import subprocess
import sys

import campaign

ARGUMENTS = campaign.arguments()

# The step, and the test that notices.
STEPS = [
    ("file-sync", "test_power"),
    ("names-sync", "test_power"),
    ("root-sync", "test_power"),
    ("parent-sync", "test_power"),
    ("catalogue-sync", "test_power"),
    ("commit", "test_power"),
    ("graph-file", "test_power"),
    ("result-file", "test_power"),
    ("file-sync-failure", "test_power"),
    ("block-check", "test_damage"),
    ("table-check", "test_damage"),
    ("graph-check", "test_damage"),
    ("owner-check", "test_damage"),
    ("lock", "test_disk"),
    ("format-check", "test_disk"),
]


def passes(name, step):
    """Whether the test passes; one that comes to no end has noticed too."""
    environment = {**os.environ, "DURABILITY_OMIT": step}
    command = [sys.executable, str(campaign.TESTS / "fault" / f"{name}.py"), ARGUMENTS.apspd,
               ARGUMENTS.apsp]
    try:
        return subprocess.run(command, env=environment, capture_output=True, timeout=90).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def main():
    ledger = campaign.Ledger(ARGUMENTS.seconds)
    for name in sorted({test for _, test in STEPS}):
        if not passes(name, "nothing"):
            print(f"{name} fails by itself")
            ledger.failures += 1
    for step, name in STEPS:
        if ledger.is_over():
            break
        ledger.count("steps")
        if passes(name, step):
            print(f"not noticed: {step}", flush=True)
            ledger.failures += 1
        else:
            ledger.count("noticed")
    ledger.close()


main()
