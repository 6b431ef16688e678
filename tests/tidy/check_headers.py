"""foo.h declares what foo.c defines: the share of global functions declared in a header of another name."""

import os
import re

import house

# Percent of the global functions of the product.
ELSEWHERE_PERCENT = 6

# Headers that declare for several sources, each with why.
FACES = {
    "gpu/gpu.h": "the one header that leaves gpu/",
    "server/solver/solver.h": "the seam: one back end more is one source more behind it",
}


def declared_elsewhere(tree):
    """(path, line, name, header) of each global function declared only in a header of another name."""
    product = {path: house.code_of(text) for path, text in house.product_files(tree).items()}
    headers = {
        path: set(re.findall(r"\b(\w+)\s*\(", text))
        for path, text in product.items()
        if path.endswith((".h", ".cuh"))
    }
    for path, line, name in globals_of(tree):
        stem = os.path.splitext(path)[0]
        places = [header for header, names in headers.items() if name in names]
        own = [header for header in places if os.path.splitext(header)[0] == stem or header in FACES]
        if places and not own:
            yield path, line, name, places[0]


def globals_of(tree):
    for path, text in house.product_files(tree).items():
        if path.endswith(".c"):
            for name, line, _, is_static in house.functions_of(text):
                if not is_static and name != "main":
                    yield path, line, name


def figures_of(tree):
    count = len(list(globals_of(tree)))
    elsewhere = len(list(declared_elsewhere(tree)))
    return (("percent of functions declared elsewhere", round(100 * elsewhere / max(count, 1)), ELSEWHERE_PERCENT),)


def check(tree):
    findings = house.over(figures_of(tree))
    if findings:
        findings += [f"{p}:{line}: {name} is declared in {header}" for p, line, name, header in declared_elsewhere(tree)]
    return findings


F = "int a_f(void)\n{\n}\n"
CASES = (
    ("own header", {"proto/a.c": F, "proto/a.h": "int a_f(void);\n"}, []),
    ("another header", {"proto/a.c": F, "proto/b.h": "int a_f(void);\n"}, ["percent", "a_f is declared in proto/b.h"]),
    ("a face", {"gpu/a.c": F, "gpu/gpu.h": "int a_f(void);\n"}, []),
    ("static", {"proto/a.c": "static " + F, "proto/b.h": "int a_f(void);\n"}, []),
)

if __name__ == "__main__":
    house.main(check, CASES, figures_of)
