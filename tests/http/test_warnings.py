"""The warnings of an upload, from the reader to the document of its job, and cached results."""

import json
import struct

import harness
from harness import SMALL


def npy(kind, layout, *entries):
    """Returns a square NumPy array."""
    n = b"%d" % (len(entries) ** 0.5)
    head = b"{'descr': '" + kind + b"', 'fortran_order': False, 'shape': (" + n + b", " + n + b"), }"
    return b"\x93NUMPY\x01\x00\x76\x00" + head.ljust(117) + b"\n" + struct.pack(layout, *entries)


# By code: a body and parameters that cause exactly this warning, and words of its detail and hint.
UPLOADS = {
    "DirectedAssumed": (b"a b 5\nb c 7\nc d 1\n", "", "directed", "directed=false"),
    "ColumnsUnused": (b"from,to,length,edge_id\na,b,5,1\nb,a,5,2\n", "", "edge_id", "weight="),
    "ParallelMerged": (b"a b 5\nb a 5\na b 3\n", "", "edges dropped: 1.", "added"),
    "ZerosAreEdges": (npy(b"<i8", "<4q", 0, 0, 5, 0), "", "weight 0", "numpy.inf"),
    "FormatGuessed": (b"source,target,year\na,b,1999\nb,a,2000\n", "", "year", "weight="),
}


def warned(document):
    for warning in document["warnings"]:
        has_columns = warning["code"] in ("ColumnsUnused", "WeightsAbsent")
        assert sorted(warning) == (["code", "columns"] if has_columns else ["code"]) + ["detail", "hint"], warning
    return [warning["code"] for warning in document["warnings"]]


def test_each_guess_about_an_upload_is_reported(daemon):
    for code, (body, query, detail, hint) in UPLOADS.items():
        accepted = daemon.submit(body, query).expect(202).json
        done = daemon.finish(accepted["id"])
        for document in (accepted, done):
            assert warned(document) == [code], document
            warning = document["warnings"][0]
            assert detail in warning["detail"] and hint in warning["hint"], warning
        assert code != "ColumnsUnused" or warning["columns"] == [detail], warning
        stored = daemon.ask("POST", "/v1/graphs" + query, body=body).expect(200).json
        assert stored["warnings"] == accepted["warnings"], stored
        assert "warnings" not in daemon.get(f"/v1/graphs/{done['graph']}").json


def test_graphml_without_a_direction_is_reported(daemon):
    text = '<graphml><graph%s><node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>'
    assert warned(daemon.solve((text % "").encode())) == ["DirectedAssumed"]
    assert warned(daemon.solve((text % ' edgedefault="directed"').encode())) == []


def test_a_long_name_is_truncated_at_a_character_boundary(daemon):
    for front in ("", "x"):
        name = front + "\u00e9" * 50
        done = daemon.solve(f"source,target,{name}\na,b,5\nb,a,7\n".encode(), "?format=edges")
        shown = name[:30].encode()[:60].decode(errors="ignore")
        assert done["input"]["weight"] == shown, done["input"]
        detail = done["warnings"][0]["detail"]
        assert f"from {shown}," in detail, detail


def test_unambiguous_uploads_have_no_warnings(daemon):
    for body, query in (
        (SMALL, ""), (b"a b 5\nb c 7\nc d 1\n", "?directed=true"), (b"a b 5\nb c 7\nc d 1\n", "?directed=false"),
        (b"a b 5\nb a 9\n", ""), (b"a b 5\na b 5\nb a 5\n", ""), (b"# Directed graph\n1 2 5\n", ""),
        (b"source,target,weight\na,b,1\nb,a,1\n", ""), (b"0 5\n5 0\n", "?format=matrix"),
        (npy(b"<f8", "<4d", 0, 0, float("inf"), 0), ""),
    ):
        assert warned(daemon.solve(body, query)) == [], body


def test_a_name_that_moves_to_another_graph_is_reported(daemon):
    first = daemon.solve(b"1 2 31\n2 1 31\n", "?name=moved")
    assert warned(first) == [] and warned(daemon.solve(b"1 2 31\n2 1 31\n", "?name=moved")) == []
    second = daemon.solve(b"1 2 32\n2 1 32\n", "?name=moved")
    assert warned(second) == ["NameMoved"] and first["graph"] in second["warnings"][0]["detail"], second
    assert daemon.get("/v1/graphs/moved").json["id"] == second["graph"]
    assert daemon.distance(first["graph"], 1, 2) == 31
    body = json.dumps({"graph": first["graph"], "name": "moved"})
    back = daemon.ask("POST", "/v1/jobs", body=body).expect(200).json
    assert warned(back) == ["NameMoved"] and second["graph"] in back["warnings"][0]["detail"], back
    stored = daemon.ask("POST", "/v1/graphs?name=moved", body=b"1 2 33\n2 1 33\n").expect(201).json
    assert warned(stored) == ["NameMoved"] and first["graph"] in stored["warnings"][0]["detail"], stored
    # An upload without a name moves none.
    assert warned(daemon.solve(b"1 2 34\n2 1 34\n")) == []


def test_a_repeated_upload_has_its_own_summary(daemon):
    first = daemon.solve(b"1 2 5\n2 1 5\n")
    assert first["input"]["cached"] is False, first["input"]
    assert first["summary"]["loops_dropped"] == first["summary"]["parallel_merged"] == 0, first
    known = daemon.submit(b"1 2 5\n2 1 5\n1 2 6\n1 2 5\n2 2 1\n").expect(200).json
    assert known["graph"] == first["graph"] and known["input"]["cached"] is True, known
    assert known["summary"] == {**first["summary"], "loops_dropped": 1, "parallel_merged": 2}, known
    assert known["timings"] == first["timings"] and known["device"] == first["device"], (known, first)
    assert warned(known) == ["ParallelMerged"], known
    by_id = daemon.ask("POST", "/v1/jobs", body=json.dumps({"graph": first["graph"]})).expect(200)
    assert by_id.json["input"] == {"cached": True} and by_id.json["summary"] == first["summary"], by_id.json


def test_a_job_whose_graph_was_deleted_has_no_summary(daemon):
    job = daemon.solve(b"1 2 71\n1 3 5\n")
    daemon.ask("DELETE", f"/v1/graphs/{job['graph']}").expect(204)
    document = daemon.get(f"/v1/jobs/{job['id']}").expect(200).json
    assert document["summary"] is None and document["warnings"] == job["warnings"], document


def test_warnings_survive_a_restart(_):
    with harness.Daemon() as daemon:
        jobs = [daemon.solve(body, query + "?name=one") for body, query, _, _ in UPLOADS.values()]
        jobs.append(daemon.submit(b"a b 5\nb a 5\na b 3\na b 3\n").expect(200).json)
        assert [warned(job)[-1] for job in jobs[1:5]] == ["NameMoved"] * 4, jobs
        daemon.terminate()
        daemon.start()
        for job in jobs:
            document = daemon.get(f"/v1/jobs/{job['id']}").expect(200).json
            assert document["warnings"] == job["warnings"] and document["input"] == job["input"], (document, job)
            assert document["summary"] == job["summary"] and document["timings"] == job["timings"], (document, job)


if __name__ == "__main__":
    harness.run(globals())
