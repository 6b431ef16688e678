"""clang-format changes nothing. Skipped if the required version is not installed, because other
versions format differently."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import house

VERSION = "14"


def formatter():
    """Returns the path of a clang-format of the required version, or None."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        if path:
            text = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"version {VERSION}\.", text):
                return path
    return None


def check_with(path, style_file):
    """One process formats all files, because starting it takes longer than formatting a file."""

    def check(tree):
        with tempfile.TemporaryDirectory() as folder:
            names = list(house.c_files(tree))
            for name in names:
                os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
                with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as file:
                    file.write(tree[name])
            done = subprocess.run([path, f"--style=file:{style_file}", "--dry-run", *names],
                                  cwd=folder, capture_output=True, text=True)
        first = {}
        for name, row, column in re.findall(r"^(\S+):(\d+):(\d+): .*-format-violations\]$", done.stderr, re.MULTILINE):
            # White space that begins with a line end belongs to the next line.
            line = int(row) + (int(column) > len(tree[name].split("\n")[int(row) - 1]))
            first.setdefault(name, f"{name}:{line}: clang-format would write this otherwise")
        return list(first.values()) or ([done.stderr.strip()] if done.returncode != 0 else [])

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
