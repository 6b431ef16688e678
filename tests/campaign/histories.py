"""Makes random histories of submissions, polls, queries, cancels and deletions by three concurrent
clients, with five kills in each history, and checks them against a sequential model."""

import campaign

ARGUMENTS = campaign.arguments(runs=200, seed=0)

import history


def main():
    ledger = campaign.Ledger(ARGUMENTS.seconds)
    for seed in range(ARGUMENTS.seed, ARGUMENTS.seed + ARGUMENTS.runs):
        if ledger.is_over():
            break
        ledger.count("calls judged", ledger.attempt(f"seed {seed}", history.run, seed) or 0)
        ledger.count("kills", 5)
    ledger.close()


main()
