"""The files of deploy/ for service managers and schedulers fit together and fit the program:
units, Kubernetes objects, the batch script. Parts that need a missing tool report that they
are skipped."""

import configparser
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile

import harness

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEPLOY = os.path.join(ROOT, "deploy")
BUILD = sys.argv[3]
try:
    import yaml
except ImportError:
    yaml = None


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def default_of(key):
    text = subprocess.run([harness.BINARY, "--print-config"], capture_output=True, text=True).stdout
    return re.search(rf"^{key} = (.*)$", text, re.M)[1]


def unit(name):
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read_string(read(BUILD, "deploy", name))
    return parser


def test_the_systemd_units_match_the_program():
    service = unit("apspd.service")["Service"]
    assert service["Type"] == "notify" and int(service["WatchdogSec"]) >= 10
    assert int(service["TimeoutStopSec"]) >= int(default_of("drain_s")) + 60
    assert "AF_UNIX" in service["RestrictAddressFamilies"].split()  # for sd_notify
    assert service["RestartPreventExitStatus"].split() == ["78"]
    # The unit overrides nothing in the file that is installed with it, whose state directory is
    # systemd's.
    assert service["ExecStart"].split()[1:-1] == ["--config"] and "Environment" not in service, service
    installed = configparser.RawConfigParser()
    installed.read_string(read(BUILD, "config", "apspd.ini"))
    assert installed["store"]["state_dir"] == "/var/lib/" + service["StateDirectory"]
    assert installed["worker"]["isolation"] == "process"
    assert unit("apspd.socket")["Socket"]["ListenStream"] == default_of("listen")


def test_a_configuration_check_reports_overridden_keys():
    path = os.path.join(BUILD, "config", "apspd.ini")

    def check(*flags, **variables):
        done = subprocess.run([harness.BINARY, "--config", path, "--check-config", *flags], capture_output=True,
                              text=True, env={**os.environ, **variables})
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout.splitlines()

    assert check() == check("--state-dir", "/var/lib/apspd") == []
    told = check("--state-dir", "./here", "--http.threads", "9", APSPD_WORKER_ISOLATION="thread")
    assert told == ["http.threads is 9, not 4 as in the configuration file",
                    "store.state_dir is ./here, not /var/lib/apspd as in the configuration file",
                    "worker.isolation is thread, not process as in the configuration file"], told


def test_the_log_warns_of_overridden_keys():
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as file:
        file.write("[http]\nlisten = 127.0.0.1:0\nthreads = 2\n")
        file.flush()
        with harness.Daemon("--config", file.name, "--http.threads", "3") as daemon:
            lines = [json.loads(line) for line in daemon.log().splitlines()]
    told = {f"{line['section']}.{line['key']}": line for line in lines if line["event"] == "setting_overridden"}
    assert sorted(told) == ["http.threads", "store.state_dir"], told
    threads = told["http.threads"]
    assert (threads["level"], threads["value"], threads["in_file"]) == ("warning", "3", "2"), threads


def test_a_configuration_check_reports_the_systemd_socket():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        script = f'exec 3<&{listening.fileno()}; export LISTEN_FDS=1 LISTEN_PID=$$; exec "$0" --check-config'
        done = subprocess.run(["sh", "-c", script, harness.BINARY], pass_fds=[listening.fileno()],
                              capture_output=True, text=True)
    assert done.stdout == "http.listen is the socket of the service manager, not 127.0.0.1:8080 as in the configuration file\n", done


def test_systemd_accepts_the_units():
    if shutil.which("systemd-analyze") is None:
        print("systemd-analyze is not installed")
        return
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        for name in ("apspd.service", "apspd.socket"):
            text = re.sub(r"(?m)^ExecStart=\S+", f"ExecStart={os.path.abspath(harness.BINARY)}",
                          read(BUILD, "deploy", name))
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        units = [os.path.join(folder, name) for name in ("apspd.service", "apspd.socket")]
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", *units],
                              capture_output=True, text=True)
        about_us = [line for line in done.stderr.splitlines() if "apspd" in line]
        assert done.returncode == 0 and not about_us, done.stderr


# The required members of an object, by kind: paths and the types of their values. The API server
# rejects unknown names, so every name on the way is listed here.
SCHEMA = {
    "metadata": {"name": str, "labels": dict, "annotations": dict},
    "StatefulSet": {"serviceName": str, "replicas": int, "selector": dict, "template": dict,
                    "volumeClaimTemplates": list},
    "Service": {"selector": dict, "ports": list},
    "NetworkPolicy": {"podSelector": dict, "policyTypes": list, "ingress": list},
    "pod": {"automountServiceAccountToken": bool, "terminationGracePeriodSeconds": int,
            "securityContext": dict, "containers": list, "volumes": list},
    "container": {"name": str, "image": str, "args": list, "ports": list, "startupProbe": dict,
                  "livenessProbe": dict, "readinessProbe": dict, "resources": dict,
                  "securityContext": dict, "volumeMounts": list},
    "probe": {"httpGet": dict, "periodSeconds": int, "timeoutSeconds": int, "failureThreshold": int},
    "podSecurity": {"runAsNonRoot": bool, "runAsUser": int, "runAsGroup": int, "fsGroup": int,
                    "fsGroupChangePolicy": str, "seccompProfile": dict},
    "containerSecurity": {"allowPrivilegeEscalation": bool, "readOnlyRootFilesystem": bool,
                          "capabilities": dict},
}
API = {"ConfigMap": "v1", "Service": "v1", "StatefulSet": "apps/v1",
       "NetworkPolicy": "networking.k8s.io/v1"}


def check(kind, value):
    for name, member in value.items():
        assert name in SCHEMA[kind], (kind, name)
        assert isinstance(member, SCHEMA[kind][name]), (kind, name, member)


def objects():
    found = list(yaml.safe_load_all(read(DEPLOY, "kubernetes.yaml")))
    return {one["kind"]: one for one in found}


def test_the_mpi_job_has_one_rank_per_worker_and_shared_files():
    if yaml is None:
        print("python3-yaml is not installed")
        return
    job = yaml.safe_load(read(DEPLOY, "mpijob.yaml"))
    assert (job["apiVersion"], job["kind"]) == ("kubeflow.org/v2beta1", "MPIJob"), job
    roles = job["spec"]["mpiReplicaSpecs"]
    launcher, worker = (roles[name]["template"]["spec"]["containers"][0] for name in ("Launcher", "Worker"))
    arguments = launcher["args"]
    assert launcher["command"] == ["mpirun"] and "apsp-mpi" in arguments, arguments
    assert arguments[arguments.index("-n") + 1] == str(roles["Worker"]["replicas"]), arguments
    files = [argument for argument in arguments if argument.startswith("/")]
    assert len(files) == 2 and all(file.startswith(worker["volumeMounts"][0]["mountPath"]) for file in files)


def test_the_kubernetes_objects_match_the_schema():
    if yaml is None:
        print("python3-yaml is not installed")
        return
    for kind, one in objects().items():
        assert one["apiVersion"] == API[kind], one
        check("metadata", one["metadata"])
        assert set(one) - {"spec", "data"} == {"apiVersion", "kind", "metadata"}, set(one)
        if "spec" in one:
            check(kind, one["spec"])
    template = objects()["StatefulSet"]["spec"]["template"]
    pod = template["spec"]
    check("metadata", template["metadata"])
    check("pod", pod)
    check("podSecurity", pod["securityContext"])
    for container in pod["containers"]:
        check("container", container)
        check("containerSecurity", container["securityContext"])
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            check("probe", container[probe])


def test_the_kubernetes_objects_are_consistent_with_each_other_and_the_program():
    if yaml is None:
        print("python3-yaml is not installed")
        return
    found = objects()
    stateful = found["StatefulSet"]["spec"]
    pod = stateful["template"]["spec"]
    (container,) = pod["containers"]
    labels = stateful["template"]["metadata"]["labels"]
    for selector in (stateful["selector"]["matchLabels"], found["Service"]["spec"]["selector"],
                     found["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"]):
        assert selector.items() <= labels.items(), selector
    volumes = {one["name"] for one in pod["volumes"] + [
        claim["metadata"] for claim in stateful["volumeClaimTemplates"]]}
    assert {one["name"] for one in container["volumeMounts"]} == volumes
    ports = {one["name"] for one in container["ports"]}
    assert {one["targetPort"] for one in found["Service"]["spec"]["ports"]} <= ports
    assert container["resources"]["limits"]["nvidia.com/gpu"] == (
        container["resources"]["requests"]["nvidia.com/gpu"]) == 1
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as file:
        file.write(found["ConfigMap"]["data"]["apspd.ini"])
        file.flush()
        done = subprocess.run([harness.BINARY, "--config", file.name, "--print-config"],
                              capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    values = dict(line.split(" = ") for line in done.stdout.splitlines() if re.match(r"\w+ = ", line))
    assert pod["terminationGracePeriodSeconds"] >= int(values["drain_s"]) + 30, values["drain_s"]
    mounts = [one["mountPath"] for one in container["volumeMounts"]]
    assert values["state_dir"] in mounts and "/etc/apspd" in mounts, mounts
    assert values["listen"].endswith(f":{container['ports'][0]['containerPort']}"), values["listen"]
    with harness.Daemon() as daemon:
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            daemon.get(container[probe]["httpGet"]["path"]).expect(200)


COMPOSE = {"image": str, "build": dict, "ports": list, "volumes": list, "read_only": bool, "cap_drop": list,
           "security_opt": list, "restart": str, "stop_grace_period": str, "environment": dict,
           "depends_on": list, "deploy": dict}


def arguments_of(containerfile):
    """Returns the arguments with which the image starts apspd."""
    return json.loads(re.search(r"^CMD (\[.*\])$", read(DEPLOY, containerfile), re.M)[1])


def test_the_compose_file_is_consistent_with_its_files_and_the_program():
    if yaml is None:
        print("python3-yaml is not installed")
        return
    whole, gpu = (yaml.safe_load(read(DEPLOY, name)) for name in ("compose.yaml", "compose.gpu.yaml"))
    assert set(whole) == {"name", "services", "volumes"}, set(whole)
    targets = {}
    for name, service in list(whole["services"].items()) + list(gpu["services"].items()):
        assert name in whole["services"], name
        for key, value in service.items():
            assert isinstance(value, COMPOSE[key]), (name, key, value)
        for port in service.get("ports", ()):
            assert re.fullmatch(r"127\.0\.0\.1:(\d+):\1", port), port
        for volume in service.get("volumes", ()):
            source, target = volume.split(":")[:2]
            targets[target] = source
            assert source in whole["volumes"] or os.path.exists(os.path.join(DEPLOY, source)), volume
        if "build" in service:
            assert os.path.exists(os.path.join(ROOT, service["build"]["dockerfile"])), service
    service = whole["services"]["apspd"]
    for name in ("Containerfile", "Containerfile.cuda"):
        arguments = arguments_of(name)
        values = dict(zip(arguments[::2], arguments[1::2]))
        assert values["--state-dir"] in targets and values["--listen"] == "0.0.0.0:8080", values
        assert int(service["stop_grace_period"][:-1]) > int(values["--jobs.drain_s"]) + 20, values
    monitoring = os.path.join(DEPLOY, "monitoring")
    (scraped,) = yaml.safe_load(read(monitoring, "prometheus-compose.yml"))["scrape_configs"]
    assert scraped["static_configs"] == [{"targets": ["apspd:8080"]}], scraped
    (source,) = yaml.safe_load(read(monitoring, "provisioning", "datasources", "prometheus.yaml"))["datasources"]
    assert source["url"] == "http://prometheus:9090" and source["isDefault"] is True, source
    (provider,) = yaml.safe_load(read(monitoring, "provisioning", "dashboards", "apspd.yaml"))["providers"]
    home = whole["services"]["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert home in targets and os.path.dirname(home) == provider["options"]["path"], home


def test_an_image_leaves_out_what_git_ignores():
    ignored = {line.strip("/") for line in read(ROOT, ".gitignore").splitlines()}
    left_out = {line.removeprefix("**/") for line in read(ROOT, ".dockerignore").splitlines()}
    assert ignored <= left_out, ignored - left_out


def test_metrics_can_be_requested_under_the_container_name():
    with harness.Daemon("--http.network", "open") as daemon:
        daemon.get("/metrics", Host="apspd:8080").expect(200)
        daemon.get("/v1/graphs", Host="apspd:8080").expect(421, "WrongHost")


def batch(folder, *graphs, **environment):
    return subprocess.run(
        ["bash", os.path.join(DEPLOY, "slurm.sbatch"), folder, *graphs], capture_output=True, text=True,
        env={**os.environ, "APSP": os.path.abspath(harness.COMMAND), **environment},
    )


def test_the_batch_script_skips_graphs_that_fail_or_are_already_solved():
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        good, bad = os.path.join(folder, "good.gr"), os.path.join(folder, "bad.gr")
        with open(good, "wb") as file:
            file.write(harness.SMALL)
        with open(bad, "wb") as file:
            file.write(b"p sp 2 1\na 1 9 1\n")
        out = os.path.join(folder, "out")
        done = batch(out, good, bad, SLURM_CPUS_PER_TASK="1")
        assert done.returncode == 1 and "good.gr: solved" in done.stdout, (done.stdout, done.stderr)
        assert "bad.gr: skipped (exit code 1)" in done.stderr, done.stderr
        assert os.listdir(out) == ["good.npy"], os.listdir(out)
        assert batch(out, good).stdout == ""
        assert batch(out).returncode == 2
        none = batch(out + "2", good, APSPD_SOLVER_BACKEND="gpu")
        assert none.returncode in (0, 3), none.stderr


def quickstart(folder, setup):
    """Runs the script with programs that are already built, and with this replacement of
    deploy/setup.sh."""
    os.makedirs(os.path.join(folder, "build"))
    os.makedirs(os.path.join(folder, "deploy"))
    shutil.copy(os.path.join(DEPLOY, "quickstart.sh"), os.path.join(folder, "deploy"))
    for name, text in (("setup.sh", setup), ("toolchain.sh", "configure() { :; }\ncompile() { echo compiled; }\n")):
        with open(os.path.join(folder, "deploy", name), "w", encoding="utf-8") as file:
            file.write(text)
    for name, binary in (("apspd", harness.BINARY), ("apsp", harness.COMMAND)):
        os.symlink(os.path.abspath(binary), os.path.join(folder, "build", name))
    return subprocess.run(["sh", os.path.join(folder, "deploy", "quickstart.sh")], capture_output=True, text=True)


def test_the_quickstart_reports_its_steps_and_the_answer():
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        done = quickstart(os.path.join(folder, "good"), "echo installed\n")
        assert done.returncode == 0 and done.stderr == "", done
        lines = done.stdout.splitlines()
        assert [line[:5] for line in lines[:4]] == ["[1/4]", "[2/4]", "[3/4]", "[4/4]"], lines
        assert re.fullmatch(r"The shortest path from vertex 1 to vertex 500 has length \d+\.", lines[5]), lines
        assert "Next:" in lines and len(lines) < 20 and "{" not in done.stdout, lines
        log = read(folder, "good", "build", "quickstart.log")
        assert log.startswith("installed\ncompiled\n") and '"state":"done"' in log, log
        bad = quickstart(os.path.join(folder, "bad"), "echo no network; exit 1\n")
        assert bad.returncode == 1 and bad.stderr.endswith("no network\n"), bad


def commit_by(folder):
    script = os.path.join(folder, "deploy", "commit.sh")
    return subprocess.run(["sh", script], capture_output=True, text=True, check=True).stdout.strip()


def test_a_build_reports_its_commit():
    """The commit comes from the checkout or from a release archive; a checkout around another
    tree has none."""
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b"]
        os.makedirs(os.path.join(folder, "deploy"))
        shutil.copy(os.path.join(DEPLOY, "commit.sh"), os.path.join(folder, "deploy"))
        shutil.copy(os.path.join(ROOT, ".gitattributes"), folder)
        assert commit_by(folder) == ""
        if shutil.which("git") is None:
            print("git is not installed")
            return
        for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message=one"]):
            subprocess.run(git + command, check=True)
        head = subprocess.run(git + ["rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
        assert len(head) == 40 and commit_by(folder) == head
        inner = os.path.join(folder, "inner")
        os.makedirs(inner)
        packed = subprocess.run(git + ["archive", "HEAD"], capture_output=True, check=True).stdout
        subprocess.run(["tar", "--extract", "--directory", inner], input=packed, check=True)
        assert commit_by(inner) == head
        shutil.copy(os.path.join(DEPLOY, "commit.sh"), os.path.join(inner, "deploy"))
        assert commit_by(inner) == ""


if __name__ == "__main__":
    harness.run(globals())
