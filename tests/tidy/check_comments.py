"""Comments are plain sentences, and there are enough of them; `sizeof(x)` has parentheses, and a
statement that only counts is written `i++`, not `++i`."""

import re

import house

# A comment that begins with one of these words is a fragment or lacks the standard term.
BEGINNING = r"(?:What|Of|Whoever|Whom|Who|Likewise|Those)\b"
# The minimum number of comment-only lines per thousand lines of the product.
COMMENT_LINES = 70
CODE = (
    (r"\bsizeof\b(?!\s*\()", "sizeof without parentheses"),
    (r"(?:^\s*|;\s*|\)\s+)(?:\+\+|--)\w[\w.\->\[\]]*(?=\s*[;)])", "a statement of ++i or --i"),
)


def figures_of(tree):
    """Returns (name, value, ceiling). The share of comments is a minimum, so the lines without
    comments are counted."""
    files = house.product_files(tree)
    lines = sum(text.count("\n") for text in files.values())
    comments = sum(house.comment_lines_of(text) for text in files.values())
    share = comments * 1000 // lines if lines else 1000
    return (("of a thousand lines, those without a comment", 1000 - share, 1000 - COMMENT_LINES),)


def check(tree):
    findings = house.over(figures_of(tree))
    for path, text in house.product_files(tree).items():
        for number, comment in house.comments_of(text):
            if re.match(BEGINNING, comment.lstrip("/* \n\t")):
                findings.append(f"{path}:{number}: a comment that begins as a fragment")
        for pattern, what in CODE:
            findings += [f"{path}:{number}: {what}" for number, _ in house.lines_matching(text, pattern)]
    return findings


FULL = "/* The table. */\n"
# Enough comments for the few lines of a case.
COMMENTED = FULL * 9
SHARE = "without a comment"


def code(comment_lines):
    """Returns a file of a thousand lines, of which this many are comments."""
    return "x;\n" * (1000 - comment_lines)


CASES = (
    ("full sentences", {"proto/a.c": FULL + "/* Offers, Whose, Whatever */\n// The rest.\n"}, []),
    *((word, {"proto/a.c": f"{FULL}/* {word} it. */\n"}, ["proto/a.c:2: a comment"])
      for word in ("What", "Of", "Who", "Likewise.", "Those", "Whoever", "Whom")),
    ("with two strokes", {"gpu/a.cu": "// What else.\n"}, ["a comment that"]),
    ("a string is none", {"gpu/a.cu": COMMENTED + 'a = "/* What */";\n'}, []),
    ("beside code", {"gpu/a.cu": COMMENTED + "int a; /* Of it. */\n"}, ["gpu/a.cu:10: a comment that"]),
    ("in tests", {"tests/unit/a.c": "/* Of it. */\n"}, []),
    ("few comments", {"server/a.c": FULL * (COMMENT_LINES - 1) + code(COMMENT_LINES - 1)}, [SHARE]),
    ("enough comments", {"server/a.c": FULL * COMMENT_LINES + code(COMMENT_LINES)}, []),
    ("comments of many lines",
     {"server/a.c": "/* a\n" + " * b\n" * (COMMENT_LINES - 2) + " */\n" + code(COMMENT_LINES)}, []),
    ("comments beside code", {"server/a.c": "x; /* a */\n" * 1000}, [SHARE]),
    ("sizeof", {"gpu/a.cu": COMMENTED + "/* a */ n = sizeof(int) + sizeof *p;\n"}, ["gpu/a.cu:10: sizeof"]),
    ("steps", {"proto/a.c": COMMENTED + "for (;; ++i) {\n    ++p->n;\n}\nif (a) --i;\n"}, ["++i"] * 3),
    ("in an expression", {"proto/a.c": COMMENTED + "a = ++i; f(--j); i++;\n"}, []),
)

if __name__ == "__main__":
    house.main(check, CASES, figures_of)
