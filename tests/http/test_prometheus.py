"""A real Prometheus loads the rules, scrapes the service, and alerts when the service
is killed repeatedly. Skipped without prometheus and promtool."""

import json
import os
import queue
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

import harness
import sites

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "deploy", "monitoring")
PROMETHEUS = shutil.which("prometheus")
PROMTOOL = shutil.which("promtool")
if PROMETHEUS is None or PROMTOOL is None:
    print("skipped: prometheus or promtool is not installed")
    sys.exit(harness.SKIPPED)

# An alert for each start that was scraped: a test that waits for it knows that the start was seen.
SEEN = """groups:
  - name: seen
    rules:
      - alert: Seen
        expr: process_start_time_seconds{job="apspd"}
        labels: {start: '{{ $value | printf "%.3f" }}'}
"""
CONFIG = """global: {{scrape_interval: 200ms, scrape_timeout: 200ms, evaluation_interval: 200ms}}
rule_files: [{rules}, {seen}]
alerting:
  alertmanagers: [{{static_configs: [{{targets: ["127.0.0.1:{alerts}"]}}]}}]
scrape_configs: [{{job_name: apspd, static_configs: [{{targets: ["127.0.0.1:{daemon}"]}}]}}]
"""


def promtool(*arguments):
    done = subprocess.run([PROMTOOL, *arguments], capture_output=True, text=True, cwd=FOLDER)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_loads_the_rules_and_raises_the_alerts():
    promtool("check", "rules", "apspd.rules.yml")
    for name in ("prometheus.yml", "prometheus-compose.yml"):
        promtool("check", "config", name)
    promtool("test", "rules", "apspd.rules.test.yml")


def questions():
    """Returns each query of the dashboard, as Grafana sends it."""
    with open(os.path.join(FOLDER, "grafana-apspd.json"), encoding="utf-8") as file:
        panels = json.load(file)["panels"]
    asked = [target["expr"] for panel in panels for target in panel.get("targets", ())]
    return [one.replace("$__rate_interval", "5m").replace("$instance", ".*") for one in asked]


def test_every_query_of_the_dashboard_is_valid():
    asked = questions()
    rules = [{"record": f"dashboard:{i}", "expr": one} for i, one in enumerate(asked)]
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)
        file.flush()
        promtool("check", "rules", file.name)
    assert len(asked) > 30, asked


class AlertHandler(sites.Handler):
    """Stands in for an Alertmanager."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        for alert in json.loads(body):
            self.server.alerts.put(alert["labels"])
        self.send(200, {}, b"")


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Watch:
    """Prometheus, and the alerts that it sends."""

    def __init__(self, port, server):
        self.folder = tempfile.mkdtemp(prefix="apspd-test-")
        self.server = server
        self.server.alerts = queue.Queue()
        self.told = []
        seen = self.write("seen.yml", SEEN)
        rules = os.path.join(FOLDER, "apspd.rules.yml")
        alerts = self.server.server_port
        config = CONFIG.format(rules=rules, seen=seen, alerts=alerts, daemon=port)
        self.port = free_port()
        self.process = subprocess.Popen(
            [PROMETHEUS, "--config.file", self.write("prometheus.yml", config),
             "--storage.tsdb.path", os.path.join(self.folder, "data"),
             "--web.listen-address", f"127.0.0.1:{self.port}", "--log.level", "warn"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def until(self, **labels):
        """Waits for an alert. It may have arrived while the test waited for another alert, and is
        not sent again soon."""
        seen = 0
        while True:
            for found in self.told[seen:]:
                if all(found.get(key) == value for key, value in labels.items()):
                    return found
            seen = len(self.told)
            self.told.append(self.server.alerts.get(timeout=600))

    def ask(self, question):
        address = f"http://127.0.0.1:{self.port}/api/v1/query?{urllib.parse.urlencode({'query': question})}"
        with urllib.request.urlopen(address, timeout=600) as answer:
            return json.load(answer)["data"]["result"]

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        shutil.rmtree(self.folder)


def start_of(daemon):
    text = daemon.get("/metrics").body.decode()
    return "%.3f" % float(re.search(r"^process_start_time_seconds (\S+)$", text, re.MULTILINE)[1])


def test_prometheus_alerts_after_kills_and_answers_the_dashboard_queries():
    with sites.serving(AlertHandler) as server, harness.Daemon() as daemon:
        daemon.arguments += ("--listen", f"127.0.0.1:{daemon.port}")
        watch = Watch(daemon.port, server)
        try:
            watch.until(alertname="Seen", start=start_of(daemon))
            for _ in range(3):
                daemon.kill()
                daemon.start()
                watch.until(alertname="Seen", start=start_of(daemon))
            fired = watch.until(alertname="ApspdRestarting")
            assert fired["severity"] == "critical" and fired["job"] == "apspd", fired
            # A rate needs two scrapes of a counter.
            harness.wait_until(daemon, lambda: all(watch.ask(one) for one in questions()))
        finally:
            watch.close()


if __name__ == "__main__":
    harness.run(globals())
