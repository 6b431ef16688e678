"""Makes C of the pages that the daemon carries: the description of its interface, put together from
its parts; the viewer of it; and the page at /. Script and style of a page are inside it. Called by
Meson:

    embed.py PAGES.c VERSION --openapi PART.json... --docs HTML CSS SCRIPT.js
        --vendor CSS SCRIPT.js --icon SVG --home HTML CSS MODULE.js... (each module after those that it
        imports)

The style and the script of --vendor stand unchanged in front of those of --home."""

import argparse
import base64
import gzip
import hashlib
import json
import os
import re
import sys
import urllib.parse


def merge(into, part, path):
    """Members of objects join; a value that is defined twice is an error."""
    for key, value in part.items():
        if key not in into:
            into[key] = value
        elif isinstance(into[key], dict) and isinstance(value, dict):
            merge(into[key], value, f"{path}/{key}")
        else:
            sys.exit(f"{path}/{key} is defined twice")


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


def bundle(paths):
    """One script of modules: each becomes a function that returns what the module exports."""
    exports = {}
    made = []
    for path in paths:
        name = os.path.splitext(os.path.basename(path))[0]

        def take(match):
            wanted, source = match[1].split(","), match[2]
            missing = {one.strip() for one in wanted if one.strip()} - exports.get(source, set())
            if missing:
                sys.exit(f"{path}: {source}.js, which must come earlier, does not export {missing}")
            return f"const {{{match[1]}}} = module_{source};"

        text = re.sub(r'^import \{([^}]*)\} from "\./(\w+)\.js";', take, read(path), flags=re.M)
        exported = r"^export ((?:async )?(?:function|class|const|let) (\w+))"
        exports[name] = {match[2] for match in re.finditer(exported, text, re.M)}
        text = re.sub(exported, r"\1", text, flags=re.M)
        if re.search(r"^(?:import|export)\b", text, re.M):
            sys.exit(f"{path}: embed.py does not support this form of import or export")
        names = ", ".join(sorted(exports[name]))
        made.append(f"const module_{name} = (() => {{\n{text}return {{ {names} }};\n}})();\n")
    return "".join(made)


def vendored(path):
    """Without the address of its source map, which the program does not serve."""
    return re.sub(r"^//# sourceMappingURL=.*$", "", read(path), flags=re.M)


def inline(html, css, script, icon):
    """The page and the policy that lets it run its own script, and nothing else."""
    page = html.replace("@STYLE@", css).replace("@SCRIPT@", script)
    page = page.replace("@ICON@", "data:image/svg+xml," + urllib.parse.quote(icon.strip(), safe=" /=:;.,"))
    policy = "; ".join(
        (
            "default-src 'none'",
            "connect-src 'self'",
            f"script-src {hash_of(script)}",
            f"style-src {hash_of(css)}",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "img-src data:",
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
    .plain = {{{name}_plain, sizeof({name}_plain)}},
    .gzip = {{{name}_gzip, sizeof({name}_gzip)}},
}};
"""
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output")
    parser.add_argument("version")
    for name in ("openapi", "docs", "vendor", "icon", "home"):
        parser.add_argument(f"--{name}", nargs="+", required=True)
    asked = parser.parse_args()
    html = "text/html; charset=utf-8"
    icon = read(asked.icon[0])
    docs, docs_policy = inline(*map(read, asked.docs), icon)
    style, script = map(vendored, asked.vendor)
    html_file, css_file, *modules = asked.home
    home, home_policy = inline(read(html_file), style + read(css_file), script + bundle(modules), icon)
    with open(asked.output, "w", encoding="utf-8") as file:
        file.write('#include "server/http/web/page.h"\n\n')
        document = description(asked.version, asked.openapi)
        file.write(page("openapi", "application/json", document))
        file.write(page("docs", html, docs, docs_policy))
        file.write(page("home", html, home, home_policy))
        file.write(page("icon", "image/svg+xml", icon.encode()))


if __name__ == "__main__":
    main()
