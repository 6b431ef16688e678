"""The documents as pages: all of them are there, no link is dead, and nothing is asked of other servers.

Skipped without python3-markdown."""

import html.parser
import os
import posixpath
import subprocess
import sys
import tempfile
import urllib.parse

import harness

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
try:
    import markdown  # noqa: F401
except ImportError:
    print("skipped: not installed: python3-markdown")
    sys.exit(harness.SKIPPED)


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded, self.tags = set(), [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags.add(tag)
        self.anchors.add(found.get("id"))
        if "href" in found:
            self.links.append(found["href"])
        if "src" in found:
            self.loaded.append(found["src"])


def pages_of(folder):
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(place, name), folder)
            with open(os.path.join(place, name), encoding="utf-8", errors="replace") as file:
                found[path] = Page(file.read() if name.endswith(".html") else "")
    return found


def test_the_site_has_every_document_and_no_dead_link():
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as scratch:
        folder = os.path.join(scratch, "site")
        script = os.path.join(ROOT, "docs", "site.py")
        done = subprocess.run([sys.executable, "-B", script, folder], capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.endswith("site/index.html\n"), done
        pages = pages_of(folder)
    documents = {f"docs/{name[:-3]}.html" for name in os.listdir(os.path.join(ROOT, "docs")) if name.endswith(".md")}
    assert documents <= set(pages) and "index.html" in pages, documents - set(pages)
    count = 0
    for path, page in pages.items():
        for link in page.links + page.loaded:
            target = urllib.parse.urlsplit(link)
            if target.scheme:
                assert link not in page.loaded, (path, link)
                continue
            place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target.path)) if target.path else path
            assert place in pages, (path, link)
            assert not target.fragment or target.fragment in pages[place].anchors, (path, link)
            count += 1
        assert not page.tags & {"script", "iframe", "form"}, (path, page.tags)
    assert count > 200, count


if __name__ == "__main__":
    harness.run(globals(), each=False)
