"""Tests bodies that are not plain UTF-8: compressed without Content-Encoding, archives, and other
charsets."""

import bz2
import gzip
import lzma
import subprocess

import harness
from harness import SMALL
from tool_files import zip_of


def test_compressed_bodies_are_recognized_by_their_first_bytes(daemon):
    packed = gzip.compress(SMALL)
    job = daemon.solve(packed)
    assert job["state"] == "done" and job["input"]["encoding"] == "gzip", job["input"]
    assert job["input"]["format"] == "dimacs" and job["input"]["guessed"]
    assert job["input"]["bytes"] == len(packed) and job["input"]["decoded_bytes"] == len(SMALL)
    assert daemon.solve(packed, "?format=dimacs")["input"]["encoding"] == "gzip"
    try:
        packed = subprocess.run(["zstd", "-c"], input=SMALL, capture_output=True, check=True).stdout
    except FileNotFoundError:
        return
    assert daemon.solve(packed)["input"]["encoding"] == "zstd"


def test_an_nthu_file_may_begin_like_a_gzip_file(daemon):
    # The body declares 0x00088B1F vertices, which are too many, but it is not damaged gzip.
    body = b"\x1f\x8b\x08\x00" + bytes(4)
    assert daemon.submit(body, "?format=nthu&result=matrix").json["code"] in ("TooLarge", "DiskFull")
    assert "gzip" in daemon.submit(body).expect(422, "Truncated").json["detail"]


def test_the_error_for_an_archive_names_its_format(daemon):
    for body, name, way in ((zip_of("arr_0.npy", b"x"), "zip", "numpy.load("), (bz2.compress(SMALL), "bzip2", "gzip"),
                            (lzma.compress(SMALL), "xz", "gzip")):
        for query in ("", "?format=edges", "?format=npy"):
            problem = daemon.submit(body, query).expect(422, "BadGraph").json
            assert name in problem["detail"] and way in problem["hint"], problem


def names(daemon, job):
    return daemon.get(f"/v1/graphs/{job['graph']}/vertices").json["vertices"]


def test_text_is_decoded_from_the_specified_charset(daemon):
    text = "Bern,Z\u00fcrich,5\nZ\u00fcrich,\u6771\u4eac,7\n"
    wanted = ["Bern", "Z\u00fcrich", "\u6771\u4eac"]
    assert names(daemon, daemon.solve(text.encode())) == wanted
    for charset in ("utf-16", "gb18030", "UTF-16LE"):
        assert names(daemon, daemon.solve(text.encode(charset), f"?charset={charset}")) == wanted
    assert names(daemon, daemon.solve(text.encode("utf-16"))) == wanted
    assert names(daemon, daemon.solve(gzip.compress(text.encode("utf-16")))) == wanted
    latin = "Bern,Z\u00fcrich,5\n".encode("latin1")
    problem = daemon.submit(latin).expect(422, "BadGraph").json
    assert (problem["line"], problem["column"]) == (1, 7) and "charset=" in problem["hint"], problem
    assert names(daemon, daemon.solve(latin, "?charset=latin1")) == wanted[:2]
    for media_type in ("text/csv; charset=iso-8859-1", 'text/plain;charset="ISO-8859-1"; header=absent'):
        answer = daemon.submit(latin, Content_Type=media_type).json
        assert names(daemon, daemon.finish(answer["id"])) == wanted[:2]
    problem = daemon.submit(b"a,b\n\x81,c\n", "?charset=windows-1252").expect(422, "BadGraph").json
    assert (problem["line"], problem["column"]) == (2, 1) and "windows-1252" in problem["detail"]
    problem = daemon.submit(latin, "?charset=ebcdic").expect(400, "BadParameter").json
    assert "iso-8859-1" in problem["hint"], problem
    daemon.submit(SMALL, Content_Type="text/plain; charset=ebcdic").expect(400, "BadParameter")
    daemon.submit(b"", "?format=npy&charset=latin1").expect(400, "BadParameter")


def test_the_charset_parameter_overrides_the_encoding_declared_in_graphml(daemon):
    text = ('<?xml version="1.0" encoding="%s"?><graphml><graph edgedefault="directed"><node id="\u00e9"/>'
            '<node id="b"/><edge source="\u00e9" target="b"/></graph></graphml>')
    for said, used, query in (("ISO-8859-1", "latin1", ""), ("ISO-8859-1", "latin1", "?charset=latin1"),
                              ("UTF-16", "utf-16", ""), ("UTF-16", "utf-16", "?charset=utf-16"),
                              ("ISO-8859-1", "utf-8", "?charset=utf-8")):
        body = (text % said).encode(used)
        assert names(daemon, daemon.solve(body, query)) == ["\u00e9", "b"], (said, used, query)


def test_metis_files_may_end_with_blank_lines(daemon):
    for end in (b"", b"\n", b"\n \n"):
        job = daemon.solve(b"3 2\n2\n1 3\n2\n" + end)
        assert job["input"]["format"] == "metis" and job["summary"]["n"] == 3, job


def test_text_responses_declare_their_charset(daemon):
    graph = daemon.solve(SMALL)["graph"]
    for path, accept in ((f"graphs/{graph}/distance?source=1&target=2", "text/plain"),
                         (f"graphs/{graph}/matrix?format=csv", "*/*"), (f"graphs/{graph}/matrix?format=mtx", "*/*")):
        for headers in ({}, {"Range": "bytes=0-3"}):
            answer = daemon.ask("GET", "/v1/" + path, headers={"Accept": accept, **headers})
            assert answer.headers["Content-Type"].endswith("; charset=utf-8"), (path, answer.headers)
    assert daemon.get(f"/v1/graphs/{graph}/matrix?format=json").headers["Content-Type"] == "application/json"


if __name__ == "__main__":
    harness.run(globals())
