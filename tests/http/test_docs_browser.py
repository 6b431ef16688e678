"""/docs in a real browser: every operation is shown, a question is asked, and nothing goes wrong on
any width. Skipped without Chromium and its driver."""

import json
import shutil
import subprocess
import sys
import urllib.request

import harness
from harness import SMALL

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
if BROWSER is None or DRIVER is None:
    print("skipped: neither chromium nor chromedriver, or only one of them")
    sys.exit(harness.SKIPPED)

READY = """const done = arguments[0];
const wait = () => document.querySelector("#index li") ? done(true) : setTimeout(wait, 10);
wait();"""
ANSWERED = """const done = arguments[0];
const answer = document.querySelector("#distance [aria-live] pre");
const wait = () => answer.textContent.length > 3 ? done(answer.textContent) : setTimeout(wait, 10);
document.querySelector("#distance button").click();
wait();"""


class Browser:
    """One session of WebDriver, spoken to over its own HTTP."""

    def __init__(self):
        self.driver = subprocess.Popen(
            [DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                self.port = int(line.rstrip(".\n").rsplit(" ", 1)[1])
                break
        options = {"binary": BROWSER, "args": ["--headless", "--no-sandbox", "--disable-gpu"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = ""
        session = self.call("POST", "", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/{session['sessionId']}"

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/session{self.session}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def run(self, script, kind="sync"):
        return self.call("POST", f"/execute/{kind}", {"script": script, "args": []})

    def open(self, url, width):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        command = {"cmd": "Emulation.setDeviceMetricsOverride", "params": size}
        self.call("POST", "/goog/cdp/execute", command)
        self.call("POST", "/url", {"url": "about:blank"})
        self.call("POST", "/url", {"url": url})
        self.run(READY, "async")

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()


def test_the_page_in_a_browser(daemon):
    daemon.solve(SMALL, "?name=town")
    document = daemon.get("/openapi.json").json
    browser = Browser()
    try:
        for width in (1280, 360):
            browser.open(f"{daemon.url}/docs#distance", width)
            browser.run("for (const one of document.querySelectorAll('details')) one.open = true;")
            shown = browser.run(
                "return [...document.querySelectorAll('details.operation')].map((one) => one.id)"
            )
            ids = [o["operationId"] for p in document["paths"].values() for o in p.values() if "tags" in o]
            assert sorted(shown) == sorted(ids)
            schemas = browser.run("return document.querySelectorAll('details.schema').length")
            assert schemas == len(document["components"]["schemas"])
            wide = browser.run("return document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, (width, wide)
        line = browser.run("return document.querySelector('#distance pre').textContent")
        assert line == f"curl '{daemon.url}/v1/graphs/town/distance?source=1&target=4'", line
        line = browser.run("return document.querySelector('#watchJob pre').textContent")
        assert line.startswith(f"curl -N {daemon.url}/v1/jobs/j_"), line
        answer = browser.run(ANSWERED, "async")
        assert answer.startswith("200") and '"distance":null' in answer, answer
        log = browser.call("POST", "/se/log", {"type": "browser"})
        assert log == [], log
    finally:
        browser.close()


if __name__ == "__main__":
    harness.run(globals())
