"""Changes cells of the catalogue while the daemon is stopped: the daemon reports each change, sets
the changed row aside, and serves everything else."""

import contextlib
import json
import os
import pathlib
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "http"))

import harness

BODIES = {"first": b"p sp 3 2\na 1 2 5\na 2 3 7\n", "second": b"p sp 3 2\na 1 2 50\na 2 3 70\n"}


def catalogue(daemon):
    return os.path.join(daemon.state, "catalogue.db")


def solve_both(daemon):
    """Solves two graphs and waits until they are durable; returns their jobs by graph name."""
    jobs = {name: daemon.solve(body, f"?name={name}") for name, body in BODIES.items()}
    for job in jobs.values():
        daemon.wait_until_durable(job["id"])
    return jobs


def run_sql(daemon, statement, *values):
    with contextlib.closing(sqlite3.connect(catalogue(daemon))) as base:
        rows = base.execute(statement, values)
        found = rows.fetchall() if rows.description else rows.rowcount
        base.commit()
    return found


def start(daemon):
    """Starts the daemon; returns (what, id) of all damage that it logs."""
    before = len(daemon.log())
    daemon.start()
    lines = [json.loads(line) for line in daemon.log()[before:].splitlines()]
    told = [(line["what"], line["id"]) for line in lines if line["event"] == "damage_found"]
    (restored,) = [line for line in lines if line["event"] == "restored"]
    assert restored["damaged"] == len(told), (restored, told)
    return told


def change(daemon, statement, *values):
    daemon.terminate()
    assert run_sql(daemon, statement, *values) == 1, statement
    return start(daemon)


def expect_rest(daemon, table):
    """Checks that the other graph and its job are unchanged, also after another start, which
    reports no damage."""
    for _ in range(2):
        assert daemon.distance("second", 1, 3) == 120
        daemon.terminate()
        assert run_sql(daemon, f"SELECT count(*) FROM damaged_{table}") == [(1,)], table
        assert start(daemon) == []


def test_a_graph_with_a_changed_row_is_quarantined_and_can_be_uploaded_again():
    with harness.Daemon() as daemon:
        jobs = solve_both(daemon)
        graph = jobs["first"]["graph"]
        job = jobs["first"]["id"]
        told = change(daemon, "UPDATE graph SET edge_count=edge_count+1 WHERE id=?", graph)
        assert told == [("graph", graph), ("job_without_graph", job)], told
        daemon.get(f"/v1/graphs/{graph}").expect(404, "NoSuchGraph")
        assert os.listdir(os.path.join(daemon.state, "quarantine")) == [graph]
        expect_rest(daemon, "graph")
        document = daemon.get(f"/v1/jobs/{job}").expect(200).json
        assert document["state"] == "failed" and document["problem"]["code"] == "Corrupt", document
        assert graph in document["problem"]["detail"], document
        assert daemon.solve(BODIES["first"], "?name=first")["graph"] == graph
        assert daemon.distance("first", 1, 3) == 12


def test_a_graph_file_is_removed_if_the_id_in_its_row_has_changed():
    with harness.Daemon() as daemon:
        graph = solve_both(daemon)["first"]["graph"]
        told = change(daemon, "UPDATE graph SET id='g_0000' WHERE id=?", graph)
        assert set(told) == {("graph", "g_0000"), ("graph_without_row", graph), ("result_file", graph),
                             ("name_without_graph", "first")}, told
        assert graph not in os.listdir(os.path.join(daemon.state, "graphs"))
        assert daemon.distance("second", 1, 3) == 120
        assert daemon.solve(BODIES["first"], "?name=first")["graph"] == graph
        assert daemon.distance("first", 1, 3) == 12


def test_a_changed_name_row_is_reported():
    with harness.Daemon() as daemon:
        graph = solve_both(daemon)["first"]["graph"]
        assert change(daemon, "UPDATE name SET name='fir5t' WHERE name='first'") == [("name", "fir5t")]
        for name in ("first", "fir5t"):
            daemon.get(f"/v1/graphs/{name}").expect(404, "NoSuchGraph")
        expect_rest(daemon, "name")
        assert daemon.distance(graph, 1, 3) == 12


def test_a_changed_result_row_is_reported_and_solved_again():
    with harness.Daemon() as daemon:
        graph = solve_both(daemon)["first"]["graph"]
        assert change(daemon, "UPDATE result SET etag='r_0' WHERE graph_id=?", graph) == [("result", graph)]
        answer = daemon.get("/v1/graphs/first/distance?source=1&target=3", Prefer="wait=60").expect(200)
        assert answer.json["distance"] == 12, answer.json
        expect_rest(daemon, "result")


def test_a_changed_job_row_is_reported():
    with harness.Daemon() as daemon:
        jobs = solve_both(daemon)
        job = jobs["first"]["id"]
        assert change(daemon, "UPDATE job SET finished_s=finished_s+1 WHERE id=?", job) == [("job", job)]
        daemon.get(f"/v1/jobs/{job}").expect(404, "NoSuchJob")
        assert daemon.distance("first", 1, 3) == 12
        expect_rest(daemon, "job")
        daemon.get(f"/v1/jobs/{jobs['second']['id']}").expect(200)


def test_changed_bytes_of_a_row_or_of_its_index_are_found():
    """A changed job ID is found in the table and in the table's index, which is then rebuilt."""
    outcomes = set()
    for place in (0, 1):
        with harness.Daemon() as daemon:
            job = solve_both(daemon)["first"]["id"].encode()
            daemon.terminate()
            content = pathlib.Path(catalogue(daemon)).read_bytes()
            assert content.count(job) == 2, content.count(job)
            at = content.index(job) if place == 0 else content.rindex(job)
            pathlib.Path(catalogue(daemon)).write_bytes(content[:at + 9] + b"?" + content[at + 10:])
            told = start(daemon)
            found = daemon.get("/v1/jobs/" + job.decode()).status
            assert (told, found) in (([], 200), ([("job", job[:9].decode() + "?" + job[10:].decode())], 404)), told
            outcomes.add(found)
            assert daemon.distance("first", 1, 3) == 12 and daemon.distance("second", 1, 3) == 120
    assert outcomes == {200, 404}, outcomes


def test_lost_files_and_jobs_without_a_graph_are_reported():
    with harness.Daemon(*harness.LASTING) as daemon:
        lost = daemon.ask("POST", "/v1/graphs", body=BODIES["first"]).expect(201).json["id"]
        job = daemon.submit(harness.slow_graph(harness.LASTING_SIZE)).expect(202).json
        daemon.kill()
        for graph in (lost, job["graph"]):
            os.unlink(os.path.join(daemon.state, "graphs", graph))
        told = start(daemon)
        assert set(told) == {("graph_file", lost), ("graph_file", job["graph"]), ("job_without_graph", job["id"])}, told
        document = daemon.get(f"/v1/jobs/{job['id']}").expect(200).json
        assert document["state"] == "failed" and document["problem"]["code"] == "Corrupt", document


def last_pages(log):
    """Returns where the last page of each transaction begins in a write-ahead log. In SQLite's
    format, a header of 32 bytes has the page size; each page has a header of 24 bytes, which
    contains the size of the database for the last page of a transaction and 0 for others."""
    size = int.from_bytes(log[8:12], "big")
    heads = range(32, len(log), 24 + size)
    return [head + 24 for head in heads if any(log[head + 4:head + 8])]


def test_graphs_whose_rows_were_lost_with_the_wal_are_reported():
    with harness.Daemon() as daemon:
        graphs = [daemon.ask("POST", "/v1/graphs", body=b"p sp 2 1\na 1 2 %d\n" % weight).expect(201).json["id"]
                  for weight in range(1, 10)]
        daemon.kill()
        log = pathlib.Path(catalogue(daemon) + "-wal")
        content = bytearray(log.read_bytes())
        content[last_pages(content)[-3]] ^= 1
        log.write_bytes(content)
        told = start(daemon)
        lost = {graph for what, graph in told if what == "graph_without_row"}
        assert 0 < len(lost) == len(told) < len(graphs), told
        assert set(os.listdir(os.path.join(daemon.state, "graphs"))) == set(graphs) - lost
        kept = {graph["id"] for graph in daemon.get("/v1/graphs").expect(200).json["graphs"]}
        assert kept == set(graphs) - lost, (kept, lost)


if __name__ == "__main__":
    harness.run(globals())
