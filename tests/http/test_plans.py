"""Tests cached plans: a graph with the same edges and other weights uses the cached order."""

import io
import os
import pathlib
import random

import harness

try:
    import numpy
    import scipy.sparse
    import scipy.sparse.csgraph
except ImportError:
    numpy = None

# Size of a band of streets with several tiles. Plans of fewer than 1,024 vertices are not stored.
SIDE, LENGTH = 16, 70
# With one thread, searching for a plan is worthwhile on any machine.
CPU = ("--solver", "cpu", "--solver.cpu_threads", "1")


def streets(seed, side=SIDE, length=LENGTH):
    """Returns the edges of a band of crossings in both directions, with random weights."""
    draw = random.Random(seed)
    edges = []
    for cell in range(side * length):
        for other in (cell + 1 if (cell + 1) % side else None, cell + side):
            if other is not None and other < side * length:
                edges.append((cell, other, draw.randint(1, 1000)))
                edges.append((other, cell, draw.randint(1, 1000)))
    return side * length, edges


def dimacs(n, edges):
    lines = [f"p sp {n} {len(edges)}", *(f"a {a + 1} {b + 1} {w}" for a, b, w in edges)]
    return "\n".join(lines).encode() + b"\n"


def solve(daemon, n, edges, query=""):
    """Returns the document of the job, after comparing some rows with SciPy."""
    job = daemon.solve(dimacs(n, edges), query)
    assert job["state"] == "done", job
    if numpy is not None:
        answer = daemon.get(f"/v1/graphs/{job['graph']}/matrix?format=npy").expect(200)
        source, target, weight = numpy.array(edges).T
        graph = scipy.sparse.csr_matrix((weight, (source, target)), shape=(n, n))
        rows = range(0, n, 59)
        expected = scipy.sparse.csgraph.dijkstra(graph, indices=rows)
        assert numpy.array_equal(numpy.load(io.BytesIO(answer.body))[rows], expected), job
    return job


def plans_of(daemon):
    folder = pathlib.Path(daemon.state, "orders")
    return sorted(folder.iterdir())


def check_kept(*arguments):
    with harness.Daemon(*CPU, *arguments) as daemon:
        first = solve(daemon, *streets(1))
        assert not first["plan"]["cached"], first
        second = solve(daemon, *streets(2))
        assert second["plan"]["cached"], second
        for key in ("kind", "parts", "largest_separator", "work_fraction"):
            assert second["plan"][key] == first["plan"][key], (first, second)
        assert second["graph"] != first["graph"]
        tags = {daemon.get(f"/v1/graphs/{job['graph']}/matrix").expect(200).headers["ETag"]
                for job in (first, second)}
        assert len(tags) == 2, tags
        # A graph with other edges, and a graph that is too small for the cache, are planned anew.
        n, edges = streets(3)
        assert not solve(daemon, n, edges[2:])["plan"]["cached"]
        for seed in (4, 5):
            assert not solve(daemon, *streets(seed, 5, 5))["plan"]["cached"]
        daemon.terminate()
        daemon.start()
        again = solve(daemon, *streets(6))
        assert again["plan"]["cached"], again
        # The edges of this stored graph are read from its file.
        graph = daemon.ask("POST", "/v1/graphs", dimacs(*streets(7))).expect(201).json["id"]
        daemon.terminate()
        daemon.start()
        daemon.get(f"/v1/graphs/{graph}/distance?source=1&target=2", Prefer="wait=60").expect(200)
        (job,) = daemon.get("/v1/jobs?limit=1").json["jobs"]
        assert daemon.finish(job["id"])["plan"]["cached"], job


def test_a_graph_with_known_edges_reuses_the_cached_plan():
    check_kept()


def test_a_solver_in_a_separate_process_reuses_the_cached_plan():
    check_kept("--worker.isolation", "process")


def test_a_damaged_plan_is_ignored():
    """A plan of another graph is ignored, too: it costs time, but the distances are right."""
    for isolation, step in ("thread", 1), ("process", 5):
        with harness.Daemon(*CPU, "--worker.isolation", isolation) as daemon:
            solve(daemon, *streets(1))
            (path,) = plans_of(daemon)
            whole = path.read_bytes()
            damaged = [b"", whole[:7], whole[:-1], bytes(len(whole)), b"\xff" * len(whole),
                       whole[:400] + bytes([whole[400] ^ 1]) + whole[401:]]
            for seed, content in enumerate(damaged[::step], 2):
                path.write_bytes(content)
                assert not solve(daemon, *streets(seed))["plan"]["cached"], content[:40]
                # The record was written again.
                assert solve(daemon, *streets(seed + 100))["plan"]["cached"], content[:40]
            n, edges = streets(50, SIDE // 2, 2 * LENGTH)
            assert n == streets(1)[0]
            assert not solve(daemon, n, edges)["plan"]["cached"]
            (other,) = (found for found in plans_of(daemon) if found != path)
            path.write_bytes(other.read_bytes())
            assert solve(daemon, *streets(51))["plan"]["cached"]


def test_the_plan_budget_is_enforced_and_startup_removes_unknown_files():
    with harness.Daemon(*CPU, "--store.plan_budget", "128KiB") as daemon:
        n, edges = streets(1)
        others = [edges[: 4 * cut] + edges[4 * cut + 2:] for cut in range(4)]
        for other in others:
            assert not solve(daemon, n, other)["plan"]["cached"]
        # Only two of the plans fit into the budget.
        for other, cached in ((others[2], True), (others[3], True), (others[0], False)):
            heavier = [(a, b, weight + 1) for a, b, weight in other]
            assert solve(daemon, n, heavier)["plan"]["cached"] == cached
        daemon.terminate()
        assert len(plans_of(daemon)) == 2
        pathlib.Path(daemon.state, "orders", "note").write_bytes(b"mine")
        daemon.start()
        assert len(plans_of(daemon)) == 2
        assert "note" not in os.listdir(os.path.join(daemon.state, "orders"))


def test_no_plan_is_stored_without_a_budget_or_with_plans_disabled():
    for arguments in (("--store.plan_budget", "0"), ("--solver.plans", "none")):
        with harness.Daemon(*CPU, *arguments) as daemon:
            for seed in (1, 2):
                assert not solve(daemon, *streets(seed))["plan"]["cached"]
            assert not plans_of(daemon)


if __name__ == "__main__":
    harness.run(globals())
