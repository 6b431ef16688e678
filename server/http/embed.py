"""Makes C of the pages that the daemon carries: the description of its interface, put together from
its parts, and the viewer of it with script and style inside. Called by Meson:

    embed.py PAGES.c VERSION PART.json... VIEWER.html VIEWER.css VIEWER.js"""

import base64
import gzip
import hashlib
import json
import sys


def merge(into, part, path):
    """Members of objects join; nothing is said twice."""
    for key, value in part.items():
        if key not in into:
            into[key] = value
        elif isinstance(into[key], dict) and isinstance(value, dict):
            merge(into[key], value, f"{path}/{key}")
        else:
            sys.exit(f"{path}/{key} is said twice")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def description(version, paths):
    document = {}
    for path in paths:
        merge(document, json.loads(read(path)), "#")
    document["info"]["version"] = version
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def viewer(html, css, script):
    """The page and the policy that lets it run its own script, and nothing else."""
    page = html.replace("@STYLE@", css).replace("@SCRIPT@", script)
    policy = "; ".join(
        (
            "default-src 'none'",
            "connect-src 'self'",
            "img-src data:",
            f"script-src {hash_of(script)}",
            f"style-src {hash_of(css)}",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )
    return page.encode(), policy


def array(name, data):
    lines = [
        ", ".join(f"0x{byte:02x}" for byte in data[at : at + 16])
        for at in range(0, len(data), 16)
    ]
    body = ",\n    ".join(lines)
    return f"static const unsigned char {name}[] = {{\n    {body},\n}};\n"


def page(name, media_type, data, policy=None):
    packed = gzip.compress(data, 9, mtime=0)
    tag = hashlib.sha256(data).hexdigest()[:16]
    quoted = f'"{policy}"' if policy else "NULL"
    return (
        array(f"{name}_plain", data)
        + array(f"{name}_gzip", packed)
        + f"""const struct page page_{name} = {{
    .media_type = "{media_type}",
    .policy = {quoted},
    .tag = "{tag}",
    .plain = {{{name}_plain, sizeof {name}_plain}},
    .gzip = {{{name}_gzip, sizeof {name}_gzip}},
}};
"""
    )


def main():
    output, version, *paths = sys.argv[1:]
    html, css, script = (read(path) for path in paths[-3:])
    docs, policy = viewer(html, css, script)
    with open(output, "w", encoding="utf-8") as file:
        file.write('#include "server/http/page.h"\n\n')
        file.write(page("openapi", "application/json", description(version, paths[:-3])))
        file.write(page("docs", "text/html; charset=utf-8", docs, policy))


main()
