"""Addresses of the service: TLS, Unix sockets, and addresses that it refuses."""

import http.client
import os
import select
import socket
import ssl
import subprocess
import tempfile
import threading

import access
import harness
from harness import SMALL, curl


class Encrypted(access.Daemon):
    """A daemon that is queried over TLS, with its certificate checked."""

    def __init__(self, certificate, *arguments):
        self.certificate = certificate
        super().__init__(*certificate.flags(), *arguments)

    def context(self):
        return ssl.create_default_context(cafile=self.certificate.path)

    def connect(self, timeout=600):
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=self.context())


def handshake(daemon, version=None, ciphers=None):
    """Returns (protocol, certificate) of a connection, or why there is none."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_ciphers(ciphers or "ALL:@SECLEVEL=0")
    if version is not None:
        context.minimum_version = context.maximum_version = version
    try:
        with socket.create_connection(("127.0.0.1", daemon.port), timeout=600) as plain:
            with context.wrap_socket(plain) as encrypted:
                return encrypted.version(), encrypted.getpeercert(True)
    except (ssl.SSLError, ConnectionError) as error:
        return str(error), None


def test_all_traffic_uses_tls():
    certificate = access.Certificate()
    with Encrypted(certificate) as daemon:
        assert daemon.url.startswith("https://")
        job = daemon.submit(SMALL, "?name=town", Prefer="wait=60").expect(200).json
        assert daemon.distance("town", 1, 3) == 12
        matrix = daemon.get(f"/v1/graphs/{job['graph']}/matrix").expect(200).body
        assert len(matrix) == 128 + 4 * 4 * 4
        code, status, body = curl("--cacert", certificate.path, "--data-binary", "@-",
                                  daemon.url + "/v1/jobs", "-d", "")
        assert code == 0 and status == 422, (code, status, body)
        # A refusal in the middle of a body is not sent by the usual code.
        path = os.path.join(daemon.scratch, "bad.gr")
        with open(path, "wb") as file:
            file.write(b"p sp 4000000 1\nx\n" + b"a 1 2 3\n" * 200000)
        code, status, body = curl("--cacert", certificate.path, "-T", path, daemon.url + "/v1/jobs")
        assert status in (413, 422), (code, status, body)
        with socket.create_connection(("127.0.0.1", daemon.port), timeout=600) as plain:
            plain.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"HTTP/1.1" not in plain.recv(4096)


def test_old_protocols_and_weak_ciphers_are_refused():
    with Encrypted(access.Certificate()) as daemon:
        assert handshake(daemon, ssl.TLSVersion.TLSv1_3)[0] == "TLSv1.3"
        assert handshake(daemon, ssl.TLSVersion.TLSv1_2)[0] == "TLSv1.2"
        for version in (ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1):
            assert handshake(daemon, version)[1] is None, version
        for ciphers in ("kRSA:@SECLEVEL=0", "ECDHE+SHA1:@SECLEVEL=0", "ECDHE+SHA384:!AESGCM:!CHACHA20:@SECLEVEL=0"):
            assert handshake(daemon, ssl.TLSVersion.TLSv1_2, ciphers)[1] is None, ciphers
        assert handshake(daemon, ssl.TLSVersion.TLSv1_2, "ECDHE+AESGCM")[1] is not None


def test_a_new_certificate_is_used_and_open_connections_continue():
    certificate = access.Certificate()
    with Encrypted(certificate) as daemon:
        old = handshake(daemon)[1]
        kept = daemon.connect()
        daemon.ask("GET", "/livez", connection=kept).expect(200)
        waiting = daemon.submit(harness.slow_graph()).expect(202).json["id"]
        answers = []
        polling = daemon.connect(120)
        polling.connect()  # as long as the service shows the certificate that this client trusts
        asker = threading.Thread(target=lambda: answers.append(
            daemon.ask("GET", f"/v1/jobs/{waiting}?wait=60", connection=polling)))
        asker.start()
        with open(certificate.key, "rb") as file:
            key = file.read()
        with open(certificate.key, "wb") as file:
            file.write(b"broken")
        assert '"reload_failed","part":"certificate"' in daemon.reload()
        assert handshake(daemon)[1] == old
        with open(certificate.key, "wb") as file:
            file.write(key)
        certificate.make()
        assert '"reload_failed"' not in daemon.reload()
        new = handshake(daemon)[1]
        assert new is not None and new != old
        daemon.ask("GET", "/livez", connection=kept).expect(200)
        daemon.ask("DELETE", f"/v1/jobs/{waiting}", connection=kept)
        asker.join()
        assert answers[0].status == 200, answers
        kept.close()


class Local(access.Daemon):
    """A daemon that is queried over a Unix socket."""

    def __init__(self, path, *arguments):
        self.path = path
        super().__init__("--listen", "unix:" + path, *arguments)

    def connect(self, timeout=600):
        return Connection(self.path, timeout)


class Connection(http.client.HTTPConnection):
    def __init__(self, path, timeout=600):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def test_a_unix_socket_serves_requests_and_is_replaced_when_stale():
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        path = os.path.join(folder, "socket")
        with Local(path, "--http.socket_mode", "0600") as daemon:
            assert daemon.url == "unix:" + path
            assert os.stat(path).st_mode & 0o777 == 0o600
            daemon.solve(SMALL, "?name=town")
            assert daemon.distance("town", 1, 3) == 12
            code, status, body = curl("--unix-socket", path, "http://x/v1/graphs/town/distance?source=1&target=3",
                                      "-H", "Accept: text/plain")
            assert (code, status, body.strip()) == (0, 200, b"12"), (code, status, body)
            code, words = access.run_refused("--listen", "unix:" + path)
            assert code == 78 and "in use" in words, (code, words)
            daemon.kill()
            assert os.path.exists(path)
            daemon.start()
            assert daemon.distance("town", 1, 3) == 12
            daemon.terminate()
            assert not os.path.exists(path)


def test_deadlines_and_minimum_rates_apply_to_a_unix_socket():
    """A silent connection may stay open for ten minutes; a connection below the rate is closed."""
    n = 1000
    ring = "".join(f"a {i} {i % n + 1} 1000\n" for i in range(1, n + 1))
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        path = os.path.join(folder, "socket")
        with Local(path, "--http.header_timeout_s", "2", "--http.stall_timeout_s", "2", "--http.rate_floor", "100000000",
                   "--http.connection_timeout_s", "600") as daemon:
            graph = daemon.solve(f"p sp {n} {n}\n{ring}".encode())["graph"].encode()
            post = b"POST /v1/jobs HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n1 2 3\n"
            get = b" HTTP/1.1\r\nHost: a\r\n\r\n"
            matrix = b"GET /v1/graphs/%s/matrix?" % graph
            for data in (b"GET /livez HTTP/1.1\r\nHost:", post, matrix + get, matrix + b"cols=0:900" + get,
                         matrix + b"format=csv" + get, matrix + b"format=json" + get):
                with socket.socket(socket.AF_UNIX) as client:
                    client.connect(path)
                    client.sendall(data)
                    watch = select.poll()
                    watch.register(client, select.POLLRDHUP)
                    assert watch.poll(1000 * harness.PATIENCE_S), data


def test_a_public_address_without_keys_or_tls_is_refused():
    keys = access.Keys("alpha:reader")
    certificate = access.Certificate()
    with_keys = ("--http.keys_file", keys.path)
    for listen in ("0.0.0.0:0", "[::]:0"):
        for arguments, missing in (((), "http.keys_file"), (with_keys, "http.tls_certificate"),
                                   (certificate.flags(), "http.keys_file"),
                                   (("--http.network", "plain"), "http.keys_file")):
            code, words = access.run_refused("--listen", listen, *arguments)
            assert code == 78 and missing in words and "http.network = " in words, (code, words)
    code, words = access.run_refused("--listen", "127.0.0.1:0", "--http.tls_key", certificate.key)
    assert code == 78 and "must be set together" in words, (code, words)
    os.chmod(certificate.key, 0o644)
    code, words = access.run_refused("--listen", "127.0.0.1:0", *certificate.flags())
    assert code == 78 and "is readable by all" in words and "chmod 600" in words, (code, words)
    code, words = access.run_refused("--listen", "127.0.0.1:0", "--http.keys_file", "/nowhere")
    assert code == 78 and "/nowhere" in words, (code, words)


def test_a_public_address_is_accepted_with_keys_and_tls_or_explicit_options():
    keys = access.Keys("alpha:reader")
    certificate = access.Certificate()
    for arguments in (
        (*certificate.flags(), "--http.keys_file", keys.path),
        ("--http.keys_file", keys.path, "--http.network", "plain"),
        ("--http.network", "open"),
    ):
        with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
            process = subprocess.Popen(
                [harness.BINARY, "--listen", "0.0.0.0:0", "--state-dir", folder + "/state", *arguments],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            line = process.stdout.readline().decode()
            process.terminate()
            assert process.wait(harness.PATIENCE_S) == 0 and "://0.0.0.0:" in line, line
            process.stdout.close()


if __name__ == "__main__":
    harness.run(globals())
