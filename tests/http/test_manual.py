"""The manual pages and the completions of the shells: they have every key, command and flag of the programs, and
checkers of manual pages find no errors."""

import os
import re
import shutil
import subprocess
import sys

import harness

BUILD = sys.argv[3]
PAGES = ["apspd.8", "apsp.1", "apspd.ini.5"]
if os.path.exists(os.path.join(BUILD, "apsp-mpi")):
    PAGES.append("apsp-mpi.1")


def path_of(page):
    return os.path.join(BUILD, "deploy", "manual", page)


def plain(page):
    """Returns the source without its escapes."""
    with open(path_of(page), encoding="utf-8") as file:
        return file.read().replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")


def printed(*arguments):
    return subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=True, env={}).stdout


def keys():
    """Returns (section, key, default)."""
    section = None
    for line in printed(harness.BINARY, "--print-config").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif " = " in line and not line.startswith(";"):
            yield section, *line.split(" = ", 1)


def test_the_manual_lists_every_key_with_its_default_and_flag_and_variable():
    page = plain("apspd.ini.5")
    count = 0
    for section, key, default in keys():
        assert f".Ss The section [{section}]\n" in page, section
        block = page.split(f".Ss The section [{section}]\n")[1].split("\n.El\n")[0]
        entry = block.split(f".It Cm {key} No = Ar {default}\n")[1].split("\n.It ")[0]
        assert f".Fl Fl {section}.{key} ,\n.Ev APSPD_{section}_{key}".upper() in entry.upper(), key
        assert f"Default: {default}\n" in entry, (key, entry)
        assert f".It Fl Fl {section}.{key} Ar VALUE\n" in plain("apspd.8"), key
        count += 1
    assert page.count("\n.It Cm ") == count and count > 20, count


def test_the_manual_has_every_command_and_flag_of_apsp():
    page = plain("apsp.1")
    names = re.findall(r"^  apsp ([a-z]+) +[A-Z]", printed(harness.COMMAND, "--help"), re.M)
    assert len(names) >= 5, names
    for name in names:
        text = printed(harness.COMMAND, name, "--help")
        assert f".Ss apsp {name}" in page, name
        entry = page.split(f".Ss apsp {name}")[1].split("\n.Ss ")[0]
        flags = re.findall(r"^  --(\S+)", text, re.M)
        for flag in flags:
            assert f".It Fl Fl {flag}" in (page if flag.startswith("solver.") else entry), (name, flag)
        assert entry.count(".It ") == len([one for one in flags if "solver." not in one]), name


def test_the_manual_lists_the_exit_codes_of_the_programs():
    for code, arguments in ((78, ["--nonsense"]), (78, ["--http.threads", "0"]), (0, ["--help"])):
        done = subprocess.run([harness.BINARY, *arguments], capture_output=True, env={})
        assert done.returncode == code, (arguments, done)
    blocked = os.path.join(BUILD, "build.ninja", "state")
    done = subprocess.run([harness.BINARY, "--state-dir", blocked], capture_output=True, env={})
    assert done.returncode == 74, done
    page = plain("apspd.8").split(".Sh EXIT STATUS")[1].split(".Sh ")[0]
    assert re.findall(r"^\.It (\d+)", page, re.M) == ["0", "74", "75", "78", "80"], page
    page = plain("apsp.1").split(".Sh EXIT STATUS")[1].split(".Sh ")[0]
    assert re.findall(r"^\.It (\d+)", page, re.M) == ["0", "1", "2", "3", "4", "130"], page


def test_checkers_of_manual_pages_find_no_errors():
    mandoc, man = shutil.which("mandoc"), shutil.which("man")
    for page in PAGES:
        if mandoc is not None:
            done = subprocess.run([mandoc, "-Tlint", "-W", "warning", path_of(page)], capture_output=True)
            assert done.returncode == 0 and not done.stdout, done.stdout
        if man is not None and shutil.which("groff") is not None:
            done = subprocess.run(
                [man, "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", path_of(page)],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            )
            assert done.returncode == 0 and not done.stderr, done.stderr
    print("read by", [name for name in (mandoc, man) if name] or "no checker: none is installed")


def test_shells_complete_commands_and_flags():
    has_client = "apsp submit" in printed(harness.COMMAND, "--help")
    scripts = {}
    for shell, name in (("bash", "apsp.bash"), ("zsh", "_apsp"), ("fish", "apsp.fish")):
        with open(os.path.join(BUILD, "deploy", name), encoding="utf-8") as file:
            scripts[shell] = file.read()
        assert "solver.cpu_threads" in scripts[shell], shell
        if shutil.which(shell) is not None:
            subprocess.run([shell, "-n"], input=scripts[shell], text=True, check=True)
    for words, wanted in (("submit --dir", "--directed"), ("submit --kind ''", "auto i4 u2 f4 f8"),
                          ("solve --kind = f", "f4 f8"), ("submit --directed =", "true false"),
                          ("generate --shape ''", "gnp dense grid road"), ("generate --kind ''", "i4 f4"),
                          ("generate --to ''", "dimacs edges json nthu"), ("submit --result h", "hierarchy"),
                          ("get --to n", "npy nthu ndjson"), ("submit --format g", "graphml"),
                          ("solve --solver ''", "auto gpu cpu"), ("help so", "solve")):
        if has_client or words.split()[0] not in ("submit", "get"):
            asked = (f"{scripts['bash']}\nCOMP_WORDS=(apsp {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _apsp; "
                     'echo "${COMPREPLY[@]}"')
            done = subprocess.run(["bash"], input=asked, text=True, capture_output=True, check=True)
            assert done.stdout == wanted + "\n", (words, done)


if __name__ == "__main__":
    harness.run(globals())
