"""The servers of the load report, and the client that measures them. The servers are apspd with
a solved graph and a job in the background, the bare responder, and nginx."""

import contextlib
import json
import os
import re
import socket
import struct
import subprocess

NGINX_DISTANCE = '{"source":1234,"target":2345,"distance":16789}\n'


class Target:
    """The target of a request: server, path, body and header; and the server's process, whose
    processor time is measured."""

    def __init__(self, server, path, body=None, header=None):
        self.url, self.process = server
        self.path = path
        self.body = body
        self.header = header


def answering_s(process):
    """Returns the processor time that the HTTP threads of apspd or libmicrohttpd have used so
    far."""
    spent_ns = 0
    for task in os.listdir(f"/proc/{process}/task"):
        folder = f"/proc/{process}/task/{task}"
        # A thread of the solver may end while the list is read.
        with (contextlib.suppress(FileNotFoundError, ProcessLookupError),
              open(f"{folder}/comm", encoding="ascii") as name,
              open(f"{folder}/schedstat", encoding="ascii") as times):
            if name.read().startswith(("http-", "MHD")):
                spent_ns += int(times.read().split()[0])
    return spent_ns / 1e9


def run_client(client, target, connections, seconds, vertices):
    """Runs the client that sends the requests; returns its statistics, including errors."""
    command = [client]
    command += ["--post", target.body] if target.body else []
    command += ["--header", target.header] if target.header else []
    command += [target.url, target.path, str(connections), str(seconds), str(vertices)]
    before_s = answering_s(target.process) if target.process else 0
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 120)
    figures = {key: float(value) for key, value in re.findall(r"(\S+)=(\S+)", done.stdout)}
    assert figures, (command, done.stderr)
    if target.process and figures["answers"]:
        figures["cpu_us"] = (answering_s(target.process) - before_s) * 1e6 / figures["answers"]
    if figures["errors"]:
        figures["words"] = done.stderr.strip()[:400]
    return figures


def generate(apsp, folder, shape, vertices):
    """Returns the path of a generated graph."""
    path = os.path.join(folder, f"{shape}-{vertices}.gr")
    if not os.path.exists(path):
        command = [apsp, "generate", "--shape", shape, "--n", str(vertices), "--seed", "1", path]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return path


def read_edges(path):
    """Returns (vertices, [(source, target, weight)]) of a DIMACS file."""
    edges, vertices = [], 0
    with open(path, encoding="ascii") as file:
        for line in file:
            if line.startswith("p"):
                vertices = int(line.split()[2])
            elif line.startswith("a"):
                edges.append(tuple(map(int, line.split()[1:4])))
    return vertices, edges


def write_uploads(apsp, folder, vertices):
    """Returns one graph in three formats: {name: (path, query)}."""
    dimacs = generate(apsp, folder, "gnp", vertices)
    count, edges = read_edges(dimacs)
    csv = os.path.join(folder, "upload.csv")
    with open(csv, "w", encoding="ascii") as file:
        file.write("source,target,weight\n")
        file.writelines(f"{s},{t},{w}\n" for s, t, w in edges)
    nthu = os.path.join(folder, "upload.nthu")
    with open(nthu, "wb") as file:
        file.write(struct.pack("<2i", count, len(edges)))
        file.writelines(struct.pack("<3i", s - 1, t - 1, w) for s, t, w in edges)
    return {
        "upload_dimacs": (dimacs, "?format=dimacs"),
        "upload_csv": (csv, "?format=edges"),
        "upload_nthu": (nthu, "?format=nthu"),
    }


def write_pairs(folder, vertices, count):
    """Returns the same pairs in two formats: {name: (path, header)}."""
    pairs = [((i * 7919) % vertices, (i * 104729 + i // 3) % vertices) for i in range(count)]
    as_json = os.path.join(folder, "pairs.json")
    with open(as_json, "w", encoding="ascii") as file:
        json.dump({"pairs": [[s + 1, t + 1] for s, t in pairs]}, file, separators=(",", ":"))
    binary = os.path.join(folder, "pairs.bin")
    with open(binary, "wb") as file:
        file.writelines(struct.pack("<2I", s, t) for s, t in pairs)
    return {
        "distances_json": (as_json, "Content-Type: application/json"),
        "distances_binary": (binary, "Content-Type: application/octet-stream"),
    }


@contextlib.contextmanager
def bare_responder(program, threads, posted_bytes=3):
    """Yields the address and process ID of a bare responder. It ends when its standard input is
    closed, and so even if this program is killed."""
    with subprocess.Popen(
        [program, str(threads), str(posted_bytes)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        line = process.stdout.readline().decode()
        match = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+)\n", line)
        assert match, line
        yield match.group(1), process.pid


@contextlib.contextmanager
def nginx(program, folder, workers=2):
    """Runs nginx, which serves the files of a folder, and a constant answer at /distance. Yields
    the port, or None without nginx."""
    if not program:
        yield None
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    path = os.path.join(folder, "nginx.conf")
    with open(path, "w", encoding="ascii") as file:
        # Workers of another user might be unable to read a folder owned by root.
        file.write("user root;\n" if os.geteuid() == 0 else "")
        file.write(f"""daemon off; worker_processes {workers}; pid {folder}/pid; error_log stderr crit;
events {{ worker_connections 4096; }}
http {{
    access_log off; sendfile on; keepalive_requests 1000000000; open_file_cache max=16;
    client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
    server {{
        listen 127.0.0.1:{port} backlog=1024; root {folder};
        location = /distance {{
            default_type application/json; add_header X-Request-Id 0123456789abcdef;
            add_header Vary Accept; add_header Cache-Control no-cache;
            return 200 '{NGINX_DISTANCE}';
        }}
    }}
}}
""")
    process = subprocess.Popen([program, "-e", "stderr", "-p", folder, "-c", path])
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                assert process.poll() is None, "nginx has ended"
        yield port
    finally:
        process.terminate()
        process.wait()


class JobBeside:
    """A background job during measurements. It is cancelled and restarted before it can finish."""

    def __init__(self, daemon, graph):
        self.daemon = daemon
        self.graph = graph
        self.job = None

    def document(self):
        return self.daemon.get(f"/v1/jobs/{self.job}").expect(200).json

    def start(self):
        body = b'{"graph":"%s"}' % self.graph.encode()
        answer = self.daemon.submit(body, Content_Type="application/json").expect(202)
        self.job = answer.json["id"]
        document = self.document()
        while document["state"] == "queued":
            document = self.daemon.get(f"/v1/jobs/{self.job}?wait=30").expect(200).json

    def stop(self):
        if self.job is not None:
            self.daemon.ask("DELETE", f"/v1/jobs/{self.job}").expect(202)
            assert self.daemon.finish(self.job)["state"] == "cancelled"
        self.job = None

    def freshen(self):
        """Restarts the job if it was not started or has done more than 30 % of its work."""
        if self.job is None or self.document()["progress"] > 0.3:
            self.stop()
            self.start()

    def runs(self):
        return self.document()["state"] == "running"


@contextlib.contextmanager
def job_beside(daemon, graph):
    job = JobBeside(daemon, graph)
    yield job
    job.stop()
