"""Runs the script of the crash tests for every call that changes the state directory. The call
either fails or is the last one before a kill or a power cut."""

import campaign

ARGUMENTS = campaign.arguments(step=1)

import crash


def main():
    ledger = campaign.Ledger(ARGUMENTS.seconds)
    library = crash.shim("disk_shim")
    calls = crash.count_calls(library, power=True)
    plans = [("kill", {"act": "kill"}, False), ("power cut", {"act": "kill"}, True),
             ("short write", {"act": "short"}, True)]
    plans += [(name, {"act": code}, True) for name, code in crash.ERRNOS.items()]
    plans += [("EIO for good", {"act": crash.ERRNOS["EIO"], "sticky": 1}, True)]
    print(f"{calls} calls")
    for name, fault, power in plans:
        for k in range(1, calls + 1, ARGUMENTS.step):
            if ledger.is_over():
                break
            done = ledger.attempt(f"{name} at {k}", crash.run_fault, library, power, at=k, **fault)
            ledger.count("jobs acknowledged", len(done[1].jobs) if done else 0)
        print(f"{name}: {ledger.failures} failed so far", flush=True)
    syncs = crash.count_calls(library, only="fsync")
    for k in range(1, syncs + 1, ARGUMENTS.step):
        if ledger.is_over():
            break
        done = ledger.attempt(f"fsync {k}", crash.run_fault, library, True, only="fsync", at=k,
                              act=crash.ERRNOS["EIO"])
        if done and done[1].late and not done[1].failed_at_start:
            ledger.failures += 1
            print(f"acknowledged after a failed fsync {k}")
    ledger.close()


main()
