"""The systemd unit: systemd accepts it and rates its exposure as low."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
EXPOSURE_LIMIT = 1.5


def analyze(*arguments):
    return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "SYSTEMD_PAGER": ""})


def main():
    unit, apspd = (os.path.abspath(path) for path in sys.argv[1:3])
    if shutil.which("systemd-analyze") is None:
        sys.exit(SKIPPED)
    text = pathlib.Path(unit).read_text()
    assert "\nExecStart=" in text, text
    # A small system has a shell, but no programs of other packages.
    others = [program for program in re.findall(r"(?m)^Exec\w+=(\S+)", text) if not program.endswith("/apspd")]
    assert set(others) <= {"/bin/sh"}, others
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        # The program is not installed at the path of the unit.
        path = os.path.join(folder, "apspd.service")
        text = re.sub(r"(?m)^ExecStart=\S+", lambda _: f"ExecStart={apspd}", text)
        pathlib.Path(path).write_text(text)
        judged = analyze("security", "--offline=true", path)
        if "offline" in judged.stderr:
            sys.exit(SKIPPED)  # systemd before 250
        found = re.search(r"Overall exposure level for apspd.service: ([\d.]+)", judged.stdout)
        assert found, (judged.stdout[-500:], judged.stderr)
        print("exposure", found.group(1))
        assert float(found.group(1)) <= EXPOSURE_LIMIT, judged.stdout
        verified = analyze("verify", "--man=no", path)
        told = [line for line in verified.stderr.splitlines() if "apspd" in line]
        assert verified.returncode == 0 and not told, (told, verified.stderr)


main()
