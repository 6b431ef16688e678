#include "server/command/arguments.h"

#include "proto/number.h"
#include "proto/text.h"
#include "server/paragraph.h"
#include "server/suggestion.h"

#include <inttypes.h>
#include <string.h>

static size_t operand_count(const struct command *command)
{
    size_t count = 0;
    while (count < COMMAND_OPERAND_LIMIT && command->operand_names[count] != NULL) {
        ++count;
    }
    return count;
}

static enum status refuse_flag(const struct command *command, const char *name, size_t size,
                               struct problem *reterr)
{
    char typed[64];
    snprintf(typed, sizeof typed, "%.*s", (int)(size < 60 ? size : 60), name);
    struct suggestion suggestion = {.typed = typed};
    for (const struct command_argument *known = command->arguments; known->name != NULL; ++known) {
        suggestion_consider(&suggestion, known->name);
    }
    suggestion_consider(&suggestion, "solver");
    suggestion_consider(&suggestion, "config");
    suggestion_consider(&suggestion, "help");
    problem_set(reterr, STATUS_UNKNOWN_PARAMETER, "unknown flag --%s", typed);
    if (suggestion.best != NULL) {
        problem_hint(reterr, "did you mean --%s?", suggestion.best);
    } else {
        problem_hint(reterr, "apsp %s --help lists the flags", command->name);
    }
    return STATUS_UNKNOWN_PARAMETER;
}

/* The flag at *at, its value taken from behind = or from the next argument. */
static enum status take_flag(const struct command *command, int argc, char **argv, int *at,
                             struct command_call *call, struct problem *reterr)
{
    const char *name = argv[*at] + 2;
    size_t size = strcspn(name, "=");
    const char *value = name[size] == '=' ? name + size + 1 : NULL;
    for (size_t i = 0; command->arguments[i].name != NULL; ++i) {
        const struct command_argument *known = &command->arguments[i];
        if (strlen(known->name) != size || memcmp(known->name, name, size) != 0) {
            continue;
        }
        if (known->operand == NULL && value != NULL) {
            return problem_set(reterr, STATUS_BAD_PARAMETER, "--%s takes no value", known->name);
        }
        if (known->operand != NULL && value == NULL && *at + 1 < argc) {
            value = argv[++*at];
        }
        if (known->operand != NULL && value == NULL) {
            return problem_set(reterr, STATUS_BAD_PARAMETER, "--%s needs a value", known->name);
        }
        call->values[i] = known->operand != NULL ? value : "";
        return STATUS_OK;
    }
    return refuse_flag(command, name, size, reterr);
}

static enum status check_operands(const struct command *command, size_t given,
                                  struct problem *reterr)
{
    size_t wanted = operand_count(command);
    if (given == wanted) {
        return STATUS_OK;
    }
    if (given > wanted) {
        problem_set(reterr, STATUS_BAD_PARAMETER, "%zu operands where %zu are taken", given,
                    wanted);
    } else {
        problem_set(reterr, STATUS_BAD_PARAMETER, "%s is missing", command->operand_names[given]);
    }
    problem_hint(reterr, "apsp %s --help shows the call", command->name);
    return STATUS_BAD_PARAMETER;
}

enum status arguments_parse(const struct command *command, int argc, char **argv,
                            struct command_call *call, struct problem *reterr)
{
    size_t operands = 0;
    bool flags = true;
    for (int at = 1; at < argc; ++at) {
        if (flags && strcmp(argv[at], "--") == 0) {
            flags = false;
        } else if (flags && strncmp(argv[at], "--", 2) == 0) {
            enum status status = take_flag(command, argc, argv, &at, call, reterr);
            if (status != STATUS_OK) {
                return status;
            }
        } else if (flags && argv[at][0] == '-' && argv[at][1] != '\0') {
            return refuse_flag(command, argv[at] + 1, strlen(argv[at] + 1), reterr);
        } else {
            if (operands < operand_count(command)) {
                call->operands[operands] = argv[at];
            }
            ++operands;
        }
    }
    return check_operands(command, operands, reterr);
}

void arguments_print_help(const struct command *command, FILE *stream)
{
    fprintf(stream, "usage: apsp %s", command->name);
    for (size_t i = 0; i < operand_count(command); ++i) {
        fprintf(stream, " %s", command->operand_names[i]);
    }
    fputs(" [FLAGS]\n", stream);
    paragraph_print(stream, "", command->summary);
    fputc('\n', stream);
    for (const struct command_argument *known = command->arguments; known->name != NULL; ++known) {
        fprintf(stream, "  --%s%s%s\n", known->name, known->operand != NULL ? " " : "",
                known->operand != NULL ? known->operand : "");
        paragraph_print(stream, "      ", known->help);
    }
}

enum status arguments_number(const char *name, const char *text, uint64_t min, uint64_t max,
                             uint64_t *ret_value, struct problem *reterr)
{
    int64_t value;
    if (text == NULL) {
        return STATUS_OK;
    }
    if (!number_parse_integer(text, strlen(text), &value) || value < 0 || (uint64_t)value < min ||
        (uint64_t)value > max) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "--%s is \"%.60s\"; it must be %" PRIu64 " to %" PRIu64, name, text, min,
                           max);
    }
    *ret_value = (uint64_t)value;
    return STATUS_OK;
}

enum status arguments_bool(const char *name, const char *text, bool *ret_value,
                           struct problem *reterr)
{
    if (text == NULL) {
        return STATUS_OK;
    }
    bool yes = strcmp(text, "true") == 0;
    if (!yes && strcmp(text, "false") != 0) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "--%s is \"%.60s\"; it must be true or false", name, text);
    }
    *ret_value = yes;
    return STATUS_OK;
}

enum status arguments_kind(const char *name, const char *text, enum kind *ret_kind,
                           struct problem *reterr)
{
    if (text == NULL || kind_from_name(text, ret_kind)) {
        return STATUS_OK;
    }
    return problem_set(reterr, STATUS_BAD_PARAMETER,
                       "--%s is \"%.60s\"; it must be one of auto, i4, u2, f4, f8", name, text);
}

static bool has_direction(enum format format, bool matrix_output)
{
    const struct format_info *info = format_info(format);
    return info != NULL && (matrix_output ? info->matrix_output : info->graph_input);
}

static enum status refuse_format(const char *name, const char *text, bool matrix_output,
                                 struct problem *reterr)
{
    struct text names = {0};
    for (int format = FORMAT_NONE + 1; format < FORMAT_COUNT; ++format) {
        if (has_direction((enum format)format, matrix_output)) {
            text_append_string(&names, names.size > 0 ? ", " : "");
            text_append_string(&names, format_info((enum format)format)->name);
        }
    }
    problem_set(reterr, STATUS_BAD_PARAMETER, "--%s is \"%.60s\"; it must be one of %s", name, text,
                text_status(&names) == STATUS_OK ? names.bytes : "the known formats");
    text_finish(&names);
    return STATUS_BAD_PARAMETER;
}

enum status arguments_format(const char *name, const char *text, const char *path,
                             bool matrix_output, enum format *ret_format, struct problem *reterr)
{
    if (text == NULL) {
        *ret_format = format_from_path(path, matrix_output);
        return STATUS_OK;
    }
    enum format format = format_from_name(text);
    if (!has_direction(format, matrix_output)) {
        return refuse_format(name, text, matrix_output, reterr);
    }
    *ret_format = format;
    return STATUS_OK;
}
