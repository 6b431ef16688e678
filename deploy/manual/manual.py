"""Makes a page of the manual: a template with its lists filled in from what the programs themselves
say, so that the manual has every key and flag, and no other.

    manual.py OUTPUT TEMPLATE VERSION APSPD APSP
"""

import re
import subprocess
import sys


def ask(*arguments):
    done = subprocess.run(arguments, stdout=subprocess.PIPE, env={}, text=True, check=True)
    return done.stdout


def roff(words):
    """As text of a page: nothing in it is a request or an escape."""
    words = words.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + words if words[:1] in (".", "'") else words


def sentences(words):
    """A line each, as mdoc has it."""
    return [roff(one) for one in re.split(r"(?<=[.;]) (?=[A-Z])", words.strip())]


def flags(text):
    """(flag, its value, its words) of the flags in a --help."""
    for flag, value, block in re.findall(r"^  --(\S+)(?: (\S+))?\n((?:      .*\n)+)", text, re.M):
        yield flag, value, " ".join(line.strip() for line in block.splitlines())


def item(flag, value, words):
    yield f".It Fl Fl {roff(flag)}" + (f" Ar {roff(value)}" if value else "")
    yield from sentences(words)


def listed(lines):
    return [".Bl -tag -width Ds", *lines, ".El"]


def keys(apspd):
    """Every section with its keys, by the commented file that the daemon prints."""
    section, comment, opened = "", [], False
    for line in ask(apspd, "--print-config").splitlines():
        if line.startswith("; "):
            comment.append(line[2:])
        elif line.startswith("["):
            if opened:
                yield ".El"
            section, opened, comment = line.strip("[]"), True, []
            yield f".Ss The section [{section}]"
            yield ".Bl -tag -width Ds"
        elif line:
            key, value = line.split(" = ", 1)
            words = " ".join(comment)
            flag, variable = f"{section}.{key}", f"APSPD_{section}_{key}".upper()
            yield f".It Cm {roff(key)} No = Ar {roff(value)}"
            yield from sentences(words)
            yield from (".br", f".Fl Fl {roff(flag)} ,", f".Ev {variable}")
            comment = []
    yield ".El"


def command_help(apsp):
    """(name, its usage, its words, its flags) of every command of apsp."""
    for name in re.findall(r"^  apsp ([a-z]+) +[A-Z]", ask(apsp, "--help"), re.M):
        usage, rest = ask(apsp, name, "--help").split("\n", 1)
        words, rest = rest.split("\n\n", 1)
        own = rest.split("\nSolver options (")[0]
        usage = usage.removeprefix("usage: ").removesuffix(" [FLAGS]")
        yield name, usage, " ".join(words.split()), list(flags(own + "\n"))


def commands(apsp):
    for _, usage, words, own in command_help(apsp):
        yield f".Ss {usage}"
        yield from sentences(words)
        yield from listed(line for one in own for line in item(*one))


def solver_flags(apsp):
    rest = ask(apsp, "solve", "--help").split("\nSolver options (")[1]
    yield from listed(line for one in flags(rest) for line in item(*one))


def key_flags(apspd):
    yield from listed(line for one in flags(ask(apspd, "--help")) for line in item(*one))


def main():
    output, template, version, apspd, apsp = sys.argv[1:]
    with open(template, encoding="utf-8") as file:
        page = file.read()
    parts = {"KEYS": keys, "KEY_FLAGS": key_flags, "COMMANDS": commands, "SOLVER": solver_flags}
    for name, make in parts.items():
        if f"@{name}@" in page:
            program = apspd if name.startswith("KEY") else apsp
            page = page.replace(f"@{name}@\n", "\n".join(make(program)) + "\n")
    page = page.replace("@VERSION@", version)
    with open(output, "w", encoding="utf-8") as file:
        file.write(page)


if __name__ == "__main__":
    main()
