#!/bin/sh
# A machine with a GPU: the solver in a process of its own, confined; the same answers as by the CPU;
# killed in the middle of a job, the job is done all the same. Usage: try_worker_gpu.sh BUILD [VERTICES]
# of the job that is killed (default 40000). Prints what it saw; exits with 1 when anything was wrong.
exec python3 - "$@" <<'PROGRAM'
import datetime
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

BUILD = pathlib.Path(sys.argv[1]).resolve()
LONG = int(sys.argv[2]) if len(sys.argv) > 2 else 40000
WAIT_S = 400
# What a confined process must have, in every thread.
FIELDS = {"CapEff": 0, "NoNewPrivs": 1, "Seccomp": 2}
GRAPHS = {
    "i4": ("--shape", "gnp", "--n", "3000", "--directed"),
    "f4": ("--shape", "gnp", "--n", "2500", "--kind", "f4"),
    "planned": ("--shape", "road", "--n", "12000"),
    "small": ("--shape", "gnp", "--n", "100"),
}
failures = []


def check(true, *what):
    print("ok    " if true else "FAILED", *what, flush=True)
    if not true:
        failures.append(what)


class Service:
    def __init__(self, folder):
        self.log = folder / "log"
        command = [BUILD / "apspd", "--listen", "127.0.0.1:0", "--state-dir", folder / "state", "--solver",
                   "gpu", "--worker.isolation", "process"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log.open("wb"))
        line = self.process.stdout.readline().decode()
        if not line.startswith("listening on http"):
            sys.exit(f"apspd did not start:\n{self.log.read_text()}")
        self.url = line.split()[-1]

    def ask(self, path, body=None):
        with urllib.request.urlopen(self.url + path, data=body, timeout=WAIT_S) as answer:
            return answer.read()

    def json(self, path, body=None):
        return json.loads(self.ask(path, body))

    def events(self, name):
        lines = [line for line in self.log.read_text().split("\n")[:-1] if line.startswith("{")]
        return [event for event in map(json.loads, lines) if event["event"] == name]

    def worker(self):
        return self.events("worker_started")[-1]["pid"]

    def finish(self, job, states=("done", "failed", "cancelled")):
        ends = time.monotonic() + WAIT_S
        document = None
        while time.monotonic() < ends:
            document = self.json(f"/v1/jobs/{job}?wait=5")
            if document["state"] in states:
                break
        return document


def seconds_of(event):
    return datetime.datetime.fromisoformat(event["time"].replace("Z", "+00:00")).timestamp()


def generate(folder, name, words, seed=7):
    path = folder / f"{name}.gr"
    subprocess.run([BUILD / "apsp", "generate", *words, "--seed", str(seed), path], check=True, stdout=subprocess.DEVNULL)
    return path


def solve_on_cpu(folder, path):
    out = folder / (path.stem + ".npy")
    subprocess.run([BUILD / "apsp", "solve", "--solver", "cpu", "--quiet", path, out], check=True)
    return out.read_bytes()


# Floats are rounded by the order of their sums, which is the back end's.
def compare(name, served, expected):
    if name != "f4":
        check(served == expected, name, "the same bytes as apsp solve --solver cpu:", len(served))
        return
    import array

    ours, theirs = array.array("f", served[128:]), array.array("f", expected[128:])
    differ = sum(a != b for a, b in zip(ours, theirs))
    worst = max((abs(a - b) / max(abs(b), 1) for a, b in zip(ours, theirs) if a != b), default=0)
    check(len(ours) == len(theirs) and worst < 1e-5, name, "of", len(ours), "entries", differ,
          "differ, by at most", f"{worst:.1e}")


def look_at(service, words):
    report = service.events("worker_confined")[-1]
    print("      ", words, json.dumps(report))
    worker = service.worker()
    threads = sorted(os.listdir(f"/proc/{worker}/task"))
    found = {field: set() for field in FIELDS}
    for thread in threads:
        status = pathlib.Path(f"/proc/{worker}/task/{thread}/status").read_text()
        for field in FIELDS:
            found[field].add(int(re.search(rf"^{field}:\s*(\S+)", status, re.M).group(1), 16))
    for field, value in FIELDS.items():
        check(found[field] == {value}, words, f"{field} {sorted(found[field])} in {len(threads)} threads")
    print("      ", words, "left out for want of it in the kernel:", report.get("without", "nothing"))


def solve_each(service, folder, seed):
    for name, words in GRAPHS.items():
        path = generate(folder, name, words, seed)
        job = service.json("/v1/jobs?verify=true", path.read_bytes())
        document = service.finish(job["id"])
        check(document["state"] == "done" and document["solver"] == "gpu" and document["workers_lost"] == 0,
              name, document["state"], document["device"], "plan", document["plan"]["kind"],
              document["problem"] or "")
        if document["state"] == "done":
            served = service.ask(f"/v1/graphs/{document['graph']}/matrix?format=npy")
            compare(name, served, solve_on_cpu(folder, path))


def kill_in_the_middle(service, folder):
    path = generate(folder, "long", ("--shape", "gnp", "--n", str(LONG), "--degree", "4", "--directed"))
    job = service.json("/v1/jobs", path.read_bytes())["id"]
    document = {}
    while document.get("state") in (None, "queued", "running") and not document.get("progress"):
        document = service.json(f"/v1/jobs/{job}")
    check(document["state"] == "running", "killed in the middle of a job:", document["state"],
          document["progress"])
    os.kill(service.worker(), signal.SIGKILL)
    document = service.finish(job)
    check(document["state"] == "done" and document["workers_lost"] == 1, "killed job", document["state"],
          "workers lost", document["workers_lost"], document["problem"] or "")
    lost = service.events("worker_lost")
    started = [event for event in service.events("worker_started") if event["time"] >= lost[-1]["time"]]
    check(len(lost) == 1 and len(started) == 1, "lost", [event["reason"] for event in lost], "started again",
          len(started))
    if lost and started:
        print(f"       from the loss to the next worker that is open: {seconds_of(started[0]) - seconds_of(lost[-1]):.3f} s")
    document = service.json(f"/v1/jobs/{job}")
    row = service.json(f"/v1/graphs/{document['graph']}/distance?source=1&target=2")
    print("      ", json.dumps({key: row[key] for key in ("source", "target", "distance") if key in row}))


with tempfile.TemporaryDirectory(prefix="apspd-try-gpu-") as name:
    folder = pathlib.Path(name)
    service = Service(folder)
    try:
        print(json.dumps(service.json("/v1/devices")))
        print("      ", json.dumps(service.events("confined")[-1]))
        look_at(service, "first worker:")
        solve_each(service, folder, 7)
        kill_in_the_middle(service, folder)
        look_at(service, "second worker:")
        solve_each(service, folder, 8)
        print(json.dumps(service.json("/v1/devices")))
        service.process.send_signal(signal.SIGTERM)
        check(service.process.wait(120) == 0, "stopped with code", service.process.returncode)
    except Exception as error:
        if isinstance(error, urllib.error.HTTPError):
            print(error.read().decode())
        print(service.log.read_text()[-6000:])
        raise
    finally:
        if service.process.poll() is None:
            service.process.kill()
            service.process.wait()
    print("workers lost:", [event["reason"] for event in service.events("worker_lost")])
    if failures:
        print(service.log.read_text()[-4000:])
sys.exit(1 if failures else 0)
PROGRAM
