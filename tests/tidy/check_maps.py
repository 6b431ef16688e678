"""Each folder of the product has a README.md with one line for each of its files: - `name.c`: its subject.
A header is on the line of its source."""

import os
import re

import house


def stems_of(tree, folder):
    names = (os.path.basename(path) for path in tree if os.path.dirname(path) == folder)
    return {os.path.splitext(name)[0] for name in names if name.endswith(house.C_ENDINGS)}


def check(tree):
    findings = []
    for folder in sorted({os.path.dirname(path) for path in tree if path.startswith(house.PRODUCT)}):
        path = f"{folder}/README.md"
        if path not in tree:
            findings += [f"{path} is missing"] if stems_of(tree, folder) else []
            continue
        text = tree[path]
        listed = re.findall(r"^- `(\w+)\.\w+`: \S", text, re.M)
        present = stems_of(tree, folder)
        findings += [f"{path}: {name} is not listed" for name in sorted(present - set(listed))]
        findings += [f"{path}: {name} is listed and not there" for name in sorted(set(listed) - present)]
        findings += [f"{path}: {name} is listed twice" for name in sorted(set(listed)) if listed.count(name) > 1]
    return findings


MAP = "# proto\n\n- `a.c`: the graph.\n- `b.h`: a macro.\n"
FILES = {"proto/a.c": "", "proto/a.h": "", "proto/b.h": "", "proto/read/page.html": "", "proto/meson.build": ""}
CASES = (
    ("in order", {**FILES, "proto/README.md": MAP}, []),
    ("a file more", {**FILES, "proto/c.c": "", "proto/README.md": MAP}, ["c is not listed"]),
    ("a file less", {"proto/a.c": "", "proto/README.md": MAP}, ["b is listed and not there"]),
    ("twice", {**FILES, "proto/README.md": MAP + "- `a.h`: again.\n"}, ["a is listed twice"]),
    ("no subject", {**FILES, "proto/README.md": MAP.replace(": a macro.", ":")}, ["b is not listed"]),
    ("a folder below", {**FILES, "proto/README.md": MAP, "proto/read/c.c": ""}, ["proto/read/README.md is missing"]),
    ("elsewhere", {"docs/README.md": "", "docs/a.c": ""}, []),
)

if __name__ == "__main__":
    house.main(check, CASES)
