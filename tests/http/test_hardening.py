"""The programs have the hardening that the build requested from the compiler and the linker.
Arguments: the programs."""

import re
import shutil
import subprocess
import sys

SKIPPED = 77


def readelf(option, program):
    done = subprocess.run(["readelf", "-W", option, program], capture_output=True, text=True,
                          check=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    return done.stdout


def segment_flags(program, name):
    found = re.search(rf"^\s*{name}\s.*?\s([R ][W ][E ])\s+0x", readelf("-l", program), re.M)
    assert found, (program, name)
    return found.group(1)


def check(program):
    header = readelf("-h", program)
    dynamic = readelf("-d", program)
    symbols = readelf("--dyn-syms", program)
    assert "DYN (" in header and re.search(r"FLAGS_1.*\bPIE\b", dynamic), f"{program}: PIE"
    assert "BIND_NOW" in dynamic and segment_flags(program, "GNU_RELRO"), f"{program}: full RELRO"
    assert "E" not in segment_flags(program, "GNU_STACK"), f"{program}: executable stack"
    assert "TEXTREL" not in dynamic, f"{program}: code that is written to"
    assert "__stack_chk_fail" in symbols, f"{program}: stack protector"
    assert re.search(r"__\w+_chk@", symbols), f"{program}: _FORTIFY_SOURCE"
    writable_code = [line for line in readelf("-l", program).splitlines()
                     if line.strip().startswith("LOAD") and " RWE " in line]
    assert not writable_code, (program, writable_code)
    # No function of the C library is interposed.
    for name in ("accept4", "epoll_ctl", "epoll_wait"):
        own = re.search(rf"FUNC\s+GLOBAL\s+DEFAULT\s+\d+\s+{name}\b", symbols, re.M)
        assert not own, f"{program}: {name}"
    if "X86-64" in header:
        code = open(program, "rb").read()
        functions = readelf("-s", program).count(" FUNC ")
        marks = code.count(b"\xf3\x0f\x1e\xfa")
        # Each function that may be called through a pointer begins with a marker (CET), except in
        # the CUDA runtime, if it is linked.
        assert marks > functions / 8, (program, marks, functions)


if shutil.which("readelf") is None:
    sys.exit(SKIPPED)
for path in sys.argv[1:]:
    check(path)
    print("ok", path)
