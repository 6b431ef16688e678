"""Shortages of disk space and of open files: five jobs on disks of every size, a disk that fills
after jobs were accepted, and a limit of 64 open files. A count of 0 skips a part. Disk sizes go
from the smallest that holds a result to --most KiB more, in steps of --step KiB."""

import errno
import os
import select
import subprocess
import time
import types

import campaign

ARGUMENTS = campaign.arguments(step=4, most=1536, promised=1000, openings=20)

import crash
import harness
import mounts
import test_disk

NO_RESERVE = ("--store.disk_reserve", "0")
RECOVERY_S, OPENING_S = 5, 1
FILES = 64
JOBS = range(1, 6)
N = 150  # vertices of a graph, which takes about 88 KiB for its result and 10 KiB for itself
LEAST_KIB = 96  # a disk without space for any result refuses the graph as too large
BATCH = 20


def resize(disk, kib):
    subprocess.run(["mount", "-o", f"remount,size={kib}k", disk.path], check=True)


def submit_five(daemon, told, ledger):
    for salt in JOBS:
        key = f"key-{salt}"
        query = "?name=third" if salt == 3 else ""
        answer = daemon.submit(crash.graph(salt, n=N), query, Idempotency_Key=key)
        if answer.status in (200, 202):
            told.jobs[answer.json["id"]] = (salt, key)
            told.names |= {"third": answer.json["id"]} if query else {}
            ledger.count("jobs accepted")
        else:
            answer.expect(507)
            ledger.count("jobs refused")
    for job, (salt, _) in told.jobs.items():
        if daemon.get(f"/v1/jobs/{job}").expect(200).json["state"] == "done":
            answer = daemon.get(f"/v1/graphs/{job}/distance?source=1&target=3")
            assert answer.status != 200 or answer.json["distance"] == crash.answer_of(salt), answer.body


def settle(daemon, told):
    """Returns the seconds until a graph is accepted again and every accepted job is stored."""
    began = time.monotonic()
    while daemon.submit(crash.graph(50, n=N)).status not in (200, 202):
        assert time.monotonic() - began < 120, "it does not recover"
    for job in told.jobs:
        document = daemon.finish(job)
        assert document["state"] == "done", document
        while not document["durable"]:
            document = daemon.finish(job)
        told.durable.add(job)
    return time.monotonic() - began


def try_size(kib, ledger):
    disk = test_disk.Disk(64)
    told = crash.Told()
    try:
        resize(disk, kib)
        daemon = crash.Daemon(*NO_RESERVE, state=disk.state)
        try:
            submit_five(daemon, told, ledger)
            # A short poll suffices, because jobs that wait for space stay queued.
            for job in told.jobs:
                daemon.get(f"/v1/jobs/{job}?wait=0.2").expect(200)
            resize(disk, 1 << 16)
            seconds = settle(daemon, told)
            limit_s = RECOVERY_S if seconds <= RECOVERY_S else RECOVERY_S * campaign.slowness()
        finally:
            daemon.end()
        crash.check(types.SimpleNamespace(state=disk.state), told, NO_RESERVE, N)
        ledger.slowest = max(ledger.slowest, seconds)
        assert seconds <= limit_s, (seconds, limit_s)
    finally:
        disk.close()


def sizes(ledger):
    ledger.slowest = 0.0
    for kib in range(LEAST_KIB, LEAST_KIB + ARGUMENTS.most, ARGUMENTS.step):
        if ledger.is_over():
            break
        ledger.attempt(f"{kib} KiB", try_size, kib, ledger)
        ledger.count("sizes of a disk")
    print(f"from more room to all stored at most {ledger.slowest:.2f} s", flush=True)


# ---- A disk that fills behind accepted jobs ----


def fill_behind(daemon, disk, number, ledger):
    """Submits a batch that waits behind a long job, fills the disk, cancels the long job, frees the
    disk, and checks that the whole batch is done."""
    lasting = daemon.submit(harness.slow_graph(5000 + number)).expect(202).json["id"]
    jobs = {}
    for i in range(BATCH):
        salt = 1000 + number * BATCH + i
        jobs[daemon.submit(crash.graph(salt, n=N)).expect(202).json["id"]] = salt
    try:
        disk.fill()
    except OSError as error:  # files of the daemon have filled the disk already
        assert error.errno == errno.ENOSPC, error
    waiting = [job for job in jobs if daemon.get(f"/v1/jobs/{job}").json["state"] == "queued"]
    daemon.ask("DELETE", f"/v1/jobs/{lasting}").expect(202)
    daemon.finish(lasting)
    daemon.get(f"/v1/jobs/{next(iter(jobs))}?wait=0.5").expect(200)
    disk.drain()
    for job, salt in jobs.items():
        document = daemon.finish(job)
        assert document["state"] == "done", document
        assert daemon.distance(job, 1, 3) == crash.answer_of(salt)
    ledger.count("jobs accepted before the disk was full", BATCH)
    ledger.count("of them waiting then", len(waiting))
    for document in daemon.get("/v1/graphs?limit=1000").json["graphs"]:
        daemon.ask("DELETE", f"/v1/graphs/{document['id']}")


def promises(ledger):
    disk = test_disk.Disk(256)
    try:
        with harness.Daemon(*NO_RESERVE, "--solver", "cpu", "--solver.cpu_threads", "1",
                            "--jobs.queue_limit", "100", state=disk.state) as daemon:
            for number in range(ARGUMENTS.promised // BATCH):
                if ledger.is_over():
                    break
                ledger.attempt(f"batch {number}", fill_behind, daemon, disk, number, ledger)
    finally:
        disk.close()


# ---- 64 open files ----


def processor_s(daemon):
    with open(f"/proc/{daemon.process.pid}/stat", encoding="ascii") as file:
        words = file.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def wait(seconds):
    select.select([], [], [], seconds)


def crowd_in(daemon, worst):
    """Keeps more connections open than the daemon has file descriptors, for five seconds; then
    measures how soon one is served."""
    crowd = []
    for _ in range(4 * FILES):
        crowd.append(daemon.connect(timeout=60))
        crowd[-1].connect()
    wait(1)
    before = processor_s(daemon)
    wait(5)
    worst["cpu"] = max(worst["cpu"], (processor_s(daemon) - before) / 5)
    for connection in crowd:
        connection.close()
    began = time.monotonic()
    daemon.get("/livez").expect(200)
    seconds = time.monotonic() - began
    worst["recovery"] = max(worst["recovery"], seconds)
    assert worst["cpu"] < 0.01 and (seconds <= OPENING_S or seconds <= OPENING_S * campaign.slowness()), worst


def files(ledger):
    place, told, worst = crash.Place(), crash.Told(), {"cpu": 0.0, "recovery": 0.0}
    try:
        daemon = crash.Daemon("--http.header_timeout_s", "3600", "--http.connection_timeout_s", "3600",
                              state=place.state, limit=f"ulimit -n {FILES}")
        try:
            crash.run_script(daemon, told)
            for number in range(ARGUMENTS.openings):
                if ledger.is_over():
                    break
                ledger.attempt(f"crowd {number}", crowd_in, daemon, worst)
                ledger.count("crowds beyond 64 files")
            ledger.attempt("still alive", daemon.solve, crash.graph(60))
        finally:
            daemon.end()
        told.durable.clear()  # results were evicted, because each needs an open file
        ledger.attempt("none lost", crash.check, place, told)
    finally:
        place.close()
    print(f"of {FILES} files: {100 * worst['cpu']:.1f} % of a core while none is left, served "
          f"{1000 * worst['recovery']:.0f} ms after some are", flush=True)


def main():
    mounts.enter_namespace()
    ledger = campaign.Ledger(ARGUMENTS.seconds)
    if ARGUMENTS.openings:
        files(ledger)
    if ARGUMENTS.promised:
        promises(ledger)
    if ARGUMENTS.most:
        sizes(ledger)
    ledger.close()


main()
