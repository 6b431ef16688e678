"""Sends SIGTERM under load, repeatedly. The daemon exits with code 0 within ten seconds and
truncates no answer; afterwards, the state directory has exactly the acknowledged jobs."""

import campaign

ARGUMENTS = campaign.arguments(stops=200, seed=0)

import terms

LIMIT_S = 10


def main():
    ledger = campaign.Ledger(ARGUMENTS.seconds)
    longest_s = 0
    for seed in range(ARGUMENTS.seed, ARGUMENTS.seed + ARGUMENTS.stops):
        if ledger.is_over():
            break
        load, seconds = ledger.attempt(f"stop {seed}", terms.run, seed) or (None, LIMIT_S + 1)
        if load is not None:
            ledger.count("requests answered", load.answered)
            ledger.count("jobs acknowledged", len(load.kept))
            ledger.count("requests that came too late to be read", load.unread)
            ledger.failures += seconds > LIMIT_S
        longest_s = max(longest_s, seconds)
    print(f"the longest stop took {longest_s:.1f} s")
    ledger.close()


main()
