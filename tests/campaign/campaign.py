"""Code that the campaigns share: makes the modules of the tests importable, counts results, and
prints the last line."""

import argparse
import pathlib
import sys
import time
import traceback

TESTS = pathlib.Path(__file__).parent.parent
sys.path[:0] = [str(TESTS / "http"), str(TESTS / "fault")]


def arguments(**numbers):
    """Parses the command line. It begins with the paths of apspd and apsp, as in the tests."""
    parser = argparse.ArgumentParser()
    parser.add_argument("apspd")
    parser.add_argument("apsp")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser.parse_args()


def slowness():
    """Returns how many seconds now pass while a computing program gets one second of processor
    time; at least 1. Time limits are meant for an idle machine and are multiplied by this."""
    began, began_cpu = time.monotonic(), time.process_time()
    while time.process_time() - began_cpu < 0.05:
        pass
    return max(1, (time.monotonic() - began) / (time.process_time() - began_cpu))


class Ledger:
    def __init__(self, seconds):
        self.ends = time.monotonic() + seconds
        self.counts = {}
        self.failures = 0
        self.began = time.monotonic()

    def is_over(self):
        return time.monotonic() >= self.ends

    def count(self, name, by=1):
        self.counts[name] = self.counts.get(name, 0) + by

    def attempt(self, label, action, *words, **named):
        """Calls action once and counts a failure; returns the result, or None after a failure."""
        self.count("runs")
        try:
            return action(*words, **named)
        except Exception:
            self.failures += 1
            if self.failures <= 10:
                print("FAILED", label, flush=True)
                traceback.print_exc(file=sys.stdout)
            return None

    def close(self):
        figures = ", ".join(f"{value} {name}" for name, value in self.counts.items())
        seconds = time.monotonic() - self.began
        print(f"{figures}, {self.failures} failed, in {seconds:.0f} s"
              + (" (cut short)" if self.is_over() else ""))
        sys.exit(1 if self.failures else 0)
