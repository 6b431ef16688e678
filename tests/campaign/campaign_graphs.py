"""Every distance of every graph in a folder beside SciPy's, each uploaded in its own format.

    campaign_graphs.py APSPD APSP FOLDER [--whole N] [--rows R] [--only NAME]

FOLDER has graphs/ and the README.md that lists them, as APSPD_TEST_DATA of the tests has. Graphs of up
to N vertices are compared whole, larger ones in R random rows. Integers must be equal, floats within
1e-5. A graph with a negative cycle must be refused with one whose weights add up to less than 0."""

import argparse
import os
import sys
import urllib.parse

FOLDER = sys.argv[3] if len(sys.argv) > 3 else ""
os.environ["APSPD_TEST_DATA"] = FOLDER
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))

import numpy
import scipy.sparse
import scipy.sparse.csgraph

import harness
import test_real_graphs as real


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for program in ("apspd", "apsp", "folder"):
        parser.add_argument(program)
    parser.add_argument("--whole", type=int, default=8000)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--only", default="")
    return parser.parse_args()


# Columns that are named in a head line, where the third is not the weight.
WEIGHTS = {"london.connections.csv": (3, "time")}


def listed(name):
    """The edges of a list, by an independent reading: blanks or commas, a head line or none."""
    rows = list(real.words_of(name, ("#", "%")))
    if len(rows[0]) < 2:
        rows = list(real.words_of(name, ("#", "%"), ","))
    if name.startswith("coursera_") or not is_number(rows[0][-1]):
        rows = rows[1:]
    column = WEIGHTS.get(name, (2, ""))[0]
    return [(row[0], row[1], float(row[column]) if len(row) > column else 1) for row in rows]


def is_number(word):
    try:
        float(word)
    except ValueError:
        return False
    return True


def edges_of(name):
    """Triples with the names as text."""
    if name.endswith(".gr"):
        edges = real.dimacs(name)[0]
    elif name.endswith(".graph"):
        edges = real.metis(name)[0]
    elif name.endswith(".mtx"):
        edges = real.matrix_market(name)[0]
    else:
        edges = listed(name)
    return [(str(u), str(v), w) for u, v, w in edges]


def graph_of(edges, names, directed):
    """SciPy's graph: the shortest of parallel edges; a weight of 0 stays an edge."""
    index = {str(name): i for i, name in enumerate(names)}
    best = {}
    for u, v, w in edges:
        for s, t in ((u, v),) if directed else ((u, v), (v, u)):
            if s != t:
                key = (index[s], index[t])
                best[key] = min(w, best.get(key, w))
    keys = numpy.array(list(best), dtype=numpy.int64).reshape(-1, 2)
    weights = numpy.array(list(best.values()), dtype=float)
    return scipy.sparse.csr_matrix((weights, (keys[:, 0], keys[:, 1])), shape=2 * (len(names),))


def body_of(name):
    with open(real.path_of(name), "rb") as file:
        body = file.read()
    # A count of its own in front, which no format has.
    return body.split(b"\n", 1)[1] if name.startswith("coursera_") else body


def check_cycle(document, edges):
    problem = document["problem"]
    assert problem["code"] == "NegativeCycle", problem
    names = [str(v) for v in problem["cycle"]]
    best = {}
    for u, v, w in edges:
        best[u, v] = min(w, best.get((u, v), w))
    length = sum(best[pair] for pair in zip(names, names[1:] + names[:1]) if pair[0] != pair[1])
    assert length < 0, (names, length)


def rows_of(daemon, graph, rows):
    """Some rows of the matrix, by their names, as doubles."""
    wanted = urllib.parse.quote(",".join(map(str, rows)), safe=",")
    answer = daemon.get(f"/v1/graphs/{graph}/matrix?format=raw&rows={wanted}").expect(200)
    count = int(answer.headers["X-Matrix-Shape"].split(",")[1])
    found = numpy.frombuffer(answer.body, answer.headers["X-Matrix-Dtype"]).reshape(-1, count)
    unreachable = answer.headers["X-Matrix-Unreachable"]
    lost = numpy.isinf(found) if unreachable == "inf" else found == int(unreachable)
    return numpy.where(lost, numpy.inf, found.astype(float))


def compare(options, daemon, document, graph):
    count = graph.shape[0]
    rows = None
    if count > options.whole:
        rows = sorted(numpy.random.default_rng(1).choice(count, options.rows, replace=False))
    negative = graph.nnz > 0 and graph.data.min() < 0
    truth = scipy.sparse.csgraph.shortest_path(
        graph, method="J" if negative else "D", indices=rows)
    total = unequal = 0
    lines = list(range(count)) if rows is None else rows
    for at in range(0, len(lines), 500):
        some = [int(i) for i in lines[at : at + 500]]
        found = rows_of(daemon, document["graph"], [document["names"][i] for i in some])
        there = truth[at : at + 500]
        if document["summary"]["kind"] in ("f4", "f8"):
            near = numpy.isclose(found, there, rtol=1e-5, atol=1e-9)
            unequal += (~near).sum()
        else:
            unequal += (found != there).sum()
        total += found.size
    assert unequal == 0, (unequal, total)
    return total


def check(options, daemon, name, directed):
    query = "" if directed or name.endswith((".mtx", ".graph")) else "?directed=false"
    if name in WEIGHTS:
        query += f"&weight={WEIGHTS[name][1]}" if query else f"?weight={WEIGHTS[name][1]}"
    answer = daemon.submit(body_of(name), query)
    assert answer.status in (200, 202), answer.body[:300]
    document = daemon.finish(answer.json["id"])
    edges = edges_of(name)
    if document["state"] == "failed":
        check_cycle(document, edges)
        print(f"{name:28} refused: {document['problem']['detail'][:60]}", flush=True)
        return 0
    assert document["state"] == "done", document
    path = f"/v1/graphs/{document['graph']}/vertices"
    document["names"] = daemon.get(path).expect(200).json["vertices"]
    graph = graph_of(edges, document["names"], directed)
    total = compare(options, daemon, document, graph)
    kind = document["summary"]["kind"]
    print(f"{name:28} {graph.shape[0]:6} vertices, {kind}: {total} distances equal", flush=True)
    return total


def main():
    options = parse_arguments()
    total = count = 0
    with harness.Daemon("--solver", "cpu") as daemon:
        for name, _, _, directed in real.manifest():
            if options.only in name:
                total += check(options, daemon, name, directed)
                count += 1
    print(f"{count} graphs, {total} distances equal")


if __name__ == "__main__":
    main()
