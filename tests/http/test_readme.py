"""What README.md prints is run as it is printed: the tour, and a client in each language.

    python3 test_readme.py APSPD APSP tour|python|javascript|c"""

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


def section(title):
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        text = file.read()
    marks = re.match("#+ ", title)[0]
    body = text.split(f"\n{title}\n", 1)[1]
    return re.split(rf"\n{marks}", body, maxsplit=1)[0]


def blocks(title, language):
    return re.findall(rf"```{language}\n(.*?)```", section(title), re.S)


def run(daemon, command, **more):
    """Where the tour is: a folder with build/ and town.gr in it, the service at $URL."""
    folder = daemon.scratch
    os.makedirs(os.path.join(folder, "build"), exist_ok=True)
    for binary, name in ((harness.BINARY, "apspd"), (harness.COMMAND, "apsp")):
        link = os.path.join(folder, "build", name)
        if not os.path.exists(link):
            os.symlink(os.path.abspath(binary), link)
    town = ["build/apsp", "generate", "--shape", "road", "--n", "2000", "--seed", "1", "town.gr"]
    subprocess.run(town, cwd=folder, check=True, capture_output=True)
    environment = {**os.environ, "URL": daemon.url, "PATH": f"/usr/bin:{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=300, **more)
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout.decode()


def succeeds(*command):
    return shutil.which(command[0]) and subprocess.run(command, capture_output=True).returncode == 0


def missing():
    """What this section takes and is not installed, None if it is all there."""
    if SECTION == "python" and not succeeds(PYTHON, "-c", "import numpy, requests"):
        return "python3-numpy or python3-requests"
    if SECTION == "javascript" and not succeeds("node", "--version"):
        return "nodejs"
    if SECTION == "c" and not (shutil.which("cc") and succeeds("pkg-config", "--exists", "libcurl")):
        return "a C compiler, pkg-config or the headers of libcurl"
    return None


def farthest(daemon):
    return daemon.distance("town", 1, 2000)


def run_tour(daemon):
    shell = blocks("## A tour", "sh")
    assert shell[0].startswith("build/apspd &") and shell[1].startswith(ADDRESS)
    lines = [line for line in shell[1].split("\n") if re.match(r"curl ", line)]
    assert len(lines) == 10, lines
    assert "/v1/jobs" in lines[2] and "/path?" in lines[-1]
    more = blocks("## More to ask", "sh")
    # A refusal ends it; apart from that, as printed. The address is this test's.
    start = 'set -eu\ncurl() { command curl -fsS "$@"; }\n'
    output = run(daemon, ["sh", "-c", start + shell[1].replace(ADDRESS, "") + "".join(more)])
    assert '"ready":true' in output and '"fits":true' in output
    assert '"state":"done"' in output and '"vertices":[1,' in output
    assert f"(2000, 2000) {farthest(daemon)}" in output
    asked = sum(len(re.findall(r"\bcurl ", block)) for block in more)
    assert asked >= 9, asked


def run_python(daemon):
    (program,) = blocks("### Python", "python")
    output = run(daemon, [PYTHON, "-"], input=program.encode())
    assert output.endswith(f"(2000, 2000) {farthest(daemon)}\n"), output
    assert f" {farthest(daemon)}]" in output, output


def run_javascript(daemon):
    (program,) = blocks("### JavaScript", "js")
    output = run(daemon, ["node", "--input-type=module", "-"], input=program.encode())
    assert output.startswith(f"{farthest(daemon)} over 1 "), output
    assert f", {farthest(daemon)} ]" in output, output


def run_c(daemon):
    (program,) = blocks("### C", "c")
    with open(os.path.join(daemon.scratch, "town.c"), "w", encoding="utf-8") as file:
        file.write(program)
    line = re.search(r"`(cc town\.c .*?)`", section("### C"))[1]
    output = run(daemon, ["sh", "-c", f"{line} && ./town"])
    assert output.split()[1] == str(farthest(daemon)), output


def test_what_is_printed(daemon):
    {"tour": run_tour, "python": run_python, "javascript": run_javascript, "c": run_c}[SECTION](daemon)


if __name__ == "__main__":
    if missing() is not None:
        print("skipped: not installed:", missing())
        sys.exit(harness.SKIPPED)
    harness.run(globals())
