"""Parses the cases of guard_cases.txt, sends them to a server and judges the answers."""

import concurrent.futures
import pathlib
import re
import socket

HIDDEN = b"GET /version HTTP/1.1\r\nHost: a\r\n\r\n"
GRAPH = b"p sp 4 4\na 1 2 5\na 2 3 7\na 1 3 20\na 3 1 1\n"
MARK = b'"api"'  # part of the answer to the hidden request
TRIED_AT_ONCE = 16
# Groups that test which bytes belong to a request. In other groups, the hidden request is an
# ordinary second request.
FRAMING = ("Content-Length", "Transfer-Encoding", "Chunks", "Bodies where none belongs",
           "What follows a request")

SIZE = b"%x" % len(GRAPH)
WORDS = {
    "H": HIDDEN,
    "N": b"%d" % len(HIDDEN),
    "M": b"%d" % (len(HIDDEN) + 5),
    "S": GRAPH,
    "L": b"%d" % len(GRAPH),
    "X": SIZE,
    "Z": b"%02x" % len(GRAPH),
    "B": SIZE + b"\r\n" + GRAPH + b"\r\n0\r\n\r\n",
    "Y": b"00" + SIZE.upper() + b"\r\n" + GRAPH + b"\r\n0\r\n\r\n",
    "E": b"".join(b"1\r\n%c\r\n" % byte for byte in GRAPH),
    "P": b"POST /v1/jobs HTTP/1.1\r\nHost: a\r\n",
    "G": b"GET /livez HTTP/1.1\r\nHost: a\r\n",
    "T": b"Transfer-Encoding: chunked\r\n",
    "K": b"Connection: close\r\n",
    "$": b"$",
}
BYTES = {"r": b"\r", "n": b"\n", "t": b"\t", "\\": b"\\"}
TOKEN = re.compile(
    r"\\x(?P<hex>[0-9a-f]{2})|\\(?P<byte>[rnt\\])|\$R\((?P<part>[^,]*),(?P<times>\d+)\)"
    r"|\$\{(?P<named>[A-Z])\}|\$(?P<word>[A-Z$])|(?P<text>[^\\$])")


def bytes_of(text):
    data = b""
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        assert match, text[at:]
        at = match.end()
        if match["hex"]:
            data += bytes.fromhex(match["hex"])
        elif match["byte"]:
            data += BYTES[match["byte"]]
        elif match["times"]:
            data += bytes_of(match["part"]) * int(match["times"])
        else:
            word = match["named"] or match["word"]
            data += WORDS[word] if word else match["text"].encode()
    return data


class Case:
    def __init__(self, group, line):
        what, self.name, text = line.split(" | ", 2)
        self.group = group
        self.verdict, statuses = what.split()
        # The statuses with libmicrohttpd 0.9, and with 1.0 or later.
        self.status, _, self.later_status = statuses.partition("/")
        self.later_status = self.later_status or self.status
        self.data = bytes_of(text)

    def __str__(self):
        return f"[{self.group}] {self.name}"


def read_cases():
    group = ""
    cases = []
    path = pathlib.Path(__file__).with_name("guard_cases.txt")
    for line in path.read_text().splitlines():
        if line.startswith("["):
            group = line.strip("[]")
        elif line and not line.startswith("#"):
            cases.append(Case(group, line))
    assert len({str(case) for case in cases}) == len(cases), "two cases of one name"
    return cases


class Outcome:
    """The reaction of a server to the bytes: everything it sent, and whether it closed the
    connection."""

    def __init__(self, got, closed):
        self.got = got
        self.closed = closed
        found = re.findall(rb"HTTP/1\.[01] (\d{3}) ", got)
        self.statuses = [int(status) for status in found if status[:1] != b"1"]
        self.good = sum(status < 400 for status in self.statuses)
        self.hidden = got.count(MARK)

    @property
    def status(self):
        return str(self.statuses[0]) if self.statuses else "-"

    def __str__(self):
        return f"{self.statuses} {'closed' if self.closed else 'held'} {self.got[:200]!r}"


def attempt(port, data, patience_s):
    with socket.create_connection(("127.0.0.1", port), timeout=patience_s) as connection:
        got = b""
        try:
            connection.sendall(data)
        except (ConnectionError, TimeoutError):
            pass  # the connection was reset, but the answer may have arrived
        try:
            while True:
                part = connection.recv(65536)
                if not part:
                    return Outcome(got, True)
                got += part
        except ConnectionError:
            return Outcome(got, True)
        except TimeoutError:
            return Outcome(got, False)


def is_smuggled(case, outcome):
    """Returns whether the server ran a request that is not in the bytes."""
    return case.group in FRAMING and outcome.hidden > allowed_hidden(case)


def allowed_hidden(case):
    return 1 if case.verdict == "apart" else 0


def is_met(case, outcome):
    if outcome.hidden > allowed_hidden(case):
        return False
    if case.verdict == "serve":
        return outcome.good == len(outcome.statuses) == 1
    if case.verdict == "serve2":
        return outcome.good == len(outcome.statuses) == 2
    if case.verdict == "refuse":
        return outcome.good == 0 and outcome.closed
    if case.verdict == "either":
        return outcome.good <= 1 and outcome.closed
    assert case.verdict in ("alone", "apart"), case.verdict
    return outcome.good <= 2


def try_all(port, cases, patience_s):
    with concurrent.futures.ThreadPoolExecutor(TRIED_AT_ONCE) as pool:
        return list(pool.map(lambda case: attempt(port, case.data, patience_s), cases))
