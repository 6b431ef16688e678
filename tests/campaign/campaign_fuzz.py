"""Runs every fuzz target ten million times: the readers, and all other code that parses bytes from
clients.

    campaign_fuzz.py BUILD CORPUS [--runs N] [--jobs J] [--seconds S] [--only TARGET]

BUILD is configured with CC=clang, -Dfuzz=true and -Db_sanitize=address,undefined; CORPUS is a
folder with one subfolder per target, to which the fuzzers add inputs; they also read
tests/fuzz/corpus. An input that causes a crash is left in CORPUS: add it to tests/fuzz/corpus,
which the ordinary test run replays, and fix the bug."""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
READERS = ("dimacs", "edges", "nthu", "json", "mtx", "metis", "npy", "jgf", "graphml", "matrix")
OTHERS = ("config", "decoder", "guard", "headers", "pairs", "query", "worker")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("corpus")
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--jobs", type=int, default=1, help="targets at once")
    parser.add_argument("--seconds", type=int, default=0, help="of each target at most; 0: any")
    parser.add_argument("--only", default="")
    return parser.parse_args()


def fuzz(options, name):
    """Returns the exit status and the number of executions."""
    corpus = os.path.join(options.corpus, name)
    target = f"reader_{name}" if name in READERS else name
    os.makedirs(corpus, exist_ok=True)
    done = subprocess.run(
        [os.path.join(options.build, "tests", "fuzz", f"fuzz_{target}"),
         f"-runs={options.runs}", f"-max_total_time={options.seconds}", "-max_len=200",
         # Without scheduling by rare features, which costs more than a reader does, there are twice
         # as many executions per second.
         "-len_control=0", "-entropic=0", "-reload=0", "-rss_limit_mb=2048", "-timeout=20",
         "-print_final_stats=1", f"-artifact_prefix={options.corpus}/crash-{name}-", corpus,
         os.path.join(HERE, "..", "fuzz", "corpus", name)],
        env={**os.environ, "ASAN_OPTIONS": "malloc_context_size=4:quarantine_size_mb=4"},
        capture_output=True, text=True, errors="replace")
    found = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    count = int(found.group(1)) if found else 0
    print(f"{name:8} {count:10} executions, exit status {done.returncode}", flush=True)
    if done.returncode != 0:
        print(done.stderr[-4000:], flush=True)
    return done.returncode


def main():
    options = parse_arguments()
    names = [name for name in READERS + OTHERS if options.only in name]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        sys.exit(max(pool.map(lambda name: fuzz(options, name), names)) != 0)


if __name__ == "__main__":
    main()
