"""Prints the script that makes a shell complete the commands, flags and values of apsp, from its --help.

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


def choices(value, words):
    """The values that a flag takes, where its help lists them: "true|false", "Kind: i4, u2, f4 or f8." or
    "gnp: random pairs; dense: every pair."."""
    if value is None or "|" in value:
        return [] if value is None else value.split("|")
    listed = re.search(r"(?:^|: )((?:[\w-]+, )+[\w-]+(?: or [\w-]+)?)\.", words)
    if listed:
        return re.split(", | or ", listed[1])
    explained = re.findall(r"(?:^|; )([\w-]+): ", words)
    return explained if len(explained) > 1 else []


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
    yield """    esac
    if [ "$word" = = ]; then
        word=
    elif [ "$before" = = ]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case "${COMP_WORDS[1]} $before" in"""
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
    yield '    esac\n}\n_apsp "$@"'


def fish(commands):
    for name, words in [(name, words) for name, _, words, _ in commands] + list(WORDS.items()):
        yield f"complete -c apsp -n __fish_use_subcommand -a {name} -d '{plain(words)}'"
    for name, _, _, flags in commands:
        for flag, value, words in flags:
            values = f" -f -a '{' '.join(choices(value, words))}'" if choices(value, words) else ""
            yield (f"complete -c apsp -n '__fish_seen_subcommand_from {name}' -l {flag}{' -r' if value else ''}{values} "
                   f"-d '{plain(words)}'")


shell, program = sys.argv[1:]
print("\n".join({"bash": bash, "zsh": zsh, "fish": fish}[shell](list(manual.command_help(program)))))
