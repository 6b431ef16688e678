"""The request guard beside nginx: both answer tests/http/guard_cases.txt, and a line of figures tells
how many cases each met, and how many hidden requests each ran. nginx is left out where it is not
installed. Arguments: APSPD [--verbose], or the port of a server that is running, to judge that."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "http"))

import guard_cases
import harness

PATIENCE_S = 4
VERBOSE = "--verbose" in sys.argv

# What the cases ask for, with the same answers; each body is read before.
NGINX = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
    access_log off; keepalive_timeout 2; client_header_timeout 1; client_body_timeout 1;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location = /livez {{ return 200 "ok"; }}
        location = /version {{ return 200 '{{"api":1}}'; }}
        location = /v1/jobs {{ proxy_pass http://127.0.0.1:{port}/taken; }}
        location = /taken {{ return 202 "ok"; }}
        location / {{ return 404; }}
    }}
}}
"""


def report(name, port):
    cases = guard_cases.read_cases()
    outcomes = guard_cases.try_all(port, cases, PATIENCE_S)
    met = smuggled = 0
    for case, outcome in zip(cases, outcomes):
        is_met = guard_cases.is_met(case, outcome)
        is_smuggled = guard_cases.is_smuggled(case, outcome)
        met += is_met
        smuggled += is_smuggled
        if VERBOSE and (is_smuggled or not is_met):
            print(f"  {'smuggled' if is_smuggled else 'missed'} {case.verdict} {case}: {outcome}")
    print(f"guard_{name}_met {met} of {len(cases)}")
    print(f"guard_{name}_smuggled {smuggled}")


def report_nginx():
    nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if nginx is None:
        print("guard_nginx skipped: not installed")
        return
    import socket

    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        path = os.path.join(folder, "nginx.conf")
        pathlib.Path(path).write_text(NGINX.format(folder=folder, port=port))
        process = subprocess.Popen([nginx, "-p", folder, "-c", path], stderr=subprocess.PIPE)
        try:
            wait_for(port, process)
            report("nginx", port)
        finally:
            process.terminate()
            process.wait()
            process.stderr.close()


def wait_for(port, process):
    """nginx does not say when it listens."""
    import socket

    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            pass
    raise AssertionError(process.stderr.read())


def main():
    if sys.argv[1].isdigit():
        report("server", int(sys.argv[1]))
        return
    with harness.Daemon("--http.hosts", "a", "--http.header_timeout_s", "1") as daemon:
        report("apspd", daemon.port)
    report_nginx()


main()
