"""The shell commands of the documents that test_readme.py does not run: the setup of keys and
TLS follows docs/security.md, and all others must parse and name existing files."""

import os
import re
import shutil
import ssl
import subprocess
import tempfile

import access
import harness

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "ARCHITECTURE.md", "docs", "deploy", "clients")


def documents():
    for path in DOCUMENTS:
        if path.endswith(".md"):
            yield path
        for folder, _, names in os.walk(os.path.join(ROOT, path)):
            for name in names:
                if name.endswith(".md"):
                    yield os.path.relpath(os.path.join(folder, name), ROOT)


def blocks_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return re.findall(r"^```sh\n(.*?)^```", file.read(), re.S | re.M)


def test_documented_commands_parse_and_name_existing_files():
    count = 0
    for path in documents():
        for block in blocks_of(path):
            done = subprocess.run(["sh", "-n"], input=block, capture_output=True, text=True)
            assert done.returncode == 0, (path, block, done.stderr)
            for name in re.findall(r"(?<![\w/.-])\.?/?((?:deploy|docs|tests|clients|config)/[\w./-]+)", block):
                assert os.path.exists(os.path.join(ROOT, name)), (path, name)
            count += 1
    assert count > 15, count


def test_the_unit_loads_the_keys_and_the_certificate_as_in_the_runbook():
    """Runs the commands for /etc/credstore with the configuration that names systemd's copies."""
    with open(os.path.join(ROOT, "deploy", "runbook.md"), encoding="utf-8") as file:
        text = file.read()
    (install,) = [block for block in blocks_of("deploy/runbook.md") if "credstore" in block]
    (configuration,) = re.findall(r"^```ini\n(.*?)^```", text, re.S | re.M)
    certificate, keys = access.Certificate(), access.Keys("operators:monitor")
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        for name, source in (("keys", keys.path), ("fullchain.pem", certificate.path), ("privkey.pem", certificate.key)):
            os.symlink(source, os.path.join(folder, name))
        store = os.path.join(folder, "credstore")
        script = "set -eu\n" + install.replace("/etc/credstore", store)
        subprocess.run(["sh", "-c", script], cwd=folder, check=True)
        path = os.path.join(folder, "apspd.ini")
        with open(path, "w", encoding="utf-8") as file:
            file.write(configuration)
        done = subprocess.run([harness.BINARY, "--config", path, "--check-config"], capture_output=True, text=True,
                              env={**os.environ, "CREDENTIALS_DIRECTORY": store})
        assert done.returncode == 0, done
        named = re.findall(r"credential:(\S+)", configuration)
        assert sorted(named) == sorted(os.listdir(store)), named


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def test_the_documented_test_certificate_works():
    if shutil.which("openssl") is None:
        return
    (line,) = re.findall(r"`(openssl req -x509 [^`]*)`", read("docs/security.md"))
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        subprocess.run(["sh", "-c", line.replace("\n", " ")], cwd=folder, check=True, capture_output=True)
        assert sorted(os.listdir(folder)) == ["fullchain.pem", "privkey.pem"]
        context = ssl.create_default_context(cafile=os.path.join(folder, "fullchain.pem"))
        assert len(context.get_ca_certs()) == 1


def test_the_documented_mpirun_command_works():
    program = os.path.join(os.path.dirname(os.path.abspath(harness.COMMAND)), "apsp-mpi")
    if shutil.which("mpirun") is None or not os.path.exists(program):
        return
    (line,) = [block for block in blocks_of("docs/clusters.md") if block.startswith("mpirun ")]
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        subprocess.run([harness.COMMAND, "generate", "--shape", "road", "--n", "300", f"{folder}/town.gr"], check=True,
                       capture_output=True)
        environment = {**os.environ, "PATH": f"{os.path.dirname(program)}:{os.environ['PATH']}",
                       "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                       "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0 and os.path.exists(f"{folder}/town.npy"), done


def test_the_tests_named_in_contributing_exist():
    text = read("CONTRIBUTING.md")
    for function, path in re.findall(r"APSPD_TEST_ONLY=(test_\w+) python3 (\S+)", text):
        assert f"def {function}(" in read(path), (function, path)
    for word, path in (("removals", "tests/unit/proto/test_edge_changes.c"), ("Generate", "tests/http/test_command.py")):
        assert word in text and re.search(rf"(?:TEST\(|def test_|class )\w*{word}", read(path)), (word, path)


def test_each_documented_configuration_is_valid():
    """The runbook's configuration names credentials;
    test_the_unit_loads_the_keys_and_the_certificate_as_in_the_runbook tests it."""
    count = 0
    for path in set(documents()) - {"deploy/runbook.md"}:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            blocks = re.findall(r"^```ini\n(.*?)^```", file.read(), re.S | re.M)
        for block in blocks:
            with tempfile.NamedTemporaryFile("w", suffix=".ini") as file:
                file.write(block)
                file.flush()
                done = subprocess.run([harness.BINARY, "--config", file.name, "--check-config"], capture_output=True,
                                      text=True)
            assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), (path, done)
            count += 1
    assert count >= 1, count


def test_the_documented_setup_of_keys_and_tls_works():
    certificate = access.Certificate()
    keys, asked = blocks_of("docs/security.md")[:2]
    made, start = keys.split("apspd --listen 0.0.0.0:8443 ")
    flags = start.replace("\\\n", " ").split()
    assert flags.pop() == "&", flags
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        os.mkdir(os.path.join(folder, "bin"))
        for name, binary in (("apspd", harness.BINARY), ("apsp", harness.COMMAND)):
            os.symlink(os.path.abspath(binary), os.path.join(folder, "bin", name))
        for name, source in (("fullchain.pem", certificate.path), ("privkey.pem", certificate.key)):
            os.symlink(source, os.path.join(folder, name))
        environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}",
                       "CURL_CA_BUNDLE": certificate.path}

        def shell(script):
            done = subprocess.run(["sh", "-c", "set -eu\n" + script], cwd=folder, env=environment,
                                  capture_output=True, text=True)
            assert done.returncode == 0, done
            return done.stdout

        shell(made)
        flags = [one if one.startswith("--") else os.path.join(folder, one) for one in flags]
        with harness.Daemon(*flags) as daemon:
            output = shell(asked.replace("HOST:8443", f"127.0.0.1:{daemon.port}").replace("curl -H", "curl -sSf -H"))
            assert '{"jobs":[],"next":null}' in output, output
            scraped = f"https://127.0.0.1:{daemon.port}/metrics"
            assert "apspd_ready" in shell(f'curl -sSf -H "Authorization: Bearer $(cat monitor.key)" {scraped}')
            refused = shell(f'curl -sS -H "Authorization: Bearer $(cat monitor.key)" {scraped[:-7]}v1/jobs')
            assert "Forbidden" in refused, refused


if __name__ == "__main__":
    harness.run(globals())
