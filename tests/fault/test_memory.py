"""Makes one of many allocations fail, or permits only 64 open files: no data is lost, the daemon
does not crash, and the service continues. The long form is tests/campaign/memory.py."""

import crash
import harness

CHOSEN = 12


def test_failed_allocations_lose_no_data():
    library = crash.shim("memory_shim")
    calls = crash.count_calls(library)
    for k in range(calls // CHOSEN // 2, calls, calls // CHOSEN):
        crash.run_fault(library, at=k)


def test_no_job_is_lost_under_a_limit_of_64_open_files():
    """There are more connections than file descriptors; the connections wait until they are
    served."""
    place = crash.Place()
    told = crash.Told()
    try:
        daemon = crash.Daemon(state=place.state, limit="ulimit -n 64")
        try:
            crowd = []
            for _ in range(80):
                try:
                    connection = daemon.connect(timeout=5)
                    connection.connect()
                    crowd.append(connection)
                except OSError:
                    pass
            for connection in crowd:
                connection.close()
            crash.run_script(daemon, told)
            for salt in range(100, 160):
                job = daemon.solve(crash.graph(salt, n=20))
                assert job["state"] == "done", job
                assert daemon.distance(job["id"], 1, 3) == crash.answer_of(salt)
            assert told.completed and not told.failed and not told.refused, vars(told)
        finally:
            daemon.terminate()
            daemon.end()
        told.durable.clear()  # results were evicted, because each needs an open file
        crash.check(place, told)
    finally:
        place.close()


if __name__ == "__main__":
    crash.shim("memory_shim")
    harness.run(globals())
