"""Weights of every form, each the only edge to its vertex, so that it is its own distance: what comes back is
the number that Python reads, to the last bit, in doubles and in floats; and what is no number, or one too
large, is refused with its line, as are a vertex and a count of edges that are wrong.

  python3 tests/campaign/weights.py APSPD APSP [--weights N] [--seed N]"""

import random
import re
import struct

import numpy

import campaign

import harness

A_GRAPH = 400  # weights
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
EDGES = ("0", "-0", "+0", "0.0", "-0.0", "1e-400", "-1e-400", "4.9e-324", "2.4703282292062328e-324", "2e-324",
         "2.2250738585072011e-308", "2.2250738585072014e-308", "9007199254740993.0", "9007199254740992.5",
         "1.7976931348623157e308", "-1.7976931348623157e308", "2147483647", "-2147483648", "2147483648",
         "9007199254740992", "-9007199254740992", "0." + "0" * 300 + "1",
         "1e-2147483649", "0e999999999999", "8.5", ".5", "5.", "1E5", "00017", "+1e+2")
BAD = ("nan", "NaN", "inf", "-inf", "Infinity", "1e400", "-1e400", "1.7976931348623159e308", "1e2147483648", "0x10",
       "1,5", "--1", "+-1", "1e", "1e+", ".", "-", "e5", "1.2.3", "1_000", "1f", "١", "1" + "0" * 309, "1\0", "1e5.5",
       "9007199254740993", "-9007199254740993", "9223372036854775808", "18446744073709551617", "1" + "0" * 300)
FORMATS = {"dimacs": ("p sp {n} {m}\n", "a {} {} {}\n"), "edges": ("", "{} {} {}\n"),
           "mtx": ("%%MatrixMarket matrix coordinate real general\n{n} {n} {m}\n", "{} {} {}\n")}


def draw_number(chance):
    """Yields each way to write a number."""
    way = chance.randrange(7)
    if way == 0:
        return chance.choice(EDGES)
    if way == 1:
        return str(chance.randrange(-10**chance.randrange(1, 20), 10**chance.randrange(1, 20)))
    if way == 2:  # any double
        while True:
            value = struct.unpack("<d", chance.randbytes(8))[0]
            if value - value == 0:
                return repr(value)
    digits = "".join(chance.choice("0123456789") for _ in range(chance.choice((1, 3, 15, 17, 19, 20, 40))))
    at = chance.randrange(len(digits) + 1)
    text = chance.choice(("", "-", "+")) + digits[:at] + "." * (way > 3) + digits[at:]
    return text + f"e{chance.choice(('', '+', '-'))}{chance.randrange(290)}" * (way > 4)


def read(token):
    """Returns the number, or None if the text is not a number or is an integer that a double
    cannot represent."""
    value = float(token) if NUMBER.fullmatch(token) and token.isascii() else None
    if value is not None and token.lstrip("+-").isdigit() and abs(int(token)) > 2**53:
        return None
    return value if value is not None and abs(value) < float("inf") else None


class Graph:
    """Edges from vertex 1 to each other vertex, some of them twice, with a larger or smaller
    weight the second time."""

    def __init__(self, chance, single):
        self.format = chance.choice(list(FORMATS))
        self.tokens = []
        self.expected = [0.0] + [float("inf")] * A_GRAPH
        while len(self.tokens) < A_GRAPH:
            self.add(len(self.tokens) + 2, self.draw(chance, single))
        for _ in range(A_GRAPH // 20):
            self.add(chance.randrange(2, A_GRAPH + 2), self.draw(chance, single))
        self.count = len(self.tokens)

    @staticmethod
    def draw(chance, single):
        while True:
            token = draw_number(chance)
            value = read(token)
            if value is not None and (not single or abs(value) <= 3.4028234e38):
                return token

    def add(self, vertex, token):
        self.tokens.append((1, vertex, token))
        self.expected[vertex - 1] = min(self.expected[vertex - 1], read(token))

    def body(self):
        head, line = FORMATS[self.format]
        head = head.format(n=A_GRAPH + 1, m=self.count)
        return (head + "".join(line.format(*edge) for edge in self.tokens)).encode()

    def line_of(self, number):
        return FORMATS[self.format][0].count("\n") + number + 1


def try_good(daemon, chance, ledger):
    kind = chance.choice(("f8", "f8", "f4"))
    graph = Graph(chance, kind == "f4")
    answer = daemon.submit(graph.body(), f"?format={graph.format}&kind={kind}", Prefer="wait=60").expect(200)
    assert answer.json["state"] == "done", answer.json["problem"]
    row = daemon.get(f"/v1/graphs/{answer.json['graph']}/row/1?format=raw").expect(200).body
    found = numpy.frombuffer(row, "<" + kind)
    expected = numpy.array(graph.expected).astype(found.dtype)
    wrong = numpy.flatnonzero(found != expected)
    assert len(found) == len(expected) and not len(wrong), [
        (graph.tokens[i - 1], found[i], expected[i]) for i in wrong[:3]]
    daemon.ask("DELETE", "/v1/graphs/" + answer.json["graph"]).expect(204)
    ledger.count("weights read", len(graph.tokens))


def try_bad(daemon, chance, ledger):
    """One wrong edge among many."""
    graph = Graph(chance, False)
    at = chance.randrange(graph.count)
    source, target, token = graph.tokens[at]
    way = chance.randrange(3)
    if way == 0 or graph.format == "edges":
        token = chance.choice([bad for bad in BAD if graph.format != "edges" or bad != "1,5"])
    elif way == 1:
        target = chance.choice((A_GRAPH + 2, 2**31, 2**32 + 2, 2**64 + 2, 0, -1))
    else:
        graph.count += chance.choice((-1, 1))
        at = None
    if at is not None:
        graph.tokens[at] = (source, target, token)
    answer = daemon.submit(graph.body(), f"?format={graph.format}&kind=f8").expect(422)
    assert "line" in answer.json and at in (None, answer.json["line"] - graph.line_of(0)), (
        graph.format, source, target, token, at, answer.body)
    ledger.count("wrong ones refused with their line")


def main():
    given = campaign.arguments(weights=1000000, seed=1)
    ledger = campaign.Ledger(given.seconds)
    chance = random.Random(given.seed)
    with harness.Daemon("--solver", "cpu") as daemon:
        while ledger.counts.get("weights read", 0) < given.weights and not ledger.is_over():
            ledger.attempt("graph", try_good, daemon, chance, ledger)
            ledger.attempt("a wrong one", try_bad, daemon, chance, ledger)
    ledger.close()


main()
