"""Fixtures of the access tests: keys and their file, certificates, and daemons that use either."""

import hashlib
import os
import re
import subprocess
import tempfile

import harness


class Keys:
    """A key file with one key for each string such as "alpha:submitter jobs=3": tenant, role and
    quotas."""

    def __init__(self, *words):
        self.folder = tempfile.TemporaryDirectory(prefix="apspd-test-keys-")
        self.path = os.path.join(self.folder.name, "keys")
        self.write(*words)

    @staticmethod
    def key(word):
        return "key-of-" + word.split(" ")[0].replace(":", "-") + "-0123456789"

    def write(self, *words):
        with open(self.path, "w", encoding="ascii", opener=lambda p, f: os.open(p, f, 0o600)) as file:
            for word in words:
                digest = hashlib.sha256(self.key(word).encode()).hexdigest()
                file.write(f"{digest} {word.replace(':', ' ', 1)}\n")


class Certificate:
    """A key and a self-signed certificate."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="apspd-test-tls-")
        self.path = os.path.join(self.folder.name, "certificate.pem")
        self.key = os.path.join(self.folder.name, "key.pem")
        self.make()

    def make(self):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-keyout", self.key, "-out", self.path, "-days", "2", "-subj", "/CN=apspd",
             "-addext", "subjectAltName=IP:127.0.0.1"],
            check=True, capture_output=True)

    def flags(self):
        return ("--http.tls_certificate", self.path, "--http.tls_key", self.key)


class Daemon(harness.Daemon):
    """A daemon whose requests may have a key: daemon.by("alpha:reader", "GET", path)."""

    def by(self, who, method, path, body=None, headers=None, connection=None):
        given = dict(headers or {})
        if who is not None:
            given["Authorization"] = "Bearer " + Keys.key(who)
        return self.ask(method, path, body, given, connection)

    def reload(self):
        """Sends SIGHUP, waits until the log reports the reload, and returns the log lines since."""
        before = len(self.log())
        self.process.send_signal(harness.signal.SIGHUP)
        while not re.search(rb'"event":"reloaded"', self.log()[before:]):
            assert self.process.poll() is None
            harness.pause()
        return self.log()[before:].decode()


def run_refused(*arguments):
    """Returns (exit code, standard error) of a daemon that refuses to start."""
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        done = subprocess.run(
            [harness.BINARY, "--state-dir", os.path.join(folder, "state"), *arguments],
            capture_output=True, timeout=600)
        assert done.stdout == b"", done.stdout
        return done.returncode, done.stderr.decode()
