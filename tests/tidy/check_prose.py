"""ARCHITECTURE.md, README.md and CHANGELOG.md stay short, and docs/design.md lists files that are there."""

import posixpath
import re

import house

ARCHITECTURE_WORDS = 2300
SENTENCE_WORDS = 30
GLOSSARY_LINES = 10
README_LINES = 220
# The flows that docs/design.md lists, file by file.
FLOWS = ("POST upload to 202", "GET distance", "job to published result")
# The lists of files in ARCHITECTURE.md: title, beginning of a line, and a pattern of the code of
# these files.
LISTS = (
    ("Threads", "|", "creates", r"\b(?:pthread_create|uv_thread_create\w*|thrd_create)\b"),
    ("Locks", "- ", "holds", r"\b(?:pthread_(?:mutex|rwlock|cond|spin)|uv_(?:mutex|rwlock|cond|sem)|mtx|cnd)_\w+"),
)
CHANGES = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def blocks_of(text):
    """Yields (line number, text) of each paragraph, list item and table cell; code blocks are
    skipped."""
    block, start, is_code = [], 0, False
    for number, line in enumerate(text.split("\n") + [""], start=1):
        bare = line.strip()
        if bare.startswith("```"):
            is_code = not is_code
            bare = ""
        ends = is_code or not bare or bare.startswith(("#", "|")) or re.match(r"(?:[-*]|\d+\.) ", bare)
        if ends and block:
            yield start, " ".join(block)
            block = []
        if is_code or not bare or bare.startswith("#") or re.fullmatch(r"[|:\- ]+", bare):
            continue
        if bare.startswith("|"):
            for cell in bare.strip("|").split(" | "):
                yield number, cell
            continue
        start = start if block else number
        block.append(re.sub(r"^(?:[-*]|\d+\.) ", "", bare))


def sentences_of(text):
    """Yields (line number of its block, sentence). Text in backquotes counts as one word."""
    for number, block in blocks_of(text):
        for sentence in re.split(r"(?<=[.!?])\s+", re.sub(r"`[^`]*`", "code", block)):
            yield number, sentence


def section(text, title):
    """Returns the text under this heading, up to the next heading of the same or a higher level."""
    match = re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^#{{1,2}} |\Z)", text, re.M | re.S)
    return match[2] if match else None


def architecture_findings(path, text):
    words = len(text.split())
    if words > ARCHITECTURE_WORDS:
        yield f"{path}: {words} words, the ceiling is {ARCHITECTURE_WORDS}"
    for number, sentence in sentences_of(text):
        count = len(sentence.split())
        if count > SENTENCE_WORDS:
            yield f"{path}:{number}: a sentence of {count} words, the ceiling is {SENTENCE_WORDS}"
    glossary = section(text, "Glossary")
    if glossary is None or not text.endswith(glossary):
        yield f"{path}: a glossary ends it"
    else:
        terms = [line for line in glossary.split("\n") if line.strip()]
        if len(terms) > GLOSSARY_LINES:
            yield f"{path}: a glossary of {len(terms)} lines, the ceiling is {GLOSSARY_LINES}"


def list_findings(tree):
    """Reports differences between the files that ARCHITECTURE.md lists with a thread or a lock and
    the files whose code has one."""
    text = tree.get("ARCHITECTURE.md", "")
    for title, bullet, what, pattern in LISTS:
        lines = (line for line in (section(text, title) or "").split("\n") if line.startswith(bullet))
        listed = set(re.findall(r"`([\w/]+\.(?:c|cu|cuh))`", "\n".join(lines)))
        found = {path for path, source in house.product_files(tree).items()
                 if re.search(pattern, house.code_of(source))}
        for name in sorted(found - listed):
            yield f"ARCHITECTURE.md: {title} leaves out {name}"
        for name in sorted(listed - found):
            yield f"ARCHITECTURE.md: {title} has {name}, which {what} none"


def readme_findings(path, text):
    lines = text.count("\n")
    if lines > README_LINES:
        yield f"{path}: {lines} lines, the ceiling is {README_LINES}"


def changelog_findings(path, text):
    """Keep a Changelog: the newest version first, "Unreleased" or with its date, changes by
    category."""
    rank, seen = "", set()
    if not re.match(r"# Changelog\n", text) or "\n## [Unreleased]\n" not in text:
        yield f"{path}: begins with '# Changelog' and a version '## [Unreleased]'"
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("## "):
            rank, seen = "", set()
            if not re.fullmatch(r"## \[(?:Unreleased|\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d)\]?", line):
                yield f"{path}:{number}: {line!r} is no heading of a version"
        elif line.startswith("### "):
            rank = line[4:]
            if rank not in CHANGES or rank in seen:
                yield f"{path}:{number}: {rank!r} is no sort of change, or is there twice"
            seen.add(rank)
        elif line.startswith("- ") and not rank:
            yield f"{path}:{number}: a change of no sort"


def flow_files(text, title):
    return re.findall(r"^\d+\. `?([\w/.]+\.\w+)`?:", section(text, title) or "", re.M)


def flow_findings(tree):
    """A flow names existing files."""
    text = tree.get("docs/design.md")
    for title in FLOWS if text is not None else ():
        files = flow_files(text, title)
        if not files:
            yield f"docs/design.md: the flow {title!r} is missing"
        for name in files:
            if name not in tree:
                yield f"docs/design.md: {name} of the flow {title!r} is not there"


def dead_links(tree):
    """Yields "path: target" of each relative link to a missing file in a document of the root or
    of docs/."""
    for path, text in tree.items():
        if re.fullmatch(r"(?:docs/)?[\w-]+\.md", path):
            # Badges have addresses of the code hosting site, relative to the page on which it shows
            # the file.
            for target in re.findall(r"\]\((?!\w+:|#|\.\./\.\./actions/)([^)#\s]+)", text):
                if posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) not in tree:
                    yield f"{path}: {target}"


DOCUMENTS = {
    "ARCHITECTURE.md": (architecture_findings,),
    "README.md": (readme_findings,),
    "CHANGELOG.md": (changelog_findings,),
}


def figures_of(tree):
    """Returns (name, value, ceiling)."""
    architecture = tree.get("ARCHITECTURE.md", "")
    longest = max((len(sentence.split()) for _, sentence in sentences_of(architecture)), default=0)
    return (
        ("words of ARCHITECTURE.md", len(architecture.split()), ARCHITECTURE_WORDS),
        ("words of its longest sentence", longest, SENTENCE_WORDS),
        ("lines of README.md", tree.get("README.md", "").count("\n"), README_LINES),
    )


def check(tree):
    findings = [
        found
        for path, parts in DOCUMENTS.items()
        for part in parts
        if path in tree
        for found in part(path, tree[path])
    ]
    findings += flow_findings(tree)
    findings += list_findings(tree)
    findings += [f"{found}: the link leads nowhere" for found in dead_links(tree)]
    return findings


GLOSSARY = "\n## Glossary\n\n- **plan**: an order.\n"
LOCKS = "## Locks\n\n- `gpu/a.c`: messages.\n"
SENTENCE = "word " * 29 + "end."


def architecture(text, glossary=GLOSSARY):
    return {"ARCHITECTURE.md": f"# Architecture\n\n{text}\n{glossary}"}


def changelog(text):
    return {"CHANGELOG.md": f"# Changelog\n\n## [Unreleased]\n{text}"}


def design(*titles):
    lists = (f"## {title}\n\n1. `a.c`: reads.\n\n" for title in titles)
    return {"docs/design.md": "# Design\n\n" + "".join(lists), "a.c": ""}


CASES = (
    ("in order", architecture(f"{SENTENCE} {SENTENCE}\n"), []),
    ("too many words", architecture("Word. " * 2300), ["words, the ceiling is 2300"]),
    ("a long sentence", architecture(f"Short.\n{SENTENCE[:-1]}\nmore. Short."), ["ARCHITECTURE.md:3: a sentence of 31"]),
    ("long in a table", architecture(f"| a | {SENTENCE[:-4]} no end |\n|---|---|\n"), ["ARCHITECTURE.md:3: a sentence"]),
    ("items of a list", architecture(f"- {SENTENCE[:-1]}\n- {SENTENCE[:-1]}\n"), []),
    ("names are one word", architecture("word " * 28 + "`a b c d`."), []),
    ("code", architecture("```\n" + "word " * 99 + "\n```\n"), []),
    ("no glossary", architecture("Text.", ""), ["a glossary ends it"]),
    ("text behind it", architecture(f"{GLOSSARY}\n## More\n", ""), ["a glossary ends it"]),
    ("a long glossary", architecture("", GLOSSARY + "- **b**: c.\n" * 10), ["a glossary of 11 lines"]),
    ("threads", {**architecture("## Threads\n\n| a | `gpu/a.c` |\n"), "gpu/a.c": "pthread_create();\n"}, []),
    ("a thread more", {"gpu/a.c": "uv_thread_create();\n", "README.md": ""}, ["Threads leaves out gpu/a.c"]),
    ("a thread less", architecture("## Threads\n\n| a | `gpu/a.c` |\n"), ["gpu/a.c, which creates none"]),
    ("locks", {**architecture(LOCKS), "gpu/a.c": "pthread_mutex_lock();\n"}, []),
    ("a lock more", {"gpu/a.c": "uv_mutex_init();\n"}, ["Locks leaves out gpu/a.c"]),
    ("a lock less", architecture(LOCKS), ["gpu/a.c, which holds none"]),
    ("a long README", {"README.md": "\n" * 221}, ["221 lines"]),
    ("a change", changelog("### Added\n- One.\n\n## [0.1.0] - 2026-01-31\n### Added\n- Two.\n"), []),
    ("of no sort", changelog("- One.\n"), ["CHANGELOG.md:4: a change"]),
    ("of another sort", changelog("### Improved\n- One.\n"), ["'Improved'"]),
    ("twice", changelog("### Fixed\n- One.\n### Fixed\n"), ["'Fixed'"]),
    ("without a day", changelog("\n## [0.1.0]\n"), ["no heading"]),
    ("without a version", {"CHANGELOG.md": "# Changelog\n"}, ["begins with"]),
    ("flows", design(*FLOWS), []),
    ("a flow less", design(*FLOWS[:2]), [f"{FLOWS[2]!r} is missing"]),
    ("a file that is gone", {"docs/design.md": design(*FLOWS)["docs/design.md"]}, ["a.c of the flow"] * 3),
    ("links", {"README.md": "[a](docs/a.md#b) [b](http://b) [c](#c) [d](../../actions/d)", "docs/a.md": "[r](../README.md)"}, []),
    ("dead links", {"docs/a.md": "[a](../a.md)\n", "docs/b.md": "[a](a.md) [c](c.md)"},
     ["docs/a.md: ../a.md", "docs/b.md: c.md"]),
)

if __name__ == "__main__":
    house.main(check, CASES, figures_of)
