"""Comments are plain sentences, and there are enough of them; `sizeof(x)` has parentheses, and a
statement counts by `i++`.

Each figure has a ceiling."""

import re

import house

# A comment that begins with one of these is a fragment that a standard term would replace.
BEGINNING = r"(?:What|Of|Whoever|Whom|Who|Likewise|Those)\b"
FRAGMENTS = 0
# Of a thousand lines of the product so many have a comment and nothing else.
COMMENT_LINES = 70
SIZEOF = r"\bsizeof\b(?!\s*\()"
BARE_SIZEOF = 0
PREFIX_STEP = r"(?:^\s*|;\s*|\)\s+)(?:\+\+|--)\w[\w.\->\[\]]*(?=\s*[;)])"
PREFIX_STEPS = 0


def fragments_of(tree):
    """path:line of each comment that begins like a fragment."""
    for path, text in house.product_files(tree).items():
        for number, comment in house.comments_of(text):
            if re.match(BEGINNING, comment.lstrip("/* \n\t")):
                yield f"{path}:{number}"


def matches_of(tree, pattern):
    for path, text in house.product_files(tree).items():
        for number, _ in house.lines_matching(text, pattern):
            yield f"{path}:{number}"


def figures_of(tree):
    """(name, value, ceiling); the share of comments is the one floor, so its lack is counted."""
    files = house.product_files(tree)
    lines = sum(text.count("\n") for text in files.values())
    comments = sum(house.comment_lines_of(text) for text in files.values())
    share = comments * 1000 // lines if lines else 1000
    return (
        ("comments that begin as fragments", len(list(fragments_of(tree))), FRAGMENTS),
        ("of a thousand lines, those without a comment", 1000 - share, 1000 - COMMENT_LINES),
        ("sizeof without parentheses", len(list(matches_of(tree, SIZEOF))), BARE_SIZEOF),
        ("statements of ++i or --i", len(list(matches_of(tree, PREFIX_STEP))), PREFIX_STEPS),
    )


def check(tree):
    """With a figure beyond its ceiling come the places, of which one is new."""
    findings = house.over(figures_of(tree))
    for places, ceiling in (
        (list(fragments_of(tree)), FRAGMENTS),
        (list(matches_of(tree, SIZEOF)), BARE_SIZEOF),
        (list(matches_of(tree, PREFIX_STEP)), PREFIX_STEPS),
    ):
        if len(places) > ceiling:
            findings.append("one of: " + " ".join(places))
    return findings


FULL = "/* The table. */\n"


def fragments(count):
    words = ("What it is.", "Of the way.", "Who asks.", "Likewise.", "Those of one.", "Whoever.", "Whom.")
    return FULL + "".join(f"/* {words[i % len(words)]} */\n" for i in range(count))


def code(comment_lines):
    """The rest of a thousand lines."""
    return "x;\n" * (1000 - comment_lines)


SHARE = "without a comment"
CASES = (
    ("full sentences", {"proto/a.c": FULL + "/* Offers, Whose, Whatever */\n// The rest.\n"}, []),
    ("as many fragments", {"proto/a.c": fragments(FRAGMENTS)}, []),
    ("a fragment too many", {"proto/a.c": fragments(FRAGMENTS + 1)}, ["fragments", "one of: proto/a.c:2"]),
    ("with two strokes", {"gpu/a.cu": fragments(FRAGMENTS) + "// What else.\n"}, ["fragments", "one of"]),
    ("a string is none", {"gpu/a.cu": fragments(FRAGMENTS) + 'a = "/* What */";\n'}, []),
    ("beside code", {"gpu/a.cu": fragments(FRAGMENTS) + "int a; /* Of it. */\n"}, ["fragments", "one of"]),
    ("in tests", {"tests/unit/a.c": fragments(FRAGMENTS + 1)}, []),
    ("few comments", {"server/a.c": FULL * (COMMENT_LINES - 1) + code(COMMENT_LINES - 1)}, [SHARE]),
    ("enough comments", {"server/a.c": FULL * COMMENT_LINES + code(COMMENT_LINES)}, []),
    ("comments of many lines",
     {"server/a.c": "/* a\n" + " * b\n" * (COMMENT_LINES - 2) + " */\n" + code(COMMENT_LINES)}, []),
    ("comments beside code", {"server/a.c": "x; /* a */\n" * 1000}, [SHARE]),
    ("sizeof", {"gpu/a.cu": FULL + "/* a */ n = sizeof(int) + sizeof *p;\n" * (BARE_SIZEOF + 1) + FULL * 99},
     ["sizeof", "one of"]),
    ("steps", {"proto/a.c": FULL * 99 + "for (;; ++i) {\n    ++p->n;\n}\n" * (PREFIX_STEPS // 2)}, []),
    ("a step too many", {"proto/a.c": FULL * 99 + "if (a) --i;\n" * (PREFIX_STEPS + 1)}, ["++i", "one of"]),
    ("in an expression", {"proto/a.c": FULL * 99 + "a = ++i; f(--j); i++;\n" * (PREFIX_STEPS + 1)}, []),
)

if __name__ == "__main__":
    house.main(check, CASES, figures_of)
