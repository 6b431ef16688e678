"""Real graphs, each uploaded with one curl command; the matrix equals SciPy's exactly. Needs
APSPD_TEST_DATA (a folder with graphs/) and SciPy."""

import io
import os
import sys

import harness
from harness import curl

DATA = os.environ.get("APSPD_TEST_DATA", "")
LARGE = 600  # vertices, for a slow build
ROWS = 100  # rows of a large graph that SciPy computes too
try:
    import numpy
    import scipy.sparse
    import scipy.sparse.csgraph
except ImportError:
    numpy = None


def path_of(name):
    return os.path.join(DATA, "graphs", name)


def words_of(name, comment="#", separator=None):
    with open(path_of(name), encoding="utf-8") as file:
        for line in file:
            line = line.strip()
            if line and not line.startswith(comment):
                yield [word.strip() for word in line.split(separator)]


def dimacs(name):
    rows = [row for row in words_of(name, "c") if row[0] in "pa"]
    count = int(next(row for row in rows if row[0] == "p")[2])
    return [(int(r[1]), int(r[2]), int(r[3])) for r in rows if r[0] == "a"], list(
        range(1, count + 1))


def snap(name):
    return [(int(row[0]), int(row[1]), 1) for row in words_of(name)], None


def metis(name):
    """Returns edges and names; isolated vertices have empty lines."""
    with open(path_of(name), encoding="utf-8") as file:
        rows = [line.split() for line in file if not line.startswith("%")]
    count = int(rows[0][0])
    step = 2 if len(rows[0]) > 2 and rows[0][2].endswith("1") else 1
    edges = []
    for v, row in enumerate(rows[1 : count + 1], 1):
        for at in range(0, len(row), step):
            edges.append((v, int(row[at]), int(row[at + 1]) if step == 2 else 1))
    return edges, list(range(1, count + 1))


def matrix_market(name):
    """Returns edges, names and whether the graph is directed."""
    with open(path_of(name), encoding="utf-8") as file:
        rows = [line.split() for line in file]
    header = [word.lower() for word in rows[0]]
    rows = [row for row in rows[1:] if row and not row[0].startswith("%")]
    count = int(rows[0][0])
    if header[2] == "array":
        assert header[4] == "symmetric"
        places = [(i, j) for j in range(1, count + 1) for i in range(j, count + 1)]
        edges = [(i, j, float(row[0])) for (i, j), row in zip(places, rows[1:])]
    else:
        edges = [(int(r[0]), int(r[1]), float(r[2]) if len(r) > 2 else 1) for r in rows[1:]]
    return edges, list(range(1, count + 1)), header[4] == "general"


def manifest():
    """Returns (file, n, m, directed) of every graph, from the table next to them."""
    with open(os.path.join(DATA, "README.md"), encoding="utf-8") as file:
        for line in file:
            cells = [cell.strip() for cell in line.split("|")]
            if len(cells) > 8 and os.path.exists(path_of(cells[1])) and cells[1]:
                yield cells[1], int(cells[4]), int(cells[5]), cells[6] == "yes"


def rows_of(edges, names, directed, rows):
    """Returns SciPy's distances; parallel edges keep the minimum, and a weight of 0 is an edge."""
    index = {name: i for i, name in enumerate(names)}
    n = len(names)
    best = {}
    for u, v, w in edges:
        pairs = [(u, v)] if directed else [(u, v), (v, u)]
        for s, t in pairs:
            if s != t:
                key = (index[s], index[t])
                best[key] = min(w, best.get(key, w))
    keys = numpy.array(sorted(best), dtype=numpy.int64).reshape(-1, 2)
    weights = numpy.array([best[tuple(key)] for key in keys], dtype=float)
    graph = scipy.sparse.csr_matrix((weights, (keys[:, 0], keys[:, 1])), shape=(n, n))
    method = "J" if len(weights) and weights.min() < 0 else "D"
    return scipy.sparse.csgraph.shortest_path(graph, method=method, indices=rows)


def check_statistics(daemon, graph, matrix):
    stats = daemon.get(f"/v1/graphs/{graph}/stats").expect(200).json
    others = matrix.copy()
    numpy.fill_diagonal(others, numpy.inf)
    finite = numpy.isfinite(others)
    most = numpy.where(finite, others, -numpy.inf).max(axis=1)
    sums = numpy.where(finite, others, 0).sum(axis=1)
    counts = finite.sum(axis=1)
    assert stats["reachable"] == counts.tolist()
    assert stats["reachable_pairs"] == finite.sum() == sum(stats["histogram"]["counts"])
    assert numpy.allclose(stats["eccentricity"], numpy.where(counts > 0, most, 0))
    closeness = numpy.where(sums > 0, counts * counts / numpy.maximum(sums, 1e-300), 0)
    assert numpy.allclose(stats["closeness"], closeness / (len(matrix) - 1))
    assert numpy.isclose(stats["mean_distance"], sums.sum() / finite.sum())
    assert numpy.isclose(stats["diameter"], most.max())
    assert numpy.isclose(stats["radius"], most[counts > 0].min())


def check(daemon, path, query, edges, names, directed=True):
    if harness.QUICK and len(names) > LARGE:
        print(os.path.basename(path), "is left to faster builds")
        return
    code, status, body = curl("--data-binary", "@" + path, "-H", "Prefer: wait=60",
                              daemon.url + "/v1/jobs" + query)
    assert code == 0 and status in (200, 202), (path, code, status, body[:300])
    job = daemon.finish(harness.json.loads(body)["id"])
    assert job["state"] == "done", job
    listed = daemon.get(f"/v1/graphs/{job['graph']}/vertices").expect(200).json["vertices"]
    if names is not None:
        assert listed == names, (path, listed[:10])
    answer = daemon.get(f"/v1/graphs/{job['graph']}/matrix").expect(200)
    got = numpy.load(io.BytesIO(answer.body)).astype(float)
    got[got == 2**30 - 1] = numpy.inf
    rows = numpy.random.permutation(len(listed))[:ROWS]
    truth = rows_of(edges, listed, directed, rows)
    if job["summary"]["kind"] == "f4":
        truth = truth.astype(numpy.float32).astype(float)
        assert numpy.allclose(got[rows], truth, rtol=1e-5)
    elif job["summary"]["kind"] == "f8":  # SciPy adds the doubles nearest to the decimals
        assert numpy.allclose(got[rows], truth, rtol=1e-12)
    else:
        assert numpy.array_equal(got[rows], truth), (path, (got[rows] != truth).sum())
    check_statistics(daemon, job["graph"], got)
    for _ in range(50):
        i, j = numpy.random.randint(0, len(listed), 2)
        d = daemon.distance(job["graph"], listed[i], listed[j])
        d = numpy.inf if d is None else d
        d = numpy.float32(d) if job["summary"]["kind"] == "f4" else d
        assert d == got[i, j], (path, i, j, d)
    print(os.path.basename(path), len(listed), "vertices,", int(numpy.isinf(got).sum()),
          "pairs unreachable, all equal")


def test_dimacs_files_are_solved_exactly(daemon):
    for name in ("rome99.gr", "openflights.gr", "ubo10_psp1.gr", "ubo100_psp1.gr", "chain.gr"):
        if os.path.exists(path_of(name)):
            edges, names = dimacs(name)
            check(daemon, path_of(name), "", edges, names)


def test_metis_files_are_solved_exactly(daemon):
    for name in ("lesmis.graph", "jazz.graph", "polblogs.graph"):
        edges, names = metis(name)
        check(daemon, path_of(name), "", edges, names, directed=False)


def test_matrix_market_files_are_solved_exactly(daemon):
    for name in ("bays29.dense.mtx", "brg180.dense.mtx", "chesapeake.mtx", "pglib_case300_ieee.mtx",
                 "test_FW_1000.mtx"):
        edges, names, directed = matrix_market(name)
        check(daemon, path_of(name), "", edges, names, directed)


FORMATS = {"gr": "dimacs", "mtx": "mtx", "graph": "metis"}


def test_real_graphs_have_their_published_vertex_and_edge_counts(daemon):
    """The format is sniffed; the numbers of vertices and edges are the published ones."""
    seen = 0
    for name, n, m, directed in manifest():
        path = path_of(name)
        with open(path, "rb") as file:
            body = file.read()
        if name.startswith("coursera_"):  # begins with its own counts
            body = body.split(b"\n", 1)[1]
        expected = FORMATS.get(name.rsplit(".", 1)[1], "edges")
        query = "" if directed or expected in ("mtx", "metis") else "?directed=false"
        answer = daemon.ask("POST", "/v1/graphs" + query, body=body)
        assert answer.status in (200, 201), (name, answer.status, answer.body[:300])
        graph = answer.json
        summary = graph["summary"]
        listed = graph["m"] + summary["parallel_merged"]
        assert graph["input"]["format"] == expected and graph["input"]["guessed"], (name, graph)
        assert graph["n"] == n and graph["directed"] == directed, (name, graph)
        if name.startswith("pglib_"):  # published counts are before merging parallel branches
            assert listed == len(matrix_market(name)[0]) <= m, (name, m, graph)
        else:
            # Edges as listed, with or without loops; or half of them if the file lists both
            # directions.
            counts = (graph["m"], listed, listed + summary["loops_dropped"])
            assert m in counts, (name, m, graph)
        seen += 1
    assert seen == len(os.listdir(os.path.join(DATA, "graphs"))) == 45, seen
    print(seen, "graphs read")


def test_snap_files_are_solved_exactly(daemon):
    name = "facebook_combined.txt"
    edges, _ = snap(name)
    names = sorted({v for edge in edges for v in edge[:2]})
    check(daemon, path_of(name), "?directed=false", edges, names, directed=False)


def test_a_graph_of_named_airports_is_solved(daemon):
    rows = list(words_of("flights-airport.csv", separator=","))
    edges = [(row[0], row[1], float(row[2])) for row in rows[1:]]
    names = list(dict.fromkeys(v for edge in edges for v in edge[:2]))
    check(daemon, path_of("flights-airport.csv"), "?format=edges", edges, names)


if __name__ == "__main__":
    if numpy is None or not os.path.isdir(os.path.join(DATA, "graphs")) or not DATA:
        print("needs APSPD_TEST_DATA and SciPy")
        sys.exit(harness.SKIPPED)
    harness.run(globals())
