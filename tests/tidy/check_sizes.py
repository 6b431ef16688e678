"""Ceilings: 70 lines a function, 600 lines a file, 100 columns a line."""

import house

FUNCTION_LINES = 70
FILE_LINES = 600
COLUMNS = 100


def check(tree):
    findings = []
    for path, text in house.c_files(tree).items():
        lines = text.split("\n")
        count = len(lines) - (lines[-1] == "")
        if count > FILE_LINES:
            findings.append(f"{path}: {count} lines, the ceiling is {FILE_LINES}")
        for number, line in enumerate(lines, start=1):
            if len(line) > COLUMNS:
                findings.append(f"{path}:{number}: {len(line)} columns, the ceiling is {COLUMNS}")
        for name, first, last, _ in house.functions_of(text):
            size = last - first + 1
            if size > FUNCTION_LINES:
                findings.append(f"{path}:{first}: {name} has {size} lines of {FUNCTION_LINES}")
    return findings


def function(size):
    return "static int work(void)\n{\n" + "    step();\n" * (size - 3) + "}\n"


CASES = (
    ("at the ceilings", {"a.c": function(70), "b.c": "x;\n" * 600, "c.h": "y" * 100}, []),
    ("long function", {"a.c": "int i;\n\n" + function(71)}, ["a.c:3: work has 71 lines"]),
    ("long in CUDA", {"a.cu": function(90)}, ["work has 90 lines"]),
    ("long file", {"a.h": "x;\n" * 601}, ["a.h: 601 lines"]),
    ("wide line", {"a.c": "x;\n" + "y" * 101 + "\n"}, ["a.c:2: 101 columns"]),
    ("not a source", {"a.md": "y" * 500}, []),
)

if __name__ == "__main__":
    house.main(check, CASES)
