#include "server/command/command.h"

#include <stdio.h>
#include <string.h>

/* The words of all commands, one blank between. */
static void print_names(const struct command *const *commands, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        printf("%s ", commands[i]->name);
    }
    fputs("help version completion", stdout);
}

/* Up to the end of the first line, without quotes. */
static void print_words(const char *words)
{
    for (; *words != '\0' && *words != '\n'; words++) {
        if (strchr("'\"`$\\:[]", *words) == NULL) {
            putchar(*words);
        }
    }
}

static void print_bash(const struct command *const *commands, size_t count)
{
    puts("_apsp() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} flags=\n"
         "    if [ \"$COMP_CWORD\" -eq 1 ]; then");
    fputs("        COMPREPLY=($(compgen -W \"", stdout);
    print_names(commands, count);
    puts("\" -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in");
    for (size_t i = 0; i < count; i++) {
        printf("    %s) flags=\"--help", commands[i]->name);
        for (const struct command_flag *flag = commands[i]->flags; flag->name != NULL; flag++) {
            printf(" --%s", flag->name);
        }
        puts("\" ;;");
    }
    puts("    completion) COMPREPLY=($(compgen -W \"bash zsh fish\" -- \"$word\")); return ;;\n"
         "    esac\n"
         "    case $word in\n"
         "    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$word\")) ;;\n"
         "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
         "    esac\n"
         "}\n"
         "complete -o filenames -F _apsp apsp");
}

static void print_zsh(const struct command *const *commands, size_t count)
{
    puts("#compdef apsp\n_apsp() {\n    if ((CURRENT == 2)); then\n        local -a names=(");
    for (size_t i = 0; i < count; i++) {
        printf("            '%s:", commands[i]->name);
        print_words(commands[i]->summary);
        puts("'");
    }
    puts("            'help:Help about a command' 'version:The version'\n"
         "            'completion:What makes a shell complete')\n"
         "        _describe command names\n        return\n    fi\n    case $words[2] in");
    for (size_t i = 0; i < count; i++) {
        printf("    %s) _arguments '--help[Help]'", commands[i]->name);
        for (const struct command_flag *flag = commands[i]->flags; flag->name != NULL; flag++) {
            printf(" '--%s%s[", flag->name, flag->value != NULL ? "=" : "");
            print_words(flag->help);
            printf("]%s'", flag->value != NULL ? ":value:" : "");
        }
        puts(" '*:file:_files' ;;");
    }
    puts("    completion) _values shell bash zsh fish ;;\n    esac\n}\n_apsp \"$@\"");
}

static void print_fish(const struct command *const *commands, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = commands[i]->name;
        printf("complete -c apsp -n __fish_use_subcommand -a %s -d '", name);
        print_words(commands[i]->summary);
        puts("'");
        for (const struct command_flag *flag = commands[i]->flags; flag->name != NULL; flag++) {
            printf("complete -c apsp -n '__fish_seen_subcommand_from %s' -l %s%s -d '", name,
                   flag->name, flag->value != NULL ? " -r" : "");
            print_words(flag->help);
            puts("'");
        }
    }
    puts("complete -c apsp -n __fish_use_subcommand -a 'help version completion'\n"
         "complete -c apsp -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'");
}

bool command_print_completion(const char *shell, const struct command *const *commands,
                              size_t count)
{
    static const struct {
        const char *name;
        void (*print)(const struct command *const *commands, size_t count);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].print(commands, count);
            return true;
        }
    }
    return false;
}
