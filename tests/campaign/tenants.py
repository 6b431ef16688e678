"""Tests whether the time of an answer reveals which objects another tenant has. Requests with IDs
of another tenant and with IDs that nobody has are sent in random order over one persistent
connection. Welch's t compares the times of both types of requests, without the longest tenth. Two
more pairs test the method: two types of unknown IDs, which must not differ, and an unknown ID and
one of the client's own objects, which must differ.

  python3 tests/campaign/tenants.py APSPD APSP [--questions N] [--seconds S]

The exit code is 1 if |t| is 4.5 or more."""

import random
import secrets
import socket
import time

import numpy

import campaign

import access

T_GOAL = 4.5
OWNED = 64  # requests for each type of ID
TIME_DIGITS = 10  # of a job's id
DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
ROUTES = (
    ("GET", "/v1/graphs/{}/distance?source=1&target=2", "graphs"),
    ("GET", "/v1/graphs/{}/distance?source=1&target=2", "jobs"),
    ("GET", "/v1/graphs/{}/distance?source=1&target=2", "names"),
    ("GET", "/v1/graphs/{}/matrix", "graphs"),
    ("GET", "/v1/graphs/{}", "graphs"),
    ("GET", "/v1/graphs/{}", "stored"),
    ("GET", "/v1/graphs/{}", "names"),
    ("DELETE", "/v1/graphs/{}", "graphs"),
    ("GET", "/v1/jobs/{}", "jobs"),
    ("DELETE", "/v1/jobs/{}", "jobs"),
)


class Ids:
    """Returns the objects of a tenant by type, and IDs that nobody has."""

    def __init__(self, daemon, who, salt):
        self.found = {"graphs": [], "jobs": [], "names": [], "stored": []}
        for i in range(OWNED):
            name = f"t{salt}-{i:04}"
            body = b"p sp 3 2\na 1 2 %d\na 2 3 6\n" % (1000 * salt + i)
            job = daemon.by(who, "POST", "/v1/jobs?name=" + name, body, {"Prefer": "wait=60"}).expect(200).json
            assert job["state"] == "done", job
            self.found["graphs"].append(job["graph"])
            self.found["jobs"].append(job["id"])
            self.found["names"].append(name)
            body = b"p sp 2 1\na 1 2 %d\n" % (1000 * salt + i)
            self.found["stored"].append(daemon.by(who, "POST", "/v1/graphs", body).expect(201).json["id"])

    def unknown(self, sort):
        """Returns as many IDs of the same form, with equal times in IDs that contain one."""
        if sort == "names":
            return [f"u{i % 10}-{i:04}" for i in range(OWNED)]
        kept = 2 + TIME_DIGITS if sort == "jobs" else 2
        return [one[:kept] + "".join(secrets.choice(DIGITS) for _ in one[kept:]) for one in self.found[sort]]


class Asker:
    def __init__(self, daemon, who):
        self.head = f"Host: localhost\r\nAuthorization: Bearer {access.Keys.key(who)}\r\n\r\n"
        self.socket = socket.create_connection(("127.0.0.1", daemon.port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def request(self, method, address):
        return f"{method} {address} HTTP/1.1\r\n{self.head}".encode()

    def ask(self, request):
        """Returns the nanoseconds that the request took, and its status."""
        began = time.perf_counter_ns()
        self.socket.sendall(request)
        got = self.socket.recv(16384)
        while b"\r\n\r\n" not in got or got[-1:] not in b"}\n":
            part = self.socket.recv(16384)
            assert part, got
            got += part
        return time.perf_counter_ns() - began, got[9:12]


def welch_t(first, second):
    limit = numpy.quantile(numpy.concatenate((first, second)), 0.9)
    kept = [times[times <= limit] for times in (first, second)]
    error = sum(times.var(ddof=1) / len(times) for times in kept)
    return (kept[0].mean() - kept[1].mean()) / error**0.5, kept[0].mean() - kept[1].mean(), kept[1].mean()


def compare(asker, sorts, count, ledger):
    """Returns Welch's t of two types of requests, the difference of their means, and the mean,
    in ns."""
    times = [numpy.empty(count), numpy.empty(count)]
    done = [0, 0]
    while sum(done) < 2 * count and not ledger.is_over():
        chosen = random.getrandbits(1)
        chosen = chosen if done[chosen] < count else 1 - chosen
        times[chosen][done[chosen]] = asker.ask(random.choice(sorts[chosen]))[0]
        done[chosen] += 1
    return welch_t(*(one[:number] for one, number in zip(times, done)))


def report(name, found, good, goal):
    t, difference_ns, mean_ns = found
    print(f"{name}: t {t:.2f} (goal {goal}), {difference_ns:.0f} ns of {mean_ns / 1000:.1f} us"
          f"{'' if good else '  MISSED'}", flush=True)
    assert good, name


def try_route(asker, theirs, method, address, sort, count, ledger):
    sorts = [[asker.request(method, address.format(one)) for one in ids]
             for ids in (theirs.found[sort], theirs.unknown(sort))]
    for request in sorts[0] + sorts[1]:
        assert asker.ask(request)[1] == b"404", request
    found = compare(asker, sorts, count, ledger)
    report(f"{method} {address}, {sort}", found, abs(found[0]) < T_GOAL, f"below {T_GOAL}")
    ledger.count("questions", 2 * count)


def try_controls(asker, own, count, ledger):
    def requests(ids):
        return [asker.request("GET", f"/v1/graphs/{one}") for one in ids]

    found = compare(asker, [requests(own.unknown("graphs")), requests(own.unknown("graphs"))], count, ledger)
    report("two types of unknown IDs", found, abs(found[0]) < T_GOAL, f"below {T_GOAL}")
    found = compare(asker, [requests(own.found["graphs"]), requests(own.unknown("graphs"))], count, ledger)
    report("own IDs and unknown IDs", found, abs(found[0]) > T_GOAL, f"above {T_GOAL}")


def main():
    given = campaign.arguments(questions=200000)
    ledger = campaign.Ledger(given.seconds)
    keys = access.Keys("alpha:submitter", "beta:submitter")
    with access.Daemon("--http.keys_file", keys.path) as daemon:
        theirs, own = Ids(daemon, "alpha:submitter", 1), Ids(daemon, "beta:submitter", 2)
        asker = Asker(daemon, "beta:submitter")
        ledger.attempt("controls", try_controls, asker, own, given.questions, ledger)
        for method, address, sort in ROUTES:
            if not ledger.is_over():
                ledger.attempt(address, try_route, asker, theirs, method, address, sort, given.questions, ledger)
        asker.socket.close()
    ledger.close()


main()
