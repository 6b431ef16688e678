"""/docs: one page that loads nothing from other servers and runs only its own script."""

import base64
import hashlib
import re
import zlib

import harness


def test_docs_are_served_as_a_page(daemon):
    answer = daemon.get("/docs").expect(200)
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    packed = daemon.get("/docs", Accept_Encoding="gzip, deflate, br, zstd").expect(200)
    assert packed.headers["Content-Encoding"] == "gzip"
    assert zlib.decompress(packed.body, 31) == answer.body
    assert daemon.get("/docs", If_None_Match=answer.headers["ETag"]).expect(304).body == b""
    daemon.get("/docs?no=1").expect(400, "UnknownParameter")


def test_the_docs_page_loads_nothing_from_other_hosts(daemon):
    page = daemon.get("/docs").expect(200).body.decode()
    # The icon is embedded; its XML namespace looks like an address.
    page, icons = re.subn(r'href="data:image/svg\+xml,%3Csvg [^"<>]+"', 'href="data:,"', page)
    assert icons == 1 and "@ICON@" not in page
    assert not re.search(r"(?:https?:)?//[\w.-]+\.\w", page.replace("//\n", ""))
    assert not re.search(r"@(STYLE|SCRIPT)@", page)
    sources = re.findall(r"""(?:src|href|url)\s*[=(:]\s*["']([^"'$]+)""", page)
    assert set(sources) == {"data:,", "#content", "./", "openapi.json"}, sources
    assert not re.search(r"\son\w+=|\sstyle=|eval\(|innerHTML", page)


def test_csp_allows_only_the_script_and_style_in_the_docs_page(daemon):
    answer = daemon.get("/docs").expect(200)
    page = answer.body.decode()
    policy = dict(part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'" and policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    for name, tag in (("script-src", "script"), ("style-src", "style")):
        found = re.findall(rf"<{tag}[^>]*>(.*?)</{tag}>", page, re.S)
        assert len(found) == 1, (tag, len(found))
        digest = hashlib.sha256(found[0].encode()).digest()
        assert policy[name] == f"'sha256-{base64.b64encode(digest).decode()}'", name


if __name__ == "__main__":
    harness.run(globals())
