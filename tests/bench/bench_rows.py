"""Checks that the distances of some rows equal Dijkstra's, before and after changes of weights.

    bench_rows.py APSPD GRAPH... [--rows N] [--changes N] [--forms auto,hierarchy]

GRAPH is a DIMACS file of arcs, a METIS file or an edge list without weights. For each graph and form: uploads it,
compares rows, changes single edges by `PATCH`, and compares the same rows again. Dijkstra's algorithm is implemented
here and reads the edges that the service reports before the changes. The exit status is 1 if a distance differs.
Prints a line for each graph: the number of distances compared, and the seconds of the upload and of a change."""

import argparse
import heapq
import os
import random
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))

import harness

UNREACHABLE = (1 << 30) - 1


def dijkstra(neighbours, source):
    distance = [UNREACHABLE] * len(neighbours)
    distance[source] = 0
    heap = [(0, source)]
    while heap:
        along, vertex = heapq.heappop(heap)
        if along > distance[vertex]:
            continue
        for target, weight in neighbours[vertex].items():
            if along + weight < distance[target]:
                distance[target] = along + weight
                heapq.heappush(heap, (along + weight, target))
    return distance


def read_edges(daemon, graph):
    """Returns the neighbours by row, and the names of the vertices."""
    names = daemon.get(f"/v1/graphs/{graph}/vertices").expect(200).json["vertices"]
    row = {name: index for index, name in enumerate(names)}
    neighbours = [{} for _ in names]
    answer = daemon.get(f"/v1/graphs/{graph}/edges").expect(200).json
    for source, target, weight in answer["edges"]:
        neighbours[row[source]][row[target]] = weight
        if not answer["directed"]:
            neighbours[row[target]][row[source]] = weight
    return neighbours, names, answer["directed"]


def count_wrong(daemon, neighbours, rows):
    n = len(neighbours)
    wrong = 0
    for row in rows:
        body = daemon.get(f"/v1/graphs/it/matrix?rows={row}:{row + 1}&format=raw").expect(200).body
        answer = struct.unpack(f"<{n}i", body)
        wrong += sum(a != b for a, b in zip(answer, dijkstra(neighbours, row)))
    return wrong


def change(daemon, neighbours, names, directed, draw):
    """Changes the weight of an edge, in the service and in the list of neighbours."""
    source = draw.choice([vertex for vertex in draw.choices(range(len(names)), k=64) if neighbours[vertex]])
    target = draw.choice(list(neighbours[source]))
    weight = draw.choice((1, 7, 100, 5000, 20000))
    neighbours[source][target] = weight
    if not directed:
        neighbours[target][source] = weight
    answer = daemon.ask("PATCH", "/v1/graphs/it/edges", body=harness.json.dumps([[names[source], names[target], weight]]),
                        headers={"Content-Type": "application/json", "Prefer": "wait=60"})
    assert answer.status in (200, 202), answer.json
    assert daemon.finish(answer.json["id"])["state"] == "done", answer.json


def compare(daemon, path, form, options):
    draw = random.Random(1)
    with open(path, "rb") as file:
        graph = file.read()
    began = time.perf_counter()
    job = daemon.solve(graph, f"?name=it&result={form}")
    done_s = time.perf_counter() - began
    assert job["state"] == "done", job
    neighbours, names, directed = read_edges(daemon, "it")
    rows = draw.sample(range(len(names)), min(options.rows, len(names)))
    before = count_wrong(daemon, neighbours, rows)
    began = time.perf_counter()
    for _ in range(options.changes):
        change(daemon, neighbours, names, directed, draw)
    change_s = (time.perf_counter() - began) / max(options.changes, 1)
    after = count_wrong(daemon, neighbours, rows)
    print(f"{os.path.basename(path):26} {form:9} {job['result']['kind']:9} {2 * len(rows) * len(names):10} distances, "
          f"{before} and {after} wrong; done in {done_s:.3f} s, a change in {change_s:.4f} s", flush=True)
    return before + after


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("apspd")
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--forms", default="auto")
    options = parser.parse_args()
    wrong = 0
    for path in options.graphs:
        for form in options.forms.split(","):
            with harness.Daemon() as daemon:
                wrong += compare(daemon, path, form, options)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
