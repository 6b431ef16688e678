"""The source tree as the tidy checks see it, and the function that runs a check.

A tree is a dict from path (relative to the root, with slashes) to text. A check is a function from
a tree to a list of findings, each one line of text; an empty list passes. A check has cases: small
trees with their expected findings, so that a check that no longer finds anything fails.
"""

import os
import re
import sys

SKIPPED = 77
C_ENDINGS = (".c", ".h", ".cu", ".cuh")
PRODUCT = ("proto/", "gpu/", "server/")
SHOWN = (".ci", ".github")
LEFT_OUT = {"apspd-state", "__pycache__"}


def read_tree(root):
    """Reads every file of the checkout; binary files have no text. Skips build, state and hidden
    folders except SHOWN."""
    tree = {}
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            name
            for name in folders
            if name not in LEFT_OUT
            and (name in SHOWN or not name.startswith("."))
            and not os.path.exists(os.path.join(folder, name, "build.ninja"))
            and not (folder == root and name.startswith("build"))
        )
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.path.islink(path) or name == ".git":
                continue
            with open(path, "rb") as file:
                content = file.read()
            text = "" if b"\0" in content else content.decode("utf-8", "replace")
            tree[os.path.relpath(path, root).replace(os.sep, "/")] = text
    return tree


def c_files(tree):
    return {path: text for path, text in tree.items() if path.endswith(C_ENDINGS)}


def product_files(tree):
    """The C and CUDA sources of the product, without tests, tools and clients."""
    return {path: text for path, text in c_files(tree).items() if path.startswith(PRODUCT)}


_NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def _blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def code_of(text):
    """Replaces comments, strings and characters by spaces; every line keeps its number."""
    return _NOT_CODE.sub(_blank, text)


def comments_of(text):
    """Yields (line number, text with its delimiters) of every comment."""
    for match in _NOT_CODE.finditer(text):
        if match.group()[0] == "/":
            yield text.count("\n", 0, match.start()) + 1, match.group()


def comment_lines_of(text):
    """Returns the number of lines that have only a comment."""
    bare = _NOT_CODE.sub(lambda match: _blank(match) if match.group()[0] == "/" else match.group(), text)
    pairs = zip(text.split("\n"), bare.split("\n"))
    return sum(1 for full, rest in pairs if full.strip() and not rest.strip())


def lines_matching(text, pattern):
    """Yields (line number, match) for each match of the pattern in the code of the text."""
    for number, line in enumerate(code_of(text).split("\n"), start=1):
        for match in re.finditer(pattern, line):
            yield number, match


def functions_of(text):
    """Yields (name, first line, last line, is static) of every function defined in the text. It
    relies on the layout of this project: the braces of a function body stand alone in the first
    column."""
    lines = code_of(text).split("\n")
    for start, line in enumerate(lines):
        if line.rstrip() != "{":
            continue
        head = start
        while head > 0 and lines[head - 1].strip() and lines[head - 1].rstrip()[-1] not in ";}":
            head -= 1
        signature = " ".join(lines[head:start])
        signature = re.sub(r"__(attribute__|launch_bounds__)\s*\(+[^)]*\)+", "", signature)
        name = re.search(r"(\w+)\s*\(", signature)
        end = next((i for i in range(start, len(lines)) if lines[i].rstrip() == "}"), start)
        if name:
            yield name.group(1), head + 1, end + 1, bool(re.search(r"\bstatic\b", signature))


def _failing_cases(check, cases):
    for name, tree, expected in cases:
        findings = check(tree)
        if len(findings) != len(expected) or any(
            part not in finding for part, finding in zip(expected, findings)
        ):
            yield f"case {name!r}: expected {expected}, found {findings}"


def over(figures):
    """Returns a finding for each (name, value, ceiling) above its ceiling."""
    return [f"{name}: {value}, the ceiling is {ceiling}" for name, value, ceiling in figures if value > ceiling]


def main(check, cases, figures=None):
    """check_x.py [--self-test] [--figures] [ROOT]: runs the cases, the checkout, or both. figures
    maps a tree to (name, value, ceiling) of everything that is counted; --figures prints them."""
    arguments = sys.argv[1:]
    findings = []
    if "--self-test" in arguments:
        arguments.remove("--self-test")
        findings += _failing_cases(check, cases)
    prints = "--figures" in arguments
    if prints:
        arguments.remove("--figures")
    if arguments:
        tree = read_tree(arguments[0])
        findings += check(tree)
        if prints and figures is not None:
            for name, value, ceiling in figures(tree):
                print(f"{name}: {value} (ceiling {ceiling})")
    for finding in findings:
        print(finding)
    sys.exit(1 if findings else 0)
