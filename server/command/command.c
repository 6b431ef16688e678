#include "server/command/command.h"

#include "proto/number.h"
#include "proto/text.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Maximum number of bytes of an argument that messages quote. */
#define SHOWN 60
#define BAR_CELLS 24

static enum status hint_at_help(struct command_call *call, enum status status)
{
    problem_hint(call->problem, "apsp %s --help shows the usage", call->command->name);
    return status;
}

/* Parses the flag at *at and its value, which follows "=" or is the next argument. */
static enum status parse_flag(struct command_call *call, int argc, char **argv, int *at)
{
    struct problem *problem = call->problem;
    const bool is_long = argv[*at][1] == '-';
    const char *name = argv[*at] + (is_long ? 2 : 1);
    const size_t size = strcspn(name, "=");
    const char *value = name[size] == '=' ? name + size + 1 : NULL;
    const struct command_flag *flag = call->command->flags;
    while (flag->name != NULL && (strlen(flag->name) != size || memcmp(flag->name, name, size))) {
        flag++;
    }
    if (flag->name == NULL || !is_long) {
        return hint_at_help(call, problem_set(problem, STATUS_UNKNOWN_PARAMETER,
                                              "unknown flag %.*s", SHOWN, argv[*at]));
    }
    if (flag->value == NULL && value != NULL) {
        return problem_set(problem, STATUS_BAD_PARAMETER, "--%s takes no value", flag->name);
    }
    if (flag->value != NULL && value == NULL && *at + 1 < argc) {
        value = argv[++*at];
    }
    if (flag->value != NULL && value == NULL) {
        return problem_set(problem, STATUS_BAD_PARAMETER, "--%s needs a value", flag->name);
    }
    call->values[flag - call->command->flags] = flag->value != NULL ? value : "";
    return STATUS_OK;
}

enum status command_parse(struct command_call *call, int argc, char **argv)
{
    const char *const *names = call->command->operand_names;
    size_t wanted = 0;
    size_t given = 0;
    bool flags = true; /* false after a lone -- */
    while (wanted < COMMAND_OPERAND_LIMIT && names[wanted] != NULL) {
        wanted++;
    }
    for (int at = 1; at < argc; at++) {
        const char *argument = argv[at];
        if (flags && strcmp(argument, "--") == 0) {
            flags = false;
        } else if (flags && argument[0] == '-' && argument[1] != '\0') {
            STATUS_TRY(parse_flag(call, argc, argv, &at));
        } else if (given < wanted) {
            call->operands[given++] = argument;
        } else {
            return hint_at_help(
                call, problem_set(call->problem, STATUS_BAD_PARAMETER,
                                  "unexpected operand %.*s; the maximum number of operands is %zu",
                                  SHOWN, argument, wanted));
        }
    }
    if (given < wanted) {
        return hint_at_help(call, problem_set(call->problem, STATUS_BAD_PARAMETER,
                                              "the operand %s is missing", names[given]));
    }
    return STATUS_OK;
}

void command_print_help(const struct command *command, FILE *stream)
{
    fprintf(stream, "usage: apsp %s", command->name);
    for (size_t i = 0; i < COMMAND_OPERAND_LIMIT && command->operand_names[i] != NULL; i++) {
        fprintf(stream, " %s", command->operand_names[i]);
    }
    fprintf(stream, " [FLAGS]\n%s\n\n", command->summary);
    for (const struct command_flag *flag = command->flags; flag->name != NULL; flag++) {
        fprintf(stream, "  --%s%s%s\n      %s\n", flag->name, flag->value != NULL ? " " : "",
                flag->value != NULL ? flag->value : "", flag->help);
    }
}

void command_refuse_value(struct command_call *call, int flag, const char *wanted)
{
    if (call->status == STATUS_OK) {
        call->status =
            problem_set(call->problem, STATUS_BAD_PARAMETER, "--%s is \"%.*s\"; it must be %s",
                        call->command->flags[flag].name, SHOWN, call->values[flag], wanted);
    }
}

uint64_t command_number(struct command_call *call, int flag, uint64_t min, uint64_t max,
                        uint64_t fallback)
{
    const char *text = call->values[flag];
    int64_t value;
    if (text == NULL) {
        return fallback;
    }
    if (!number_parse_integer(text, strlen(text), &value) || value < 0 || (uint64_t)value < min ||
        (uint64_t)value > max) {
        char range[64];
        snprintf(range, sizeof(range), "an integer from %" PRIu64 " to %" PRIu64, min, max);
        command_refuse_value(call, flag, range);
        return fallback;
    }
    return (uint64_t)value;
}

enum kind command_kind(struct command_call *call, int flag)
{
    enum kind kind = KIND_AUTO;
    if (call->values[flag] != NULL && !kind_from_name(call->values[flag], &kind)) {
        command_refuse_value(call, flag, "one of auto, i4, u2, f4, f8");
    }
    return kind;
}

enum format command_format(struct command_call *call, int flag, const char *path,
                           bool matrix_output)
{
    if (call->values[flag] == NULL) {
        return format_from_path(path, matrix_output);
    }
    const enum format format = format_from_name(call->values[flag]);
    const struct format_info *info = format_info(format);
    if (info == NULL || !(matrix_output ? info->matrix_output : info->parameters != NULL)) {
        command_refuse_value(call, flag,
                             matrix_output ? "one of " COMMAND_MATRIX_FORMATS
                                           : "one of " COMMAND_GRAPH_FORMATS);
        return FORMAT_NONE;
    }
    return format;
}

enum status command_output_format(struct command_call *call, int to, const char *path,
                                  enum format *ret_format, struct problem *reterr)
{
    const char *slash = strrchr(path, '/');
    enum format format = command_format(call, to, path, true);
    STATUS_TRY(call->status);
    if (format == FORMAT_NONE && strchr(slash != NULL ? slash : path, '.') != NULL) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "the extension of \"%.200s\" does not belong to a matrix format; choose "
                           "a format with --to: " COMMAND_MATRIX_FORMATS,
                           path);
    }
    format = format == FORMAT_NONE ? FORMAT_NPY : format;
    *ret_format = format;
    if (!format_is_binary(format) || strcmp(path, "-") != 0 || isatty(STDOUT_FILENO) != 1) {
        return STATUS_OK;
    }
    return problem_refuse(
        reterr, STATUS_BAD_PARAMETER, "name a file, use --to csv, or pipe the output to a program",
        "the format %s is binary, and standard output is a terminal", format_info(format)->name);
}

void command_print_text(const char *bytes, size_t size, FILE *stream)
{
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)bytes[i];
        const unsigned char next = i + 1 < size ? (unsigned char)bytes[i + 1] : 0;
        if (byte == 0xc2 && next >= 0x80 &&
            next < 0xa0) { /* U+0080 to U+009F, control characters, in UTF-8 */
            fprintf(stream, "\\u%04x", next);
            i++;
        } else if (byte < 0x20 || byte == 0x7f) {
            fprintf(stream, "\\u%04x", byte);
        } else {
            fputc(byte, stream);
        }
    }
}

void command_print_string(const char *string, FILE *stream)
{
    command_print_text(string, strlen(string), stream);
}

void command_print_advice(const char *detail, const char *hint)
{
    command_print_string(detail, stderr);
    fputs(hint[0] != '\0' ? "\n  " : "", stderr);
    command_print_string(hint, stderr);
    fputc('\n', stderr);
}

enum status command_print_json(json_t *document, FILE *stream, struct problem *reterr)
{
    char *line = text_print_json(document);
    json_decref(document);
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    command_print_string(line, stream);
    free(line);
    return fputc('\n', stream) != EOF && fflush(stream) != EOF
               ? STATUS_OK
               : problem_set(reterr, STATUS_IO, "cannot write to standard output");
}

bool command_shows_progress(void)
{
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && (no_color == NULL || no_color[0] == '\0') &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

void command_draw_progress(const char *phase, double share, double left_s)
{
    char cells[BAR_CELLS + 1];
    memset(cells, '.', BAR_CELLS);
    memset(cells, '#', (size_t)(share * BAR_CELLS));
    cells[BAR_CELLS] = '\0';
    fputs(WIPE_LINE, stderr);
    command_print_string(phase, stderr);
    fprintf(stderr, " [%s] %3.0f %%", cells, share * 100);
    if (left_s >= 0) {
        fprintf(stderr, "  ETA %.1f s", left_s);
    }
    fflush(stderr);
}

static volatile sig_atomic_t interrupted;

static void note_signal(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

void command_watch_signals(void)
{
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool command_interrupted(void)
{
    return interrupted != 0;
}

enum status command_wait_for_input(int file)
{
    struct pollfd input = {.fd = file, .events = POLLIN};
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (!interrupted) {
        (void)ppoll(&input, 1, NULL, &before);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return interrupted ? STATUS_CANCELLED : STATUS_OK;
}

bool command_cancelled(void *context)
{
    (void)context;
    return command_interrupted();
}
