"""Prints the script that makes a shell complete the commands and flags of apsp, from its --help.

    completion.py bash|zsh|fish APSP
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "manual"))
import manual

WORDS = {"help": "Help about a command", "version": "The version"}


def plain(words):
    """The first sentence, without what a shell would read as its own."""
    return re.sub(r"['\"`$\\:\[\]]", "", re.split(r"(?<=[.;:]) ", words)[0])


def bash(commands):
    names = " ".join([name for name, *_ in commands] + list(WORDS))
    yield f"""_apsp() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} flags=
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{names}" -- "$word"))
        return
    fi
    case ${{COMP_WORDS[1]}} in"""
    for name, _, _, flags in commands:
        listed = " ".join(["--help"] + [f"--{flag}" for flag, _, _ in flags])
        yield f'    {name}) flags="{listed}" ;;'
    yield """    esac
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
        listed = "".join(f" '--{flag}{'=' if value else ''}[{plain(words)}]{':value:' if value else ''}'"
                         for flag, value, words in flags)
        yield f"    {name}) _arguments '--help[Help]'{listed} '*:file:_files' ;;"
    yield '    esac\n}\n_apsp "$@"'


def fish(commands):
    for name, words in [(name, words) for name, _, words, _ in commands] + list(WORDS.items()):
        yield f"complete -c apsp -n __fish_use_subcommand -a {name} -d '{plain(words)}'"
    for name, _, _, flags in commands:
        for flag, value, words in flags:
            yield (f"complete -c apsp -n '__fish_seen_subcommand_from {name}' -l {flag}{' -r' if value else ''} "
                   f"-d '{plain(words)}'")


shell, program = sys.argv[1:]
print("\n".join({"bash": bash, "zsh": zsh, "fish": fish}[shell](list(manual.command_help(program)))))
