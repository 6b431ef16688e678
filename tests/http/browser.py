"""Runs headless Chromium through the HTTP interface of WebDriver. Importing this module skips the
test if there is no browser."""

import atexit
import base64
import json
import shutil
import subprocess
import sys
import urllib.error
import urllib.request

import harness

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
# Maximum seconds of every wait in a page.
SECONDS = 120
if BROWSER is None or DRIVER is None:
    print("skipped: neither chromium nor chromedriver, or only one of them")
    sys.exit(harness.SKIPPED)


def start_driver():
    """Starts a chromedriver and returns it with its port. chromedriver chooses a free port for IPv4
    and then opens it for IPv6 as well; if another process has taken that port in between,
    chromedriver exits and is started again."""
    said = []
    for _ in range(10):
        driver = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  text=True)
        for line in driver.stdout:
            if "started successfully on port" in line:
                return driver, int(line.rstrip(".\n").rsplit(" ", 1)[1])
            said.append(line)
        driver.wait()
        driver.stdout.close()
    raise AssertionError(("chromedriver does not start", said))


class Browser:
    """One WebDriver session. Each session has its own tab and storage. All sessions use the
    same chromedriver, because starting it takes a second."""

    idle = []

    def __new__(cls):
        return cls.idle.pop() if cls.idle else super().__new__(cls)

    def __init__(self):
        if not hasattr(self, "session"):
            self.start()
            return
        tab = self.call("POST", "/window/new", {"type": "tab"})["handle"]
        self.call("DELETE", "/window")
        self.call("POST", "/window", {"handle": tab})
        self.devtools("Network.clearBrowserCache")
        self.log()

    def start(self):
        self.driver, self.port = start_driver()
        options = {"binary": BROWSER, "args": ["--headless", "--no-sandbox", "--disable-gpu"]}
        wanted = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
            "timeouts": {"script": SECONDS * 1000},
        }
        self.session = ""
        atexit.register(self.end)
        session = self.call("POST", "", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/{session['sessionId']}"

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/session{self.session}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
        )
        try:
            with urllib.request.urlopen(request, timeout=SECONDS + 30) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError((path, error.read()[:1500])) from None

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def run(self, script, *arguments, kind="sync"):
        return self.call("POST", f"/execute/{kind}", {"script": script, "args": list(arguments)})

    def until(self, expression):
        """Waits in the page until a JavaScript expression is true; returns its value."""
        script = f"""const done = arguments[arguments.length - 1];
            const look = () => {{ const value = {expression}; value ? done(value) : setTimeout(look, 20); }};
            look();"""
        try:
            return self.run(script, kind="async")
        except AssertionError:
            raise AssertionError(("waited for", expression, self.log())) from None

    def size(self, width, height=900):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                      deviceScaleFactor=1, mobile=width < 600)

    def open(self, url, width, ready):
        self.size(width)
        self.call("POST", "/url", {"url": "about:blank"})
        self.call("POST", "/url", {"url": url})
        return self.until(ready)

    def element(self, selector):
        found = self.call("POST", "/element", {"using": "css selector", "value": selector})
        return next(iter(found.values()))

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).scrollIntoView({ block: 'center' })", selector)
        self.call("POST", f"/element/{self.element(selector)}/click", {})

    def type(self, selector, text):
        self.call("POST", f"/element/{self.element(selector)}/value", {"text": text})

    def press(self, *keys):
        events = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": events}]})

    def picture(self, path, whole=True):
        """Saves the page as a PNG file, after a change of its size has been drawn (two frames)."""
        self.run("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));", kind="async")
        made = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(made["data"]))

    def log(self):
        return self.call("POST", "/se/log", {"type": "browser"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.idle.append(self)

    def end(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
