"""Damages files of results and graphs while the daemon is stopped: flips bits, loses blocks, swaps
blocks and files, truncates and extends files. The daemon must find all damage and serve no
damaged byte."""

import campaign

ARGUMENTS = campaign.arguments(files=10000, shelf=200, families=20, seed=0)

import crash
import damage
import harness


def main():
    ledger = campaign.Ledger(ARGUMENTS.seconds)
    place = crash.Place()
    limits = ("--jobs.queue_limit", "10000", "--jobs.history_limit", "1000")
    try:
        with harness.Daemon(*limits, state=place.state) as daemon:
            bodies = [crash.graph(salt, (40, 300, 90)[salt % 3]) for salt in range(1, ARGUMENTS.shelf + 1)]
            shelf = damage.Shelf(daemon, bodies, ARGUMENTS.families)
            for number in range(ARGUMENTS.seed, ARGUMENTS.seed + 10**6):
                if shelf.found + shelf.refused >= ARGUMENTS.files or ledger.is_over() or ledger.failures:
                    break
                action = shelf.damage_graphs if number % 5 == 4 else shelf.damage_results
                ledger.attempt(f"round {number}", action, damage.chooser(number))
            ledger.count("results damaged and found", shelf.found)
            ledger.count("graphs damaged and found", shelf.refused)
    finally:
        place.close()
    ledger.close()


main()
