"""Tests the estimated cost of a solve, which clients can query before they submit a graph."""

import json

import harness


def estimate(daemon, body):
    return daemon.ask("POST", "/v1/estimate", body=json.dumps(body),
                      headers={"Content-Type": "application/json"})


def test_an_estimate_for_given_vertex_and_edge_counts_is_returned(daemon):
    small = estimate(daemon, {"n": 1000, "m": 5000}).expect(200).json
    assert small["fits"] is True and small["hint"] is None and small["reason"] is None, small
    assert (small["n"], small["m"], small["kind"]) == (1000, 5000, "i4")
    assert (small["device_bytes"] == 0) == (small["solver"] == "cpu") and small["seconds"] > 0
    assert small["disk_bytes"] >= 4_000_000 and small["host_bytes"] >= small["disk_bytes"]
    wide = estimate(daemon, {"n": 1000, "m": 5000, "kind": "f8"}).expect(200).json
    # The size is that of the elements and of a checksum for each 256 KiB.
    assert 0 <= wide["disk_bytes"] - small["disk_bytes"] - 4_000_000 < 4_000 and wide["kind"] == "f8"
    large = estimate(daemon, {"n": 2000, "m": 5000, "kind": "auto"}).expect(200).json
    assert large["solver"] != "cpu" or 7.9 < large["seconds"] / small["seconds"] < 8.1, large
    narrow = estimate(daemon, {"n": 1000, "kind": "u2"}).expect(200).json
    assert narrow["m"] == 0 and narrow["disk_bytes"] < small["disk_bytes"]


def test_a_refused_estimate_names_a_size_that_fits(daemon):
    for body in ({"n": 10_000_000, "m": 1, "kind": "u2"}, {"n": 4_294_967_294, "m": 0, "kind": "f8"},
                 {"n": 10, "m": 2_000_000_000}):
        answer = estimate(daemon, body).expect(200).json
        assert answer["fits"] is False and answer["reason"] and answer["hint"], answer
        assert all(answer[key] >= 0 for key in ("device_bytes", "host_bytes", "disk_bytes"))
    limit = estimate(daemon, {"n": 1, "kind": "i4"}).json["limits"]["vertex_limit"]
    assert limit == daemon.get("/v1/limits").json["vertex_limit"]
    narrow = estimate(daemon, {"n": 1, "kind": "u2"}).json["limits"]["vertex_limit"]
    other = estimate(daemon, {"n": narrow + 1, "kind": "u2"}).expect(200).json
    assert other["fits"] is False and str(narrow) in other["hint"], other


def test_the_estimate_chooses_a_hierarchy_if_a_matrix_does_not_fit(daemon):
    limit = daemon.get("/v1/limits").json["vertex_limit"]
    small = estimate(daemon, {"n": limit // 4, "m": limit}).expect(200).json
    large = estimate(daemon, {"n": limit + 1, "m": limit}).expect(200).json
    assert small["result"]["kind"] == "matrix", small
    assert large["fits"] and large["result"]["kind"] == "hierarchy", large
    assert "does not fit" in large["result"]["reason"] and large["disk_bytes"] < limit * 1000


def test_a_stored_graph_can_be_estimated(daemon):
    stored = daemon.ask("POST", "/v1/graphs?name=kept", body=b"1 2 0.5\n2 3 0.25\n").expect(201).json
    for key in (stored["id"], "kept"):
        answer = estimate(daemon, {"graph": key}).expect(200).json
        assert (answer["n"], answer["m"], answer["kind"]) == (3, 2, "f8") and answer["fits"], answer
    assert estimate(daemon, {"graph": "kept", "kind": "f4"}).expect(200).json["kind"] == "f4"
    job = daemon.solve(harness.SMALL)
    assert estimate(daemon, {"graph": job["id"]}).expect(200).json["n"] == 4
    negative = daemon.ask("POST", "/v1/graphs?name=below", body=b"1 2 -5\n").expect(201).json["id"]
    estimate(daemon, {"graph": negative, "kind": "u2"}).expect(422, "WeightRange")


def test_invalid_estimate_requests_are_refused(daemon):
    for body, status, code in (
        ({"graph": "nowhere"}, 404, "NoSuchGraph"),
        ({"graph": 7}, 400, "BadParameter"),
        ({"graph": "kept", "n": 3}, 400, "BadRequest"),
        ({"m": 3}, 400, "BadRequest"),
        ([3], 400, "BadRequest"),
        ({"n": -1}, 400, "BadParameter"),
        ({"n": 1.5}, 400, "BadParameter"),
        ({"n": 3, "kind": "i8"}, 400, "BadParameter"),
        ({"n": 3, "m": "many"}, 400, "BadParameter"),
        ({"n": 3, "vertices": 1}, 400, "UnknownParameter"),
    ):
        estimate(daemon, body).expect(status, code)
    daemon.ask("POST", "/v1/estimate", body="{").expect(400, "BadRequest")
    daemon.ask("POST", "/v1/estimate", body='{"n":1,"n":2}').expect(400, "BadRequest")
    daemon.ask("POST", "/v1/estimate", body="").expect(422, "EmptyBody")
    daemon.ask("POST", "/v1/estimate", body=b" " * 70_000).expect(413, "BodyTooLarge")
    daemon.get("/v1/estimate").expect(405, "MethodNotAllowed")


def test_an_estimate_during_a_running_job_is_positive(daemon):
    job = daemon.submit(harness.slow_graph(600 if harness.QUICK else 2500)).expect(202).json["id"]
    for _ in range(50):
        assert estimate(daemon, {"n": 5000, "m": 9}).expect(200).json["seconds"] > 0
    assert daemon.finish(job)["state"] == "done"


if __name__ == "__main__":
    harness.run(globals())
