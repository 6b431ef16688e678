"""Damages files of the state directory while the daemon is stopped or has them mapped."""

import http.client
import json
import os
import pathlib
import random

import harness


def places(size):
    """Returns positions of every kind in a file: first and last bytes, header, block boundaries,
    and the middle."""
    block = 1 << 18
    chosen = {0, 1, 8, 64, 127, 128, 129, size // 2, *(size - by for by in (1, 8, 9, 100, 240, 300, 500))}
    chosen |= {at + by for at in range(block, size, block) for by in (-1, 0, 1)}
    return sorted(at for at in chosen if 0 <= at < size)


def ask(daemon, path):
    """Repeats the request if it is refused because of damage; returns the last answer."""
    answer = daemon.get(path, Prefer="wait=60")
    damaged = answer.status == 409 and "damaged" in answer.json["detail"]
    return daemon.get(path, Prefer="wait=60") if damaged else answer


def cut(path, size):
    with open(path, "r+b") as file:
        file.truncate(size)


def zero(path, at, count=4096):
    """Zeroes a block; returns whether that changed anything."""
    with open(path, "r+b") as file:
        file.seek(at)
        before = file.read(count)
        file.seek(at)
        file.write(b"\0" * len(before))
    return before.strip(b"\0") != b""


def exchange(path, other):
    """Exchanges the contents of two files."""
    with open(path, "rb") as file:
        first = file.read()
    with open(other, "rb") as file:
        second = file.read()
    for name, content in ((path, second), (other, first)):
        with open(name, "r+b") as file:
            file.truncate(0)
            file.write(content)
    return first != second


def swap(path, at, other, count=4096):
    """Swaps two blocks of a file; returns whether that changed anything."""
    with open(path, "r+b") as file:
        blocks = []
        for place in (at, other):
            file.seek(place)
            blocks.append(file.read(count))
        if len(blocks[0]) != len(blocks[1]) or blocks[0] == blocks[1]:
            return False
        for place, block in zip((other, at), blocks):
            file.seek(place)
            file.write(block)
    return True


def choose(chooser, path, other):
    """Damages a file at random; returns a description of the damage, or None if nothing changed."""
    size = os.path.getsize(path)
    kind = chooser.choice(("flip",) * 6 + ("flip anywhere",) * 6
                          + ("cut", "zero", "swap", "exchange", "longer"))
    if kind == "flip":
        at = chooser.choice(places(size))
        harness.flip(path, at, 1 << chooser.randrange(8))
        return f"flip {at} of {size}"
    if kind == "flip anywhere":
        at = chooser.randrange(size)
        harness.flip(path, at, 1 << chooser.randrange(8))
        return f"flip {at} of {size}"
    if kind == "cut":
        at = chooser.choice((chooser.randrange(size), size - 1, max(0, size - 300)))
        cut(path, at)
        return f"cut to {at} of {size}"
    if kind == "zero":
        at = chooser.randrange(size)
        return f"zero {at} of {size}" if zero(path, at) else None
    if kind == "swap":
        at, then = (chooser.randrange(max(1, size // 4096)) * 4096 for _ in range(2))
        return f"swap {at} and {then} of {size}" if swap(path, at, then) else None
    if kind == "longer":
        with open(path, "ab") as file:
            file.write(chooser.randbytes(chooser.randrange(1, 5000)))
        return f"longer than {size}"
    return "exchange" if exchange(path, other) else None


def chooser(seed):
    return random.Random(seed)


# For each graph of a family: the index of its parent, and the lengths of its edges from 1 to 2 and
# from 2 to 3.
FAMILY = ((None, (1, 1)), (0, (5, 1)), (1, (5, 7)), (0, (9, 1)))


def complete_graph(salt, roads, n=90):
    lines = [f"p sp {n} {n * (n - 1)}"]
    for i in range(1, n + 1):
        length = roads[i - 1] if i <= len(roads) else salt
        lines += [f"a {i} {j} {length if j == i + 1 else 100000}" for j in range(1, n + 1) if j != i]
    return "\n".join(lines).encode() + b"\n"


class Shelf:
    """The stored results of a daemon and their correct bytes; damages all of them and checks the
    answers. Each graph of a family but the first is a change of another one."""

    def __init__(self, daemon, bodies, families=0):
        self.daemon = daemon
        self.bodies = {}  # graph -> uploaded bytes
        self.families = [[] for _ in range(families)]
        for body in bodies:
            self.bodies[daemon.solve(body)["graph"]] = body
        self.make_families()
        self.matrices = {graph: self.matrix(graph) for graph in self.bodies}
        self.found = 0
        self.refused = 0

    def make_families(self):
        """Creates the families of changed graphs, after deleting those of an earlier call."""
        self.settle()
        headers = {"Content-Type": "application/json"}
        for salt, family in enumerate(self.families, 1):
            for graph in family[1:]:
                self.daemon.ask("DELETE", f"/v1/graphs/{graph}").expect(204)
            del family[1:]
            for parent, roads in FAMILY:
                body = complete_graph(salt, roads)
                if parent is None:
                    family[:] = [self.daemon.solve(body)["graph"]]
                else:
                    change = json.dumps([[1, 2, roads[0]], [2, 3, roads[1]]])
                    path = f"/v1/graphs/{family[parent]}/edges"
                    answer = self.daemon.ask("PATCH", path, change, headers).expect(202)
                    family.append(self.daemon.finish(answer.json["id"])["graph"])
                self.bodies[family[-1]] = body

    def matrix(self, graph):
        """Returns (body, ETag) of the matrix; repeats the request while it is refused or its answer
        is truncated because of damage."""
        while True:
            try:
                answer = ask(self.daemon, f"/v1/graphs/{graph}/matrix").expect(200)
                return answer.body, answer.headers["ETag"]
            except http.client.IncompleteRead as error:
                assert self.matrices[graph][0].startswith(error.partial), graph

    def settle(self):
        """Waits until all results are on the disk."""
        cursor = ""
        while cursor is not None:
            page = self.daemon.get(f"/v1/jobs?limit=100{cursor}").expect(200).json
            for job in page["jobs"]:
                self.daemon.wait_until_durable(job["id"])
            cursor = "&cursor=" + page["next"] if page["next"] else None

    def file(self, folder, graph):
        suffix = ".i4.result" if folder == "results" else ""
        return os.path.join(self.daemon.state, folder, graph + suffix)

    def damage_results(self, chooser):
        """Damages all results while the daemon is stopped: no damaged byte is served, and each
        graph is solved again."""
        self.settle()
        self.daemon.terminate()
        graphs = list(self.bodies)
        before = {graph: pathlib.Path(self.file("results", graph)).read_bytes() for graph in graphs}
        done = {graph: choose(chooser, self.file("results", graph),
                              self.file("results", chooser.choice(graphs))) for graph in graphs}
        damaged = {graph for graph in graphs
                   if pathlib.Path(self.file("results", graph)).read_bytes() != before[graph]}
        self.daemon.start()
        for graph in graphs:
            # Queries the statistics first: they are at the end of the file, beyond the matrix.
            ask(self.daemon, f"/v1/graphs/{graph}/stats").expect(200)
            body, tag = self.matrix(graph)
            assert body == self.matrices[graph][0], (graph, done[graph])
            found = tag != self.matrices[graph][1]
            assert found == (graph in damaged), (graph, done[graph], found)
            self.found += found
            self.matrices[graph] = body, tag

    def way(self, graph):
        return self.daemon.get(f"/v1/graphs/{graph}/path?source=1&target=3")

    def damage_graphs(self, chooser):
        """Checks that no wrong path of a damaged graph is served, and that a repeated upload
        repairs the graph."""
        self.make_families()
        right = {graph: self.way(graph).expect(200).body for graph in self.bodies}
        self.settle()
        self.daemon.terminate()
        done = {}
        for graph in self.bodies:
            other = self.file("graphs", chooser.choice(list(self.bodies)))
            done[graph] = choose(chooser, self.file("graphs", graph), other)
        self.daemon.start()
        for graph, body in self.bodies.items():
            answer = self.way(graph)
            # The answer may be right, because the damaged byte may be padding.
            assert answer.status != 200 or answer.body == right[graph], (graph, done[graph])
            self.refused += answer.status != 200
            # If the damage was unknown at the first upload, a job finds it, and a second upload
            # repairs.
            for _ in range(2):
                self.daemon.solve(body)
                if self.way(graph).status == 200:
                    break
            assert self.way(graph).expect(200).body == right[graph], (graph, done[graph])
            self.matrices[graph] = self.matrices[graph][0], self.matrix(graph)[1]
