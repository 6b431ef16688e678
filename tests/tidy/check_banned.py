"""Calls that the rules ban: unbounded copies, unchecked conversions, sleeps, hidden exits."""

import house

BANNED = (
    "strcpy strcat sprintf vsprintf strtok atoi atol atoll atof gets alloca "
    "exit sleep usleep nanosleep clock_nanosleep uv_sleep"
).split()
CALL = r"(?<![\w.>])(?:" + "|".join(BANNED) + r")(?=\s*\()"
PYTHON_SLEEP = r"\btime\.sleep\s*(?=\()"
# Pauses between two looks at a condition.
PYTHON_PAUSES = "tests/http/harness.py"


def check(tree):
    findings = []
    for path, text in house.c_files(tree).items():
        for number, match in house.lines_matching(text, CALL):
            findings.append(f"{path}:{number}: {match.group()} is not called here")
    for path, text in tree.items():
        if path.endswith(".py") and path != PYTHON_PAUSES:
            for number, _ in house.lines_matching(text, PYTHON_SLEEP):
                findings.append(f"{path}:{number}: a test waits for an event, not for a time")
    return findings


CASES = (
    ("each call", {"a.c": "".join(f"{name}(x);\n" for name in BANNED)}, BANNED),
    ("with blanks", {"a.cu": "\n  strcpy (a, b);\n"}, ["a.cu:2: strcpy"]),
    ("longer names", {"a.c": "_exit(1); snprintf(a, b); my_gets(x); strtok_r(a); exits(1);\n"}, []),
    ("a member", {"a.c": "file->exit(1); file.sleep(2);\n"}, []),
    ("comment and string", {"a.c": '/* exit(1) */ f("sleep(1)");\n'}, []),
    ("a test that sleeps", {"a.py": "import time\ntime." + "sleep(1)\n"}, ["a.py:2: a test waits"]),
)

if __name__ == "__main__":
    house.main(check, CASES)
