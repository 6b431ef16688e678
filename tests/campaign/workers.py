"""Makes solvers in separate processes fail in every way: each CUDA error at each stage, crashes,
hangs, stops, driver calls that do not return, wrong results, invalid messages, withheld
results, escape attempts, lack of device memory, and a stopped daemon. The program under test,
build/tests/fault/apspd_fault, has a solver that fails by plan. A count of 0 skips a part."""

import concurrent.futures
import contextlib
import os
import random
import signal
import subprocess
import tempfile
import threading
import time

import campaign

ARGUMENTS = campaign.arguments(errors=1, deaths=100, poisons=20, hangs=100, stucks=20, phrases=5,
                               starts=2000, shortages=200, lies=1000,
                               good=10000, stops=1000, breaks=20, absences=1, seed=0)

import harness
import isolation
import mounts
import stuck
from isolation import Daemon, child_of, daemon, losses, ring, until

CALM = ("--worker.stall_s", "60")
REPLACED_S = 2
NEXT_S = 5
STALL_S = 1
# Seconds after the stall time within which a hang must be noticed, even on a busy machine.
SLACK_S = 9
# Seconds within which the daemon must exit after SIGTERM.
STOPPED_S = 10
# Queries per second for cached answers, seconds of each measurement, and runs with measurements.
RATE = 500
LOOK_S = 6
LOOKS = 8
# Seconds for which the daemon is stopped: longer than a worker may be silent (worker.stall_s).
STOP_S = 12
AT_ONCE = 20
# Jobs of one daemon for which memory is short, and the limit on how often it is short for each.
SHORT_JOBS = 25
SHORT_TIMES = 6
WORST = {}


def note(name, seconds, limit):
    WORST[name] = max(WORST.get(name, 0), seconds)
    assert seconds <= limit or seconds <= limit * campaign.slowness(), (name, seconds)


def stage_of(found, error, stage, n):
    if stage == "open":
        isolation.fail_to_open(found, "cuda", error)
    elif stage == "close":
        isolation.fail_at_close(found, error)
    else:
        isolation.fail_in_job(found, stage, error, n)


def errors(ledger):
    """Tests each CUDA error at each stage and at the start of the daemon, and each status when a
    device is opened."""
    stages = ("open", *isolation.STAGES, "close")
    with daemon(*CALM) as (found, _):
        cached = found.solve(harness.SMALL)["graph"]
        n = 20
        for stage in stages:
            for error in isolation.CUDA:
                n += 1
                if stage == "close":
                    ledger.attempt((error, stage), stage_of, found, error, stage, n)
                    continue
                asker = isolation.Asker(found, cached, 12)
                ledger.attempt((error, stage), within, asker, stage_of, found, error, stage, n)
                ledger.count("cached answers meanwhile", asker.asked)
                ledger.failures += len(asker.wrong)
        ledger.count("errors of CUDA at a stage", len(stages) * len(isolation.CUDA))
        for code in isolation.all_codes():
            ledger.attempt((code, "open"), isolation.fail_to_open, found, "status", code)
            ledger.count("statuses at an opening")
    for error in isolation.CUDA:
        ledger.attempt((error, "start"), start_without, error)


def within(context, action, *words):
    with context:
        action(*words)


def start_without(error):
    code = isolation.fail_at_start(error)
    assert code == isolation.STARTS.get(error, 80), (error, code)


def deaths(ledger):
    """Kills the worker in the middle of a job, repeatedly: it is replaced in time, and the job is
    retried."""
    with daemon(*CALM) as (found, plan):
        for n in range(20, 20 + ARGUMENTS.deaths):
            if ledger.is_over():
                return
            ledger.attempt(f"death {n}", die, found, plan, n)
            ledger.count("deaths")
        times = sorted(isolation.times_to_replace(found))
        note("from a death to the next process that is open", times[-1], REPLACED_S)
        print(f"replaced: median {times[len(times) // 2]:.3f} s, worst {times[-1]:.3f} s of {len(times)}")


def die(found, plan, n):
    plan.write((n, "round", "hang", 0, 1))
    job = found.submit(ring(n)).json["id"]
    isolation.until_hung(found, job)
    os.kill(child_of(found), signal.SIGKILL)
    document = found.finish(job)
    assert document["state"] == "done" and document["workers_lost"] == 1, document


def poisons(ledger):
    with daemon(*CALM) as (found, plan):
        for n in range(20, 20 + ARGUMENTS.poisons):
            if ledger.is_over():
                return
            ledger.attempt(f"poison {n}", poison, found, plan, n)
            ledger.count("jobs that kill")


def poison(found, plan, n):
    """Submits a job that kills three workers, in one run of the daemon or across two."""
    isolation.until_ready(found)
    plan.write((n, "round", "signal", 9, 0), *([(0, "open", "exit", 1, 0)] if n % 2 else []))
    job = found.submit(ring(n)).json["id"]
    following = found.submit(ring(9, n)).json["id"]
    if n % 2:
        until(found, f"/v1/jobs/{job}", lambda answer: answer.json["workers_lost"] == 1)
        until(found, f"/v1/jobs/{job}", lambda answer: answer.json["state"] == "queued")
        found.kill()
        plan.write((n, "round", "signal", 9, 0))
        found.start()
    document = found.finish(job)
    assert document["problem"]["code"] == "PoisonJob" and document["workers_lost"] == 3, document
    assert plan.struck() == (2 if n % 2 else 3), plan.struck()
    later = found.solve(ring(9, 1000 + n))
    assert later["state"] == found.finish(following)["state"] == "done"
    started = [e for e in found.events("job_started") if e["job"] == later["id"]][0]
    seconds = isolation.seconds_of(started) - isolation.seconds_of(found.events("worker_lost")[-1])
    note("from the third death to the next job", seconds, NEXT_S)


def hangs(ledger):
    """Makes workers hang in three ways: sending heartbeats without progress, stopped during a
    round, and stopped while idle."""
    with daemon("--worker.stall_s", str(STALL_S)) as (found, plan):
        for i in range(ARGUMENTS.hangs):
            if ledger.is_over():
                return
            ledger.attempt(f"hang {i}", hang, found, plan, i)
            ledger.count("hangs")


def hang(found, plan, i):
    n = 20 + i
    lost = losses(found)
    way = ("no rounds", "stopped in a round", "stopped when idle")[i % 3]
    job = None
    if way != "stopped when idle":
        plan.write((n, "round", "hang", 0, 1))
        job = found.submit(ring(n)).json["id"]
        isolation.until_hung(found, job)
    if way != "no rounds":
        os.kill(child_of(found), signal.SIGSTOP)
    began = time.time()
    until(found, "/v1/devices", lambda _: losses(found) > lost)
    event = found.events("worker_lost")[-1]
    seconds = isolation.seconds_of(event) - began
    note(f"{way}: seen after", seconds, STALL_S + SLACK_S)
    assert event["reason"] in ("the solver made no progress and was killed", "the solver sent no heartbeat and was killed")
    isolation.until_ready(found)
    # A successful job resets the count of failed processes.
    assert found.solve(ring(9, n))["state"] == "done"
    if job is not None:
        assert found.finish(job)["state"] == "done"


def latencies(found, graph, count, until_s):
    """Sends queries for a cached answer at a fixed rate; returns their milliseconds, sorted."""
    connection = found.connect()
    clock = threading.Event()
    began = time.monotonic()
    taken = []
    for i in range(int(count * until_s)):
        due = began + i / count
        clock.wait(max(0, due - time.monotonic()))
        answer = found.ask("GET", f"/v1/graphs/{graph}/distance?source=1&target=3", connection=connection)
        assert answer.status == 200 and answer.json["distance"] == 12, answer.body
        taken.append(1e3 * (time.monotonic() - due))
    connection.close()
    return sorted(taken)


def stucks(ledger):
    """Tests driver calls that do not return, with and without another device. Then either the
    daemon is stopped or the call is released."""
    if not os.access(stuck.DEVICE, os.R_OK | os.W_OK):
        print("no FUSE here")
        return
    for i in range(ARGUMENTS.stucks):
        if ledger.is_over():
            return
        ledger.attempt(f"stuck {i}", stick, ledger, i)
        ledger.count("calls that did not return")
        if i % 4 == 0:
            ledger.attempt(f"stop {i}", stop_stuck, (20, "round", "stuck", 0, 1), i)
            ledger.attempt(f"stop {i}", stop_stuck, (0, "close", "stuck", 0, 1), i)
            ledger.count("stops before it was seen", 2)


def stop_stuck(fault, i):
    """Stops the daemon before it notices the stuck worker, which takes the default of
    worker.stall_s."""
    with daemon(calls=True) as (found, plan):
        plan.write(fault)
        job = found.submit(ring(20, 1 + i)).json["id"]
        if fault[1] == "round":
            found.calls.wait_for_read()
        else:
            found.finish(job)
        began = time.time()
        found.terminate()
        note("stuck: SIGTERM to the end, when nobody knew", time.time() - began, STOPPED_S)
        assert found.calls.reads
        found.start()
        assert found.finish(job)["state"] == "done"


def stick(ledger, i):
    with daemon("--worker.stall_s", str(STALL_S), gpus=1 + i % 2, calls=True) as (found, plan):
        cached = found.solve(harness.SMALL)["graph"]
        looks = i < LOOKS and i % 4 >= 2
        taken = {"before": latencies(found, cached, RATE, LOOK_S)} if looks else {}
        plan.write((20, "round", "stuck", 0, 1))
        job = found.submit(ring(20)).json["id"]
        found.calls.wait_for_read()
        began = time.time()
        until(found, "/v1/devices", lambda _: "lost" in isolation.states(found))
        note("stuck: the device lost after", time.time() - began, STALL_S + SLACK_S)
        if looks:
            taken["beside one that is stuck"] = latencies(found, cached, RATE, LOOK_S)
        if i % 2:
            assert found.finish(job)["state"] == "done"
            for n in range(30, 50):
                assert found.solve(ring(n))["state"] == "done"
            ledger.count("jobs of the other device meanwhile", 21)
        if i % 4 < 2:
            began = time.time()
            found.terminate()
            note("stuck: SIGTERM to the end", time.time() - began, STOPPED_S)
            ledger.count("stops with a stuck worker")
            found.start()
            assert found.finish(job)["state"] == "done"
            return
        found.calls.release()
        began = time.time()
        isolation.until_all_ready(found)
        note("stuck: from the end of the call to the next process", time.time() - began, REPLACED_S)
        assert found.finish(job)["state"] == found.solve(ring(60))["state"] == "done"
        assert losses(found) == 1, found.events("worker_lost")
        if looks:
            taken["after"] = latencies(found, cached, RATE, LOOK_S)
            for name, times in taken.items():
                print(f"cached answers {name}: p50 {times[len(times) // 2]:.2f} ms, "
                      f"p99 {times[len(times) * 99 // 100]:.2f} ms of {len(times)}", flush=True)


def phrases(ledger):
    with daemon(*CALM) as (found, _):
        n = 20
        for _ in range(ARGUMENTS.phrases):
            for what, stage in isolation.MESSAGES:
                n += 1
                ledger.attempt((what, stage), isolation.send, found, what, stage, n)
                ledger.count("messages against the protocol")


def starts(ledger):
    """Kills worker processes during jobs, so that others are started: each job is solved, and a
    worker is lost only by a kill."""
    with daemon(*CALM, "--store.result_budget", "64MiB", gpus=4) as (found, _):
        over = threading.Event()
        killer = threading.Thread(target=kill_some, args=(found, over))
        killer.start()
        for i in range(0, ARGUMENTS.starts, 100):
            if ledger.is_over():
                break
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                jobs = list(pool.map(lambda k: found.submit(ring(10 + k % 40, 1 + k)).json["id"],
                                     range(i, i + 100)))
            for job in jobs:
                document = found.finish(job)
                ledger.count("jobs during restarts")
                ledger.failures += document["state"] != "done" and document["workers_lost"] < 3
        over.set()
        killer.join()
        reasons = [event["reason"] for event in found.events("worker_lost")]
        ledger.count("restarts during jobs", len(found.events("worker_started")))
        ledger.failures += sum("signal 9" not in reason for reason in reasons)


def kill_some(found, over):
    """Kills all worker processes again and again until `over` is set."""
    while not over.is_set():
        for child in isolation.children_of(found):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            over.wait(0.02)
        over.wait(0.1)


def shortages(ledger):
    """Solves random jobs on two devices whose memory other processes use. The shortage is known
    before the solve or found only on allocation, and it is temporary or permanent."""
    size = isolation.bytes_of
    choice = random.Random(ARGUMENTS.seed)
    memory = size(400), 2 * size(1600)

    def attempt(seed):
        draw = random.Random(seed)
        cases, faults = [], []
        for i in range(min(SHORT_JOBS, ARGUMENTS.shortages)):
            count, length = draw.choice(((1, 100 + 20 * i), (8, 150 + i)))
            n, graph = isolation.rings(count, length)
            free = int(draw.uniform(0, 2.5) * size(n))
            times = 0 if draw.randrange(12) == 0 else draw.randrange(1, SHORT_TIMES)
            stage = draw.choice(("fits", "memory", "memory"))
            faults.append((n, stage, "has", free, times))
            # The last member is the memory that is always free; a plan that is not dense needs
            # twice as much as the dense plan.
            cases.append((graph, length, size(n), free if stage == "memory" and times == 0 else 2 * size(n)))
        with daemon(*CALM, memory=memory) as (found, plan):
            plan.write(*faults)
            limit = found.get("/v1/limits").json["vertex_limit"]
            found.submit(f"p sp {limit + draw.randrange(1, limit)} 1\n".encode(), "?result=matrix").expect(413, "TooLarge")
            jobs = [found.submit(graph).expect(202).json["id"] for graph, *_ in cases]
            for job, (_, length, needed, free) in zip(jobs, cases):
                kind = found.finish(job)["plan"]["kind"]
                done = free >= (needed if kind == "dense" else 2 * needed)
                isolation.expect_short(found, job, length, done, kind)
                ledger.count("jobs short of memory done" if done else "jobs without memory failed by name")
            ledger.count("times that a job was put back", len(found.events("job_put_back")))
            ledger.count("workers lost", losses(found))
            assert found.solve(ring(9))["state"] == "done"

    # One daemon at a time, because an environment variable names its fault plan.
    for seed in [choice.randrange(2**32) for _ in range(0, ARGUMENTS.shortages, SHORT_JOBS)]:
        ledger.attempt(f"shortages of seed {seed}", attempt, seed)


def lies(ledger):
    """Flips one bit in each row of a result, or one bit anywhere, with all rows or 16 rows
    verified, or one in a row that 16 evenly spaced samples would miss."""
    n, rows = 512, 16
    choice = random.Random(ARGUMENTS.seed)
    counts = {where: [0, 0] for where in ("in each row", "of a job with verify=true", "anywhere", "between")}
    with daemon(*CALM) as (found, plan):
        for i in range(ARGUMENTS.lies):
            if ledger.is_over():
                break
            where = list(counts)[i % len(counts)]
            row = choice.randrange(n)
            while where == "between" and row % (n // rows) == 0:
                row = choice.randrange(n)
            entry = f"{row * n + choice.randrange(n)}:{choice.randrange(32)}"
            plan.write((n, "download", "lie", "each" if where == "in each row" else entry, 1))
            query = "?verify=true" if where == "of a job with verify=true" else ""
            document = ledger.attempt(f"lie {i}", found.solve, ring(n, 1 + i), query)
            if document is None:
                continue
            refused = document["state"] == "failed" and document["problem"]["code"] == "NotVerified"
            counts[where][0] += 1
            counts[where][1] += refused
            if where not in ("anywhere", "between") and not refused:
                ledger.failures += 1
                print("FAILED: a lie in a row that is checked was published", where, entry, document)
            found.ask("DELETE", f"/v1/graphs/{document['graph']}")
    for where, (told, refused) in counts.items():
        print(f"lies {where}: {refused} of {told} refused")
        ledger.count(f"lies {where}", told)


def good(ledger):
    """Checks that no correct result is rejected."""
    with daemon(*CALM, "--store.result_budget", "64MiB") as (found, _):
        left = list(range(ARGUMENTS.good))
        while left and not ledger.is_over():
            numbers, left = left[:500], left[500:]
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                jobs = list(pool.map(lambda i: found.submit(ring(10 + i % 40, 1 + i)).json["id"], numbers))
            for job in jobs:
                document = found.finish(job)
                ledger.count("good jobs")
                ledger.failures += document["state"] != "done" or document["workers_lost"] != 0


def breaks(ledger):
    with daemon(*CALM) as (found, _):
        if found.events("worker_confined")[0].get("seccomp") != "on":
            print("no confinement here:", found.events("worker_confined")[0])
            return
        for n in range(20, 20 + ARGUMENTS.breaks):
            outcomes, descriptors = ledger.attempt(f"break {n}", isolation.attempts, found, n) or ({}, 0)
            needed = {outcomes.pop(name, None) for name in ("thread", "map", "machine", "talk", "write")}
            refused = sum(what == "refused" for what in outcomes.values())
            ledger.count("ways out tried", len(outcomes))
            ledger.failures += refused != len(outcomes) or needed != {"done"} or descriptors != 2
            isolation.kill_worker(found)


def absences(ledger):
    ledger.attempt("no GPU", start_without_gpu)
    ledger.attempt("GPU gone", lose_device)


def start_without_gpu():
    with harness.Daemon("--worker.isolation", "process") as found:
        reason = found.get("/v1/devices").json["gpu_reason"]
        assert reason, reason
        found.get("/readyz").expect(200)
        print("without a GPU:", reason)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([harness.BINARY, "--listen", "127.0.0.1:0", "--state-dir", f"{folder}/s", "--solver",
                               "gpu", "--worker.isolation", "process"], capture_output=True, text=True)
        assert done.returncode == 78 and "No GPU can be used" in done.stderr, (done.returncode, done.stderr)


def ticks(found):
    with open(f"/proc/{found.process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return sum(map(int, fields[11:15]))


def lose_device():
    """Makes the device fail to open. The daemon tries again with growing delays, answers queries,
    and reports the reason."""
    with daemon(*CALM) as (found, plan):
        cached = found.solve(harness.SMALL)["graph"]
        plan.write((0, "open", "cuda", 46, 0))
        isolation.end_worker(found)
        until(found, "/readyz", lambda answer: answer.status == 503).expect(503, "NotReady")
        job = found.submit(ring(20)).expect(202).json["id"]
        before, began = ticks(found), time.monotonic()
        assert not isolation.wait_for_end(found.process.pid, 20)
        busy = (ticks(found) - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - began)
        tried = plan.struck()
        assert found.distance(cached, 1, 3) == 12
        reason = found.get("/readyz").expect(503, "NotReady").json["detail"]
        print(f"without its device for 20 s: {100 * busy:.2f} % of a core, opened {tried} times: {reason}")
        assert busy < 0.02 and tried < 12, (busy, tried)
        plan.write()
        assert found.finish(job)["state"] == "done"


def stops(ledger):
    """Stops the daemon by SIGSTOP for longer than its workers may be silent: none is lost."""
    def stop(found, at_work):
        child = child_of(found)
        job = found.submit(harness.slow_graph(2000)).json["id"] if at_work else None
        if job is not None:
            until(found, f"/v1/jobs/{job}", lambda answer: answer.json["state"] == "running")
        found.process.send_signal(signal.SIGSTOP)
        died = isolation.wait_for_end(child, STOP_S)
        found.process.send_signal(signal.SIGCONT)
        if job is not None:
            assert found.finish(job)["state"] in ("done", "cancelled")
            found.ask("DELETE", f"/v1/graphs/{found.get(f'/v1/jobs/{job}').json['graph']}")
        assert found.solve(ring(9, random.randrange(1, 10**6)))["state"] == "done"
        assert not died and losses(found) == 0 and child_of(found) == child, found.log()[-1000:]

    daemons = [Daemon("--solver.cpu_threads", "1") for _ in range(AT_ONCE)]
    try:
        for _ in range(0, ARGUMENTS.stops, AT_ONCE):
            if ledger.is_over():
                return
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                for found, end in [(f, pool.submit(stop, f, i < 2)) for i, f in enumerate(daemons)]:
                    ledger.attempt(f"stop of {found.process.pid}", end.result)
                    ledger.count("stops of the daemon")
    finally:
        for found in daemons:
            found.close()


def main():
    ledger = campaign.Ledger(ARGUMENTS.seconds)
    for part in (errors, deaths, poisons, hangs, stucks, phrases, starts, shortages, lies, good, breaks, absences, stops):
        if getattr(ARGUMENTS, part.__name__) > 0 and not ledger.is_over():
            began = time.monotonic()
            ledger.attempt(part.__name__, part, ledger)
            print(f"{part.__name__}: {time.monotonic() - began:.0f} s", flush=True)
    for name, seconds in WORST.items():
        print(f"{name}: {seconds:.3f} s at most")
    ledger.close()


if ARGUMENTS.stucks > 0:
    mounts.enter_namespace()
main()
