"""Tests ranks as the solver of the service (solver.launcher), started by mpirun on this machine:
their results, and which processes remain when one or all of them fail.
python3 test_launcher.py apspd apsp APSPD_MPI"""

import contextlib
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))

import harness

RANKS = sys.argv.pop() if len(sys.argv) > 3 else ""
LAUNCHER = "mpirun --oversubscribe -n 2"
NOBODY = 65534
# Seconds after which a rank counts as stopped. A healthy rank may pause for seconds on a busy
# machine or with sanitizers.
STALL_S = 10
MIXED = b"p sp 5 6\na 1 2 7\na 2 3 -4\na 3 4 2\na 4 1 0\na 1 5 9\na 5 3 1\n"


def daemon(*arguments, launcher=LAUNCHER, stall_s=600):
    """Returns a daemon with ranks. A rank without progress for stall_s seconds counts as
    stopped."""
    chosen = ("--solver.launcher", launcher) if launcher else ()
    return harness.Daemon("--worker.isolation", "process", "--worker.stall_s", str(stall_s), "--solver", "cpu",
                          *chosen, *arguments)


def generate(*shape):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "graph")
        subprocess.run([harness.COMMAND, "generate", "--shape", *shape, path], check=True,
                       stdout=subprocess.DEVNULL)
        with open(path, "rb") as file:
            return file.read()


def large():
    """Returns a graph whose solve takes a second or more, because no plan can omit any round."""
    return generate("gnp", "--n", "2400", "--directed", "--degree", "40", "--max-weight", "100000")


def environment_of(process):
    with open(f"/proc/{process}/environ", "rb") as file:
        return dict(word.split(b"=", 1) for word in file.read().split(b"\0") if b"=" in word)


def family(process):
    """Returns the process and all of its descendants."""
    found = [process]
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children") as file:
                found += [member for child in map(int, file.read().split()) for member in family(child)]
    return found


def processes(found):
    """Returns {program name or number of a rank: process} of all descendants."""
    names = {}
    for process in family(found.process.pid)[1:]:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            with open(f"/proc/{process}/comm") as file:
                name = file.read().strip()
            rank = environment_of(process).get(b"OMPI_COMM_WORLD_RANK") if name == "apsp-mpi" else None
            names[name if rank is None else int(rank)] = process
    return names


def wait_until_gone(pids):
    for process in pids:
        with contextlib.suppress(ProcessLookupError):
            descriptor = os.pidfd_open(process)
            assert select.select([descriptor], [], [], harness.PATIENCE_S)[0], process
            os.close(descriptor)


def until_solving(found, job):
    """Waits until some rounds of the job are done."""
    while True:
        document = found.get(f"/v1/jobs/{job}").json
        assert document["state"] in ("queued", "running"), document
        if document["phase"] == "solving" and document["progress"] > 0.05:
            return
        harness.pause()


def lose(found, victim, number):
    """Sends this signal to a process in the middle of a job, and checks that this job and the next
    one are still done."""
    before = processes(found)
    job = found.submit(large()).expect(202).json["id"]
    until_solving(found, job)
    os.kill(before[victim], number)
    document = found.finish(job)
    assert (document["state"], document["workers_lost"]) == ("done", 1), document
    wait_until_gone([before["mpirun"], before[0], before[1]])
    found.get(f"/v1/graphs/{document['graph']}").expect(200)
    found.ask("DELETE", f"/v1/graphs/{document['graph']}").expect(204)
    assert found.solve(harness.SMALL)["state"] == "done"
    found.ask("DELETE", f"/v1/graphs/{found.solve(harness.SMALL)['graph']}").expect(204)


def answers(found):
    """Returns the bodies of answers that must not depend on the solver."""
    bodies = []
    for graph, query in ((generate("gnp", "--n", "700", "--directed"), ""),
                         (generate("gnp", "--n", "300", "--max-weight", "100000"), "?verify=true"),
                         (generate("road", "--n", "3000"), ""), (generate("gnp", "--n", "200"), "?kind=u2"),
                         (generate("gnp", "--n", "150"), "?kind=f8"), (MIXED, "?kind=f4&directed=true"),
                         (b"p sp 1 0\n", ""), (generate("road", "--n", "2000"), "?result=hierarchy")):
        document = found.solve(graph, query)
        assert document["state"] == "done", document
        name = document["graph"]
        bodies.append((found.get(f"/v1/graphs/{name}/matrix").expect(200).body,
                       found.get(f"/v1/graphs/{name}/stats").expect(200).body))
    return bodies


def test_ranks_give_the_same_answers_as_a_single_process():
    with daemon(launcher=None) as alone:
        expected = answers(alone)
    with daemon() as found:
        assert answers(found) == expected
        device, = found.get("/v1/devices").json["devices"]
        assert device["solver"] == "cpu" and "2 ranks" in device["detail"], device


def test_a_negative_cycle_is_reported_and_cancelling_a_job_stops_its_ranks():
    with daemon("--solver.plans", "none") as found:
        document = found.finish(found.submit(b"source,target,weight\nx,y,1\ny,x,-2\n").json["id"])
        assert document["problem"]["code"] == "NegativeCycle", document
        assert "x -> y -> x" in document["problem"]["detail"].replace("y -> x -> y", "x -> y -> x"), document
        job = found.submit(large()).expect(202).json["id"]
        until_solving(found, job)
        found.ask("DELETE", f"/v1/jobs/{job}").expect(202)
        assert found.finish(job)["state"] == "cancelled"
        assert found.solve(harness.SMALL)["state"] == "done"
        assert found.get("/v1/devices").json["devices"][0]["restarts"] == 0


def test_the_death_of_a_rank_or_launcher_ends_all_ranks_and_counts_as_an_attempt():
    with daemon("--solver.plans", "none") as found:
        for victim in (1, 0, "mpirun"):
            lose(found, victim, signal.SIGKILL)


def test_a_stopped_rank_and_a_launcher_that_ignores_sigterm_are_killed():
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "script")
        with open(script, "w") as file:
            file.write(f'trap "" TERM\n{LAUNCHER} "$@"\nsleep 1000\n')
        with daemon("--solver.plans", "none", launcher=f"sh {script}", stall_s=STALL_S) as found:
            lose(found, 1, signal.SIGSTOP)
            found.kill()  # a normal shutdown would wait for the launcher


def test_a_stopped_rank_is_noticed_at_the_start_of_a_job():
    """Before the first round, a job may take much longer than estimated, so only the missing
    heartbeat shows that the rank has stopped."""
    with daemon("--solver.plans", "none", stall_s=STALL_S) as found:
        os.kill(processes(found)[1], signal.SIGSTOP)
        document = found.finish(found.submit(large()).expect(202).json["id"])
        assert (document["state"], document["workers_lost"]) == ("done", 1), document
        assert b"the solver sent no heartbeat" in found.log(), found.log()


def test_idle_ranks_that_die_are_replaced():
    with daemon() as found:
        os.kill(processes(found)[1], signal.SIGKILL)
        while found.get("/v1/devices").json["devices"][0]["restarts"] == 0:
            pass
        document = found.solve(harness.SMALL)
        assert (document["state"], document["workers_lost"]) == ("done", 0), document


def test_a_shutdown_leaves_no_process():
    with daemon() as found:
        assert found.solve(harness.SMALL)["state"] == "done"
        everybody = family(found.process.pid)
        assert len(everybody) == 5, processes(found)
        found.terminate()
        assert not [process for process in everybody if os.path.exists(f"/proc/{process}")]


def test_a_killed_daemon_leaves_no_process():
    found = daemon("--solver.plans", "none")
    try:
        until_solving(found, found.submit(large()).expect(202).json["id"])
        everybody = family(found.process.pid)
        found.kill()
        wait_until_gone(everybody)
        found.start()
        assert found.solve(harness.SMALL)["state"] == "done"
    finally:
        found.close()


def refused(*arguments, binary=harness.BINARY):
    """Returns the exit code and the log of a daemon that does not start."""
    with tempfile.TemporaryDirectory() as state:
        done = subprocess.run([binary, "--listen", "127.0.0.1:0", "--state-dir", state, *arguments],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=600)
        return done.returncode, done.stderr.decode()


def test_an_unusable_launcher_is_refused_with_the_reason():
    process = "--worker.isolation", "process"
    code, log = refused("--solver.launcher", LAUNCHER)
    assert code == 78 and "worker.isolation" in log, log
    if not os.path.exists("/dev/nvidiactl"):
        code, log = refused("--solver.launcher", LAUNCHER, *process, "--solver", "gpu")
        assert code == 78 and "No GPU can be used" in log, log
    for launcher, why in (("/no/such/launcher -n 2", "exited with code 127"), ("false", "exited with code 1")):
        code, log = refused("--solver.launcher", launcher, *process)
        assert code == 80 and why in log, (code, log)
    with tempfile.TemporaryDirectory() as folder:
        code, log = refused("--solver.launcher", LAUNCHER, *process,
                            binary=shutil.copy(harness.BINARY, folder))
        assert code == 78 and f"{folder}/apsp-mpi, which is missing" in log, log


def ask_launcher(name, user):
    """Connects to the launcher as this user; returns what it sends: nothing, or part of a
    message."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setuid(user)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            connection.connect("\0" + name)
            os.write(writer, b"some" if connection.recv(4096) else b"none")
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with open(reader, "rb") as said:
        return said.read()


def test_a_connection_of_another_user_is_not_accepted_as_a_rank():
    if os.getuid() != 0:
        return
    with tempfile.TemporaryDirectory() as folder:
        script, called = os.path.join(folder, "script"), os.path.join(folder, "called")
        os.mkfifo(called)
        with open(script, "w") as file:
            file.write(f'echo "$3" > {called}\nread -r line < {called}\n')
        with subprocess.Popen([harness.BINARY, "--listen", "127.0.0.1:0", "--state-dir", f"{folder}/state",
                               "--worker.isolation", "process", "--solver.launcher", f"sh {script}"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as found:
            with open(called) as file:
                name = file.readline().strip()
            assert ask_launcher(name, NOBODY) == b"none"
            assert ask_launcher(name, 0) == b"some"
            found.communicate()
            assert found.returncode == 80


if __name__ == "__main__":
    if not os.access(RANKS, os.X_OK) or shutil.which("mpirun") is None:
        print("skipped: built without MPI, or no mpirun")
        sys.exit(harness.SKIPPED)
    # Open MPI refuses to run as root, as in continuous integration, unless two variables allow it.
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    harness.run(globals())
