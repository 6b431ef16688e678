"""A local daemon, which is started on a free port and ends with the client or the process."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile
import weakref
from typing import Any

from .errors import ConnectionFailed

# The shell ends the daemon when its standard input is closed: by stop(), or when this process ends
# for any reason.
SCRIPT = '"$@" & exec >&-; read -r line; kill $!; wait $!'


def find_daemon() -> str:
    """Returns the path of apspd: $APSPD, else apspd on PATH, else apspd in this package's
    folder."""
    beside = pathlib.Path(__file__).parent / "apspd"
    path = os.environ.get("APSPD") or shutil.which("apspd") or shutil.which(str(beside))
    if path is None:
        raise ConnectionFailed(
            "The program apspd is neither on PATH nor in the package's folder. Install apspd, or set "
            "$APSPD to its path."
        )
    return path


class Daemon:
    """A running apspd. Its state directory is temporary and is deleted when the daemon ends."""

    def __init__(self, *arguments: str) -> None:
        path = find_daemon()
        folder = tempfile.mkdtemp(prefix="apspd-")
        address = ("--listen", "127.0.0.1:0", "--state-dir", f"{folder}/state")
        with open(f"{folder}/log", "wb") as log:
            self._shell = subprocess.Popen(
                ["sh", "-c", SCRIPT, "sh", path, *address, *arguments],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                start_new_session=True,  # a keyboard interrupt must not reach the daemon
            )  # fmt: skip
        self.stop = weakref.finalize(self, stop, self._shell, folder)
        assert self._shell.stdout is not None
        line = self._shell.stdout.readline().decode()
        self.url = line.strip().rpartition(" ")[2]
        if not line.startswith("listening on "):
            words = pathlib.Path(folder, "log").read_text(errors="replace").strip()
            self.stop()
            raise ConnectionFailed(f"{path} does not start: {words[-500:]}")


def stop(shell: subprocess.Popen[Any], folder: str) -> None:
    assert shell.stdin is not None and shell.stdout is not None
    shell.stdin.close()
    shell.wait()
    shell.stdout.close()
    shutil.rmtree(folder, ignore_errors=True)
