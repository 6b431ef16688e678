"""Ceilings of size: of a function, a file, a line, and of the whole product."""

import re

import house

FUNCTION_LINES = 70
FILE_LINES = 600
COLUMNS = 100

# Of proto, gpu and server together. The product is to fit in one maintainer's head: at most 54,000
# lines without, and 67,000 with the hierarchies, changes, coordinates, several devices and the client;
# 4,140 more let devices, and processes on several hosts, solve one graph together, and 1,830 compute only
# what a change reaches.
PRODUCT_LINES = 72970
PRODUCT_FILES = 348
# Nine of ten functions are no longer. Procedures that read downwards have 35 to 45 lines; the
# ceiling keeps long ones the exception.
FUNCTION_P90 = 45
# A static function of a few lines that is used once is usually better read in its place.
SHORT_LINES = 12
SHORT_USED_ONCE = 300


def is_used_once(code, name):
    """The definition and a prototype are no use; a mention as a callback is one."""
    prototype = rf"^(?:static|MUST_CHECK)\b[^;{{}}=]*\b{name}\s*\([^;{{}}]*\);"
    prototypes = len(re.findall(prototype, code, re.M))
    return len(re.findall(rf"\b{name}\b", code)) - prototypes == 2


def figures_of(tree):
    """(name, value, ceiling) for the product as a whole."""
    files = house.product_files(tree)
    sizes, short_used_once = [], 0
    for text in files.values():
        code = house.code_of(text)
        for name, first, last, is_static in house.functions_of(text):
            size = last - first + 1
            sizes.append(size)
            short_used_once += is_static and size <= SHORT_LINES and is_used_once(code, name)
    sizes.sort()
    p90 = sizes[len(sizes) * 9 // 10] if sizes else 0
    return (
        ("lines of the product", sum(text.count("\n") for text in files.values()), PRODUCT_LINES),
        ("files of the product", len(files), PRODUCT_FILES),
        ("lines of a function, p90", p90, FUNCTION_P90),
        ("lines of the longest function", sizes[-1] if sizes else 0, FUNCTION_LINES),
        (f"static functions of up to {SHORT_LINES} lines used once", short_used_once, SHORT_USED_ONCE),
    )


def file_findings(path, text):
    lines = text.split("\n")
    count = len(lines) - (lines[-1] == "")
    if count > FILE_LINES:
        yield f"{path}: {count} lines, the ceiling is {FILE_LINES}"
    for number, line in enumerate(lines, start=1):
        if len(line) > COLUMNS:
            yield f"{path}:{number}: {len(line)} columns, the ceiling is {COLUMNS}"
    for name, first, last, _ in house.functions_of(text):
        size = last - first + 1
        if size > FUNCTION_LINES:
            yield f"{path}:{first}: {name} has {size} lines of {FUNCTION_LINES}"


def check(tree):
    findings = [found for path, text in house.c_files(tree).items() for found in file_findings(path, text)]
    return findings + house.over(
        figure for figure in figures_of(tree) if figure[0] != "lines of the longest function"
    )


def function(size, name="work"):
    return f"static int {name}(void)\n{{\n" + "    step();\n" * (size - 3) + "}\n"


def files(count, text):
    return {f"proto/f{i}.c": text for i in range(count)}


def short_functions(count):
    """Files of functions that are each used once."""
    tree = {}
    for start in range(0, count, 50):
        names = [f"f{i}" for i in range(start, min(start + 50, count))]
        calls = "".join(f"    {name}();\n" for name in names)
        prototypes = "".join(f"static int {name}(void);\n" for name in names[:1])
        bodies = "".join(function(4, name) for name in names)
        tree[f"proto/s{start}.c"] = f"{prototypes}{bodies}int g{start}(void)\n{{\n{calls}}}\n"
    return tree


CASES = (
    ("at the ceilings", {"a.c": function(70), "b.c": "x;\n" * 600, "c.h": "y" * 100}, []),
    ("long function", {"a.c": "int i;\n\n" + function(71)}, ["a.c:3: work has 71 lines"]),
    ("long in CUDA", {"a.cu": function(90)}, ["work has 90 lines"]),
    ("long file", {"a.h": "x;\n" * 601}, ["a.h: 601 lines"]),
    ("wide line", {"a.c": "x;\n" + "y" * 101 + "\n"}, ["a.c:2: 101 columns"]),
    ("not a source", {"a.md": "y" * 500}, []),
    ("as many files", files(PRODUCT_FILES, ""), []),
    ("a file too many", files(PRODUCT_FILES + 1, ""), ["files of the product"]),
    ("tests do not count", {f"tests/f{i}.c": "" for i in range(PRODUCT_FILES + 1)}, []),
    ("too many lines", files(PRODUCT_LINES // 600 + 1, "x;\n" * 600), ["lines of the product"]),
    ("long functions", {"gpu/a.cu": function(46)}, ["p90: 46"]),
    ("short ones", short_functions(SHORT_USED_ONCE), []),
    ("a short one too many", short_functions(SHORT_USED_ONCE + 1), [f"used once: {SHORT_USED_ONCE + 1}"]),
    ("used twice", {**short_functions(SHORT_USED_ONCE), "server/a.c": function(4, "h") + "x = h() + h();\n"}, []),
)

if __name__ == "__main__":
    house.main(check, CASES, figures_of)
