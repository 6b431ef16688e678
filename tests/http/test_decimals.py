"""Decimals are exact in a matrix and a hierarchy, on every route, and after changes of weights."""

import json
import random
import struct

import harness

CSV = {"Content-Type": "text/csv"}
# For each case: edges, the arithmetic with its decimals, and some expected distances.
CASES = (
    ("a,b,99999.99\nb,c,-99999.98\n", "i4 x 0.01", {"a c": 0.01, "c a": None}),
    ("a,b,1e-50\nb,c,2e-50\na,c,5e-50\n", "i4 x 1e-50", {"a c": 3e-50, "a b": 1e-50}),
    ("a,b,1234567.891\nb,c,0.25\n", "f8 x 0.001", {"a c": 1234568.141}),
    ("a,b,0.1\nb,c,0.2\nc,d,494.6\n", "i4 x 0.1", {"a c": 0.3, "a d": 494.9}),
    ("b,c,-2.4\na,b,-2.2\nc,a,4.6\n", "i4 x 0.1", {"a c": -4.6, "b a": 2.2, "a a": 0}),
    ("a,b,0.125\nb,c,16777216.5\n", "f8 x 0.001", {"a c": 16777216.625}),
    ('"New York, NY",Rio,7686.5\nRio,Lima,4300\n', "i4 x 0.1", {"New York, NY Lima": 11986.5}),
    ("a,b,0.30000000000000004\nb,c,1\n", "f8", {"a b": 0.30000000000000004}),
)


def upload(daemon, edges, query):
    answer = daemon.ask("POST", f"/v1/jobs?directed=true&verify=true&{query}",
                        body=("source,target,weight\n" + edges).encode(), headers={**CSV, "Prefer": "wait=60"})
    return answer.expect(200).json


def ask(daemon, graph, pair, route="distance"):
    source, _, target = pair.rpartition(" ")
    source = source.replace(" ", "%20")
    return daemon.get(f"/v1/graphs/{graph}/{route}?source={source}&target={target}").expect(200)


def test_distances_are_exact_sums_of_the_decimal_weights(daemon):
    for number, (edges, arithmetic, distances) in enumerate(CASES):
        for form in ("matrix", "hierarchy"):
            name = f"{form}{number}"
            job = upload(daemon, edges, f"result={form}&name={name}")
            assert job["state"] == "done" and job["warnings"] == [], job
            assert (job["summary"]["kind"], job["summary"]["arithmetic"]) == ("f8", arithmetic), job
            for pair, distance in distances.items():
                found = ask(daemon, name, pair)
                assert found.json["distance"] == distance, (edges, pair, found.body)
                assert ask(daemon, name, pair, "path").json["distance"] == distance, (edges, pair)


def test_every_response_from_a_matrix_contains_exact_decimals(daemon):
    upload(daemon, CASES[2][0], "name=forms&result=matrix")
    csv = daemon.get("/v1/graphs/forms/matrix?format=csv&header=true").expect(200).body
    assert csv == b",a,b,c\na,0,1234567.891,1234568.141\nb,,0,0.25\nc,,,0\n", csv
    raw = daemon.get("/v1/graphs/forms/matrix?format=raw").expect(200)
    assert raw.headers["X-Matrix-Dtype"] == "<f8" and struct.unpack("<9d", raw.body)[2] == 1234568.141
    stats = daemon.get("/v1/graphs/forms/stats").expect(200).json
    assert stats["diameter"] == 1234568.141, stats
    document = daemon.get("/v1/graphs/forms").expect(200)
    assert b'"min_weight":0.25,"max_weight":1234567.891' in document.body, document.body
    pairs = daemon.ask("POST", "/v1/graphs/forms/distances", body=struct.pack("<4I", 0, 2, 1, 2),
                       headers={"Content-Type": "application/octet-stream"}).expect(200)
    assert struct.unpack("<2d", pairs.body) == (1234568.141, 0.25)


def test_negative_cycles_of_decimal_weights_are_detected_exactly(daemon):
    lengths = (("USD,EUR,0.300000000\nEUR,USD,-0.300000001\n", -1e-9),
               ("a,b,-0.6421738\nb,a,0\n", -0.6421738),
               ("a,b,1000000.0000000001\nb,a,-1000000.0000000002\n", -1e-10))
    for edges, length in lengths:
        for form in ("matrix", "hierarchy"):
            for kind in ("auto", "f8", "f4"):
                job = upload(daemon, edges, f"result={form}&kind={kind}")
                assert job["state"] == "failed" and job["problem"]["code"] == "NegativeCycle", job
                assert job["problem"]["weight"] == length, job["problem"]
                assert f"length {length!r}:" in job["problem"]["detail"], job["problem"]


def test_rounding_is_reported_or_refused_consistently(daemon):
    job = upload(daemon, "a,b,1234567.891\nb,c,0.25\n", "kind=f4")
    assert job["state"] == "done" and [w["code"] for w in job["warnings"]] == ["Rounded"], job
    assert "3 are rounded away" in job["warnings"][0]["detail"], job
    for form in ("matrix", "hierarchy"):
        job = upload(daemon, CASES[4][0], f"result={form}&kind=f4")
        assert job["state"] == "failed" and job["problem"]["status"] == 422, job
        assert "integers, or use kind=f8" in job["problem"]["hint"], job


def test_changed_weights_keep_every_digit(daemon):
    for form in ("matrix", "hierarchy"):
        upload(daemon, "a,b,0.25\nb,c,1.5\nc,d,2\n", f"name=live&result={form}")
        for weight, arithmetic, codes in ((0.5, "i4 x 0.1", []), (0.125, "i4 x 0.001", ["KindChanged"]),
                                          (0.1234567890123456, "f8", ["KindChanged"]), (7, "i4 x 0.1", [])):
            job = daemon.ask("PATCH", "/v1/graphs/live/edges", body=json.dumps([["a", "b", weight]]),
                             headers={"Content-Type": "application/json"}).expect(202).json
            job = daemon.finish(job["id"])
            assert job["state"] == "done" and job["summary"]["arithmetic"] == arithmetic, job
            assert [warning["code"] for warning in job["warnings"]] == codes, job
            assert ask(daemon, "live", "a b").json["distance"] == weight
        weights = struct.pack("<3d", 0.1, 0.2, 0.3)
        job = daemon.ask("PUT", "/v1/graphs/live/weights", body=weights).expect(202).json
        assert daemon.finish(job["id"])["state"] == "done"
        assert ask(daemon, "live", "a d").json["distance"] == 0.6


def test_distances_are_exact_if_the_weights_are_random_tenths(daemon):
    draw = random.Random(1)
    edges = {(draw.randrange(90), draw.randrange(90)): draw.randrange(1, 10**5) for _ in range(400)}
    edges = {ends: weight for ends, weight in edges.items() if ends[0] != ends[1]}
    body = "".join(f"{u},{v},{weight // 10}.{weight % 10}\n" for (u, v), weight in edges.items())
    wanted = harness.distances_of([(*ends, weight) for ends, weight in edges.items()], range(90))
    for form in ("matrix", "hierarchy"):
        upload(daemon, body, f"result={form}&n=90&name=tenths")
        rows = daemon.get("/v1/graphs/tenths/matrix?format=json").expect(200).json["distances"]
        for source, row in enumerate(rows):
            for target, distance in enumerate(row):
                units = wanted.get((source, target))
                expected = None if units is None else float(f"{units}e-1")
                assert distance == expected, (form, source, target, distance, expected)


if __name__ == "__main__":
    harness.run(globals())
