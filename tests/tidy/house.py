"""The source tree as the tidy checks see it, and how a check is run.

A tree is a dict from path (relative to the root, with slashes) to text. A check is a function from
a tree to a list of findings, each one line of text; an empty list passes. A check brings cases:
small trees with the findings that they must give, so that one which finds nothing any more is seen.
"""

import os
import re
import sys

SKIPPED = 77
C_ENDINGS = (".c", ".h", ".cu", ".cuh")
LEFT_OUT = {"apspd-state", "__pycache__"}


def read_tree(root):
    """Every text file of the checkout; build, state and hidden folders (but .ci) are left out."""
    tree = {}
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            name
            for name in folders
            if name not in LEFT_OUT
            and (name == ".ci" or not name.startswith("."))
            and not os.path.exists(os.path.join(folder, name, "build.ninja"))
            and not (folder == root and name.startswith("build"))
        )
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.path.islink(path):
                continue
            with open(path, "rb") as file:
                content = file.read()
            if b"\0" not in content:
                text = content.decode("utf-8", "replace")
                tree[os.path.relpath(path, root).replace(os.sep, "/")] = text
    return tree


def c_files(tree):
    return {path: text for path, text in tree.items() if path.endswith(C_ENDINGS)}


_NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def code_of(text):
    """The text with comments, strings and characters blanked; every line keeps its number."""
    return _NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def lines_matching(text, pattern):
    """(line number, match) for each match of the pattern in the code of the text."""
    for number, line in enumerate(code_of(text).split("\n"), start=1):
        for match in re.finditer(pattern, line):
            yield number, match


def functions_of(text):
    """(name, first line, last line, is static) of every function defined in the text.

    Goes by the house layout: the braces of a function body stand alone in the first column."""
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


def main(check, cases):
    """check_x.py [--self-test] [ROOT]: the cases, the checkout, or one after the other."""
    arguments = sys.argv[1:]
    findings = []
    if "--self-test" in arguments:
        arguments.remove("--self-test")
        findings += _failing_cases(check, cases)
    if arguments:
        findings += check(read_tree(arguments[0]))
    for finding in findings:
        print(finding)
    sys.exit(1 if findings else 0)
