"""Compares /metrics, the text that Prometheus reads, with the requests and jobs of the tests."""

import os
import re
import shutil
import subprocess

import harness
from harness import SMALL
from test_watch import cancel, start_slow

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (NaN|[+-]Inf|-?[0-9][0-9.e+-]*)")
SUFFIX = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("",), "gauge": ("",)}
DISTANCE = 'route="/v1/graphs/{g}/distance"'


def parse(text):
    """Returns {sample with its labels: value}; every line must be well-formed."""
    samples = {}
    kinds = {}
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            family = line.split(" ", 3)[2]
            assert family not in kinds and len(line.split(" ", 3)[3]) > 4, line
            kinds[family] = None
        elif line.startswith("# TYPE "):
            assert line.split(" ")[2] == family and kinds[family] is None, line
            kinds[family] = line.split(" ")[3]
        else:
            match = SAMPLE.fullmatch(line)
            assert match, line
            name, labels, value = match.groups()
            assert name in [family + suffix for suffix in SUFFIX[kinds[family]]], line
            assert (kinds[family] == "counter") == (name.endswith("_total")), line
            key = name + ("{" + labels + "}" if labels else "")
            assert key not in samples, line
            samples[key] = float(value)
    return samples


def read(daemon):
    answer = daemon.get("/metrics").expect(200)
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-store"
    return parse(answer.body.decode())


def value(daemon, sample):
    return read(daemon).get(sample, 0)


def requests_of(samples, code, route):
    return sum(v for k, v in samples.items()
               if k.startswith("apspd_http_requests_total{") and f'code="{code}"' in k and route in k)


def until(daemon, check):
    """Waits until check() accepts the metrics: a request is counted only after its answer was
    sent."""
    while not check(samples := read(daemon)):
        harness.pause()
    return samples


def prepare(daemon):
    daemon.solve(b"p sp 4 3\na 1 2 6\na 2 3 7\na 3 1 1\n", "?name=asked")


def test_jobs_and_uploads_are_counted(daemon):
    before = read(daemon)
    document = daemon.solve(SMALL, "?name=counted&verify=true")
    assert daemon.solve(SMALL)["state"] == "done"
    assert daemon.solve(b"p sp 2 2\na 1 2 -5\na 2 1 1\n")["state"] == "failed"
    daemon.submit(b"p sp 2 1\na 1 9 1\n").expect(422, "BadGraph")
    daemon.submit(b"p sp 2 2\na 1 2 1\n").expect(422, "Truncated")
    after = until(daemon, lambda s: s['apspd_uploads_total{outcome="refused"}'] == 2)
    grown = {key: after[key] - before.get(key, 0) for key in after}
    assert grown["apspd_jobs_accepted_total"] == 3, grown
    assert grown['apspd_jobs_ended_total{state="done"}'] == 2, grown
    assert grown['apspd_jobs_ended_total{state="failed"}'] == 1, grown
    assert grown["apspd_jobs_known_total"] == 1, grown
    assert grown['apspd_uploads_total{outcome="taken"}'] == 3, grown
    assert grown["apspd_upload_bytes_total"] == 2 * len(SMALL) + 26 + 17 + 17, grown
    assert grown["apspd_relaxations_total"] == 4**3, grown
    assert grown["apspd_queue_wait_seconds_count"] == 2, grown
    assert grown["apspd_job_duration_seconds_count"] == 1, grown
    assert grown["apspd_graphs"] == 2 and grown["apspd_results"] == 1, after
    assert after["apspd_results_bytes"] > 128 + 4 * 16, after
    seconds = document["timings"]
    for phase in ("fill", "compute", "write", "parse"):
        spent = grown[f'apspd_job_phase_seconds_total{{phase="{phase}"}}']
        assert spent >= seconds[f"{phase}_s"] * 0.999, (phase, spent, seconds)
    assert grown['apspd_job_phase_seconds_total{phase="verify"}'] > 0, grown


def test_jobs_are_counted_by_state(daemon):
    cancelled = value(daemon, 'apspd_jobs_ended_total{state="cancelled"}')
    running, waiting = start_slow(daemon, 1)
    samples = read(daemon)
    assert samples['apspd_jobs{state="running"}'] == 1, samples
    assert samples['apspd_jobs{state="queued"}'] == 1, samples
    assert samples["apspd_ready"] == samples["apspd_workers"] == 1, samples
    assert samples["apspd_queue_limit_jobs"] == 64, samples
    cancel(daemon, waiting)
    cancel(daemon, running)
    samples = until(daemon, lambda s: s['apspd_jobs{state="running"}'] == 0)
    assert samples['apspd_jobs{state="queued"}'] == 0, samples
    assert samples['apspd_jobs_ended_total{state="cancelled"}'] == cancelled + 2, samples


def test_requests_are_counted_by_route_and_code(daemon):
    before = read(daemon)
    for _ in range(20):
        daemon.distance("asked", 1, 4)
    daemon.get("/v1/graphs/nowhere/distance?source=1&target=2").expect(404)
    daemon.get("/v1/graphs/asked/distance?source=1&target=99").expect(404)
    daemon.get("/nothing").expect(404)
    daemon.ask("HEAD", "/v1/graphs/asked/distance?source=1&target=4").expect(200)
    done = 'apspd_http_request_duration_seconds_count{method="GET",' + DISTANCE + "}"
    after = until(daemon, lambda s: s.get(done, 0) == before.get(done, 0) + 23)
    count = lambda code, route: requests_of(after, code, route) - requests_of(before, code, route)
    assert (count(200, DISTANCE), count(404, DISTANCE), count(404, 'route=""')) == (21, 2, 1)
    hits = 'apspd_result_lookups_total{outcome="%s"}'
    assert after[hits % "hit"] - before[hits % "hit"] == 22, after
    assert after[hits % "miss"] - before[hits % "miss"] == 1, after
    buckets = [v for k, v in after.items() if k.startswith(done[:35] + "_bucket") and DISTANCE in k]
    assert buckets == sorted(buckets) and buckets[-1] == after[done], buckets


def test_metrics_report_paths_connections_and_disk_space(daemon):
    before = read(daemon)
    for _ in range(3):
        daemon.get("/v1/graphs/asked/path?source=1&target=3").expect(200)
    after = read(daemon)
    lookups = 'apspd_path_lookups_total{outcome="%s"}'
    assert after[lookups % "miss"] - before[lookups % "miss"] == 1, after
    assert after[lookups % "hit"] - before[lookups % "hit"] == 2, after
    kept = after["apspd_path_cache_bytes"]
    assert kept > 0, after
    other = daemon.solve(b"p sp 3 2\na 1 2 41\na 2 3 43\n")["graph"]
    daemon.get(f"/v1/graphs/{other}/path?source=1&target=3").expect(200)
    assert value(daemon, "apspd_path_cache_bytes") > kept
    daemon.ask("DELETE", f"/v1/graphs/{other}").expect(204)
    assert value(daemon, "apspd_path_cache_bytes") == kept
    open_ones = [daemon.connect() for _ in range(5)]
    for connection in open_ones:
        daemon.ask("GET", "/livez", connection=connection)
    assert value(daemon, "apspd_http_connections") >= 6
    for connection in open_ones:
        connection.close()
    until(daemon, lambda s: s["apspd_http_connections"] < 6)
    disk = os.statvfs(daemon.state)
    assert after["apspd_store_size_bytes"] == disk.f_blocks * disk.f_frsize, after
    assert 0 < after["apspd_store_free_bytes"] < after["apspd_store_size_bytes"], after


def test_metrics_describe_the_process_and_the_build(daemon):
    samples = read(daemon)
    version = daemon.get("/version").json
    cuda = str(version["build"]["cuda"]).lower()
    assert samples[f'apspd_build_info{{cuda="{cuda}",version="{version["version"]}"}}'] == 1
    assert samples["process_start_time_seconds"] == value(daemon, "process_start_time_seconds")
    assert abs(samples["process_start_time_seconds"] - os.stat(daemon.state).st_ctime) < 3600
    assert samples["process_resident_memory_bytes"] > 2**20, samples
    assert samples["process_cpu_seconds_total"] > 0, samples
    assert len(daemon.open_files()) <= samples["process_open_fds"] + 3, samples


def test_promtool_finds_no_errors(daemon):
    promtool = shutil.which("promtool")
    if promtool is None:
        print("promtool is not installed: the format was read by this test alone")
        return
    text = daemon.get("/metrics").body
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


if __name__ == "__main__":
    harness.run(globals())
