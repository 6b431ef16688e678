"""Calls between files form a tree: at most two files of a folder call each other in a circle. A
file calls another if its code names a global function of the other file. Taking a function's
address counts as a call, because the function is called later. The check examines proto, gpu and
each folder of server separately, together with its subfolders.
"""

import os
import re

import house

SOURCES = (".c", ".cu", ".cuh")
LARGEST_CIRCLE = 2

# A name in code that is not the tag of a type: struct solver_estimate is not a call of the function
# of that name.
NAME = re.compile(r"(?<!struct )(?<!enum )(?<!union )\b[A-Za-z_]\w*")


def scope_of(path):
    """Returns the folder whose files may not call each other in circles; None outside the
    product."""
    parts = path.split("/")
    if parts[0] in ("proto", "gpu") and len(parts) > 1:
        return parts[0]
    if parts[0] == "server" and len(parts) > 1:
        return "/".join(parts[:2]) if len(parts) > 2 else "server"
    return None


def calls_of(files):
    """Returns path -> the paths whose functions it names."""
    owners = {}
    own = {}
    for path, text in files.items():
        own[path] = set()
        for name, _, _, is_static in house.functions_of(text):
            own[path].add(name)
            if not is_static and name != "main":
                owners.setdefault(name, set()).add(path)
    calls = {}
    for path, text in files.items():
        names = set(NAME.findall(house.code_of(text))) - own[path]
        calls[path] = set().union(*(owners[name] for name in names if name in owners)) - {path}
    return calls


def reached_from(path, calls):
    """Returns the files whose functions are called, directly or indirectly."""
    reached, left = set(), [path]
    while left:
        following = calls[left.pop()] - reached
        reached |= following
        left += following
    return reached


def circles_of(calls):
    """Returns the sets of files that reach each other."""
    reached = {path: reached_from(path, calls) for path in calls}
    circles = {frozenset(other for other in reached[path] if path in reached[other]) for path in calls}
    return sorted(sorted(circle) for circle in circles if circle)


def check(tree):
    scopes = {}
    for path, text in tree.items():
        scope = scope_of(path)
        if scope is not None and path.endswith(SOURCES):
            scopes.setdefault(scope, {})[path] = text
    findings = []
    for scope, files in sorted(scopes.items()):
        for circle in circles_of(calls_of(files)):
            if len(circle) > LARGEST_CIRCLE:
                names = ", ".join(sorted(os.path.relpath(path, scope) for path in circle))
                findings.append(f"{scope}: {len(circle)} files call each other in a circle: {names}")
    return findings


def define(name, *called, head="void "):
    body = "".join(f"    {call};\n" for call in called)
    return f"{head}{name}(void)\n{{\n{body}}}\n\n"


def case(folder, *texts):
    return {f"{folder}/{name}.c": text for name, text in zip("abcd", texts)}


PAIR = (define("a", "b()"), define("b", "a()"))
RING = (define("a", "b()"), define("b", "c()"), define("c", "a()"))
ADDRESS = (define("a", "b()"), define("b", "start(c)"), define("c", "x.then = a"))
OWN = (define("a", "b()") + define("c", head="static void "), define("b", "c()"), define("c"))
CASES = (
    ("tree", case("proto", define("a", "b()", "c()"), define("b", "c()"), define("c")), []),
    ("pair", case("proto", *PAIR), []),
    ("ring", case("server/scheduler", *RING), ["server/scheduler: 3 files call each other in a circle: a.c"]),
    ("by address", case("gpu", *ADDRESS), ["gpu: 3 files"]),
    ("in subfolders", {"proto/a.c": RING[0], "proto/x/b.c": RING[1], "proto/y/c.c": RING[2]},
     ["proto: 3 files call each other in a circle: a.c, x/b.c, y/c.c"]),
    ("across folders", {"server/a.c": RING[0], "server/x/b.c": RING[1], "server/y/c.c": RING[2]},
     []),
    ("own static", case("proto", *OWN), []),
    ("comment and string", case("proto", RING[0], RING[1], define("c", 'f("a()") /* a() */')), []),
    ("tag of a type", case("proto", RING[0], RING[1], define("c", "struct a x")), []),
    ("tests", case("tests/unit", *RING), []),
)

if __name__ == "__main__":
    house.main(check, CASES)
