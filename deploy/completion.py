"""Prints the script that makes a shell complete the commands, flags and values of apsp, from its --help.

    completion.py bash|zsh|fish APSP
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "manual"))
import manual

WORDS = {"help": "Prints the help of a command", "version": "Prints the version"}


def plain(words):
    """The first sentence, without characters that a shell would interpret. Texts that explain values, "gnp:
    random edges; grid: a square grid.", become the list of the values."""
    if len(explained(words)) > 1:
        return " or ".join(explained(words))
    first = re.split(r"[.;] " if re.match("[a-z]+: ", words) else r"[.;:] ", words)[0]
    return re.sub(r'["`$\\:\[\]]', "", first.rstrip(".;:").replace("'", "\u2019").replace(": ", ", "))


def explained(words):
    return re.findall(r"(?:^|; )([\w-]+): ", words)


def choices(value, words):
    """The values that a flag takes, where its help lists them: "true|false", "Kind: i4, u2, f4 or f8." or
    "gnp: random pairs; dense: every pair."."""
    if value is None or "|" in value:
        return [] if value is None else value.split("|")
    listed = re.search(r"(?:^|: )((?:[\w-]+, )+[\w-]+(?: or [\w-]+)?)\.", words)
    if listed:
        return re.split(", | or ", listed[1])
    limited = re.search(r"\(((?:\w+, )+\w+); default \w+\)$", words)
    if limited:
        return limited[1].split(", ")
    return explained(words) if len(explained(words)) > 1 else []


def commands_of(program):
    """The commands with all their flags, those of the solver included, which --help prints once more for each."""
    solver = list(manual.flags(manual.ask(program, "solve", "--help").split("\nSolver options (")[1]))
    short = [("solver", value, words) for flag, value, words in solver if flag == "solver.backend"]
    for name, usage, words, flags in manual.command_help(program):
        has_solver = "\nSolver options (" in manual.ask(program, name, "--help")
        yield name, usage, words, flags + (short + solver if has_solver else [])


def bash(commands):
    names = " ".join([name for name, *_ in commands] + list(WORDS))
    yield f"""_apsp() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} flags= values=
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{names}" -- "$word"))
        return
    fi
    case ${{COMP_WORDS[1]}} in"""
    for name, _, _, flags in commands:
        listed = " ".join(["--help"] + [f"--{flag}" for flag, _, _ in flags])
        yield f'    {name}) flags="{listed}" ;;'
    yield f"""    help) values="{' '.join(name for name, *_ in commands)}" ;;
    esac
    if [ "$word" = = ]; then
        word=
    elif [ "$before" = = ]; then
        before=${{COMP_WORDS[COMP_CWORD - 2]}}
    fi
    case "${{COMP_WORDS[1]}} $before" in"""
    for name, _, _, flags in commands:
        for flag, value, words in flags:
            if choices(value, words):
                yield f'    "{name} --{flag}") values="{" ".join(choices(value, words))}" ;;'
    yield """    esac
    if [ -n "$values" ]; then
        COMPREPLY=($(compgen -W "$values" -- "$word"))
        return
    fi
    case $word in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}
complete -o filenames -F _apsp apsp"""


def zsh(commands):
    yield "#compdef apsp\n_apsp() {\n    if ((CURRENT == 2)); then\n        local -a names=("
    for name, words in [(name, words) for name, _, words, _ in commands] + list(WORDS.items()):
        yield f"            '{name}:{plain(words)}'"
    yield "        )\n        _describe command names\n        return\n    fi\n    case $words[2] in"
    for name, _, _, flags in commands:
        listed = "".join(
            f" '--{flag}{'=' if value else ''}[{plain(words)}]{':value:' if value else ''}"
            f"{'(' + ' '.join(choices(value, words)) + ')' if choices(value, words) else ''}'"
            for flag, value, words in flags)
        yield f"    {name}) _arguments '--help[Help]'{listed} '*:file:_files' ;;"
    yield f"    help) _arguments '*:command:({' '.join(name for name, *_ in commands)})' ;;"
    yield '    esac\n}\n_apsp "$@"'


def fish(commands):
    for name, words in [(name, words) for name, _, words, _ in commands] + list(WORDS.items()):
        yield f"complete -c apsp -n __fish_use_subcommand -a {name} -d '{plain(words)}'"
    for name, _, words, flags in commands:
        yield f"complete -c apsp -n '__fish_seen_subcommand_from help' -f -a {name} -d '{plain(words)}'"
        for flag, value, words in flags:
            values = f" -f -a '{' '.join(choices(value, words))}'" if choices(value, words) else ""
            yield (f"complete -c apsp -n '__fish_seen_subcommand_from {name}' -l {flag}{' -r' if value else ''}{values} "
                   f"-d '{plain(words)}'")


shell, program = sys.argv[1:]
print("\n".join({"bash": bash, "zsh": zsh, "fish": fish}[shell](list(commands_of(program)))))
