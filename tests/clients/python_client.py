"""Imports the Python client of this tree, and connects it to the daemon of a test. The test is
skipped if NumPy, httpx or a graph library is missing."""

import contextlib
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.join(ROOT, "clients", "python")
sys.path[:0] = [PACKAGE, os.path.join(ROOT, "tests", "http")]

import harness  # noqa: E402

try:
    import anyio  # otherwise httpcore imports it in the middle of a test
    import httpx
    import networkx
    import numpy
    import pandas
    import scipy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(harness.SKIPPED)

import apspd  # noqa: E402

assert anyio and httpx and networkx and numpy and pandas and scipy


def expect(kind, code, call, *arguments, **more):
    """Checks that the call raises an exception of this type and code; returns the exception."""
    try:
        call(*arguments, **more)
    except apspd.ApspdError as error:
        assert type(error) is kind, repr(error)
        assert code is None or error.code == code, repr(error)
        return error
    raise AssertionError(f"{code} was not raised")


@contextlib.contextmanager
def client_of(daemon, **options):
    with apspd.Client(daemon.url, **options) as client:
        yield client
