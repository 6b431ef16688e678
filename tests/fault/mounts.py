"""Mounts that only a test and its children see."""

import os
import subprocess
import sys

import harness


def enter_namespace():
    """Restarts the test in its own mount namespace; skips it if the kernel refuses that."""
    if os.environ.get("APSPD_TEST_MOUNTS") == "own":
        return
    probe = ["unshare", "--mount", "--map-root-user", "mount", "-t", "tmpfs", "none", "/mnt"]
    if subprocess.run(probe, capture_output=True).returncode != 0:
        print("skipped: nothing can be mounted here")
        sys.exit(harness.SKIPPED)
    os.environ["APSPD_TEST_MOUNTS"] = "own"
    os.execvp("unshare", ["unshare", "--mount", "--map-root-user", sys.executable, *sys.argv])
