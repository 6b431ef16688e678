"""/openapi.json describes the service completely: every route, parameter, field and code is in
it, and no other answers occur."""

import json
import os
import re
import sys
import zlib

import harness
from harness import SMALL
from test_watch import cancel, until_running

try:
    import jsonschema

    from description import Description, escape
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(harness.SKIPPED)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Codes that need a broken machine, or features that the service does not have yet.
NOT_PROVOKED = {
    "Unauthorized", "Forbidden", "JobQuota", "StorageQuota", "WrongKeys",  # test_access_keys.py
    "CrossOrigin", "WrongHost",  # test_cross_origin.py
    "HeadTooLarge",  # test_guard.py
    "AddressLimit", "ConnectionLimit",  # test_crowd.py
    "NoMemory", "NoDeviceMemory", "NoDevice", "NotReady", "DiskFull", "InputOutput",
    "Corrupt", "NotVerified", "DeviceLost", "PoisonJob", "Configuration", "Draining", "Cancelled",
}
NEGATIVE = b"p sp 3 3\na 1 2 -5\na 2 3 1\na 3 1 1\n"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
JSON = {"Content-Type": "application/json"}
spec = None


def prepare(daemon):
    global spec
    spec = Description(daemon.get("/openapi.json").expect(200).json)
    daemon.solve(b"p sp 4 3\na 1 2 6\na 2 3 7\na 3 1 1\n", "?name=small")


def test_the_openapi_document_is_served(daemon):
    answer = daemon.get("/openapi.json").expect(200)
    assert answer.headers["Content-Type"] == "application/json"
    packed = daemon.get("/openapi.json", Accept_Encoding="gzip, br").expect(200)
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["Vary"] == "Accept-Encoding"
    assert zlib.decompress(packed.body, 31) == answer.body
    for one in (answer, packed):
        tag = one.headers["ETag"]
        encoding = one.headers["Content-Encoding"] or "identity"
        again = daemon.get("/openapi.json", If_None_Match=tag, Accept_Encoding=encoding).expect(304)
        assert again.body == b"" and again.headers["ETag"] == tag
    assert answer.headers["ETag"] != packed.headers["ETag"]
    for coding in ("identity", "br", "gzip;q=0", "gzip;q=0.5, identity;q=1"):
        plain = daemon.get("/openapi.json", Accept_Encoding=coding).expect(200)
        assert plain.body == answer.body and "Content-Encoding" not in plain.headers


def references(value):
    if isinstance(value, dict):
        for key, member in value.items():
            if key == "$ref":
                yield member
            else:
                yield from references(member)
    elif isinstance(value, list):
        for member in value:
            yield from references(member)


def test_the_openapi_document_is_consistent(daemon):
    document = spec.document
    assert document["openapi"] == "3.1.0"
    assert document["info"]["version"] == daemon.get("/version").json["version"]
    assert [server["url"] for server in document["servers"]] == ["./"]
    assert "http://" not in json.dumps(document) and "https://" not in json.dumps(document)
    used = set(references(document))
    for reference in used:
        spec.at(reference)
    kinds = document["components"]
    assert set(kinds["securitySchemes"]) == {name for rule in document["security"] for name in rule}
    referred = set(kinds) - {"securitySchemes"}
    components = {f"#/components/{kind}/{name}" for kind in referred for name in kinds[kind]}
    assert components == used, components ^ used
    ids = [spec.at(pointer)["operationId"] for _, _, pointer in spec.operations()]
    assert len(ids) == len(set(ids))
    tags = {tag["name"] for tag in document["tags"]}
    assert {spec.at(pointer)["tags"][0] for _, _, pointer in spec.operations()} == tags
    for name, schema in kinds["schemas"].items():
        jsonschema.Draft202012Validator.check_schema(schema)
        if "example" in schema:
            spec.validator(f"#/components/schemas/{name}").validate(schema["example"])


def media_of(pointer):
    """Returns pointers of every media type of the bodies and answers of an operation."""
    operation = spec.at(pointer)
    places = [f"{pointer}/responses/{status}" for status in operation["responses"]]
    places += [f"{pointer}/requestBody"] if "requestBody" in operation else []
    for place in map(spec.follow, places):
        for type in spec.at(place).get("content", {}):
            yield f"{place}/content/{escape(type)}", type


def test_examples_match_their_schemas(daemon):
    count = 0
    for _, _, pointer in spec.operations():
        for media, type in media_of(pointer):
            if type.endswith("json") and "example" in spec.at(media):
                spec.validator(f"{media}/schema").validate(spec.at(media)["example"])
                count += 1
    assert count > 10


def test_the_openapi_document_lists_exactly_the_routes_of_the_service(daemon):
    table = {(method, path): sorted(parameters)
             for methods, path, parameters in harness.routes() for method in methods}
    described = {}
    for method, path, _ in spec.operations():
        parameters = spec.parameters(method, path)
        described[method, path] = sorted(p["name"] for p in parameters if p["in"] == "query")
        holes = [p["name"] for p in parameters if p["in"] == "path"]
        assert holes == re.findall(r"\{(\w+)\}", path), (method, path)
    assert described == table, set(described) ^ set(table)


def test_the_openapi_document_lists_exactly_the_problem_codes_of_the_service(daemon):
    with open(os.path.join(ROOT, "proto/status.c"), encoding="utf-8") as file:
        rows = re.findall(r'\{"(\w+)",\s*"([^"]+)",\s*(\d+),', file.read())
    codes = {code: int(status) for code, _, status in rows if code != "Ok"}
    titles = {code: title[0].lower() + title[1:] for code, title, _ in rows}
    problem = spec.at("#/components/schemas/Problem")
    assert sorted(problem["properties"]["code"]["enum"]) == sorted(codes)
    for code, status in codes.items():
        assert f"`{code}` ({status}, {titles[code]})" in problem["description"], code
    by_status = {}
    for method, path, status, pointer in spec.responses():
        content = spec.at(pointer).get("content", {})
        if "application/problem+json" in content:
            rule = content["application/problem+json"]["schema"]["allOf"][1]["properties"]
            assert rule["status"] == {"const": status}, (method, path, status)
            by_status[status] = set(rule["code"]["enum"])
    for status, found in by_status.items():
        assert found == {code for code in codes if codes[code] == status}, status
    # These codes belong to no single operation: 405 for other methods, 401 and 403 with keys, 403 and 421 for
    # browsers, 504 in job documents.
    assert set(codes.values()) - set(by_status) == {401, 403, 405, 421, 431, 504}


def names_in(daemon, member):
    return daemon.get("/v1/formats").json[member]


def test_the_openapi_document_lists_exactly_the_formats_of_the_service(daemon):
    inputs = names_in(daemon, "inputs")
    outputs = names_in(daemon, "outputs")
    types = {type for one in inputs for type in one["media_types"]} | {"application/octet-stream"}
    for method in ("POST", "PUT"):
        for path in ("/v1/jobs", "/v1/graphs"):
            assert set(spec.body(method, path)["content"]) == types, (method, path)
            values = {p["name"]: p["schema"] for p in spec.parameters(method, path)}
            assert sorted(values["format"]["enum"]) == sorted(one["name"] for one in inputs)
            assert set(values) >= {name for one in inputs for name in one["parameters"]}
    for path in ("/v1/graphs/{g}/matrix", "/v1/graphs/{g}/row/{v}", "/v1/graphs/{g}/column/{v}"):
        values = {p["name"]: p["schema"] for p in spec.parameters("GET", path)}
        assert sorted(values["format"]["enum"]) == sorted(one["name"] for one in outputs)
        content = spec.operation("GET", path)["responses"]["200"]["content"]
        assert set(content) == {one["media_types"][0] for one in outputs}


def test_the_openapi_document_lists_exactly_the_charsets_of_the_service(_):
    with open(os.path.join(ROOT, "proto/read/charset.c"), encoding="utf-8") as file:
        lists = re.findall(r" charsets\[\] = \{(.*?)\};.* aliases\[\]\[2\] = \{(.*?)\};", file.read(), re.DOTALL)
    (charsets, aliases), = lists
    names = re.findall(r'"([^"]+)"', charsets) + re.findall(r'\{"([^"]+)"', aliases)
    assert sorted(spec.at("#/components/parameters/charset")["schema"]["enum"]) == sorted(names)


# ---- Every route, field and code, answered ----


def ask(daemon, method, path, body=None, headers=None, status=200, query="", **holes):
    """Sends one request and checks its answer against the description."""
    address = path
    for name, value in holes.items():
        address = address.replace(f"{{{name}}}", value)
    answer = daemon.ask(method, address + query, body=body, headers=headers)
    assert answer.status == status, (method, address, query, answer.status, answer.body[:400])
    spec.check(method, path, answer)
    return answer


def test_jobs_match_the_openapi_document(daemon):
    headers = {"Prefer": "wait=30", "traceparent": TRACE}
    first = ask(daemon, "POST", "/v1/jobs", SMALL, headers,
                query="?name=small&verify=true&deadline_s=600").json
    assert first["state"] == "done" and first["verification"]["rows"] == 4
    ask(daemon, "PUT", "/v1/jobs", SMALL)
    big = harness.slow_graph(harness.LASTING_SIZE)
    running = ask(daemon, "PUT", "/v1/jobs", big, status=202).json
    by_graph = json.dumps({"graph": running["graph"], "kind": "f8"})
    second = ask(daemon, "POST", "/v1/jobs", by_graph, JSON, 202).json
    waiting = ask(daemon, "POST", "/v1/jobs", b"p sp 2 1\na 1 2 3\n", status=202, query="?name=next").json
    ask(daemon, "GET", "/v1/graphs/{g}/stats", status=409, g="next")
    ask(daemon, "DELETE", "/v1/graphs/{g}", status=409, g="next")
    ask(daemon, "GET", "/v1/jobs", query="?state=queued&limit=1")
    for job in (waiting, second, running):
        ask(daemon, "DELETE", "/v1/jobs/{id}", status=202, id=job["id"])
    ask(daemon, "DELETE", "/v1/jobs/{id}", status=409, id=first["id"])
    ask(daemon, "GET", "/v1/jobs/{id}", id=running["id"], query="?wait=30")
    ask(daemon, "GET", "/v1/jobs/{id}", None, {"Prefer": "wait=1"}, id=first["id"])
    failed = daemon.finish(ask(daemon, "POST", "/v1/jobs", NEGATIVE, status=202).json["id"])
    assert failed["problem"]["code"] == "NegativeCycle"
    ask(daemon, "GET", "/v1/jobs/{id}", id=failed["id"])
    ask(daemon, "HEAD", "/v1/jobs/{id}", id=failed["id"])
    events = ask(daemon, "GET", "/v1/jobs/{id}/events", query="?last_event_id=0", id=failed["id"])
    data = re.search(rb"event: state\ndata: (.*)\n", events.body)[1]
    spec.check_instance("#/components/schemas/Job", json.loads(data))
    ask(daemon, "GET", "/v1/jobs/{id}/events", status=204, id=failed["id"])
    ask(daemon, "GET", "/v1/jobs")
    late = ask(daemon, "POST", "/v1/jobs", big + b"a 1 2 1\n", status=422)
    assert late.json["code"] == "BadGraph"


def test_events_match_the_openapi_document(daemon):
    job = daemon.submit(harness.slow_graph(harness.LASTING_SIZE + 1)).expect(202).json["id"]
    connection = daemon.connect()
    connection.request("GET", f"/v1/jobs/{job}/events")
    response = connection.getresponse()
    body = b""
    while b"event: progress" not in body:
        body += response.readline()
    ask(daemon, "DELETE", "/v1/jobs/{id}", status=202, id=job)
    body += response.read()
    connection.close()
    answer = harness.Answer(response.status, response.headers, body)
    spec.check("GET", "/v1/jobs/{id}/events", answer)
    events = re.findall(r"event: (\w+)\ndata: (.*)\n\n", answer.body.decode())
    media = "/responses/200/content/text~1event-stream"
    schemas = f"#/paths/{escape('/v1/jobs/{id}/events')}/get{media}/x-events"
    assert set(spec.at(schemas)) == {"state", "progress"}
    for name, data in events:
        spec.check_instance(f"{schemas}/{name}", json.loads(data))
    states = [json.loads(data)["state"] for name, data in events if name == "state"]
    assert len(states) >= 2 and states[-1] == "cancelled", states


def test_graphs_match_the_openapi_document(daemon):
    stored = ask(daemon, "POST", "/v1/graphs", b"x,y,3\ny,z,4\n", status=201, query="?name=words").json
    ask(daemon, "POST", "/v1/graphs", b"from,to,length,edge_id\na,b,5,1\nb,a,5,2\n", status=201)
    for method in ("POST", "PUT"):
        ask(daemon, method, "/v1/graphs", b"x,y,3\ny,z,4\n")
    ask(daemon, "PUT", "/v1/graphs", b"x,y,3\ny,z,5\n", status=201)
    ask(daemon, "GET", "/v1/graphs/{g}", g=stored["id"])
    ask(daemon, "GET", "/v1/graphs/{g}", g="small")
    ask(daemon, "GET", "/v1/graphs", query="?limit=2")
    ask(daemon, "GET", "/v1/graphs/{g}/vertices", g="words")
    assert ask(daemon, "GET", "/v1/graphs/{g}/edges", g="words").json["edges"] == [["x", "y", 3], ["y", "z", 4]]
    ask(daemon, "GET", "/v1/graphs/{g}/edges", None, {"Accept": "a/b"}, 406, g="words")
    ask(daemon, "POST", "/v1/estimate", json.dumps({"n": 100, "m": 5}), JSON)
    ask(daemon, "POST", "/v1/estimate", json.dumps({"n": 4000000000}), JSON)
    ask(daemon, "POST", "/v1/estimate", json.dumps({"graph": "words"}), JSON)
    ask(daemon, "DELETE", "/v1/graphs/{g}", status=204, g="words")
    ask(daemon, "GET", "/v1/graphs/{g}", status=404, g="words")


def test_changes_match_the_openapi_document(daemon):
    daemon.solve(b"7 8 1\n8 9 2\n", "?name=live&directed=true")
    path = "/v1/graphs/{g}/edges"
    ask(daemon, "PATCH", path, b"[[7,8,4]]", {**JSON, "Prefer": "wait=60"}, g="live")
    ask(daemon, "PATCH", path, b"7,8,9\n", {"Content-Type": "text/csv"}, 202, g="live")
    path = "/v1/graphs/{g}/weights"
    weights = {"Content-Type": "application/octet-stream"}
    ask(daemon, "PUT", path, bytes((5, 0, 0, 0, 6, 0, 0, 0)), weights, 202, g="live")
    ask(daemon, "PUT", path, bytes((1, 2, 0, 0, 6, 0, 0, 0)), {**weights, "Prefer": "wait=60"}, g="live")


def test_coordinates_match_the_openapi_document(daemon):
    daemon.solve(b"p sp 3 2\na 1 2 3\na 2 3 4\n", "?name=placed")
    path = "/v1/graphs/{g}/coordinates"
    refuse(daemon, "NoCoordinates", "GET", path, g="placed")
    refuse(daemon, "BadCoordinates", "PUT", path, b"1,2,3\n", g="placed")
    degrees = b"vertex,lon,lat\n1,7.5,46.2\n2,8.5,47.2\n"
    ask(daemon, "PUT", path, degrees, {"Content-Type": "text/csv"}, 201, g="placed")
    ask(daemon, "GET", "/v1/graphs/{g}", g="placed")
    answer = ask(daemon, "GET", path, g="placed")
    ask(daemon, "HEAD", path, g="placed")
    ask(daemon, "GET", path, headers={"If-None-Match": answer.headers["ETag"]}, status=304, g="placed")
    ask(daemon, "GET", "/v1/graphs/{g}/nearest", query="?lon=7&lat=46", g="placed")
    ask(daemon, "PUT", path, answer.body, {"Content-Type": "text/csv"}, g="placed")
    ask(daemon, "PUT", path, b"p aux sp co 1\nv 1 5 90000001\n", {"Content-Type": "text/plain"}, 200, g="placed")
    ask(daemon, "GET", path, g="placed")
    ask(daemon, "GET", "/v1/graphs/{g}/nearest", query="?x=7&y=46", g="placed")
    ask(daemon, "DELETE", path, status=204, g="placed")
    ask(daemon, "DELETE", path, status=409, g="placed")


def test_responses_match_the_openapi_document(daemon):
    pairs = json.dumps({"pairs": [[1, 2], [1, 4]]})
    for path, query in (
        ("/distance", "?source=1&target=4"), ("/path", "?source=1&target=3"),
        ("/nearest", "?source=1&k=9"), ("/within", "?source=1&max=6"), ("/within", "?target=1&max=6"), ("/stats", ""),
        ("/heatmap", "?size=2&rows=0:3"),
        ("/matrix", "?format=json"), ("/row/{v}", ""), ("/column/{v}", ""), ("/matrix", "?header=true&format=csv"),
    ):
        path = "/v1/graphs/{g}" + path
        answer = ask(daemon, "GET", path, query=query, g="small", v="1")
        ask(daemon, "HEAD", path, query=query, g="small", v="1")
        tag = {"If-None-Match": answer.headers["ETag"]}
        ask(daemon, "GET", path, headers=tag, status=304, query=query, g="small", v="1")
        ask(daemon, "GET", path, headers={"If-Match": answer.headers["ETag"]}, query=query, g="small", v="1")
        ask(daemon, "GET", path, headers={"If-Match": '"a"'}, status=412, query=query, g="small", v="1")
        ask(daemon, "GET", path, status=400, query=f"{query}&no=1" if query else "?no=1", g="small", v="1")
        ask(daemon, "GET", path, status=404, query=query, g="nowhere", v="1")
        wrong = {"Accept": "image/png"}
        if "format" not in query:
            ask(daemon, "GET", path, headers=wrong, status=406, query=query, g="small", v="1")
    bodies = {"/distances": pairs, "/paths": pairs, "/table": '{"sources":[1,2],"destinations":[3,4]}',
              "/nearest": '{"sources":[1,2],"targets":[3,4],"k":2}'}
    for path, body in bodies.items():
        path = "/v1/graphs/{g}" + path
        ask(daemon, "POST", path, body, {**JSON, "Prefer": "wait=1"}, g="small")
        ask(daemon, "POST", path, body, {"Content-Type": "image/png"}, 415, g="small")
        ask(daemon, "POST", path, body, {**JSON, "Accept": "image/png"}, 406, g="small")
        ask(daemon, "POST", path, "{", JSON, 400, g="small")
        ask(daemon, "POST", path, "", JSON, 422, g="small")
    ask(daemon, "POST", "/v1/graphs/{g}/table", '{"sources":[1]}', {**JSON, "Accept": "text/csv"}, g="small")
    ask(daemon, "POST", "/v1/graphs/{g}/table", '{"sources":[1,9]}', JSON, 404, g="small")
    for type in spec.body("POST", "/v1/graphs/{g}/distances")["content"]:
        answer = ask(daemon, "POST", "/v1/graphs/{g}/distances", pairs, {**JSON, "Accept": type}, g="small")
        assert answer.headers["Content-Type"].split(";")[0] == type
    ask(daemon, "GET", "/v1/graphs/{g}/distance", headers={"Accept": "text/plain"},
        query="?source=1&target=4", g="small")


def test_hierarchies_match_the_openapi_document(daemon):
    graph = b"p sp 3 2\na 1 2 3\na 2 3 4\n"
    for form in ("hierarchy", "hierarchy"):  # the second one is cached
        job = ask(daemon, "POST", "/v1/jobs", graph, {"Prefer": "wait=30"}, query=f"?name=arcs&result={form}").json
        assert job["state"] == "done" and job["result"]["arcs"] >= 2, job
    ask(daemon, "GET", "/v1/graphs/{g}/distance", query="?source=1&target=3", g="arcs")
    ask(daemon, "GET", "/v1/graphs/{g}/stats", g="arcs")
    n = 250_000  # all rows of so long a path take longer than the limit
    path = f"p sp {n} {n - 1}\n" + "".join(f"a {v} {v + 1} 1\n" for v in range(1, n))
    with harness.Daemon() as large:
        large.solve(path.encode(), "?name=path&result=hierarchy")
        refuse(large, "NotAMatrix", "GET", "/v1/graphs/{g}/stats", g="path")
    ask(daemon, "POST", "/v1/estimate", json.dumps({"n": 1000000, "m": 3000000}), JSON)


def test_matrices_match_the_openapi_document(daemon):
    for path in ("/v1/graphs/{g}/matrix", "/v1/graphs/{g}/row/{v}", "/v1/graphs/{g}/column/{v}"):
        for format in names_in(daemon, "outputs"):
            ask(daemon, "GET", path, query=f"?format={format['name']}", g="small", v="2")
        for format in ("npy", "raw", "nthu"):
            query = f"?format={format}"
            ask(daemon, "GET", path, None, {"Range": "bytes=0-9"}, 206, query, g="small", v="2")
            ask(daemon, "GET", path, None, {"Range": "bytes=9999-"}, 416, query, g="small", v="2")
        ask(daemon, "GET", path, query="?format=png", status=400, g="small", v="2")
    ask(daemon, "GET", "/v1/graphs/{g}/matrix", query="?rows=9:7", status=400, g="small")
    ask(daemon, "GET", "/v1/graphs/{g}/matrix", query="?rows=9", status=404, g="small")


def test_service_routes_match_the_openapi_document(daemon):
    for path in ("/", "/livez", "/readyz", "/v2/health/live", "/v2/health/ready", "/version",
                 "/metrics", "/v1/limits", "/v1/formats", "/v1/devices", "/openapi.json", "/docs", "/favicon.ico"):
        ask(daemon, "GET", path)
        ask(daemon, "HEAD", path)
    ask(daemon, "GET", "/readyz", query="?verbose")
    ask(daemon, "GET", "/v2/health/ready", query="?verbose=1")
    ask(daemon, "GET", "/", headers={"Accept": "application/json"}, status=406)
    for path in ("/openapi.json", "/docs", "/", "/favicon.ico"):
        ask(daemon, "GET", path, headers={"If-None-Match": "*"}, status=304)
        ask(daemon, "GET", path, headers={"If-Match": '"a"'}, status=412)


def refuse(daemon, code, method, path, body=None, headers=None, query="", **holes):
    status = spec_status(code)
    answer = ask(daemon, method, path, body, headers, status, query, **holes)
    assert answer.json["code"] == code, answer.json
    provoked.add(code)


def spec_status(code):
    return int(re.search(rf"`{code}` \((\d+),", spec.at("#/components/schemas/Problem/description"))[1])


provoked = set()


def test_every_documented_problem_code_is_returned(daemon):
    vertex = "?source=1&target=9"
    submit = ("POST", "/v1/jobs")
    refuse(daemon, "BadRequest", "POST", "/v1/estimate", "{")
    refuse(daemon, "UnknownParameter", "GET", "/v1/jobs", query="?no=1")
    refuse(daemon, "BadParameter", "GET", "/v1/jobs", query="?limit=0")
    refuse(daemon, "NoSuchRoute", "GET", "/v1/graphs/{g}", g="g" * 200)
    refuse(daemon, "NoSuchRoute", "GET", "/problems/{type}", type="none")
    ask(daemon, "GET", "/problems/{type}", type="bad-graph")
    refuse(daemon, "NoSuchGraph", "GET", "/v1/graphs/{g}", g="nowhere")
    refuse(daemon, "NoSuchJob", "GET", "/v1/jobs/{id}", id="j_none")
    refuse(daemon, "NoSuchVertex", "GET", "/v1/graphs/{g}/distance", query=vertex, g="small")
    refuse(daemon, "NotAcceptable", "GET", "/v1/graphs/{g}/stats", None, {"Accept": "a/b"}, g="small")
    refuse(daemon, "PreconditionFailed", "DELETE", "/v1/graphs/{g}", None, {"If-Match": '"a"'}, g="small")
    refuse(daemon, "UnsupportedMediaType", *submit, "a", {"Content-Type": "image/png"})
    refuse(daemon, "RangeNotSatisfiable", "GET", "/v1/graphs/{g}/matrix", None, {"Range": "bytes=999-"}, g="small")
    refuse(daemon, "JobFinished", "DELETE", "/v1/jobs/{id}", id=daemon.get("/v1/jobs?state=done").json["jobs"][0]["id"])
    refuse(daemon, "IdempotencyMismatch", *submit, b"p sp 3 1\na 1 2 3\n", {"Idempotency-Key": key_of(daemon)})
    refuse(daemon, "TooLarge", *submit, b"p sp 90000 1\na 1 2 3\n")
    refuse(daemon, "BodyTooLarge", "POST", "/v1/estimate", b" " * 70000)
    refuse(daemon, "BadGraph", *submit, b"p sp 3 1\na 1 9 3\n")
    refuse(daemon, "EmptyBody", *submit, b"")
    refuse(daemon, "Truncated", *submit, b"p sp 3 2\na 1 2 3\n")
    refuse(daemon, "WeightRange", *submit, b"p sp 3 1\na 1 2 2000000000\n", query="?kind=i4")
    wrong = daemon.ask("POST", "/livez", body=b"").expect(405, "MethodNotAllowed")
    spec.check_instance("#/components/schemas/Problem", wrong.json)
    provoked.add("MethodNotAllowed")


def key_of(daemon):
    daemon.submit(SMALL, "", Idempotency_Key="the-key")
    return "the-key"


def test_problem_codes_of_a_busy_service_are_returned(daemon):
    limits = ("--jobs.queue_limit", "1", "--http.watcher_limit", "1")
    with harness.Daemon(*limits, *harness.LASTING) as busy:
        big = harness.slow_graph(harness.LASTING_SIZE)
        job = busy.submit(big, "?name=big").expect(202).json["id"]
        until_running(busy, job)
        refuse(busy, "NotSolved", "GET", "/v1/graphs/{g}/stats", g="big")
        watcher = busy.connect()
        watcher.request("GET", f"/v1/jobs/{job}/events")
        watcher.getresponse().readline()
        refuse(busy, "TooManyWatchers", "GET", "/v1/jobs/{id}/events", id=job)
        watcher.close()
        refuse(busy, "GraphInUse", "DELETE", "/v1/graphs/{g}", g="big")
        queued = busy.submit(SMALL).expect(202).json["id"]
        refuse(busy, "QueueFull", "POST", "/v1/jobs", b"p sp 2 1\na 1 2 3\n")
        cancel(busy, queued)
        late = busy.submit(SMALL, "?deadline_s=0.1").expect(202).json["id"]
        provoked.add(busy.finish(late)["problem"]["code"])
        cancel(busy, job)
    tiles = ("--http.tiles", "https://tile.example/{z}/{x}/{y}.png", "--http.tiles_credit", "somebody")
    with harness.Daemon("--http.upload_memory", "2MiB", *harness.NO_DEADLINES, *tiles) as busy:
        ask(busy, "GET", "/v1/limits")
        first = harness.drip_all(busy)
        refuse(busy, "TooManyUploads", "POST", "/v1/graphs", harness.long_edges(240_000))
        first.close()
    negative = daemon.solve(NEGATIVE)
    provoked.add(negative["problem"]["code"])
    provoked.update(("LengthRequired",) if without_length(daemon) == 411 else ())


def without_length(daemon):
    connection = daemon.connect()
    connection.putrequest("POST", "/v1/jobs")
    connection.endheaders()
    status = connection.getresponse().status
    connection.close()
    return status


def test_every_schema_member_occurs_in_a_response(daemon):
    if "APSPD_TEST_ONLY" in os.environ:
        return
    unseen = {one for one in spec.answered_members() if one not in spec.seen}
    # Needs several GPUs: tests/fault/test_group.py.
    assert unseen == {"#/components/schemas/Job/properties/devices"}, sorted(unseen)
    successes = {
        (method, path, status)
        for method, path, status, _ in spec.responses()
        if status < 400 and (method, path, status) not in spec.seen
    }
    assert not successes, sorted(successes)
    headers = set(spec.at("#/components/headers"))
    assert headers <= spec.seen, headers - spec.seen
    codes = set(spec.at("#/components/schemas/Problem/properties/code/enum"))
    assert provoked == codes - NOT_PROVOKED, (provoked ^ (codes - NOT_PROVOKED))


if __name__ == "__main__":
    harness.run(globals(), ("--graph.vertex_limit", "20000", *harness.LASTING))
