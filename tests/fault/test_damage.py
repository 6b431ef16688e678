"""Damages files of results and graphs: no damaged byte is served, the file is moved to quarantine,
and the graph is solved again. The long form is tests/campaign/damages.py."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "http"))

import damage
import harness

# A result for this many vertices has three blocks of 256 KiB; the last one has the statistics.
VERTICES = 400
# With this many vertices, the few queries of a test, which check four blocks each, do not reach
# the last block.
MANY = 1200


def ring(salt, n=VERTICES):
    lines = [f"p sp {n} {n}"]
    for i in range(1, n + 1):
        lines.append(f"a {i} {i % n + 1} {salt}")
    return "\n".join(lines).encode() + b"\n"


def only_file(daemon, folder):
    (name,) = os.listdir(os.path.join(daemon.state, folder))
    return os.path.join(daemon.state, folder, name)


def solve_durably(daemon, body, query=""):
    job = daemon.solve(body, query)
    assert job["state"] == "done", job
    daemon.wait_until_durable(job["id"])
    return job


def restart(daemon):
    daemon.terminate()
    daemon.start()


def test_damage_to_a_mapped_result_is_found_by_the_first_query():
    with harness.Daemon() as daemon:
        job = solve_durably(daemon, ring(5, MANY), "?name=ring")
        whole = daemon.get("/v1/graphs/ring/matrix").expect(200).body
        restart(daemon)
        path = only_file(daemon, "results")
        question = "/v1/graphs/ring/distance?source=1001&target=1008"
        harness.flip(path, 128 + 4 * (1000 * MANY + 1007))  # the distance of the queried pair
        # A distance in an intact block is still answered; only the damaged one is not.
        assert daemon.distance("ring", 1, 2) == 5
        answer = daemon.get(question)
        answer.expect(409, "NotSolved")
        # The refusal links to the new job once that job is on the disk.
        while "links" not in answer.json:
            answer = daemon.get(question)
            if answer.status == 200:
                break
        watch = answer.json.get("links", {}).get("job") or daemon.get(
            "/v1/jobs?limit=1").json["jobs"][0]["links"]["self"]
        assert watch != f"/v1/jobs/{job['id']}", watch
        answer = daemon.get(question, Prefer="wait=60")
        assert answer.expect(200).json["distance"] == 35, answer.body
        assert daemon.get(watch).expect(200).json["state"] == "done"
        assert daemon.get(f"/v1/jobs/{job['id']}").expect(200).json["state"] == "done"
        assert daemon.get("/v1/graphs/ring/matrix").expect(200).body == whole
        assert os.listdir(os.path.join(daemon.state, "quarantine")) == [os.path.basename(path)]


def test_damage_to_a_queried_result_is_found_when_its_block_is_checked():
    for form in ("matrix", "hierarchy"):
        with harness.Daemon() as daemon:
            solve_durably(daemon, ring(5), f"?name=ring&result={form}")
            assert daemon.distance("ring", 1, 8) == 35
            path = only_file(daemon, "results")
            # Damages an entry in the last block of a matrix, or the last arc of a hierarchy, which
            # is before the checksum.
            harness.flip(path, 128 + 4 * (VERTICES * VERTICES - 2) if form == "matrix" else os.path.getsize(path) - 72)
            while b"result_damaged" not in daemon.log():
                daemon.get("/v1/graphs/ring/distance?source=1&target=8")
                harness.pause()
            answer = daemon.get("/v1/graphs/ring/distance?source=1&target=8", Prefer="wait=60")
            assert answer.expect(200).json["distance"] == 35, answer.body


QUESTIONS = [
    ("GET", "/v1/graphs/ring/distance?source=1&target=8", None, {}),
    ("GET", "/v1/graphs/ring/distance?source=1&target=8", None, {"Accept": "text/plain"}),
    ("POST", "/v1/graphs/ring/distances", b'{"pairs":[[9,10],[1,8]]}', {}),
    ("POST", "/v1/graphs/ring/distances", b"\0\0\0\0\7\0\0\0",
     {"Content-Type": "application/octet-stream"}),
    ("POST", "/v1/graphs/ring/table", b'{"sources":[1],"destinations":[8]}', {}),
    ("GET", "/v1/graphs/ring/path?source=1&target=8", None, {}),
    ("GET", "/v1/graphs/ring/row/1", None, {}),
    ("GET", "/v1/graphs/ring/nearest?source=1&k=9", None, {}),
    ("GET", "/v1/graphs/ring/within?source=1&max=35", None, {}),
    ("GET", "/v1/graphs/ring/matrix?rows=0:1", None, {}),
    ("GET", "/v1/graphs/ring/matrix?format=csv", None, {}),
    ("GET", "/v1/graphs/ring/matrix?format=mtx", None, {}),
    ("GET", "/v1/graphs/ring/matrix", None, {"Range": "bytes=128-200"}),
    ("GET", "/v1/graphs/ring/matrix", None, {"Accept-Encoding": "gzip"}),
]


def test_every_query_finds_the_damage_and_waits_for_the_new_result():
    with harness.Daemon() as daemon:
        solve_durably(daemon, ring(5), "?name=ring")
        right = [daemon.ask(*question).expect(206 if "Range" in question[3] else 200).body
                 for question in QUESTIONS]
        for question, body in zip(QUESTIONS, right):
            restart(daemon)
            harness.flip(only_file(daemon, "results"), 128 + 4 * 7)
            method, path, sent, headers = question
            daemon.ask(method, path, sent, headers).expect(409, "NotSolved")
            answer = daemon.ask(method, path, sent, {**headers, "Prefer": "wait=60"})
            assert answer.status in (200, 206), (question, answer.status, answer.body[:300])
            assert answer.body == body, question
            harness.wait_until(daemon, lambda: not daemon.get("/v1/jobs?state=running").json["jobs"])
            newest = daemon.get("/v1/jobs?limit=1").json["jobs"][0]["id"]
            daemon.wait_until_durable(newest)


def test_a_long_response_is_truncated_when_damage_is_found():
    with harness.Daemon() as daemon:
        solve_durably(daemon, ring(3, MANY), "?name=ring")
        whole = daemon.get("/v1/graphs/ring/matrix").expect(200).body
        restart(daemon)
        harness.flip(only_file(daemon, "results"), len(whole) - 300_000)
        connection = daemon.connect()
        connection.request("GET", "/v1/graphs/ring/matrix")
        response = connection.getresponse()
        assert response.status == 200
        try:
            body = response.read()
            raise AssertionError(len(body))
        except harness.http.client.IncompleteRead as error:
            assert whole.startswith(error.partial)
        answer = daemon.get("/v1/graphs/ring/matrix", Prefer="wait=60")
        assert answer.expect(200).body == whole


def test_damage_to_a_stored_result_is_found_at_startup_or_by_a_query():
    with harness.Daemon() as daemon:
        solve_durably(daemon, ring(4), "?name=ring")
        whole = daemon.get("/v1/graphs/ring/matrix").expect(200).body
        stats = daemon.get("/v1/graphs/ring/stats").expect(200).body
        path = only_file(daemon, "results")
        size = os.path.getsize(path)
        for at in (0, 130, 1 << 18, len(whole) + 60, size - 20, size - 1):
            daemon.terminate()
            harness.flip(path, at)
            daemon.start()
            answer = damage.ask(daemon, "/v1/graphs/ring/stats")
            assert answer.expect(200).body == stats, at
            while True:
                # An answer is truncated if the damage is found while it is sent.
                try:
                    answer = damage.ask(daemon, "/v1/graphs/ring/matrix")
                    break
                except harness.http.client.IncompleteRead as error:
                    assert whole.startswith(error.partial), at
            assert answer.expect(200).body == whole, at
            for job in daemon.get("/v1/jobs").json["jobs"]:
                daemon.wait_until_durable(job["id"])
        assert os.listdir(os.path.join(daemon.state, "quarantine"))


def test_swapped_result_files_are_detected():
    """Each file is complete and valid, but belongs to the other graph."""
    with harness.Daemon() as daemon:
        for name, salt in (("first", 2), ("second", 3)):
            solve_durably(daemon, ring(salt), f"?name={name}")
        whole = [daemon.get(f"/v1/graphs/{name}/matrix").expect(200).body
                 for name in ("first", "second")]
        folder = os.path.join(daemon.state, "results")
        daemon.terminate()
        assert damage.exchange(*(os.path.join(folder, name) for name in os.listdir(folder)))
        daemon.start()
        for name, body in zip(("first", "second"), whole):
            answer = damage.ask(daemon, f"/v1/graphs/{name}/matrix")
            assert answer.expect(200).body == body, name
        assert len(os.listdir(os.path.join(daemon.state, "quarantine"))) == 2


def test_damage_to_many_files_is_found_and_repaired():
    with harness.Daemon() as daemon:
        bodies = [ring(salt, 40 if salt % 3 else VERTICES) for salt in range(1, 25)]
        shelf = damage.Shelf(daemon, bodies, families=3)
        shelf.damage_results(damage.chooser(1))
        assert shelf.found >= 20, shelf.found
        shelf.damage_graphs(damage.chooser(2))
        assert shelf.refused >= 25, shelf.refused


def test_a_damaged_graph_is_reported_and_repaired():
    with harness.Daemon() as daemon:
        stored = daemon.ask("POST", "/v1/graphs?name=ring", body=ring(7)).expect(201).json
        path = only_file(daemon, "graphs")
        harness.flip(path, os.path.getsize(path) - 9)
        job = daemon.solve(b'{"graph":"ring"}')
        assert job["state"] == "failed" and job["problem"]["code"] == "Corrupt", job
        assert "damaged" in job["problem"]["detail"] and "again" in job["problem"]["hint"], job
        job = daemon.solve(b'{"graph":"ring"}')
        assert job["state"] == "failed" and job["problem"]["code"] == "Corrupt", job
        job = daemon.solve(ring(7))
        assert job["state"] == "done" and job["graph"] == stored["id"], job
        assert os.path.exists(path)
        restart(daemon)
        assert daemon.distance("ring", 1, 8) == 49


if __name__ == "__main__":
    harness.run(globals())
