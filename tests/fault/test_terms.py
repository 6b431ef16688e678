"""Sends SIGTERM under load: no answer is truncated, no unacknowledged job is stored, and the exit
code is 0. The long form is tests/campaign/stops.py."""

import terms
import harness


def test_a_shutdown_under_load_answers_every_request():
    for seed in range(1 if harness.QUICK else 4):
        load, _ = terms.run(seed)
        assert load.answered > 0


if __name__ == "__main__":
    harness.run(globals())
