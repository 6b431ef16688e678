"""The matrix: every format, and the parts of HTTP that make downloads resumable."""

import io
import struct

import harness
from harness import SMALL

try:
    import numpy
except ImportError:
    numpy = None

INF = 2**30 - 1
ROWS = [[0, 5, 12, INF], [8, 0, 7, INF], [1, 6, 0, INF], [INF, INF, INF, 0]]
BODY = struct.pack("<16i", *sum(ROWS, []))
PATH = "/v1/graphs/small/matrix"


def prepare(daemon):
    assert daemon.solve(SMALL, "?name=small")["state"] == "done"


def test_npy_is_what_numpy_reads(daemon):
    prepare(daemon)
    answer = daemon.get(PATH).expect(200)
    assert answer.headers["Content-Type"] == "application/x-npy"
    assert answer.headers["Content-Length"] == str(128 + 64)
    assert answer.headers["Content-Disposition"].endswith('.npy"'), answer.headers
    assert answer.body[:6] == b"\x93NUMPY" and answer.body[128:] == BODY
    if numpy is not None:
        matrix = numpy.load(io.BytesIO(answer.body))
        assert matrix.dtype == "<i4" and matrix.tolist() == ROWS


def test_raw_and_nthu_are_the_elements(daemon):
    raw = daemon.get(PATH + "?format=raw").expect(200)
    assert raw.body == BODY and raw.headers["Content-Type"] == "application/octet-stream"
    assert raw.headers["X-Matrix-Shape"] == "4,4"
    assert raw.headers["X-Matrix-Dtype"] == "<i4"
    assert raw.headers["X-Matrix-Unreachable"] == str(INF)
    assert daemon.get(PATH + "?format=nthu").expect(200).body == BODY


def test_json_has_null(daemon):
    expected = {
        "sources": [1, 2, 3, 4],
        "destinations": [1, 2, 3, 4],
        "distances": [[None if d == INF else d for d in row] for row in ROWS],
    }
    assert daemon.get(PATH + "?format=json").expect(200).json == expected
    assert daemon.get(PATH, Accept="application/json").expect(200).json == expected
    large = daemon.solve(b"p sp 700 1\na 1 700 3\n")
    rows = daemon.get(f"/v1/graphs/{large['id']}/matrix?format=json").expect(200).json["distances"]
    assert len(rows) == 700 and all(len(row) == 700 for row in rows)
    assert rows[0][699] == 3 and rows[699][0] is None and all(rows[i][i] == 0 for i in range(700))


def test_json_has_a_limit(_):
    with harness.Daemon("--http.json_cell_limit", "15") as daemon:
        prepare(daemon)
        problem = daemon.get(PATH + "?format=json").expect(413, "TooLarge").json
        assert problem["limit"] == 15 and problem["actual"] == 16 and "npy" in problem["hint"]


def test_formats_are_negotiated(daemon):
    types = {"application/x-npy": 192, "application/octet-stream": 64, "*/*": 192}
    for accept, size in types.items():
        assert len(daemon.get(PATH, Accept=accept).expect(200).body) == size
    daemon.get(PATH, Accept="image/png").expect(406, "NotAcceptable")
    daemon.get(PATH + "?format=bmp").expect(400, "BadParameter")
    daemon.get(PATH + "?rows=1:2").expect(400, "UnknownParameter")
    reals = daemon.solve(b"1 2 0.5\n")["id"]
    answer = daemon.get(f"/v1/graphs/{reals}/matrix?format=nthu").expect(406, "NotAcceptable")
    assert "hint" in answer.json
    raw = daemon.get(f"/v1/graphs/{reals}/matrix?format=raw").expect(200)
    assert raw.headers["X-Matrix-Dtype"] == "<f4"
    assert struct.unpack("<4f", raw.body) == (0.0, 0.5, float("inf"), 0.0)


def test_ranges(daemon):
    whole = daemon.get(PATH).body
    size = len(whole)
    for header, first, last in (
        ("bytes=0-0", 0, 0),
        ("bytes=0-", 0, size - 1),
        ("bytes=100-149", 100, 149),
        ("bytes=190-9999", 190, size - 1),
        ("bytes=-10", size - 10, size - 1),
        ("bytes=-9999", 0, size - 1),
    ):
        answer = daemon.get(PATH, Range=header).expect(206)
        assert answer.body == whole[first : last + 1], header
        assert answer.headers["Content-Range"] == f"bytes {first}-{last}/{size}"
    for header in (f"bytes={size}-", "bytes=-0", "bytes=99999-"):
        answer = daemon.get(PATH, Range=header).expect(416, "RangeNotSatisfiable")
        assert answer.headers["Content-Range"] == f"bytes */{size}"
    for header in ("bytes=0-1,3-4", "bytes=4-3", "rows=0-1", "bytes=x-"):
        assert daemon.get(PATH, Range=header).expect(200).body == whole
    raw = daemon.get(PATH + "?format=raw", Range="bytes=4-11").expect(206)
    assert raw.body == BODY[4:12]


def test_a_broken_download_goes_on(daemon):
    job = daemon.solve(b"p sp 600 600\n" + b"".join(b"a %d %d 3\n" % (i, i % 600 + 1) for i in range(1, 601)))
    path = f"/v1/graphs/{job['id']}/matrix"
    whole = daemon.get(path).expect(200)
    connection = daemon.connect()
    connection.request("GET", path)
    begun = connection.getresponse().read(500_000)
    connection.close()
    rest = daemon.get(path, Range=f"bytes={len(begun)}-", If_Range=whole.headers["ETag"]).expect(206)
    assert begun + rest.body == whole.body


def test_conditions(daemon):
    answer = daemon.get(PATH).expect(200)
    tag = answer.headers["ETag"]
    assert tag.startswith('"') and answer.headers["Accept-Ranges"] == "bytes"
    assert daemon.get(PATH, If_None_Match=tag).expect(304).headers["ETag"] == tag
    daemon.get(PATH, If_None_Match=f'"x", {tag}').expect(304)
    daemon.get(PATH, If_None_Match="*").expect(304)
    daemon.get(PATH, If_None_Match='"x"').expect(200)
    assert daemon.get(PATH + "?format=raw").headers["ETag"] != tag
    assert daemon.get(PATH, If_Range=tag, Range="bytes=0-3").expect(206).body == answer.body[:4]
    daemon.get(PATH, If_Range='"x"', Range="bytes=0-3").expect(200)
    daemon.get(PATH, If_Range=f"W/{tag}", Range="bytes=0-3").expect(200)


def test_head_is_get_without_body(daemon):
    for path in (PATH, PATH + "?format=json", "/livez", "/v1/jobs", "/v1/graphs/small/vertices"):
        head = daemon.ask("HEAD", path).expect(200)
        assert head.body == b""
        daemon.ask("HEAD", path, headers={"Range": "bytes=0-9"}).expect(200)
        get = daemon.get(path)
        for name in ("Content-Length", "Content-Type", "ETag"):
            if path != "/v1/jobs" or name != "Content-Length":
                assert head.headers[name] == get.headers[name], (path, name)


def test_one_connection_serves_many_questions(daemon):
    connection = daemon.connect()
    connection.connect()
    port = connection.sock.getsockname()[1]
    for _ in range(20):
        for method, path in (("GET", PATH), ("HEAD", PATH), ("GET", PATH + "?format=json"),
                             ("GET", "/v1/jobs"), ("GET", "/v1/graphs/nowhere")):
            daemon.ask(method, path, connection=connection)
            assert connection.sock is not None and connection.sock.getsockname()[1] == port, path
    connection.close()


if __name__ == "__main__":
    harness.run(globals())
