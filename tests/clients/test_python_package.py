"""Tests the Python client as a package: its wheel, built without network access, is complete and
typed and has the version of the service; the examples in its README and docstrings run as
printed."""

import contextlib
import doctest
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import python_client  # first, because it may skip the test
from python_client import PACKAGE, ROOT

import apspd
import apspd.client
import apspd.csgraph
import apspd._steps
import harness

BINARY = os.path.abspath(harness.BINARY)  # an absolute path, because the current folder changes
# Builds a wheel if setuptools and wheel are installed; nothing is downloaded.
BUILD = "from setuptools import build_meta; import sys; print(build_meta.build_wheel(sys.argv[1]))"
SOURCE = "from setuptools import build_meta; import sys; print(build_meta.build_sdist(sys.argv[1]))"
EXAMPLE = """
import apspd, os, sys
assert apspd.__file__.startswith(sys.argv[1]), apspd.__file__
assert os.path.exists(os.path.join(os.path.dirname(apspd.__file__), "py.typed"))
print(apspd.Client(sys.argv[2]).solve([("a", "b", 4), ("b", "c", 3)]).distance("a", "c"))
"""


def python(*arguments, **more):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, **more)
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def has(module):
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode == 0


def test_the_wheel_is_built_and_works(daemon):
    with tempfile.TemporaryDirectory(prefix="apspd-test-wheel-") as folder:
        source = shutil.copytree(PACKAGE, f"{folder}/source", ignore=shutil.ignore_patterns("__pycache__"))
        wheel = python("-c", BUILD, folder, cwd=source).split()[-1]
        with open(os.path.join(ROOT, "meson.build"), encoding="utf-8") as file:
            version = re.search(r"version: '([\d.]+)'", file.read())[1]
        assert wheel == f"apspd-{version}-py3-none-any.whl" and apspd.client.VERSION == version, wheel
        with zipfile.ZipFile(f"{folder}/{wheel}") as archive:
            names = set(archive.namelist())
            archive.extractall(f"{folder}/installed")
        modules = {f"apspd/{name}" for name in os.listdir(f"{PACKAGE}/apspd") if name != "__pycache__"}
        assert modules == {name for name in names if name.startswith("apspd/")}, names
        with open(f"{ROOT}/LICENSE", "rb") as file, zipfile.ZipFile(f"{folder}/{wheel}") as archive:
            (licence,) = [name for name in archive.namelist() if name.endswith("/LICENSE")]
            assert archive.read(licence) == file.read()
            about = archive.read(f"apspd-{version}.dist-info/METADATA").decode()
        assert "Author-email: apspd maintainers" in about and "Project-URL: Homepage" in about, about[:900]
        assert "](../" not in about, "a link that leads nowhere where the package is published"
        if shutil.which("twine"):
            packed = python("-c", SOURCE, folder, cwd=source).split()[-1]
            subprocess.run(["twine", "check", "--strict", f"{folder}/{wheel}", f"{folder}/{packed}"], check=True)
        environment = {**os.environ, "PYTHONPATH": f"{folder}/installed"}
        assert python("-c", EXAMPLE, f"{folder}/installed", daemon.url, env=environment, cwd="/") == "7\n"


def check_examples(daemon, run):
    with tempfile.TemporaryDirectory(prefix="apspd-test-doc-") as folder, contextlib.chdir(folder):
        os.environ.update(APSPD_URL=daemon.url, APSPD=BINARY)
        apspd.default_client.cache_clear()
        failed, tried = run()
        assert tried > 0 and failed == 0, (failed, tried)


def test_the_examples_in_the_readme_run(daemon):
    check_examples(daemon, lambda: doctest.testfile(f"{PACKAGE}/README.md", module_relative=False))


def test_the_examples_in_the_docstrings_run(daemon):
    for module in (apspd.client, apspd.csgraph, apspd._steps):
        check_examples(daemon, lambda: doctest.testmod(
            module, extraglobs={"Client": apspd.Client}, optionflags=doctest.ELLIPSIS))


def test_the_type_annotations_are_correct():
    if has("mypy"):
        flags = "--strict", "--ignore-missing-imports", "--cache-dir", os.devnull
        python("-m", "mypy", *flags, f"{PACKAGE}/apspd")


if __name__ == "__main__":
    if not has("setuptools, wheel"):
        print("skipped: python3-setuptools or python3-wheel is missing")
        sys.exit(harness.SKIPPED)
    assert python_client
    harness.run(globals())
