"""clang-format has nothing to change. Skipped where the version that the layout is made with is not
installed: another one may disagree with it."""

import os
import re
import shutil
import subprocess
import sys

import house

VERSION = "14"


def formatter():
    """The path of a clang-format of the wanted version, or None."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        if path:
            text = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"version {VERSION}\.", text):
                return path
    return None


def check_with(path, style_file):
    def check(tree):
        findings = []
        for name, text in house.c_files(tree).items():
            done = subprocess.run(
                [path, f"--style=file:{style_file}", f"--assume-filename={name}"],
                input=text,
                capture_output=True,
                text=True,
            )
            if done.returncode != 0:
                findings.append(f"{name}: {done.stderr.strip()}")
            elif done.stdout != text:
                pairs = zip(text.split("\n"), done.stdout.split("\n"))
                line = next((i for i, (a, b) in enumerate(pairs, 1) if a != b), 0)
                findings.append(f"{name}:{line}: clang-format would write this otherwise")
        return findings

    return check


CASES = (
    ("in order", {"a.c": "int f(void)\n{\n    return 1;\n}\n"}, []),
    ("in disorder", {"a.c": "int f(void)\n{\n  return 1;\n}\n"}, ["a.c:3: clang-format"]),
)

if __name__ == "__main__":
    found = formatter()
    if found is None:
        print(f"clang-format {VERSION} is not installed")
        sys.exit(house.SKIPPED)
    here = os.path.dirname(os.path.abspath(__file__))
    house.main(check_with(found, os.path.join(here, "../../.clang-format")), CASES)
