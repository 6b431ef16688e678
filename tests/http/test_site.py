"""The documents as a site: mkdocs finds no dead link, every document and a search index are
there, and nothing is loaded from other servers. Skipped without mkdocs."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import harness

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
if shutil.which("mkdocs") is None or not os.path.exists(os.path.join(ROOT, ".git")):
    print("skipped: not installed: mkdocs, or not a checkout")
    sys.exit(harness.SKIPPED)


def test_the_site_has_every_document_and_loads_nothing_from_other_hosts():
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as scratch:
        # The script works in its own checkout, so it runs in a copy of this one with its changes.
        copy = os.path.join(scratch, "tree")
        names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in filter(None, names.decode().split("\0")):
            source = os.path.join(ROOT, name)
            if os.path.exists(source) and not name.startswith(("tests/", "proto/", "gpu/", "server/")):
                os.makedirs(os.path.dirname(os.path.join(copy, name)), exist_ok=True)
                shutil.copy(source, os.path.join(copy, name))
        for command in (["git", "init", "-q"], ["git", "add", "-A"]):
            subprocess.run(command, cwd=copy, check=True)
        done = subprocess.run(["sh", "deploy/site.sh"], cwd=copy, capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.endswith("site/index.html\n"), done
        site = os.path.join(copy, "build-site", "site")
        for name in os.listdir(os.path.join(ROOT, "docs")):
            if name.endswith(".md"):
                assert os.path.exists(os.path.join(site, "docs", f"{name[:-3]}.html")), name
        assert os.path.exists(os.path.join(site, "search", "search_index.json"))
        for folder, _, files in os.walk(site):
            for name in files:
                if name.endswith(".html"):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        loaded = re.findall(r"<(?:script|img|link)\b[^>]*\b(?:src|href)=\"(https?:)?//", file.read())
                    assert loaded == [], (name, loaded)


if __name__ == "__main__":
    harness.run(globals())
