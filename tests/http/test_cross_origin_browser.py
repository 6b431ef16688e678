"""A page of another origin, and a page with a foreign host name, in a real browser: refused
unless http.cors_origins lists the origin. Skipped without Chromium and its driver."""

import contextlib
import os

import browser
import harness
import sites
from harness import SMALL

ASK = """const [url, options] = arguments, done = arguments[arguments.length - 1];
fetch(url, options).then(async (answer) => done({
    type: answer.type, status: answer.status, text: await answer.text(),
    headers: Object.fromEntries(answer.headers) }), (error) => done({ error: String(error) }));"""
JSON = '{"n": 3, "edges": [[0, 1, 2], [1, 2, 3]]}'
OTHER = '{"n": 2, "edges": [[0, 1, 7]]}'


@contextlib.contextmanager
def page_of(url):
    with browser.Browser() as page:
        page.open(url, 800, "document.title")
        yield lambda target, **options: page.run(ASK, target, options, kind="async")


def graphs(daemon):
    return [name for graph in daemon.get("/v1/graphs").json["graphs"] for name in graph["names"]]


def test_requests_from_pages_of_other_origins_are_refused():
    with sites.app(os.devnull) as port, harness.Daemon() as daemon:
        for origin in (f"http://127.0.0.1:{port}", f"http://localhost:{port}"):
            with page_of(f"{origin}/") as fetch:
                answer = fetch(f"{daemon.url}/v1/jobs")
                assert "error" in answer, answer
                for options in ({"method": "POST", "body": SMALL.decode()}, {"method": "PUT", "body": JSON},
                                {"method": "POST", "body": JSON, "headers": {"Content-Type": "application/json"}},
                                {"method": "DELETE"}):
                    answer = fetch(f"{daemon.url}/v1/graphs?name=theirs", **options)
                    assert "error" in answer, answer
                # A browser sends a simple request without preflight, and the page cannot even see
                # that it failed.
                simple = {"method": "POST", "body": SMALL.decode(), "mode": "no-cors"}
                assert fetch(f"{daemon.url}/v1/graphs?name=theirs", **simple)["type"] == "opaque"
        assert graphs(daemon) == []


def test_requests_from_listed_origins_are_served():
    with sites.app(os.devnull) as port:
        origin = f"http://localhost:{port}"
        with harness.Daemon("--http.cors_origins", origin) as daemon, page_of(f"{origin}/") as fetch:
            json = {"Content-Type": "application/json"}
            answer = fetch(f"{daemon.url}/v1/jobs?name=posted", method="POST", body=JSON,
                           headers={**json, "Prefer": "wait=30", "Idempotency-Key": "one"})
            assert answer["status"] in (200, 202) and answer["headers"]["location"].startswith("/v1/jobs/"), answer
            assert answer["headers"]["x-request-id"] and "wait" in answer["headers"]["preference-applied"], answer
            answer = fetch(f"{daemon.url}/v1/graphs?name=put", method="PUT", body=OTHER, headers=json)
            assert answer["status"] == 201 and answer["headers"]["location"], answer
            answer = fetch(f"{daemon.url}/v1/graphs/posted/distance?source=0&target=2",
                           headers={"Accept": "text/plain", "Prefer": "wait=30"})
            assert answer["status"] == 200 and answer["text"] == "5\n" and answer["headers"]["etag"], answer
            answer = fetch(f"{daemon.url}/v1/graphs/posted/matrix?format=npy", headers={"Range": "bytes=0-9"})
            assert answer["status"] == 206 and answer["headers"]["content-range"].startswith("bytes 0-9/"), answer
            answer = fetch(f"{daemon.url}/v1/graphs/none", method="DELETE")
            assert answer["status"] == 404 and "NoSuchGraph" in answer["text"], answer
            assert fetch(f"{daemon.url}/v1/graphs/put", method="DELETE")["status"] in (200, 204)
            assert graphs(daemon) == ["posted"]
            # Another origin of the same server is not listed.
            with page_of(f"http://127.0.0.1:{port}/") as other:
                assert "error" in other(f"{daemon.url}/v1/jobs")


def test_the_page_of_the_service_works_under_each_host_name():
    with harness.Daemon() as daemon:
        for name in ("127.0.0.1", "localhost", "a.localhost"):
            with page_of(f"http://{name}:{daemon.port}/") as fetch:
                answer = fetch("/v1/graphs?name=own", method="POST", body=SMALL.decode())
                assert answer["status"] in (200, 201), answer
        assert graphs(daemon) == ["own"]


if __name__ == "__main__":
    harness.run(globals())
