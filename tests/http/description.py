"""Checks answers against /openapi.json, and records which parts of it occurred."""

import json
import zlib

import jsonschema

METHODS = ("get", "post", "put", "delete", "patch")


def unescape(word):
    return word.replace("~1", "/").replace("~0", "~")


def escape(word):
    return str(word).replace("~", "~0").replace("/", "~1")


class Description:
    def __init__(self, document):
        self.document = document
        self.seen = set()  # pointers of schema members, and (method, path, status)
        self.validators = {}

    def at(self, pointer):
        found = self.document
        for word in pointer.split("/")[1:]:
            found = found[int(word) if isinstance(found, list) else unescape(word)]
        return found

    def follow(self, pointer):
        """Follows references and returns the final pointer."""
        while "$ref" in self.at(pointer):
            pointer = self.at(pointer)["$ref"]
        return pointer

    def operations(self):
        """Yields (method, path, pointer)."""
        for path, item in self.document["paths"].items():
            for method in METHODS:
                if method in item:
                    yield method.upper(), path, f"#/paths/{escape(path)}/{method}"

    def operation(self, method, path):
        return self.at(f"#/paths/{escape(path)}/{method.lower()}")

    def parameters(self, method, path):
        pointer = f"#/paths/{escape(path)}"
        item = self.at(pointer)
        shared = [f"{pointer}/parameters/{i}" for i in range(len(item.get("parameters", ())))]
        own = f"{pointer}/{method.lower()}"
        count = len(self.operation(method, path).get("parameters", ()))
        shared += [f"{own}/parameters/{i}" for i in range(count)]
        return [self.at(self.follow(one)) for one in shared]

    def body(self, method, path):
        if "requestBody" not in self.operation(method, path):
            return None
        return self.at(self.follow(f"#/paths/{escape(path)}/{method.lower()}/requestBody"))

    # ---- Schemas ----

    def validator(self, pointer):
        if pointer not in self.validators:
            schema = {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$ref": pointer,
                "components": self.document["components"],
                "paths": self.document["paths"],
            }
            self.validators[pointer] = jsonschema.Draft202012Validator(schema)
        return self.validators[pointer]

    def check_instance(self, pointer, instance):
        error = jsonschema.exceptions.best_match(self.validator(pointer).iter_errors(instance))
        assert error is None, (pointer, list(error.absolute_path), error.message[:600])
        self.note(pointer, instance)

    def note(self, pointer, instance):
        """Records which members of which schemas an instance has."""
        pointer = self.follow(pointer)
        schema = self.at(pointer)
        for keyword in ("oneOf", "anyOf", "allOf"):
            for i in range(len(schema.get(keyword, ()))):
                branch = f"{pointer}/{keyword}/{i}"
                if self.validator(branch).is_valid(instance):
                    self.note(branch, instance)
        if isinstance(instance, dict):
            for name in set(instance) & set(schema.get("properties", ())):
                member = f"{pointer}/properties/{escape(name)}"
                self.seen.add(member)
                self.note(member, instance[name])
        if isinstance(instance, list) and isinstance(schema.get("items"), dict):
            for value in instance[:50]:
                self.note(f"{pointer}/items", value)

    def members(self, pointer, found):
        """Collects every member that answers may have by the schema at this pointer."""
        pointer = self.follow(pointer)
        if pointer in found:
            return
        found[pointer] = None
        schema = self.at(pointer)
        for keyword in ("oneOf", "anyOf", "allOf"):
            for i in range(len(schema.get(keyword, ()))):
                self.members(f"{pointer}/{keyword}/{i}", found)
        for name in schema.get("properties", ()):
            found[f"{pointer}/properties/{escape(name)}"] = None
            self.members(f"{pointer}/properties/{escape(name)}", found)
        if isinstance(schema.get("items"), dict):
            self.members(f"{pointer}/items", found)

    # ---- Answers ----

    def responses(self):
        """Yields (method, path, status, pointer)."""
        for method, path, pointer in self.operations():
            for status in self.at(pointer)["responses"]:
                yield method, path, int(status), self.follow(f"{pointer}/responses/{status}")

    def answered_members(self):
        found = {}
        for _, _, _, pointer in self.responses():
            for type in self.at(pointer).get("content", {}):
                self.members(f"{pointer}/content/{escape(type)}/schema", found)
        # An answer may restrict members of the problem schema; it adds none.
        return {
            one for one in found
            if one.rsplit("/", 2)[-2] == "properties" and "/allOf/1/" not in one
        }

    def check(self, method, path, answer):
        """Checks that the description allows an answer."""
        known = self.operation("GET" if method == "HEAD" else method, path)["responses"]
        assert str(answer.status) in known, (answer.status, answer.body[:400])
        verb = "get" if method == "HEAD" else method.lower()
        pointer = self.follow(f"#/paths/{escape(path)}/{verb}/responses/{answer.status}")
        self.seen.add((method, path, answer.status))
        response = self.at(pointer)
        for name in answer.headers:
            self.check_header(name, answer, response)
        if method == "HEAD" or "content" not in response:
            assert answer.body == b"", answer.body[:200]
            return
        type = answer.headers["Content-Type"].split(";")[0]
        assert type in response["content"], (answer.status, type)
        if type == "application/json" or type.endswith("+json"):
            encoding = answer.headers["Content-Encoding"]
            if encoding == "zstd":
                return  # Python in Debian cannot decode this coding
            body = zlib.decompress(answer.body, 31) if encoding == "gzip" else answer.body
            self.check_instance(f"{pointer}/content/{escape(type)}/schema", json.loads(body))

    # Headers of HTTP itself, which any answer may have.
    GENERAL = {
        "Date", "Connection", "Content-Length", "Content-Type", "Content-Encoding", "Content-Range",
        "Transfer-Encoding", "Vary", "Cache-Control", "Accept-Encoding", "Content-Security-Policy",
        "X-Content-Type-Options", "Referrer-Policy", "Preference-Applied",
        "X-Accel-Buffering",
    }

    def check_header(self, name, answer, response):
        assert name in self.GENERAL or name in response.get("headers", {}), (answer.status, name)
        if name in response.get("headers", {}):
            self.seen.add(name)
