"""Ids and names made of anything: a million requests. Which files the daemon opens meanwhile, by strace,
and whether a byte of theirs comes back as part of a head, or stands in the log as it came.

    python3 tests/campaign/ids.py build/apspd build/apsp [--requests N]"""

import json
import os
import random
import re
import shutil
import socket
import stat
import tempfile

import campaign

ARGUMENTS = campaign.arguments(requests=1000000)

import harness

BATCH = 200
PARTS = ["..", ".", "/", "\\", "%2e%2e", "%2F", "%5c", "%00", "%0d%0a", "%0D%0AX-Injected:%201", "%1b[31m", "%0a",
         "etc", "passwd", "proc", "self", "environ", "LOCK", "FORMAT", "catalogue.db", "graphs", "results", "small",
         "g_", "j_", "~", "%c0%ae", "%e5%95%86", "%ff", "%25", "%2e", ";", ":", "*", "'", "\"", "|", "a" * 40, "%C2%85"]
ROUTES = ["GET /v1/graphs/{} ", "GET /v1/graphs/{}/distance?source=1&target=3 ", "GET /v1/graphs/{}/matrix?format=raw ",
          "GET /v1/jobs/{} ", "GET /v1/jobs/{}?wait=0 ", "GET /v1/graphs/{}/path?source={}&target=2 ",
          "DELETE /v1/jobs/{} ", "DELETE /v1/graphs/-{} ", "GET /v1/graphs/small/distance?source={}&target={} ",
          "GET /v1/graphs/{}/stats ", "GET /v1/graphs/small/matrix?format={} ", "GET /{} ", "GET /docs/{} ",
          "GET /v1/jobs?cursor={} ", "GET /v1/graphs?cursor={} ", "GET /v1/graphs/small/row/{} "]
OPENED = re.compile(rb"(?:open|openat|openat2|stat|lstat|newfstatat|statx|access|faccessat2?|readlink(?:at)?|unlink(?:at)?"
                    rb"|link(?:at)?|rename(?:at2?)?|mkdir(?:at)?)\(")
HEAD = re.compile(rb"HTTP/1\.1 (\d{3}) [ -~]*\r\n((?:[!-9;-~]+: [ -~]*\r\n)*)\r\n")
LENGTH = re.compile(rb"(?i)^content-length: (\d+)\r$", re.M)


def wrapped(program, log):
    """A program that runs the daemon under strace, which traces only calls with a path."""
    folder = tempfile.mkdtemp(prefix="apspd-test-")
    path = os.path.join(folder, "apspd")
    with open(path, "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\nexec strace -D -f -qq --seccomp-bpf -s 300 -e trace=%file -o {log} {program} \"$@\"\n")
    os.chmod(path, stat.S_IRWXU)
    return path


def make_id(randomness):
    return "".join(randomness.choice(PARTS) for _ in range(randomness.randint(1, 5)))


def make_request(randomness):
    target = randomness.choice(ROUTES)
    while "{}" in target:
        target = target.replace("{}", make_id(randomness), 1)
    extra = ""
    if randomness.random() < 0.2:
        extra = f"X-Request-Id: {make_id(randomness)}\r\n"
    if randomness.random() < 0.1:
        extra += f"If-None-Match: \"{make_id(randomness)}\"\r\ntraceparent: {make_id(randomness)}\r\n"
    return f"{target}HTTP/1.1\r\nHost: localhost\r\n{extra}\r\n".encode("latin-1")


class Talker:
    """Sends requests in batches over a connection that is reused as long as possible."""

    def __init__(self, port, ledger):
        self.port, self.ledger = port, ledger
        self.connection, self.got = None, b""

    def connect(self):
        self.connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        self.got = b""

    def take_answer(self):
        """Checks that the head is complete and has only visible characters; returns False if it
        ends the connection."""
        while (end := self.got.find(b"\r\n\r\n")) < 0:
            part = self.connection.recv(1 << 16)
            if not part:
                raise AssertionError(("no answer", self.got[:300]))
            self.got += part
        head = self.got[:end + 4]
        found = HEAD.fullmatch(head)
        if not found or b"Injected" in head:
            raise AssertionError(("not a head", head[:500]))
        length = LENGTH.search(head)
        size = int(length.group(1)) if length and found.group(1) not in (b"204", b"304") else 0
        if b"chunked" in head.lower():  # of "small" itself: no text of it looks like the last chunk
            while (last := self.got.find(b"\r\n0\r\n\r\n", end)) < 0:
                self.got += self.connection.recv(1 << 16)
            size = last + 7 - (end + 4)
        while len(self.got) < end + 4 + size:
            self.got += self.connection.recv(1 << 16)
        self.got = self.got[end + 4 + size:]
        self.ledger.count(found.group(1).decode())
        return b"connection: close" not in head.lower()

    def ask_all(self, requests):
        try:
            self.ask_in_turn(requests)
        except Exception:
            self.connection = None
            raise

    def ask_in_turn(self, requests):
        left = list(requests)
        while left:
            if self.connection is None:
                self.connect()
            self.connection.sendall(b"".join(left))
            for i in range(len(left)):
                if not self.take_answer():
                    self.connection.close()
                    self.connection = None
                    left = left[i + 1:]
                    break
            else:
                left = []


def outside(log, state):
    """Returns the trace lines with a path outside the state directory."""
    found = []
    for line in log.splitlines():
        if OPENED.search(line):
            for path in re.findall(rb'"((?:[^"\\]|\\.)*)"', line)[:2]:
                if (path.startswith(b"/") and not path.startswith(state)) or b".." in path.split(b"/"):
                    found.append(line[:300])
    return found


def check_log(text):
    bad = [line for line in text.splitlines() if any(byte < 0x20 or byte == 0x7f for byte in line)]
    for line in text.splitlines():
        json.loads(line)
    return bad


def main():
    ledger = campaign.Ledger(ARGUMENTS.seconds)
    randomness = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        trace = os.path.join(folder, "trace")
        harness.BINARY = wrapped(os.path.abspath(harness.BINARY), trace)
        quiet = ("--log.level", "debug", "--http.threads", "1")
        with harness.Daemon(*quiet) as daemon:
            job = daemon.solve(harness.SMALL, "?name=small")["id"]
            while not daemon.get(f"/v1/jobs/{job}").json["durable"]:
                pass
            begins = os.path.getsize(trace)
            assert begins > 0, "strace saw nothing of the solve"
            talker = Talker(daemon.port, ledger)
            while ledger.counts.get("runs", 0) < ARGUMENTS.requests and not ledger.is_over():
                batch = [make_request(randomness) for _ in range(BATCH)]
                ledger.count("runs", BATCH - 1)
                ledger.attempt("batch", talker.ask_all, batch)
            daemon.get("/livez").expect(200)
            with open(trace, "rb") as file:
                file.seek(begins)
                log = file.read()
            found = outside(log, daemon.state.encode())
            ledger.count("calls with a path", sum(1 for _ in OPENED.finditer(log)))
            ledger.count("outside the state directory", len(found))
            bad = check_log(daemon.log())
            ledger.count("lines of the log", len(daemon.log().splitlines()))
            ledger.count("control bytes in the log", len(bad))
            for line in found[:5] + bad[:5]:
                print(line)
            ledger.failures += len(found) + len(bad)
    shutil.rmtree(os.path.dirname(harness.BINARY))
    ledger.close()


main()
