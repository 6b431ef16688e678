"""foo.h declares what foo.c defines: a header of another name declares few global functions."""

import os
import re

import house

# Functions of scheduler.c and results.c that the scheduler's own headers declare.
ELSEWHERE = 4

# Headers that declare functions of several sources, each with the reason.
FACES = {
    "gpu/gpu.h": "the one header that leaves gpu/",
    "server/http/api/serve.h": "the functions in the table of routes, a line each",
    "server/sandbox.h": "two builds, with libseccomp and without",
    "server/solver/order/separator.h": "two builds, with METIS and without",
    "server/solver/solver.h": "the seam: one back end more is one source more behind it",
    "server/worker/child.h": "two builds, with the service and without",
}


def declared_elsewhere(tree):
    """Yields (path, line, name, header) of each global function declared only in a header of
    another name."""
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
    return (("functions declared elsewhere", len(list(declared_elsewhere(tree))), ELSEWHERE),)


def check(tree):
    findings = house.over(figures_of(tree))
    if findings:
        findings += [f"{p}:{line}: {name} is declared in {header}" for p, line, name, header in declared_elsewhere(tree)]
    return findings


F = "int a_f(void)\n{\n}\n"
MANY = ["a_f", *(f"a_{i}" for i in range(ELSEWHERE))]
CASES = (
    ("own header", {"proto/a.c": F, "proto/a.h": "int a_f(void);\n"}, []),
    ("another header", {"proto/a.c": "".join(F.replace("a_f", name) for name in MANY),
                        "proto/b.h": "".join(f"int {name}(void);\n" for name in MANY)},
     ["declared elsewhere", *(f"{name} is declared in proto/b.h" for name in MANY)]),
    ("a face", {"gpu/a.c": F, "gpu/gpu.h": "int a_f(void);\n"}, []),
    ("static", {"proto/a.c": "static " + F, "proto/b.h": "int a_f(void);\n"}, []),
)

if __name__ == "__main__":
    house.main(check, CASES, figures_of)
