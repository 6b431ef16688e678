"""Random requests generated from /openapi.json: every answer is documented, and none is a 5xx.
The ordinary run has a fixed seed; with `--examples N`, Hypothesis searches for failures and
shrinks them."""

import json
import random
import struct
import sys
import time
import urllib.parse

import harness
from harness import SMALL

try:
    from description import Description
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(harness.SKIPPED)

EXAMPLES = int(sys.argv[sys.argv.index("--examples") + 1]) if "--examples" in sys.argv else 0
ORDINARY = 300 if harness.QUICK else 1500
# The state directory is recreated from time to time, because requests delete the objects that later
# ones query.
PER_STORE = 500
LIMITS = (
    "--graph.vertex_limit", "300", "--jobs.queue_limit", "8",
    "--http.decoded_limit", "1MiB", "--http.json_cell_limit", "20000", "--jobs.history_limit", "500",
)
WORDS = b"x,y,3\ny,z,4\nz,x,-1\n"
TEXTS = (
    "", "0", "1", "2", "3", "4", "9", "-1", "1.5", "1e400", "nan", "inf", "true", "false", "auto", "npy",
    "0:2", "2:0", "1:", ":", "1,2", "1,,2", '"1"', '"', "x", "y,z", "\u00e9\u4e2d", "%", "a b", "wait=0.05",
    "wait=", "respond-async", "*", '"tag"', "bytes=0-9", "bytes=-5", "bytes=9-1", "bytes=5000-", "lines=1-2",
    "j_", "g_", "town", "words", "18446744073709551616", "x" * 130, "a/b", "..", "gzip", "application/json",
)
BODIES = (
    SMALL, WORDS, b"", b"\0\1\2\3", b"{}", b"[]", b"null", b"p sp 2 9\n", b"%%MatrixMarket matrix\n",
    b"<graphml/>", b"\x93NUMPY\1\0", b"3 2 001\n2 5\n1 5 3 7\n2 7\n", struct.pack("<iiiii", 2, 1, 0, 1, 5),
    b"p sp 90000 1\na 1 2 3\n", b"1 2 -3\n2 1 1\n", b'{"pairs":[[1,2],[1,9]]}', b"q 1 2\n", b"\xff\xfe" * 40,
)


class Maker:
    """Generates requests for the described operations, using a random source."""

    def __init__(self, spec, source):
        self.spec = spec
        self.source = source

    def chance(self, part):
        return self.source.randrange(1000) < part * 1000

    def pick(self, values):
        return values[self.source.randrange(len(values))]

    def text(self):
        return self.pick(TEXTS)

    # ---- Values by schema ----

    def number(self, schema, whole):
        least = schema.get("minimum", -3)
        most = min(schema.get("maximum", 1000), 1000)
        anything = self.source.randrange(int(least), int(most) + 1)
        value = self.pick((least, most, anything, 0, 1, 2, 3, 4))  # prefer small vertex numbers
        return value if whole or self.chance(0.5) else value + 0.25

    def object(self, schema):
        required = schema.get("required", ())
        made = {}
        for name, member in schema.get("properties", {}).items():
            if self.chance(0.97 if name in required else 0.4):
                made[name] = self.value(member)
        if isinstance(schema.get("additionalProperties"), dict):
            for _ in range(self.source.randrange(4)):
                made[self.pick(("x", "y", "1", "2"))] = self.value(schema["additionalProperties"])
        if self.chance(0.05):
            made[self.text()] = self.text()
        return made

    def array(self, schema):
        if "prefixItems" in schema:
            items = schema["prefixItems"]
            return [self.value(one) for one in items[: len(items) - self.chance(0.1)]]
        return [self.value(schema["items"]) for _ in range(self.source.randrange(5))]

    def value(self, schema):
        if "$ref" in schema:
            if schema["$ref"].endswith("/Vertex"):
                return self.pick((1, 2, 3, 4, 1, 2, "x", "y", 0, 9, "nobody"))
            return self.value(self.spec.at(schema["$ref"]))
        if self.chance(0.04):
            return self.pick((None, "", 0, -1, 1.5, [], {}, True, "town", 10**12, [[1]], self.text()))
        if "enum" in schema:
            return self.pick(schema["enum"])
        choices = schema.get("oneOf") or schema.get("anyOf")
        if choices:
            return self.value(self.pick(choices))
        type = schema.get("type", "string")
        type = self.pick(type) if isinstance(type, list) else type
        if type == "object":
            return self.object(schema)
        if type == "array":
            return self.array(schema)
        if type == "boolean":
            return self.chance(0.5)
        if type in ("integer", "number"):
            return self.number(schema, type == "integer")
        return self.pick(("town", "words", "stored", self.text()))

    # ---- Parts of a request ----

    def hole(self, parameter):
        if parameter["name"] == "v":
            return self.pick(("1", "2", "3", "4", "x", "z", self.text() or "1"))
        if parameter["name"] == "id":
            return self.pick((*self.jobs, *self.jobs, "town", self.text() or "j_"))
        return self.pick(("town", "town", "town", "words", "words", "stored", *self.jobs, self.text() or "g_"))

    def query_value(self, parameter):
        if parameter["name"] in ("source", "target"):
            return self.pick(("1", "2", "3", "4", "1", "2", "x", "y", self.text()))
        if self.chance(0.12):
            return self.text()
        if self.chance(0.3) and "example" in parameter:
            return str(parameter["example"])
        value = self.value(parameter["schema"])
        return json.dumps(value) if isinstance(value, (bool, list, dict)) else str(value)

    def query(self, parameters):
        pairs = []
        for parameter in parameters:
            if self.chance(0.95 if parameter.get("required") else 0.12):
                pairs.append((parameter["name"], self.query_value(parameter)))
        if self.chance(0.03):
            pairs.append((self.pick(("no", "Source", "", "format ")), self.text()))
        if pairs and self.chance(0.02):
            pairs.append(self.pick(pairs))
        text = urllib.parse.urlencode(pairs)
        return text + "%" if self.chance(0.01) else text

    def headers(self, parameters, responses):
        made = {}
        for parameter in parameters:
            if not self.chance(0.15):
                continue
            value = parameter["schema"].get("enum") or (
                "wait=0.05", "*", "bytes=0-9", "key", parameter.get("example", ""))
            made[parameter["name"]] = self.header_text(self.pick(value) if self.chance(0.7) else self.text())
        types = [type for one in responses for type in one.get("content", {})]
        if types and self.chance(0.3):
            made["Accept"] = self.header_text(self.pick((*types, "*/*", "text/*", "image/png", self.text())))
        if self.chance(0.2):
            made["Accept-Encoding"] = self.pick(("gzip", "zstd", "identity", "br", "*", "gzip;q=0"))
        if self.chance(0.05):
            made["X-Request-Id"] = self.header_text(self.text())
        return made

    def header_text(self, text):
        return text.encode("ascii", "ignore").decode()

    def body(self, request_body):
        content = request_body["content"]
        type = self.pick(sorted(content))
        if self.chance(0.4) and "application/json" in content:
            type = "application/json"
        data = self.pick(BODIES)
        if type == "application/json" and self.chance(0.85):
            data = json.dumps(self.value(content[type]["schema"])).encode()
        elif "example" in content[type] and self.chance(0.7):
            example = content[type]["example"]
            data = (example if isinstance(example, str) else json.dumps(example)).encode()
        elif type == "application/octet-stream" and self.chance(0.3):
            data = struct.pack("<4I", *(self.source.randrange(5) for _ in range(4)))
        if data and self.chance(0.15):
            at = self.source.randrange(len(data))
            data = data[:at] + bytes((self.source.randrange(256),)) + data[at + self.source.randrange(3) :]
        return data, type if self.chance(0.9) else self.pick(("image/png", "text/plain", ""))

    def request(self):
        """Returns (method, path as described, address, headers, body)."""
        # Requests with bodies have the most possible errors, so they are more frequent.
        operations = list(self.spec.operations())
        operations += 2 * [one for one in operations if one[0] in ("POST", "PUT", "PATCH")]
        method, path, _ = self.pick(operations)
        parameters = self.spec.parameters(method, path)
        operation = self.spec.operation(method, path)
        responses = [self.spec.at(one["$ref"]) if "$ref" in one else one for one in operation["responses"].values()]
        address = path
        for parameter in parameters:
            if parameter["in"] == "path":
                hole = urllib.parse.quote(self.hole(parameter), safe="")
                address = address.replace(f"{{{parameter['name']}}}", hole)
        query = self.query([one for one in parameters if one["in"] == "query"])
        address += f"?{query}" if query else ""
        headers = self.headers([one for one in parameters if one["in"] == "header"], responses)
        data = None
        if "requestBody" in operation:
            data, headers["Content-Type"] = self.body(self.spec.body(method, path))
        if method == "GET" and self.chance(0.15):
            method = "HEAD"
        return method, path, address, headers, data


class Service:
    """A daemon with some graphs and jobs, recreated from time to time."""

    def __init__(self):
        self.daemon = None
        self.asked = 0
        self.connection = None
        self.counts = {}

    def fill(self):
        daemon = self.daemon
        self.jobs = [daemon.solve(SMALL, "?name=town")["id"], daemon.solve(WORDS, "?name=words")["id"]]
        daemon.ask("POST", "/v1/graphs?name=stored", body=b"p sp 3 1\na 1 2 3\n")

    def ready(self):
        if self.daemon is None or self.asked % PER_STORE == 0:
            self.close()
            self.daemon = harness.Daemon(*LIMITS)
            self.fill()
            self.spec = Description(self.daemon.get("/openapi.json").json)
            self.connection = self.daemon.connect()
        elif self.asked % 20 == 0 and self.daemon.get("/v1/graphs/town/stats").status != 200:
            self.fill()
        self.asked += 1
        return self.daemon

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None
        if self.daemon is not None:
            self.daemon.close()
            self.daemon = None

    def try_one(self, source):
        daemon = self.ready()
        maker = Maker(self.spec, source)
        maker.jobs = self.jobs
        method, path, address, headers, data = maker.request()
        request = (method, address, headers, data)
        try:
            answer = daemon.ask(method, address, data, headers, self.connection)
            assert answer.status < 500, (answer.status, answer.body[:400])
            self.spec.check(method, path, answer)
            if "X-Request-Id" in headers and is_request_id(headers["X-Request-Id"]):
                assert answer.headers["X-Request-Id"] == headers["X-Request-Id"]
        except Exception as error:
            self.connection.close()
            raise AssertionError(f"{request}: {type(error).__name__}: {error}") from error
        self.counts[answer.status] = self.counts.get(answer.status, 0) + 1


def is_request_id(text):
    return 0 < len(text) <= 64 and all(c.isalnum() or c in "._-" for c in text)


def run_fixed(service):
    source = random.Random(20)
    for _ in range(ORDINARY):
        service.try_one(source)


def run_search(service):
    from hypothesis import HealthCheck, given, settings, strategies

    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(strategies.randoms(use_true_random=False))
    def search(source):
        service.try_one(source)

    search()


def test_random_requests_are_answered_as_documented():
    service = Service()
    start = time.monotonic()
    try:
        run_search(service) if EXAMPLES else run_fixed(service)
        print(f"{service.asked} requests in {time.monotonic() - start:.1f} s:", dict(sorted(service.counts.items())))
        assert {200, 400, 404, 422} <= set(service.counts), service.counts
    finally:
        service.close()


if __name__ == "__main__":
    harness.run(globals())
