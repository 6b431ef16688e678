"""Words that do not belong in the tree: unfinished work, issue trackers, paths of one machine."""

import re

import house

# This file contains the words themselves.
EXEMPT = ("tests/tidy/check_words.py",)

WORDS = (
    (r"\b(?:TODO|FIXME|XXX|HACK)\b", "unfinished work"),
    (r"(?i)\b(?:issue|ticket|pull request)s? \d+", "a tracker's number"),
    (r"(?<![\w&/#])#\d+\b(?!\s*[{;])", "a tracker's number"),
    (r"(?<![\w.])/(?:work|home/\w|root|Users)/", "a path of one machine"),
    (
        r"(?i)\b(?:[\w-]+\.)*(?:docker\.io|ghcr\.io|gcr\.io|nvcr\.io|quay\.io|pypi\.org"
        r"|pythonhosted\.org|npmjs\.\w+|deb\.debian\.org|archive\.ubuntu\.com|crates\.io)\b",
        "a package registry's host",
    ),
)


def check(tree):
    findings = []
    for path, text in tree.items():
        if path in EXEMPT:
            continue
        for number, line in enumerate(text.split("\n"), start=1):
            for pattern, what in WORDS:
                match = re.search(pattern, line)
                if match:
                    findings.append(f"{path}:{number}: {match.group()!r} is {what}")
    return findings


CASES = (
    ("clean", {"a.md": "# 1. Heading\nA todo list; a network path; apt-get. color: #ffffff\n"}, []),
    ("unfinished", {"a.c": "\n/* TODO: more */\n"}, ["a.c:2: 'TODO'"]),
    ("tracker", {"a.md": "see issue #12\n", "b.md": "fixes #7\n", "c.md": "see issue 3\n"}, ["#12", "#7", "issue 3"]),
    ("machine", {"a.sh": "cd /work/main\n"}, ["/work/"]),
    ("inside a path", {"a.sh": "cd a/work/b\n"}, []),
    ("registry", {"a": "FROM docker.io/library/debian\n"}, ["registry"]),
)

if __name__ == "__main__":
    house.main(check, CASES)
