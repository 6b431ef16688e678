"""Calls between files are a tree: no more than two files of a folder call each other in a circle.

A file calls another when its code names a function that the other defines for others: to call it, or
to take its address, which counts as a call because somebody calls it later. Files are looked at
within proto, gpu and each folder of server, together with its subfolders.
"""

import os
import re

import house

SOURCES = (".c", ".cu", ".cuh")
LARGEST_CIRCLE = 2

# A name in code that is not the tag of a type: struct solver_estimate is no call of its namesake.
NAME = re.compile(r"(?<!struct )(?<!enum )(?<!union )\b[A-Za-z_]\w*")


def scope_of(path):
    """The folder whose files may not call each other in circles; None outside the product."""
    parts = path.split("/")
    if parts[0] in ("proto", "gpu") and len(parts) > 1:
        return parts[0]
    if parts[0] == "server" and len(parts) > 1:
        return "/".join(parts[:2]) if len(parts) > 2 else "server"
    return None


def calls_of(files):
    """path -> the paths whose functions it names."""
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


def circles_of(calls):
    """The strongly connected components of more than one file (Tarjan 1972, without recursion)."""
    index, low, on_stack, stack, circles = {}, {}, set(), [], []
    for root in sorted(calls):
        if root in index:
            continue
        work = [(root, iter(sorted(calls[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            path, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[path])
                if low[path] == index[path]:
                    circle = set()
                    while path not in circle:
                        circle.add(stack.pop())
                    on_stack -= circle
                    if len(circle) > 1:
                        circles.append(circle)
            elif following not in index:
                index[following] = low[following] = len(index)
                stack.append(following)
                on_stack.add(following)
                work.append((following, iter(sorted(calls[following]))))
            elif following in on_stack:
                low[path] = min(low[path], index[following])
    return circles


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
