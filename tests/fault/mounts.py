"""Makes mounts visible only to a test and its children."""

import os
import subprocess
import sys

import harness


def enter_namespace():
    """Restarts the test in its own mount namespace; skips the test if the kernel refuses to
    mount."""
    if os.environ.get("APSPD_TEST_MOUNTS") == "own":
        return
    probe = ["unshare", "--mount", "--map-root-user", "mount", "-t", "tmpfs", "none", "/mnt"]
    if subprocess.run(probe, capture_output=True).returncode != 0:
        print("skipped: nothing can be mounted here")
        sys.exit(harness.SKIPPED)
    os.environ["APSPD_TEST_MOUNTS"] = "own"
    os.execvp("unshare", ["unshare", "--mount", "--map-root-user", sys.executable, *sys.argv])
