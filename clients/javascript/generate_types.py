"""Writes openapi.d.ts, the types of the service's documents, from the sources of its /openapi.json.

    generate_types.py [--check]

With --check, writes nothing; the exit status is 1 if openapi.d.ts is out of date."""

import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TARGET = os.path.join(HERE, "openapi.d.ts")
TYPES = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}

sys.path.insert(0, os.path.join(ROOT, "server", "http", "web"))
sys.dont_write_bytecode = True
import embed  # noqa: E402


def comment_of(schema, indent):
    text = schema.get("description")
    return f"{indent}/** {text.replace('*/', '* /')} */\n" if text else ""


def object_of(schema, indent):
    if "properties" not in schema:
        inner = schema.get("additionalProperties")
        return f"Record<string, {type_of(inner, indent) if isinstance(inner, dict) else 'unknown'}>"
    inside = indent + "  "
    required = schema.get("required", ())
    members = "".join(
        f"{comment_of(member, inside)}{inside}{name if re.fullmatch('[A-Za-z_]+[0-9A-Za-z_]*', name) else json.dumps(name)}"
        f"{'' if name in required else '?'}: {type_of(member, inside)};\n"
        for name, member in schema["properties"].items()
    )
    return f"{{\n{members}{indent}}}"


def array_of(schema, indent):
    if "prefixItems" in schema:
        least = schema.get("minItems", len(schema["prefixItems"]))
        members = [type_of(item, indent) for item in schema["prefixItems"]]
        return f"[{', '.join(m if at < least else f'({m})?' for at, m in enumerate(members))}]"
    item = type_of(schema.get("items", {}), indent)
    return f"({item})[]" if "|" in item and not item.startswith("{") else f"{item}[]"


def type_of(schema, indent=""):
    """Returns the TypeScript type of a JSON Schema; handles the keywords that the service uses."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    if "enum" in schema or "const" in schema:
        return " | ".join(map(json.dumps, schema.get("enum", [schema.get("const")])))
    for choice in ("oneOf", "anyOf"):
        if choice in schema:
            return " | ".join(type_of(one, indent) for one in schema[choice])
    kinds = schema.get("type", ())
    made = []
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        if kind == "object":
            made.append(object_of(schema, indent))
        elif kind == "array":
            made.append(array_of(schema, indent))
        else:
            made.append(TYPES[kind])
    return " | ".join(made) or "unknown"


def types():
    folder = os.path.join(ROOT, "server", "http", "web", "openapi")
    parts = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".json")]
    # service.json comes first, because it has the version of OpenAPI.
    parts.sort(key=lambda path: not path.endswith("service.json"))
    document = json.loads(embed.description("", parts))
    text = "// Made by generate_types.py from the service's /openapi.json.\n"
    for name, schema in sorted(document["components"]["schemas"].items()):
        text += f"\n{comment_of(schema, '')}export type {name} = {type_of(schema)};\n"
    return text


def main():
    made = types()
    if "--check" not in sys.argv[1:]:
        with open(TARGET, "w", encoding="utf-8") as file:
            file.write(made)
        return
    with open(TARGET, encoding="utf-8") as file:
        if file.read() != made:
            sys.exit("openapi.d.ts is not of this /openapi.json: run clients/javascript/generate_types.py")


if __name__ == "__main__":
    main()
