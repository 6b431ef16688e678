/* apsp: the one-shot command. Turns arguments into a subcommand, and its end into an exit code:
 * 0 done, 1 bad input, 2 usage, 3 device, 130 interrupted. */
#include "server/command/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_INTERRUPTED 130

static const struct command *const commands[] = {
    &command_solve, &command_verify, &command_generate, &command_plan, &command_bench,
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

/* Whether this process tells what all ranks ended with: the first that knows more than its code. */
static bool tells(const struct ranks *ranks, const struct problem *problem)
{
    const uint32_t place = ranks == NULL                ? 0
                           : problem->detail[0] != '\0' ? 2 * ranks->count - ranks->rank
                                                        : ranks->count - ranks->rank;
    return ranks == NULL || ranks->highest(ranks->context, place) == place;
}

/* path:line:column: detail, and the hint on a line of its own. */
static int refuse(const struct ranks *ranks, const char *path, const struct problem *problem)
{
    const int exit_code = problem->status == STATUS_CANCELLED
                              ? EXIT_INTERRUPTED
                              : status_info(problem->status)->exit_code;
    if (!tells(ranks, problem)) {
        return exit_code;
    }
    fputs("apsp: ", stderr);
    if (path != NULL) {
        fputs(path, stderr);
        if (problem->line > 0) {
            fprintf(stderr, ":%" PRIu64, problem->line);
        }
        if (problem->line > 0 && problem->column > 0) {
            fprintf(stderr, ":%" PRIu64, problem->column);
        }
        fputs(": ", stderr);
    }
    fprintf(stderr, "%s\n",
            problem->detail[0] != '\0' ? problem->detail : status_info(problem->status)->title);
    if (problem->hint[0] != '\0') {
        fprintf(stderr, "  %s\n", problem->hint);
    }
    return exit_code;
}

static int run_command(const struct command *command, const struct config *config,
                       struct ranks *ranks, int argc, char **argv)
{
    struct problem problem = {0};
    struct command_call call = {
        .command = command, .config = config, .problem = &problem, .ranks = ranks};
    enum status status = command_parse(&call, argc, argv);
    if (status == STATUS_OK) {
        status = command->run(&call, &problem);
    }
    status = ranks_agree(ranks, status);
    if (status != STATUS_OK) {
        problem.status = status;
        int exit_code = refuse(ranks, call.problem_path, &problem);
        return call.matrix_is_input && status == STATUS_NOT_VERIFIED ? EXIT_FAILURE : exit_code;
    }
    if (fflush(stdout) != 0) {
        fprintf(stderr, "apsp: cannot write standard output: %s\n", strerror(errno));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

static void print_usage(FILE *stream)
{
    fputs("usage: apsp COMMAND ...\n"
          "All shortest paths of a graph, without the service.\n\n",
          stream);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fprintf(stream, "apsp %s\n%s\n\n", commands[i]->name, commands[i]->summary);
    }
    fputs("apsp COMMAND --help lists the flags of a command. Exit code: 0 done, 1 bad\n"
          "input, 2 usage, 3 no usable device, 130 interrupted.\n",
          stream);
}

static int run(struct ranks *ranks, int argc, char **argv)
{
    struct config config;
    struct config_request request;
    struct problem problem = {0};
    /* Each host may have a configuration file of its own. */
    problem.status = ranks_agree(
        ranks, config_load(&config, CONFIG_COMMAND, &argc, argv, environ, &request, &problem));
    if (problem.status != STATUS_OK) {
        return refuse(ranks, NULL, &problem);
    }
    if (request.version) {
        puts("apsp " APSPD_VERSION);
        return EXIT_SUCCESS;
    }
    if (argc < 2) {
        print_usage(request.help ? stdout : stderr);
        return request.help ? EXIT_SUCCESS : status_info(STATUS_BAD_PARAMETER)->exit_code;
    }
    const struct command *command = NULL;
    for (size_t i = 0; i < COMMAND_COUNT && command == NULL; i++) {
        command = strcmp(commands[i]->name, argv[1]) == 0 ? commands[i] : NULL;
    }
    if (command == NULL) {
        problem_set(&problem, STATUS_UNKNOWN_PARAMETER, "unknown command %.60s", argv[1]);
        problem_hint(&problem, "apsp --help lists the commands");
        return refuse(ranks, NULL, &problem);
    }
    if (ranks != NULL && command != &command_solve) {
        problem_set(&problem, STATUS_BAD_PARAMETER, "apsp-mpi does nothing but solve");
        problem_hint(&problem, "apsp has the other commands");
        return refuse(ranks, NULL, &problem);
    }
    if (!request.help) {
        return run_command(command, &config, ranks, argc - 1, argv + 1);
    }
    command_print_help(command, stdout);
    puts("\nThe solver (also --config FILE, and APSPD_SOLVER_BACKEND and so on in the\n"
         "environment; --solver is short for --solver.backend):");
    config_print_help(CONFIG_COMMAND, stdout);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct ranks *ranks = command_ranks_open(&argc, &argv);
    const int exit_code = run(ranks, argc, argv);
    command_ranks_close(ranks);
    return exit_code;
}
