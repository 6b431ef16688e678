"""Keys and certificate passed by systemd: credentials with the names that the unit loads."""

import os
import pathlib
import re
import shutil
import ssl
import tempfile

import access
import harness
import http.client

UNIT = pathlib.Path(__file__).parents[2] / "deploy" / "apspd.service.in"
NAMES = {key: f"credential:apspd.{name}" for key, name in
         (("http.keys_file", "keys"), ("http.tls_certificate", "certificate"), ("http.tls_key", "key"))}


class Credentials:
    """The folder that systemd creates, set in the environment of the next process."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="apspd-test-")
        self.keys = access.Keys("alpha:submitter")
        self.certificate = access.Certificate()
        self.load()

    def load(self):
        for name, path in (("keys", self.keys.path), ("certificate", self.certificate.path),
                           ("key", self.certificate.key)):
            file = os.path.join(self.folder.name, f"apspd.{name}")
            if os.path.exists(file):
                os.unlink(file)
            shutil.copy(path, file)
            os.chmod(file, 0o400)

    def __enter__(self):
        os.environ["CREDENTIALS_DIRECTORY"] = self.folder.name
        return self

    def __exit__(self, *_):
        del os.environ["CREDENTIALS_DIRECTORY"]


class Daemon(access.Daemon):
    def __init__(self, certificate, *arguments):
        self.certificate = certificate
        super().__init__(*arguments)

    def connect(self, timeout=600):
        context = ssl.create_default_context(cafile=self.certificate.path)
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=context)


def configuration(folder):
    """Returns a configuration file as an administrator would write it."""
    path = pathlib.Path(folder, "apspd.ini")
    path.write_text("[http]\n" + "".join(
        f"{key.removeprefix('http.')} = {value}\n" for key, value in NAMES.items()))
    return "--config", str(path)


def test_the_unit_loads_every_credential_that_the_configuration_may_name():
    loaded = re.findall(r"(?m)^LoadCredential=(\S+)$", UNIT.read_text())
    assert sorted(loaded) == sorted(name.removeprefix("credential:") for name in NAMES.values())


def test_the_keys_and_the_certificate_are_read_at_startup_and_on_reload():
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder, Credentials() as given:
        with Daemon(given.certificate, *configuration(folder)) as daemon:
            assert daemon.url.startswith("https://"), daemon.url
            daemon.get("/v1/jobs").expect(401, "Unauthorized")
            daemon.by("alpha:submitter", "POST", "/v1/jobs?name=g", harness.SMALL).expect(202)
            given.keys.write("beta:reader")
            given.certificate.make()
            given.load()
            assert '"reload_failed"' not in daemon.reload()
            daemon.by("beta:reader", "GET", "/v1/jobs").expect(200)
            daemon.by("alpha:submitter", "GET", "/v1/jobs").expect(401)


def test_a_missing_credential_is_reported_by_name():
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        code, words = access.run_refused("--listen", "127.0.0.1:0", *configuration(folder))
        assert code == 78 and NAMES["http.keys_file"] in words and "LoadCredential=" in words, (code, words)
    with Credentials() as given:
        os.unlink(os.path.join(given.folder.name, "apspd.keys"))
        code, words = access.run_refused("--listen", "127.0.0.1:0", "--http.keys_file", NAMES["http.keys_file"])
        assert code == 78 and f"{given.folder.name}/apspd.keys: No such file" in words, (code, words)
        code, words = access.run_refused("--listen", "127.0.0.1:0", "--http.keys_file", "credential:../keys")
        assert code == 78 and "contain a slash" in words, (code, words)


def test_a_configuration_check_needs_no_credentials():
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        done = harness.subprocess.run([harness.BINARY, "--check-config", *configuration(folder)])
        assert done.returncode == 0


if __name__ == "__main__":
    harness.run(globals())
