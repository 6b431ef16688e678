"""Runs the script of the crash tests once for each allocation, and makes that allocation fail."""

import campaign

ARGUMENTS = campaign.arguments(step=25, first=1)

import crash


def main():
    ledger = campaign.Ledger(ARGUMENTS.seconds)
    library = crash.shim("memory_shim")
    calls = crash.count_calls(library)
    print(f"{calls} allocations")
    for k in range(ARGUMENTS.first, calls + 1, ARGUMENTS.step):
        if ledger.is_over():
            break
        ledger.attempt(f"allocation {k}", crash.run_fault, library, at=k)
    ledger.close()


main()
