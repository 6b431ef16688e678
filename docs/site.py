"""Builds the documents as pages that a browser opens from the disk or that any server serves.

    python3 docs/site.py [FOLDER]        (build-site by default; takes python3-markdown)

Pages ask nothing of any other server and run no script."""

import html
import os
import posixpath
import re
import shutil
import sys

import markdown

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The navigation: heads, and under each the documents with their titles there.
PAGES = (
    ("Start", (("README.md", "Overview"), ("docs/comparison.md", "Comparison"), ("docs/benchmarks.md", "Benchmarks"))),
    ("Use", (("docs/api.md", "API"), ("docs/tools.md", "Files of other tools"),
             ("clients/python/README.md", "Python"), ("clients/javascript/README.md", "JavaScript"))),
    ("Operate", (("docs/operations.md", "Operations"), ("docs/security.md", "Security"),
                 ("deploy/runbook.md", "Runbook"), ("deploy/bundle.md", "Bundle"))),
    ("Develop", (("ARCHITECTURE.md", "Architecture"), ("docs/design.md", "Design"),
                 ("CONTRIBUTING.md", "Contributing"), ("SECURITY.md", "Vulnerabilities"),
                 ("CHANGELOG.md", "Changes"))),
)
DOCUMENTS = [path for _, pages in PAGES for path, _ in pages]
STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 78rem; display: flex; gap: 2rem; padding: 1rem; }
nav { flex: 0 0 12rem; } nav ul { list-style: none; padding: 0; margin: 0 0 1rem; }
nav [aria-current] { font-weight: bold; } main { min-width: 0; flex: 1; }
pre { overflow-x: auto; padding: .8rem; background: #8882; } code { font-size: .9em; }
table { display: block; overflow-x: auto; border-collapse: collapse; }
th, td { border: 1px solid #8886; padding: .2rem .6rem; text-align: left; vertical-align: top; }
img { max-width: 100%; background: #fff; }
@media (max-width: 50rem) { body { display: block; } }
"""


def place_of(path):
    """Where the page of a document lies in the site; other files keep their path."""
    if path == "README.md":
        return "index.html"
    if path in DOCUMENTS:
        return path.replace("README.md", "index.html").replace(".md", ".html")
    return path


def navigation(path):
    here = posixpath.dirname(place_of(path))
    for head, pages in PAGES:
        yield f"<b>{head}</b><ul>"
        for other, title in pages:
            current = ' aria-current="page"' if other == path else ""
            yield f'<li><a href="{posixpath.relpath(place_of(other), here or ".")}"{current}>{title}</a></li>'
        yield "</ul>"


def page(path, folder):
    """The page of a document. The files that it links to come along, as they are."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        body = markdown.markdown(file.read(), extensions=["tables", "fenced_code", "toc", "sane_lists"])
    base = posixpath.dirname(path)

    def link(match):
        target, mark, anchor = match[2].partition("#")
        if not target or re.match(r"\w+:", target):
            return match[0]
        found = posixpath.normpath(posixpath.join(base, target))
        if found not in DOCUMENTS:
            os.makedirs(os.path.dirname(os.path.join(folder, found)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, found), os.path.join(folder, found))
        return f'{match[1]}="{posixpath.relpath(place_of(found), posixpath.dirname(place_of(path)) or ".")}{mark}{anchor}"'

    body = re.sub(r'\b(href|src)="([^"]*)"', link, body)
    title = html.escape(re.search(r"<h1[^>]*>(.*?)</h1>", body)[1])
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title} - apspd</title>'
            f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style>'
            f'<nav aria-label="Documents">{"".join(navigation(path))}</nav><main>{body}</main></html>\n')


def build(folder):
    for path in DOCUMENTS:
        target = os.path.join(folder, place_of(path))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(page(path, folder))


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build-site")
    build(folder)
    print(f"open {os.path.join(os.path.abspath(folder), 'index.html')}")
