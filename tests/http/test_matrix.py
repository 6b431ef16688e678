"""Tests the matrix in every format, and the features of HTTP that make downloads resumable."""

import io
import json
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


def test_npy_files_can_be_read_by_numpy(daemon):
    answer = daemon.get(PATH).expect(200)
    assert answer.headers["Content-Type"] == "application/x-npy"
    assert answer.headers["Content-Length"] == str(128 + 64)
    assert answer.headers["Content-Disposition"].endswith('.npy"'), answer.headers
    assert answer.body[:6] == b"\x93NUMPY" and answer.body[128:] == BODY
    if numpy is not None:
        matrix = numpy.load(io.BytesIO(answer.body))
        assert matrix.dtype == "<i4" and matrix.tolist() == ROWS


def test_raw_and_nthu_files_contain_only_the_elements(daemon):
    raw = daemon.get(PATH + "?format=raw").expect(200)
    assert raw.body == BODY and raw.headers["Content-Type"] == "application/octet-stream"
    assert raw.headers["X-Matrix-Shape"] == "4,4"
    assert raw.headers["X-Matrix-Dtype"] == "<i4"
    assert raw.headers["X-Matrix-Unreachable"] == str(INF)
    assert daemon.get(PATH + "?format=nthu").expect(200).body == BODY


def test_unreachable_distances_are_null_in_json(daemon):
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


def test_the_size_of_a_json_matrix_is_limited(_):
    with harness.Daemon("--http.json_cell_limit", "15") as daemon:
        prepare(daemon)
        problem = daemon.get(PATH + "?format=json").expect(413, "TooLarge").json
        assert problem["limit"] == 15 and problem["actual"] == 16 and "npy" in problem["hint"]
        assert len(daemon.get(PATH + "?format=json&rows=:3").expect(200).json["distances"]) == 3
        for name in ("csv", "ndjson", "mtx", "npy"):
            daemon.get(PATH + "?format=" + name).expect(200)
        daemon.ask("POST", "/v1/graphs/small/table", body="{}").expect(413, "TooLarge")


def test_the_accept_header_or_a_parameter_selects_the_format(daemon):
    types = {"application/x-npy": 192, "application/octet-stream": 64, "*/*": 192}
    for accept, size in types.items():
        assert len(daemon.get(PATH, Accept=accept).expect(200).body) == size
    daemon.get(PATH, Accept="image/png").expect(406, "NotAcceptable")
    daemon.get(PATH + "?format=bmp").expect(400, "BadParameter")
    daemon.get(PATH + "?row=1:2").expect(400, "UnknownParameter")
    reals = daemon.solve(b"1 2 0.5\n")["id"]
    answer = daemon.get(f"/v1/graphs/{reals}/matrix?format=nthu").expect(406, "NotAcceptable")
    assert "hint" in answer.json
    raw = daemon.get(f"/v1/graphs/{reals}/matrix?format=raw").expect(200)
    assert raw.headers["X-Matrix-Dtype"] == "<f8"
    assert struct.unpack("<4d", raw.body) == (0.0, 0.5, float("inf"), 0.0)


CSV = b"0,5,12,\n8,0,7,\n1,6,0,\n,,,0\n"


def test_text_formats_have_the_same_distances(daemon):
    csv = daemon.get(PATH + "?format=csv").expect(200)
    assert csv.body == CSV and csv.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert csv.headers["Content-Disposition"].endswith('.csv"')
    assert daemon.get(PATH, Accept="text/csv").expect(200).body == CSV
    named = daemon.get(PATH + "?format=csv&header=true&rows=2:&cols=1,4").expect(200).body
    assert named == b",1,4\n3,1,\n4,,0\n", named
    daemon.get(PATH + "?format=json&header=true").expect(400, "BadParameter")
    lines = daemon.get(PATH + "?format=ndjson").expect(200)
    assert lines.headers["Content-Type"] == "application/x-ndjson"
    rows = [json.loads(line) for line in lines.body.splitlines()]
    assert rows == [[None if d == INF else d for d in row] for row in ROWS]
    mtx = daemon.get(PATH + "?format=mtx").expect(200).body.decode().splitlines()
    assert mtx[0] == "%%MatrixMarket matrix array real general" and mtx[2] == "4 4", mtx
    assert mtx[3:] == ["inf" if d == INF else str(d) for column in zip(*ROWS) for d in column]


def test_matrix_market_files_can_be_read_by_scipy(daemon):
    try:
        from scipy.io import mmread
    except ImportError:
        return
    for body, head in ((b"p sp 40 80\n" + b"".join(b"a %d %d %d\n" % (i, i * j % 40 + 1, i) for i in
                        range(1, 41) for j in (1, 7)), b"integer"), (b"0 1 3\n", b"real")):
        job = daemon.solve(body)
        path = f"/v1/graphs/{job['id']}/matrix"
        text = daemon.get(path + "?format=mtx").expect(200).body
        assert text.split()[3] == head, text[:60]
        truth = numpy.load(io.BytesIO(daemon.get(path).body)).astype(float)
        truth[truth == INF] = numpy.inf
        assert numpy.array_equal(mmread(io.BytesIO(text)), truth)


def test_slices_are_returned_in_every_format(daemon):
    pick = {"1:3": [1, 2], ":2": [0, 1], "3:": [3], ":": [0, 1, 2, 3], "2:2": [], "4,1,1": [3, 0, 0]}
    for rows, r in pick.items():
        for cols, c in pick.items():
            query = f"?rows={rows}&cols={cols}&format="
            truth = [[ROWS[i][j] for j in c] for i in r]
            flat = struct.pack(f"<{len(r) * len(c)}i", *sum(truth, []))
            nulls = [[None if d == INF else d for d in row] for row in truth]
            raw = daemon.get(PATH + query + "raw").expect(200)
            assert raw.body == flat and raw.headers["X-Matrix-Shape"] == f"{len(r)},{len(c)}"
            assert daemon.get(PATH + query + "nthu").expect(200).body == flat
            npy = daemon.get(PATH + query + "npy").expect(200)
            assert npy.body[128:] == flat and b"(%d, %d)" % (len(r), len(c)) in npy.body[:128]
            assert daemon.get(PATH + query + "json").expect(200).json == {
                "sources": [i + 1 for i in r], "destinations": [j + 1 for j in c],
                "distances": nulls}
            lines = daemon.get(PATH + query + "ndjson").expect(200).body.splitlines()
            assert [json.loads(line) for line in lines] == nulls
            fields = ["" if d is None else str(d) for row in nulls for d in row]
            csv = daemon.get(PATH + query + "csv").expect(200).body.decode()
            assert csv.count("\n") == len(r) and csv.replace("\n", ",").split(",")[:-1] == (
                fields if c else [""] * len(r))
    for query, status, code in (
        ("rows=0:5", 400, "BadParameter"),
        ("cols=3:1", 400, "BadParameter"),
        ("rows=5", 404, "NoSuchVertex"),
        ("cols=1,0", 404, "NoSuchVertex"),
        ("rows=", 400, "BadParameter"),
        ("rows=-1:2", 400, "BadParameter"),
        ("rows=1:2:3", 400, "BadParameter"),
        ("cols=0:99999999999999999999", 400, "BadParameter"),
        ("rows=%221", 400, "BadParameter"),
    ):
        daemon.get(PATH + "?" + query).expect(status, code)


def test_the_download_of_a_slice_can_be_resumed(daemon):
    for query in ("?rows=1:3&cols=4,1,2", "?rows=1:3&format=raw", "?cols=:3&format=nthu"):
        whole = daemon.get(PATH + query).expect(200)
        size = int(whole.headers["Content-Length"])
        assert size == len(whole.body) and whole.headers["Accept-Ranges"] == "bytes"
        for first, last in ((0, 0), (3, 17), (5, size - 1), (size - 1, size - 1)):
            part = daemon.get(PATH + query, Range=f"bytes={first}-{last}").expect(206)
            assert part.body == whole.body[first : last + 1], (query, first, last)
            assert part.headers["Content-Range"] == f"bytes {first}-{last}/{size}"
        daemon.get(PATH + query, Range=f"bytes={size}-").expect(416, "RangeNotSatisfiable")
        tag = whole.headers["ETag"]
        daemon.get(PATH + query, If_None_Match=tag).expect(304)
        daemon.get(PATH + query, If_Range=tag, Range="bytes=1-2").expect(206)
        assert daemon.ask("HEAD", PATH + query).headers["Content-Length"] == str(size)


def test_nthu_converts_16_bit_distances_to_32_bits(daemon):
    job = daemon.solve(harness.SMALL, "?kind=u2")
    path = f"/v1/graphs/{job['id']}/matrix?format="
    assert daemon.get(path + "raw").headers["X-Matrix-Dtype"] == "<u2"
    assert daemon.get(path + "nthu").expect(200).body == BODY
    assert daemon.get(path + "csv").expect(200).body == CSV


def test_a_row_is_returned_in_each_format(daemon):
    prepare(daemon)
    row = daemon.get("/v1/graphs/small/row/3").expect(200)
    assert row.headers["Content-Type"] == "application/json" and row.headers["ETag"]
    assert row.json == {"source": 3, "destinations": [1, 2, 3, 4], "distances": [1, 6, 0, None]}
    part = daemon.get("/v1/graphs/small/row/3?cols=2:").expect(200).json
    assert part == {"source": 3, "destinations": [3, 4], "distances": [0, None]}
    assert daemon.get("/v1/graphs/small/row/3", Accept="text/csv").expect(200).body == b"1,6,0,\n"
    raw = daemon.get("/v1/graphs/small/row/3?format=raw").expect(200)
    assert raw.body == BODY[32:48] and raw.headers["X-Matrix-Shape"] == "1,4"
    daemon.get("/v1/graphs/small/row/9").expect(404, "NoSuchVertex")
    daemon.get("/v1/graphs/small/row/%zz").expect(400, "BadRequest")
    daemon.get("/v1/graphs/small/row/3?rows=1").expect(400, "UnknownParameter")
    daemon.get("/v1/graphs/small/row/").expect(404, "NoSuchRoute")
    column = daemon.get("/v1/graphs/small/column/1").expect(200)
    assert column.json == {"destination": 1, "sources": [1, 2, 3, 4], "distances": [0, 8, 1, None]}
    part = daemon.get("/v1/graphs/small/column/1?rows=1:3").expect(200).json
    assert part == {"destination": 1, "sources": [2, 3], "distances": [8, 1]}
    assert daemon.get("/v1/graphs/small/column/1", Accept="text/csv").expect(200).body == b"0\n8\n1\n\n"
    assert daemon.get("/v1/graphs/small/column/1?format=raw").expect(200).headers["X-Matrix-Shape"] == "4,1"
    daemon.get("/v1/graphs/small/column/3?cols=1").expect(400, "UnknownParameter")
    odd = daemon.solve(json.dumps({"nodes": [{"id": "a/b"}, {"id": "50%"}], "links": [
        {"source": "a/b", "target": "50%", "weight": 4}]}).encode(), "?format=json")
    answer = daemon.get(f"/v1/graphs/{odd['graph']}/row/a%2Fb").expect(200).json
    assert answer["source"] == "a/b" and answer["destinations"] == ["a/b", "50%"]


def test_a_large_response_is_streamed(daemon):
    """A response ten times as large as the allowed memory growth arrives completely, and the memory
    of the daemon grows by less than that limit."""
    n = 1000 if harness.QUICK else 4000
    rows = "".join(f"a {i} {i % n + 1} 100\n" for i in range(1, n + 1))
    job = daemon.solve(f"p sp {n} {n}\n{rows}".encode(), "?name=ring&result=matrix")
    path = f"/v1/graphs/{job['graph']}/matrix?format="

    def private():
        with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as status:
            words = dict(line.split(":", 1) for line in status)
        return int(words["RssAnon"].split()[0])

    before = private()
    for name in ("csv", "ndjson", "mtx"):
        connection = daemon.connect()
        connection.request("GET", path + name)
        answer = connection.getresponse()
        size = lines = 0
        while piece := answer.read(1 << 20):
            size += len(piece)
            lines += piece.count(b"\n")
            assert private() - before < (16 << 10), (name, private(), before)
        connection.close()
        assert lines == (n * n + 3 if name == "mtx" else n), (name, lines)
        assert size > 5 * n * n, (name, size)


def test_byte_ranges_are_returned(daemon):
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
        assert "Content-Disposition" not in answer.headers, answer.headers
        assert answer.headers["Content-Range"] == f"bytes */{size}"
    for header in ("bytes=0-1,3-4", "bytes=4-3", "rows=0-1", "bytes=x-"):
        assert daemon.get(PATH, Range=header).expect(200).body == whole
    raw = daemon.get(PATH + "?format=raw", Range="bytes=4-11").expect(206)
    assert raw.body == BODY[4:12]


def test_an_interrupted_download_can_be_resumed(daemon):
    job = daemon.solve(b"p sp 600 600\n" + b"".join(b"a %d %d 3\n" % (i, i % 600 + 1) for i in range(1, 601)))
    path = f"/v1/graphs/{job['id']}/matrix"
    whole = daemon.get(path).expect(200)
    connection = daemon.connect()
    connection.request("GET", path)
    begun = connection.getresponse().read(500_000)
    connection.close()
    rest = daemon.get(path, Range=f"bytes={len(begun)}-", If_Range=whole.headers["ETag"]).expect(206)
    assert begun + rest.body == whole.body


def test_conditional_requests_return_304_or_412(daemon):
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
    for wanted in (tag, "*", f'"x", {tag}'):
        assert daemon.get(PATH, If_Match=wanted).expect(200).body == answer.body
        assert daemon.get(PATH, If_Match=wanted, Range="bytes=0-3").expect(206).body == answer.body[:4]
        daemon.get(PATH, If_Match=wanted, If_None_Match=tag).expect(304)
    for wanted in ('"x"', f"W/{tag}"):
        assert daemon.get(PATH, If_Match=wanted).expect(412, "PreconditionFailed").json["hint"]
        daemon.get(PATH, If_Match=wanted, Range="bytes=0-3").expect(412)
        daemon.get(PATH, If_Match=wanted, If_None_Match=tag).expect(412)
    daemon.get("/v1/graphs/small/distance?source=1&target=2", If_Match=tag).expect(412)
    daemon.get("/docs", If_Match=tag).expect(412)
    # A resource created by the request itself has no ETag.
    graph = daemon.ask("POST", "/v1/graphs?name=kept", body=b"p sp 2 1\na 1 2 77\n").expect(201).json["id"]
    for method, path, body in (("DELETE", "/v1/graphs/kept", None), ("POST", "/v1/jobs", b'{"graph":"kept"}')):
        daemon.ask(method, path, body, {"If-Match": tag}).expect(412, "PreconditionFailed")
    assert daemon.get("/v1/graphs/kept").expect(200).json["id"] == graph
    daemon.ask("DELETE", "/v1/graphs/kept", headers={"If-Match": "*"}).expect(204)


def test_a_head_response_has_the_headers_of_get_but_no_body(daemon):
    for path in (PATH, PATH + "?format=json", "/livez", "/v1/jobs", "/v1/graphs/small/vertices"):
        head = daemon.ask("HEAD", path).expect(200)
        assert head.body == b""
        daemon.ask("HEAD", path, headers={"Range": "bytes=0-9"}).expect(200)
        get = daemon.get(path)
        for name in ("Content-Length", "Content-Type", "ETag"):
            if path != "/v1/jobs" or name != "Content-Length":
                assert head.headers[name] == get.headers[name], (path, name)


def test_one_connection_serves_many_queries(daemon):
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
