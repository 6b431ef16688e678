"""Tests which keys permit which requests, and that no tenant learns anything about another."""

import http.client
import json
import os
import random
import re
import socket
import subprocess
import tempfile

import access
import harness
from harness import SMALL

JSON = {"Content-Type": "application/json"}
OTHER = b"p sp 3 2\na 1 2 5\na 2 3 6\n"
WHO = ("alpha:submitter", "beta:admin", "alpha:reader", "gamma:monitor", "delta:submitter jobs=1",
       "epsilon:submitter vertices=3 bytes=2000")
keys = access.Keys(*WHO)
SECRETS = [access.Keys.key(who) for who in WHO]


def test_every_request_without_a_valid_key_gets_401(daemon):
    good = access.Keys.key("alpha:submitter")
    wrong = ["", "Bearer", "Bearer ", "Basic " + good, "Bearer " + good[:-1], "Bearer " + good + "0",
             "Bearer  " + good, "Bearer " + good + " x", "Bearer " + good.upper(), good,
             "Bearer " + "x" * 5000, "Token " + good, "Bearer \"" + good + "\""]
    for path in ("/v1/jobs", "/v1/graphs/x/distance?no=1", "/v1/limits"):
        daemon.get(path).expect(401, "Unauthorized")
    for value in wrong:
        answer = daemon.get("/v1/jobs", Authorization=value).expect(401, "Unauthorized")
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="apspd"', answer.headers
    connection = daemon.connect()
    connection.putrequest("GET", "/v1/jobs")
    connection.putheader("Authorization", "Bearer " + good)
    connection.putheader("Authorization", "Bearer " + good)
    connection.endheaders()
    assert connection.getresponse().status == 401
    daemon.get("/v1/jobs", Authorization="bearer " + good).expect(200)
    # Spaces after a header's value do not belong to it (RFC 9110, 5.5); libmicrohttpd 0.9 keeps
    # them.
    daemon.get("/v1/jobs", Authorization="Bearer " + good + " ").expect(
        200 if harness.parses_strictly() else 401)


def mutate(key, random):
    """Returns bytes that are not the key: truncated, doubled, swapped, flipped, or with a NUL
    inserted."""
    while True:
        bytes_of = bytearray(key)
        at = random.randrange(len(key))
        way = random.randrange(6)
        if way == 0:
            bytes_of[at:] = b""
        elif way == 1:
            bytes_of[at:at] = bytes_of[at:]
        elif way == 2:
            bytes_of[at] ^= 1 << random.randrange(8)
        elif way == 3:
            bytes_of[at] = random.randrange(256)
        elif way == 4:
            bytes_of[at:at + random.randrange(2)] = b"\0"
        else:
            bytes_of += bytes([random.randrange(256)])
        # A space after a header's value does not belong to it, and a line end starts another
        # header.
        if bytes(bytes_of).strip(b" \t") != key and not set(b"\r\n") & set(bytes_of):
            return bytes(bytes_of)


def test_randomly_altered_keys_are_refused(_):
    randomness = random.Random(1)
    good = access.Keys.key("alpha:reader").encode()
    with access.Daemon("--http.keys_file", keys.path, "--http.wrong_key_limit", "0") as daemon:
        connection, statuses = None, {}
        for _ in range(500 if harness.QUICK else 3000):
            connection = connection or socket.create_connection(("127.0.0.1", daemon.port), timeout=600)
            connection.sendall(b"GET /v1/limits HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                               + mutate(good, randomness) + b"\r\n\r\n")
            with connection.makefile("rb") as answer:
                status = int(answer.readline().split()[1])
                headers = http.client.parse_headers(answer)
                answer.read(int(headers["Content-Length"]))
            statuses[status] = statuses.get(status, 0) + 1
            if headers.get("Connection", "").lower() == "close":
                connection.close()
                connection = None
        assert set(statuses) == {400, 401}, statuses
        daemon.by("alpha:reader", "GET", "/v1/limits").expect(200)


def test_attempts_to_guess_keys_are_rate_limited(_):
    with access.Daemon("--http.keys_file", keys.path, "--http.wrong_key_limit", "5") as daemon:
        tried = 0
        answer = daemon.get("/v1/limits", Authorization="Bearer wrong")
        while answer.status == 401:  # attempts are counted per minute
            tried += 1
            answer = daemon.get("/v1/limits", Authorization="Bearer wrong")
        answer.expect(429, "WrongKeys")
        assert tried >= 5 and answer.json["limit"] == 5, (tried, answer.json)
        assert 1 <= int(answer.headers["Retry-After"]) <= 61, answer.headers
        assert answer.headers["Connection"] == "close", answer.headers
        # Other clients at the same address use valid keys, or routes that need no key.
        for _ in range(20):
            daemon.by("alpha:reader", "GET", "/v1/limits").expect(200)
        daemon.get("/v1/limits").expect(401, "Unauthorized")
        daemon.get("/livez", Authorization="Bearer wrong").expect(200)


def test_the_body_is_not_read_without_a_valid_key(daemon):
    connection = daemon.connect()
    connection.putrequest("POST", "/v1/jobs")
    connection.putheader("Content-Length", str(1 << 30))
    connection.endheaders()
    response = connection.getresponse()
    assert response.status == 401 and response.headers["Connection"] == "close"
    connection.close()


def test_public_routes_need_no_key(daemon):
    for path in ("/livez", "/readyz", "/readyz?verbose", "/v2/health/live", "/v2/health/ready",
                 "/version", "/openapi.json", "/docs", "/"):
        daemon.get(path).expect(200)
    assert b"<html" in daemon.get("/", Accept="text/html").expect(200).body
    daemon.get("/nowhere").expect(404, "NoSuchRoute")
    daemon.ask("DELETE", "/v1/jobs").expect(405, "MethodNotAllowed")


def test_a_role_permits_exactly_its_routes(daemon):
    for who in ("alpha:reader", "gamma:monitor"):
        for method, path in (("POST", "/v1/jobs"), ("PUT", "/v1/graphs")):
            daemon.by(who, method, path, SMALL).expect(403, "Forbidden")
        for path in ("/v1/jobs/j_1", "/v1/graphs/g_1"):
            daemon.by(who, "DELETE", path).expect(403, "Forbidden")
    daemon.by("gamma:monitor", "GET", "/v1/jobs").expect(403, "Forbidden")
    daemon.get("/metrics").expect(401, "Unauthorized")
    daemon.by("alpha:submitter", "GET", "/metrics").expect(403, "Forbidden")
    assert b"apspd_jobs" in daemon.by("gamma:monitor", "GET", "/metrics").expect(200).body
    daemon.by("alpha:submitter", "POST", "/v1/jobs?name=town", SMALL, {"Prefer": "wait=60"}).expect(200)
    for method, path, body in (
        ("GET", "/v1/graphs/town/distance?source=1&target=2", None),
        ("POST", "/v1/graphs/town/distances", '{"pairs":[[1,2]]}'),
        ("POST", "/v1/graphs/town/paths", '{"pairs":[[1,2]]}'),
        ("POST", "/v1/graphs/town/table", "{}"),
        ("POST", "/v1/estimate", '{"n":3}'),
    ):
        daemon.by("alpha:reader", method, path, body, JSON).expect(200)


def shape_of(answer, name):
    """Returns the headers and body of an answer, without what differs in every answer, such as the
    request ID."""
    body = re.sub(rb'"request_id":"\w+"', b"", answer.body.replace(name.encode(), b"ID"))
    headers = [(k, v) for k, v in answer.headers.items() if k not in ("Date", "X-Request-Id")]
    return answer.status, headers, body


def unknown_like(name):
    """Returns a name that no object has, equal to this one except for its last character."""
    return name[:-1] + ("0" if name[-1] != "0" else "1")


def objects_of(daemon, who):
    """Returns the objects of a tenant by type, for a solved graph, an unsolved one and one that
    cannot be solved."""
    def submit(weight, query=""):
        body = b"p sp 3 2\na 1 2 %d\na 2 1 3\n" % weight
        return daemon.by(who, "POST", "/v1/jobs" + query, body, {"Prefer": "wait=60"}).expect(200).json

    solved, failed = submit(5, "?name=secret"), submit(-5)
    assert (solved["state"], failed["state"]) == ("done", "failed"), (solved, failed)
    stored = daemon.by(who, "POST", "/v1/graphs?name=stored", OTHER).expect(201).json
    return [solved["graph"], solved["id"], "secret", failed["graph"], failed["id"], stored["id"], "stored"]


def list_questions():
    """Returns every request that names a graph or a job, from the table of routes: (method,
    address, body)."""
    for methods, path, parameters in harness.routes():
        query = "?" + "&".join(f"{name}=1" for name in parameters if name in ("source", "target", "max"))
        for method in methods:
            if "{g}" in path or "{id}" in path:
                address = path.replace("{v}", "1") + query.rstrip("?")
                pairs = '{"pairs":[[1,2]]}'
                body = {"POST": pairs, "PUT": pairs, "PATCH": "[[1,2,3]]"}.get(method)
                yield method, address.replace("{id}", "{g}"), body
                if method == "GET":
                    yield "HEAD", address.replace("{id}", "{g}"), None
    yield "POST", "/v1/jobs", '{"graph":"{g}"}'
    yield "POST", "/v1/estimate", '{"graph":"{g}"}'
    yield "GET", "/v1/jobs?cursor={g}", None
    yield "GET", "/v1/graphs?cursor={g}", None


def test_objects_of_other_tenants_are_reported_as_not_found(_):
    askers = ("alpha:submitter", "beta:admin", "zeta:submitter")
    three = access.Keys(*askers, "alpha:reader")
    with access.Daemon("--http.keys_file", three.path) as daemon:
        questions = list(list_questions())
        assert len(questions) > 30, len(questions)
        for i, owner in enumerate(askers):
            # A tenant without objects is tried first, then a tenant with the same names and graphs.
            names = objects_of(daemon, owner)
            tag = daemon.by(owner, "GET", "/v1/graphs/secret/stats").expect(200).headers["ETag"]
            for asker in askers:
                if asker != owner:
                    ask_for_another_s(daemon, asker, questions, names, tag, askers.index(asker) < i)
            assert daemon.by(owner, "GET", "/v1/graphs/secret").expect(200).json["id"] == names[0]
            assert daemon.by(owner, "GET", "/v1/jobs/" + names[4]).expect(200).json["state"] == "failed"


def ask_for_another_s(daemon, who, questions, names, tag, has_names):
    """Sends each request for each object of the other tenant, and for an unknown one like it;
    neither may be found."""
    listed = [daemon.by(who, "GET", path).expect(200).body for path in ("/v1/jobs", "/v1/graphs")]
    with_connection = daemon.connect()
    for name in names:
        if has_names and name in ("secret", "stored"):
            continue  # an object of the tenant itself
        assert name.encode() not in listed[0] + listed[1], name
        for method, address, body in questions:
            given = {"If-None-Match": tag, **(JSON if body else {})}
            shapes = [shape_of(daemon.by(who, method, address.replace("{g}", one),
                                         body and body.replace("{g}", one), given, with_connection), one)
                      for one in (name, unknown_like(name))]
            assert shapes[0] == shapes[1], (method, address, name, shapes)
            assert shapes[0][0] == 404 or "cursor" in address, (method, address, name, shapes)
    with_connection.close()
    assert listed == [daemon.by(who, "GET", path).expect(200).body for path in ("/v1/jobs", "/v1/graphs")]


def test_only_the_key_determines_the_tenant_and_the_role(daemon):
    """No undocumented parameter or body member changes the tenant, on any route."""
    daemon.by("alpha:submitter", "POST", "/v1/jobs?name=plain", SMALL, {"Prefer": "wait=60"}).expect(200)
    claims = ("tenant", "owner", "role", "admin", "key", "state", "quota", "callback")
    bodies = {"distances": {"pairs": [[1, 2]]}, "paths": {"pairs": [[1, 2]]}, "table": {"sources": [1]},
              "estimate": {"n": 3}, "jobs": {"graph": "plain"}}
    count = 0
    for methods, path, _ in harness.routes():
        address = path.replace("{g}", "plain").replace("{id}", "plain").replace("{v}", "1")
        for method in methods:
            given = bodies.get(address.rpartition("/")[2]) if method == "POST" else None
            for claim in claims:
                body = json.dumps(given) if given else SMALL if method in ("POST", "PUT") else None
                daemon.by("alpha:submitter", method, f"{address}?{claim}=beta", body,
                          JSON if given else {}).expect(400 if address != "/metrics" else 403)
                count += 1
                if given is not None:
                    daemon.by("alpha:submitter", method, address, json.dumps({**given, claim: "beta"}),
                              JSON).expect(400)
                    count += 1
    assert count > 8 * 35, count


def test_equal_uploads_of_two_tenants_create_separate_graphs(daemon):
    headers = {"Prefer": "wait=60", "Idempotency-Key": "order-1"}
    first = daemon.by("alpha:submitter", "POST", "/v1/graphs?name=same", SMALL).json
    jobs = [daemon.by(who, "POST", "/v1/jobs?name=mine", SMALL, headers).expect(200).json
            for who in ("alpha:submitter", "beta:admin", "beta:admin")]
    assert jobs[0]["graph"] == first["id"] != jobs[1]["graph"], jobs
    assert jobs[0]["id"] != jobs[1]["id"] == jobs[2]["id"], jobs
    assert daemon.by("alpha:submitter", "POST", "/v1/graphs", SMALL).status == 200
    assert daemon.by("delta:submitter", "POST", "/v1/graphs", SMALL).status == 201


def test_a_tenant_can_use_at_most_half_of_the_upload_memory(_):
    with access.Daemon("--http.keys_file", keys.path, "--http.upload_memory", "32MiB",
                       *harness.NO_DEADLINES) as daemon:
        alpha, beta = ({"Authorization": "Bearer " + access.Keys.key(who)} for who in WHO[:2])
        # The tenant may reserve 16 MiB in steps of 1 MiB, of which one address may use 8.
        drops = [harness.Drip(daemon, "127.0.0.2", 1 << 19, **alpha) for _ in range(12)]
        drops += [harness.Drip(daemon, source, 1 << 19, **alpha)
                  for source in ("127.0.0.3", "127.0.0.1") for _ in range(8)]
        harness.upload_beside(daemon, drops, "127.0.0.1", 1 << 19, **beta)
        statuses = [drop.finish() for drop in drops]
        assert statuses.count(429) == 12, statuses


def test_quotas_are_enforced_before_the_body_is_read(daemon):
    running = daemon.by("delta:submitter", "POST", "/v1/jobs", harness.slow_graph(5000))
    assert running.status == 202, running.body
    address = "/v1/jobs/" + running.json["id"]
    # The quota permits one waiting job, which is this one until it runs.
    harness.wait_until(daemon, lambda: daemon.by("delta:submitter", "GET", address).json["state"] != "queued")
    waiting = []
    for i in range(2):
        answer = daemon.by("delta:submitter", "POST", "/v1/jobs", b"p sp 2 1\na 1 2 %d\n" % (i + 1))
        waiting.append(answer)
    refused = waiting[-1].expect(429, "JobQuota")
    assert int(refused.headers["Retry-After"]) >= 1 and refused.json["limit"] == 1, refused.json
    connection = daemon.connect()
    connection.putrequest("POST", "/v1/jobs")
    connection.putheader("Authorization", "Bearer " + access.Keys.key("delta:submitter"))
    connection.putheader("Content-Length", str(1 << 30))
    connection.endheaders()
    response = connection.getresponse()
    assert response.status == 429 and json.loads(response.read())["code"] == "JobQuota"
    connection.close()
    # Another tenant's job is accepted meanwhile.
    other = daemon.by("alpha:submitter", "POST", "/v1/jobs", b"p sp 2 1\na 1 2 77\n")
    assert other.status == 202, other.body
    for one in (running, waiting[0]):
        daemon.by("delta:submitter", "DELETE", "/v1/jobs/" + one.json["id"])


def test_a_tenant_without_quotas_cannot_fill_the_queue_alone(_):
    with access.Daemon("--http.keys_file", keys.path, "--jobs.queue_limit", "5", *harness.LASTING) as daemon:
        alpha, beta = ({"Authorization": "Bearer " + access.Keys.key(who)} for who in WHO[:2])
        running = daemon.submit(harness.slow_graph(harness.LASTING_SIZE), **alpha).expect(202).json["id"]
        harness.wait_until(daemon, lambda: daemon.get("/v1/jobs/" + running, **alpha).json["state"] != "queued")
        answers = [daemon.submit(b"p sp 2 1\na 1 2 %d\n" % (i + 1), **alpha) for i in range(4)]
        assert [answer.status for answer in answers] == [202, 202, 202, 429], answers
        refused = answers[3].expect(429, "QueueFull").json
        assert refused["limit"] == 2 and refused["actual"] == 3 and "reserved for tenants" in refused["detail"], refused
        assert int(answers[3].headers["Retry-After"]) >= 1, answers[3].headers
        assert daemon.submit(SMALL, **beta).status == 202
        daemon.ask("DELETE", "/v1/jobs/" + running, headers=alpha).expect(202)


def test_the_only_tenant_that_may_submit_can_fill_the_queue(_):
    own = access.Keys("alpha:submitter", "beta:admin", "gamma:monitor")
    with access.Daemon("--http.keys_file", own.path, "--jobs.queue_limit", "4", *harness.LASTING) as daemon:
        alpha = {"Authorization": "Bearer " + access.Keys.key("alpha:submitter")}
        running = daemon.submit(harness.slow_graph(harness.LASTING_SIZE), **alpha).expect(202).json["id"]
        harness.wait_until(daemon, lambda: daemon.get("/v1/jobs/" + running, **alpha).json["state"] != "queued")
        answers = [daemon.submit(b"p sp 2 1\na 1 2 %d\n" % (i + 1), **alpha) for i in range(3)]
        assert [answer.status for answer in answers] == [202, 202, 429], answers
        own.write("alpha:submitter", "gamma:monitor", "delta:reader")
        daemon.reload()
        answers = [daemon.submit(b"p sp 2 1\na 1 2 %d\n" % (i + 7), **alpha) for i in range(3)]
        assert [answer.status for answer in answers] == [202, 202, 429], answers
        assert "queue is full" in answers[2].json["detail"], answers[2].json
        daemon.ask("DELETE", "/v1/jobs/" + running, headers=alpha).expect(202)


def test_graph_size_and_stored_bytes_are_limited_by_quotas(daemon):
    who = "epsilon:submitter"
    large = daemon.by(who, "POST", "/v1/jobs", SMALL).expect(413, "TooLarge")
    assert large.json["limit"] == 3 and "key" in large.json["hint"], large.json
    for i in range(50):
        answer = daemon.by(who, "POST", "/v1/graphs", b"p sp 2 1\na 1 2 %d\n" % (i + 1))
        if answer.status != 201:
            break
    assert answer.expect(507, "StorageQuota").json["limit"] == 2000, answer.json
    assert answer.headers.get_all("Retry-After") == ["60"], answer.headers
    assert i > 2
    graphs = daemon.by(who, "GET", "/v1/graphs").json["graphs"]
    for graph in graphs:
        daemon.by(who, "DELETE", "/v1/graphs/" + graph["id"]).expect(204)
    daemon.by(who, "POST", "/v1/graphs", b"p sp 2 1\na 1 2 1000\n").expect(201)


def test_keys_are_reloaded_and_a_malformed_file_changes_nothing(daemon):
    keys.write("zeta:reader", *WHO[1:])
    assert '"reload_failed"' not in daemon.reload()
    daemon.by("zeta:reader", "GET", "/v1/jobs").expect(200)
    daemon.by("alpha:submitter", "GET", "/v1/jobs").expect(401, "Unauthorized")
    with open(keys.path, "a", encoding="ascii") as file:
        file.write(access.Keys.key("alpha:submitter") + " alpha admin\n")
    log = daemon.reload()
    assert '"event":"reload_failed","part":"keys"' in log and f'"line":{len(WHO) + 1}' in log, log
    daemon.by("zeta:reader", "GET", "/v1/jobs").expect(200)
    daemon.by("alpha:submitter", "GET", "/v1/jobs").expect(401)
    keys.write(*WHO)
    os.chmod(keys.path, 0o644)
    log = daemon.reload()
    assert '"event":"reload_failed","part":"keys"' in log and "chmod 600" in log, log
    daemon.by("zeta:reader", "GET", "/v1/jobs").expect(200)
    code, words = access.run_refused("--listen", "127.0.0.1:0", "--http.keys_file", keys.path)
    assert code == 78 and "is readable by all" in words and "chmod 600" in words, (code, words)
    os.chmod(keys.path, 0o640)  # as Kubernetes passes secrets to the group of a pod
    daemon.reload()
    daemon.by("alpha:submitter", "GET", "/v1/jobs").expect(200)


def test_a_hierarchy_larger_than_the_quota_is_refused_before_its_solve(_):
    """The hierarchy has far more arcs than the graph has edges; its size is known after
    ordering."""
    draw = random.Random(5)
    edges = [(draw.randrange(1500), draw.randrange(1500)) for _ in range(4500)]
    body = "p sp 1500 4500\n" + "".join(f"a {a + 1} {b + 1} 7\n" for a, b in edges)
    owners = access.Keys("alpha:submitter bytes=300KiB", "beta:submitter")
    with access.Daemon("--http.keys_file", owners.path) as limited:
        answers = [limited.by(who, "POST", "/v1/jobs?result=hierarchy", body.encode(), {"Prefer": "wait=60"})
                   for who in ("beta:submitter", "alpha:submitter")]
        result = answers[0].expect(200).json["result"]
        refused = answers[1].expect(507, "StorageQuota").json
        assert refused["actual"] > result["bytes"] > refused["limit"] == 300 * 1024, (result, refused)
        assert limited.by("alpha:submitter", "GET", "/v1/graphs").expect(200).json["graphs"] == []


def test_objects_created_without_keys_belong_to_the_tenant_named_dash(_):
    plain = harness.Daemon()
    try:
        graph = plain.solve(SMALL, "?name=old")["graph"]
        plain.terminate()
        owners = access.Keys("-:reader", "alpha:reader")
        plain.arguments = ("--http.keys_file", owners.path)
        plain.start()
        plain.__class__ = access.Daemon
        assert plain.by("-:reader", "GET", "/v1/graphs/old").expect(200).json["id"] == graph
        plain.by("-:reader", "GET", "/v1/graphs/old/distance?source=1&target=2").expect(200)
        plain.by("alpha:reader", "GET", "/v1/graphs/old").expect(404)
        plain.by("alpha:reader", "GET", "/v1/graphs/old/distance?source=1&target=2").expect(404)
    finally:
        plain.close()


def test_an_added_key_is_accepted_by_the_service(daemon):
    import hashlib

    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        path = os.path.join(folder, "keys")
        for number, (tenant, role) in enumerate((("acme", "submitter"), ("-", "admin"))):
            added = subprocess.run([harness.BINARY, "--add-key", path, tenant, role], capture_output=True, text=True)
            assert added.returncode == 0 and re.fullmatch(r"[A-Za-z0-9+/]{32}\n", added.stdout), added
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
            digest = hashlib.sha256(added.stdout.strip().encode()).hexdigest()
            assert len(lines) == number + 1 and lines[-1] == f"{digest} {tenant} {role}", lines
            with open(path, "r+", encoding="utf-8") as file:
                file.truncate(os.path.getsize(path) - 1)  # the next line still starts a new request
        assert os.stat(path).st_mode & 0o777 == 0o600
        for words in ((path, "ACME", "reader"), (path, "acme", "king"), (folder, "acme", "reader")):
            refused = subprocess.run([harness.BINARY, "--add-key", *words], capture_output=True)
            assert refused.returncode == 78 and refused.stdout == b"", refused


def test_keys_appear_in_no_log_line_or_response(daemon):
    """Searches everything that the daemon has logged at the most verbose level during the tests
    before this one."""
    log = daemon.log().decode()
    for secret in SECRETS:
        assert secret not in log, secret
    answer = daemon.by("alpha:submitter", "GET", "/v1/graphs/nowhere").expect(404)
    assert answer.body.count(SECRETS[0].encode()) == 0


if __name__ == "__main__":
    harness.Daemon = access.Daemon
    harness.run(globals(), ("--http.keys_file", keys.path, "--log.level", "debug"))
