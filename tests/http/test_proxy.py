"""The service behind nginx, at a subpath and at the root, with the proxy's gzip enabled: the
page, the clients and curl work. Skipped without nginx."""

import gzip
import http.client
import os
import shutil
import socket
import subprocess
import sys
import tempfile

import harness

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NGINX = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
if NGINX is None:
    print("skipped: not installed: nginx")
    sys.exit(harness.SKIPPED)

SETTINGS = """daemon off; pid {folder}/pid; error_log stderr; worker_processes 1;
events {{}}
http {{
  access_log off; gzip on; gzip_proxied any; gzip_types application/json text/csv; gzip_min_length 1;
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
  uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  server {{ listen 127.0.0.1:{port}; {block} }}
}}
"""


class Proxy:
    """nginx with the block of deploy/nginx.conf. path: the location of the service, "/apsp/" or
    "/"."""

    def __init__(self, daemon, path):
        self.path = path
        self.folder = tempfile.TemporaryDirectory(prefix="apspd-test-")
        with open(os.path.join(ROOT, "deploy/nginx.conf"), encoding="utf-8") as file:
            block = file.read().replace("127.0.0.1:8080", f"127.0.0.1:{daemon.port}")
        if path == "/":
            block = block.replace("/apsp/", "/").replace("    proxy_redirect / /;\n", "")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}{path}"
        settings = os.path.join(self.folder.name, "nginx.conf")
        with open(settings, "w", encoding="utf-8") as file:
            file.write(SETTINGS.format(folder=self.folder.name, port=self.port, block=block))
        self.process = subprocess.Popen([NGINX, "-p", self.folder.name, "-c", settings], stderr=subprocess.PIPE)
        harness.wait_until(daemon, self.answers)

    def answers(self):
        assert self.process.poll() is None, self.process.stderr.read()
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
            return True
        except OSError:
            return False

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=harness.PATIENCE_S)
        connection.request(method, self.path + path, body, headers or {})
        response = connection.getresponse()
        return harness.Answer(response.status, response.headers, response.read())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate()
        self.folder.cleanup()


def prepare(daemon):
    daemon.solve(harness.SMALL, "?name=town")


def behind_nginx(test):
    def both(daemon):
        for path in ("/apsp/", "/"):
            with Proxy(daemon, path) as proxy:
                test(daemon, proxy)

    return both


@behind_nginx
def test_the_location_header_leads_back_through_the_proxy(_, proxy):
    answer = proxy.ask("POST", "v1/jobs?name=town", harness.SMALL, {"Prefer": "wait=30"})
    assert answer.status in (200, 202), answer.body
    location = answer.headers["Location"]
    assert location == f"{proxy.path}v1/jobs/{answer.json['id']}", location
    assert proxy.ask("GET", location[len(proxy.path):]).json["graph"] == answer.json["graph"]


@behind_nginx
def test_compression_by_the_proxy_changes_no_content(daemon, proxy):
    for path in ("v1/graphs/town/matrix?format=json", "v1/graphs/town/matrix?format=csv", "v1/graphs/town/row/1"):
        answer = proxy.ask("GET", path, headers={"Accept-Encoding": "gzip"})
        assert answer.headers["Content-Encoding"] == "gzip", path
        assert gzip.decompress(answer.body) == daemon.get(f"/{path}").body, path
    ranged = proxy.ask("GET", "v1/graphs/town/matrix", headers={"Range": "bytes=8-15", "Accept-Encoding": "gzip"})
    assert ranged.status == 206 and ranged.body == daemon.get("/v1/graphs/town/matrix").body[8:16]


@behind_nginx
def test_the_python_client_works_behind_the_proxy(_, proxy):
    program = """import sys, apspd
town = apspd.Client(sys.argv[1]).solve([("a", "b", 3), ("b", "c", 4)], name="line", directed=False)
print(town.distance("a", "c"), town.path("c", "a"), town.matrix().shape)"""
    done = subprocess.run(["/usr/bin/python3", "-c", program, proxy.url], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "clients/python")})
    assert done.returncode == 0 and done.stdout.startswith("7 "), done


@behind_nginx
def test_the_page_works_behind_the_proxy(_, proxy):
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        return
    import browser
    with browser.Browser() as page:
        page.open(proxy.url, 1440, "document.querySelector('#devices li')")
        page.click("[data-example=islands]")
        page.until("document.querySelector('#downloads a') && document.querySelector('#drawing canvas')")
        line = page.run("return document.querySelector('#curl-list').lastElementChild.textContent")
        assert line.endswith(f"'{proxy.url}v1/jobs?name=example-islands&format=edges&directed=false'"), line
        assert page.run("return document.querySelector('#downloads a').href").startswith(f"{proxy.url}v1/graphs/")
        page.click("header nav a")
        page.until("document.querySelector('#index li')")
        assert f"curl -H 'Prefer: wait=30' --data-binary @town.gr '{proxy.url}v1/jobs?name=town'" in page.run(
            "return document.querySelector('#content pre').textContent")
        page.click("#nav a")
        page.until("document.querySelector('#devices li')")
        assert page.log() == [], page.log()


if __name__ == "__main__":
    harness.run(globals())
