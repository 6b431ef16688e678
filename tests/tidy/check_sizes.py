"""Size limits: of a function, of a line, and of the whole product."""

import house

FUNCTION_LINES = 70
COLUMNS = 100

# Maximum number of lines of proto, gpu and server together. The product has to fit in one
# maintainer's head, so this number only goes down: a change that needs more lines names the lines
# that go.
PRODUCT_LINES = 64314
# At least nine of ten functions have at most this many lines. Procedures that read from top to
# bottom have 35 to 45 lines; longer ones should be exceptions.
FUNCTION_P90 = 45


def figures_of(tree):
    """Returns (name, value, ceiling) for the whole product."""
    files = house.product_files(tree)
    sizes = sorted(last - first + 1 for text in files.values() for _, first, last, _ in house.functions_of(text))
    p90 = sizes[len(sizes) * 9 // 10] if sizes else 0
    return (
        ("lines of the product", sum(text.count("\n") for text in files.values()), PRODUCT_LINES),
        ("lines of a function, p90", p90, FUNCTION_P90),
        ("lines of the longest function", sizes[-1] if sizes else 0, FUNCTION_LINES),
    )


def file_findings(path, text):
    for number, line in enumerate(text.split("\n"), start=1):
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


CASES = (
    ("at the ceilings", {"a.c": function(70), "c.h": "y" * 100}, []),
    ("long function", {"a.c": "int i;\n\n" + function(71)}, ["a.c:3: work has 71 lines"]),
    ("long in CUDA", {"a.cu": function(90)}, ["work has 90 lines"]),
    ("wide line", {"a.c": "x;\n" + "y" * 101 + "\n"}, ["a.c:2: 101 columns"]),
    ("not a source", {"a.md": "y" * 500}, []),
    ("at the ceiling", {"proto/a.c": "x;\n" * PRODUCT_LINES}, []),
    ("tests do not count", {"tests/a.c": "x;\n" * (PRODUCT_LINES + 1)}, []),
    ("too many lines", {"proto/a.c": "x;\n" * (PRODUCT_LINES + 1)}, ["lines of the product"]),
    ("long functions", {"gpu/a.cu": function(46)}, ["p90: 46"]),
)

if __name__ == "__main__":
    house.main(check, CASES, figures_of)
