"""SIGTERM under load: no answer is cut, nothing is done for a client that is not told so, exit 0. The
long form is tests/campaign/stops.py."""

import terms
import harness


def test_stops_under_load():
    for seed in range(1 if harness.QUICK else 4):
        load, _ = terms.run(seed)
        assert load.answered > 0


if __name__ == "__main__":
    harness.run(globals())
