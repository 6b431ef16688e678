"""Runs the commands of README.md and docs/api.md as they are printed: the tour with its output,
the examples of each route, and a client in each language. python3 test_readme.py APSPD APSP
tour|client|python|javascript|c"""

import os
import re
import shutil
import subprocess
import sys

import harness

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECTION = sys.argv[3]
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
ADDRESS = "URL=http://127.0.0.1:8080\n"
MARK = "=== the next step ==="


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def section(path, title):
    marks = re.match("#+ ", title)[0]
    body = read(path).split(f"\n{title}\n", 1)[1]
    return re.split(rf"\n{marks}", body, maxsplit=1)[0]


def blocks(text, language):
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def shows(printed, real):
    """Returns whether the output equals the printed output; "..." matches anything, and spaces
    are ignored."""
    parts = [re.escape("".join(part.split())) for part in printed.split("...")]
    return re.fullmatch(".*?".join(parts), "".join(real.split()), re.S)


def run(daemon, command, **more):
    """Runs the tour in a folder with build/ and town.gr, with the service at $URL."""
    folder = daemon.scratch
    os.makedirs(os.path.join(folder, "build"), exist_ok=True)
    for binary, name in ((harness.BINARY, "apspd"), (harness.COMMAND, "apsp")):
        link = os.path.join(folder, "build", name)
        if not os.path.exists(link):
            os.symlink(os.path.abspath(binary), link)
    town = ["build/apsp", "generate", "--shape", "road", "--n", "2000", "--seed", "1", "town.gr"]
    subprocess.run(town, cwd=folder, check=True, capture_output=True)
    environment = {**os.environ, "URL": daemon.url, "PATH": f"/usr/bin:{os.environ['PATH']}",
                   "APSPD_URL": daemon.url, "PYTHONPATH": os.path.join(ROOT, "clients", "python")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=300, **more)
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout.decode()


def succeeds(*command):
    return shutil.which(command[0]) and subprocess.run(command, capture_output=True).returncode == 0


def missing():
    """Returns what this section needs and is not installed, or None."""
    if SECTION == "python" and not succeeds(PYTHON, "-c", "import numpy, requests"):
        return "python3-numpy or python3-requests"
    if SECTION == "client" and not succeeds(PYTHON, "-c", "import numpy, httpx"):
        return "python3-numpy or python3-httpx"
    if SECTION == "javascript" and not succeeds("node", "--version"):
        return "nodejs"
    if SECTION == "c" and not (shutil.which("cc") and succeeds("pkg-config", "--exists", "libcurl")):
        return "a C compiler, pkg-config or the headers of libcurl"
    return None


def farthest(daemon):
    return daemon.distance("town", 1, 2000)


def run_tour(daemon):
    tour = section("README.md", "## A tour")
    steps = re.findall(r"```sh\n(.*?)```(?:\n```text\n(.*?)```)?", tour, re.S)
    assert steps.pop(0)[0].startswith("build/apspd &") and steps[0][0].startswith(ADDRESS)
    examples = blocks(read("docs/api.md"), "sh")
    # The address is replaced by the address of this test's service. The examples stop at the first
    # refused request; the tour shows a refused request.
    script = 'set -eu\ncurl() { command curl -sS "$@"; }\n'
    for commands, _ in steps:
        script += commands.replace(ADDRESS, "") + f"echo; echo '{MARK}'\n"
    # The commands at the top of the README are also in the tour.
    (first,) = blocks(read("README.md").split("\n## ", 1)[0], "sh")
    assert "http://127.0.0.1:8080/v1/" in first, first
    script += 'curl() { command curl -fsS "$@"; }\n' + first.replace(ADDRESS.split("=")[1].strip(), daemon.url)
    script += "".join(examples)
    outputs = run(daemon, ["sh", "-c", script]).split(f"{MARK}\n")
    assert len(outputs) == len(steps) + 1
    for (commands, printed), real in zip(steps, outputs):
        assert not printed or shows(printed, real), (commands, printed, real)
    shown = [printed for _, printed in steps if printed]
    assert len(shown) >= 5, shown
    assert str(farthest(daemon)) in "".join(shown) and f"(2000, 2000) {farthest(daemon)}" in outputs[3]
    assert '"ready":true' in outputs[-1] and '"vertices":[1,' in outputs[-1]
    asked = sum(len(re.findall(r"\bcurl ", block)) for block in examples)
    assert asked >= 15, asked


def run_client(daemon):
    (program,) = blocks(section("README.md", "## A client"), "python")
    output = run(daemon, [PYTHON, "-"], input=program.encode())
    assert output.startswith(f"{farthest(daemon)} [1, "), output
    assert f" {farthest(daemon)}.]" in output and output.endswith("(2000, 2000)\n1983\n"), output


def run_python(daemon):
    (program,) = blocks(section("docs/api.md", "### Python"), "python")
    output = run(daemon, [PYTHON, "-"], input=program.encode())
    assert output.endswith(f"(2000, 2000) {farthest(daemon)}\n"), output
    assert f" {farthest(daemon)}]" in output, output


def run_javascript(daemon):
    (program,) = blocks(section("docs/api.md", "### JavaScript"), "js")
    output = run(daemon, ["node", "--input-type=module", "-"], input=program.encode())
    assert output.startswith(f"{farthest(daemon)} over 1 "), output
    assert f", {farthest(daemon)} ]" in output, output


def run_c(daemon):
    text = section("docs/api.md", "### C")
    (program,) = blocks(text, "c")
    with open(os.path.join(daemon.scratch, "town.c"), "w", encoding="utf-8") as file:
        file.write(program)
    line = re.search(r"`(cc town\.c .*?)`", text)[1]
    output = run(daemon, ["sh", "-c", f"{line} && ./town"])
    assert output.split()[1] == str(farthest(daemon)), output


def test_the_commands_in_the_readme_work(daemon):
    sections = {"tour": run_tour, "client": run_client, "python": run_python, "javascript": run_javascript,
                "c": run_c}
    sections[SECTION](daemon)


if __name__ == "__main__":
    if missing() is not None:
        print("skipped: not installed:", missing())
        sys.exit(harness.SKIPPED)
    harness.run(globals())
