"""deploy/monitoring: the alerts and the dashboard use only series of /metrics, and the runbook
describes every alert."""

import json
import os
import re

import harness

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "deploy", "monitoring")
SERIES = re.compile(r"\b(?:apspd|process)_\w+")


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def families(daemon):
    """Returns {series name: its labels} of every metric family that has a head."""
    text = daemon.get("/metrics").body.decode()
    found = {}
    for name, kind in re.findall(r"# TYPE (\w+) (\w+)", text):
        for suffix in ("_bucket", "_sum", "_count") if kind == "histogram" else ("",):
            labels = re.findall(rf"^{name}{suffix}\{{(.*)\}} ", text, re.MULTILINE)
            found[name + suffix] = {key for one in labels for key in re.findall(r'(\w+)="', one)}
    return found


def expressions():
    rules = read("apspd.rules.yml")
    parts = re.split(r"- alert: (\w+)\n", rules)
    for name, body in zip(parts[1::2], parts[2::2]):
        yield name, re.search(r"expr: (.*?)\n        (?:for|labels):", body, re.DOTALL)[1]
    for panel in json.loads(read("grafana-apspd.json"))["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]


def test_every_series_in_the_alerts_and_the_dashboard_exists(daemon):
    daemon.solve(harness.SMALL)
    known = families(daemon)
    count = 0
    for place, expression in expressions():
        for name in SERIES.findall(expression):
            assert name in known, (place, name)
            count += 1
        for name, matchers in re.findall(r"\b((?:apspd|process)_\w+)\{([^}]*)\}", expression):
            asked = set(re.findall(r'(\w+)(?:=~|!=|!~|=)"', matchers)) - {"job", "instance"}
            assert asked <= known[name], (place, name, asked)
    assert count > 50, count


def test_every_alert_has_a_test_and_a_runbook_entry(_):
    alerts = re.findall(r"- alert: (\w+)", read("apspd.rules.yml"))
    tested = re.findall(r"^  - name: (Apspd\w+)", read("apspd.rules.test.yml"), re.MULTILINE)
    silent = re.findall(r"eval_time: 60m, alertname: (\w+)", read("apspd.rules.test.yml"))
    with open(os.path.join(ROOT, "deploy", "runbook.md"), encoding="utf-8") as file:
        known = re.findall(r"^### (Apspd\w+)$", file.read(), re.MULTILINE)
    assert alerts == tested == silent, (alerts, tested, silent)
    assert sorted(alerts) == sorted(known), set(alerts) ^ set(known)
    for name in alerts:
        assert f'runbook: "runbook.md#{name.lower()}"' in read("apspd.rules.yml"), name


def test_the_dashboard_is_consistent(_):
    board = json.loads(read("grafana-apspd.json"))
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    cells = set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24, panel["title"]
        own = {(x, y) for x in range(place["x"], place["x"] + place["w"])
               for y in range(place["y"], place["y"] + place["h"])}
        assert not own & cells, panel["title"]
        cells |= own
        for target in panel.get("targets", ()):
            assert 'instance=~"$instance"' in target["expr"], target
            assert target["datasource"] == {"type": "prometheus", "uid": "${datasource}"}, target


if __name__ == "__main__":
    harness.run(globals())
