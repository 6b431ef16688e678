"""The page at /: its headers, its size, and that it loads nothing from other servers."""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import zlib

import harness

# Compressed with gzip: the page is a single document with embedded icons and scripts.
BUDGET_BYTES = 130 * 1000
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"


def test_the_page_is_sent_only_to_clients_that_accept_html(daemon):
    for accept in (BROWSER, "*/*", "text/html"):
        answer = daemon.get("/", Accept=accept).expect(200)
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert answer.headers["Vary"] == "Accept, Accept-Encoding"
    assert daemon.get("/").body == answer.body
    daemon.get("/", Accept="application/json").expect(406, "NotAcceptable")
    daemon.get("/?no=1").expect(400, "UnknownParameter")
    assert daemon.ask("HEAD", "/").expect(200).body == b""


def test_the_page_is_compressed_and_within_its_size_limit(daemon):
    plain = daemon.get("/").expect(200)
    packed = daemon.get("/", Accept_Encoding="gzip, deflate, br, zstd").expect(200)
    assert packed.headers["Content-Encoding"] == "gzip"
    assert zlib.decompress(packed.body, 31) == plain.body
    assert len(packed.body) <= BUDGET_BYTES, len(packed.body)
    print(f"{len(packed.body)} bytes in gzip")
    for one, coding in ((plain, "identity"), (packed, "gzip")):
        again = daemon.get("/", If_None_Match=one.headers["ETag"], Accept_Encoding=coding).expect(304)
        assert again.body == b""
    assert plain.headers["ETag"] != packed.headers["ETag"]


VENDOR = os.path.join(ROOT, "server/http/web/vendor")


def vendored(name):
    with open(os.path.join(VENDOR, name), "rb") as file:
        return file.read()


def own_text(page):
    """Returns the page without Leaflet, which has addresses in comments and creates elements from text."""
    for name in ("leaflet.css", "leaflet.js"):
        source = re.sub(r"^//# sourceMappingURL=.*$", "", vendored(name).decode().replace("\r\n", "\n"), flags=re.M)
        assert source in page, name
        page = page.replace(source, "")
    return page


def test_vendored_files_match_their_recorded_checksums(_):
    record = vendored("README.md").decode()
    for name in ("leaflet.js", "leaflet.css", "LICENSE"):
        assert f"| `{name}` | `{hashlib.sha256(vendored(name)).hexdigest()}` |" in record, name
    version = re.search(rb"Leaflet ([\d.]+),", vendored("leaflet.js"))[1].decode()
    assert f"Leaflet {version}" in record and "BSD-2-Clause" in record


def test_the_page_loads_nothing_from_other_hosts(daemon):
    page = own_text(daemon.get("/").expect(200).body.decode())
    # XML namespaces, which are never fetched.
    page = page.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"(?:https?:)?//[\w.-]+\.\w", page), re.search(r".{30}//[\w.-]+\.\w.{30}", page)
    assert not re.search(r"@(STYLE|SCRIPT)@", page)
    sources = re.findall(r"""\s(?:src|href|action)=["']([^"']*)""", page)
    assert {one for one in sources if not one.startswith("data:")} == {"#", "#main", "docs", "readyz?verbose"}, sources
    assert not re.search(r"\son\w+=[\"']|\sstyle=|eval\(|innerHTML|\burl\((?!data:)|@import", page)


def test_csp_allows_only_the_script_in_the_page(daemon):
    answer = daemon.get("/").expect(200)
    page = answer.body.decode()
    policy = dict(part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'" and policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    for name, tag in (("script-src", "script"), ("style-src", "style")):
        found = re.findall(rf"<{tag}[^>]*>(.*?)</{tag}>", page, re.S)
        assert len(found) == 1, (tag, len(found))
        digest = hashlib.sha256(found[0].encode()).digest()
        assert policy[name] == f"'sha256-{base64.b64encode(digest).decode()}'", name


def bundled(modules):
    """Returns what embed.py makes of a page of modules: (exit code, messages, script)."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        files = {"a.html": "@STYLE@@SCRIPT@", "a.css": "", "a.json": '{"info": {}}', "a.svg": "<svg/>"}
        for name, text in {**files, **modules}.items():
            paths[name] = os.path.join(folder, name)
            with open(paths[name], "w", encoding="utf-8") as file:
                file.write(text)
        page = [paths["a.html"], paths["a.css"]]
        done = subprocess.run(
            ["python3", os.path.join(ROOT, "server/http/web/embed.py"), os.path.join(folder, "out.c"), "1",
             "--openapi", paths["a.json"], "--docs", *page, paths["a.html"],
             "--vendor", paths["a.css"], paths["a.css"], "--icon", paths["a.svg"],
             "--home", *page, *(paths[name] for name in modules)],
            capture_output=True, text=True)
        if done.returncode != 0:
            return done.returncode, done.stderr, ""
        with open(os.path.join(folder, "out.c"), encoding="utf-8") as file:
            array = re.search(r"home_plain\[\] = \{(.*?)\}", file.read(), re.S)[1]
        return 0, "", bytes(int(one, 16) for one in array.split(",") if one.strip()).decode()


def test_the_scripts_of_the_page_are_bundled(_):
    first = "const hidden = 1;\nexport function two() {\n  return hidden + 1;\n}\nexport let three = 3;\n"
    second = 'import { two,\n  three } from "./first.js";\nconst hidden = 5;\nconsole.log(two() + three + hidden);\n'
    code, said, script = bundled({"first.js": first, "second.js": second})
    assert code == 0, said
    if shutil.which("node"):
        printed = subprocess.run(["node", "-"], input=script, capture_output=True, text=True)
        assert printed.stdout == "10\n", (printed, script)
    for wrong in ('import { four } from "./first.js";\n', 'import * as all from "./first.js";\n',
                  'import { two } from "./later.js";\n', "export default 3;\n"):
        code, said, _ = bundled({"first.js": first, "second.js": wrong})
        assert code != 0 and "second.js" in said, (wrong, said)


if __name__ == "__main__":
    harness.run(globals())
