/* Selects the command and turns its status into an exit code: 0 success, 1 bad input, 2 usage, 3
 * device, 4 service, 130 interrupted. */
#include "server/command/apsp.h"

#include "server/command/command.h"
#include "server/commit.h"
#include "server/config_option.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_INTERRUPTED 130

/* Returns the command with this index, in the order of the help; NULL after the last command. */
static const struct command *command_at(size_t index)
{
    static const struct command *const own[] = {&command_solve, &command_verify, &command_generate,
                                                &command_plan, &command_bench};
    const size_t own_count = sizeof(own) / sizeof(own[0]);
    return index < own_count ? own[index] : command_client_list[index - own_count];
}

static const struct command *find_command(const char *name)
{
    size_t i = 0;
    while (command_at(i) != NULL && strcmp(command_at(i)->name, name) != 0) {
        i++;
    }
    return command_at(i);
}

/* Returns whether this process prints its problem. Only the lowest rank whose problem has a detail
 * does; if no problem has a detail, the lowest rank does. */
static bool tells_problem(const struct ranks *ranks, const struct problem *problem)
{
    const uint32_t place = ranks == NULL                ? 0
                           : problem->detail[0] != '\0' ? 2 * ranks->count - ranks->rank
                                                        : ranks->count - ranks->rank;
    return ranks == NULL || ranks->highest(ranks->context, place) == place;
}

/* Prints "path:line:column: detail", and the hint on its own line. */
static int print_problem(const struct ranks *ranks, const char *path, const struct problem *problem)
{
    const int exit_code = problem->status == STATUS_CANCELLED
                              ? EXIT_INTERRUPTED
                              : status_info(problem->status)->exit_code;
    if (!tells_problem(ranks, problem)) {
        return exit_code;
    }
    fputs("apsp: ", stderr);
    if (path != NULL) {
        command_print_string(path, stderr);
        if (problem->line > 0) {
            fprintf(stderr, ":%" PRIu64, problem->line);
        }
        if (problem->line > 0 && problem->column > 0) {
            fprintf(stderr, ":%" PRIu64, problem->column);
        }
        fputs(": ", stderr);
    }
    command_print_advice(problem->detail[0] != '\0' ? problem->detail
                         : problem->status == STATUS_CANCELLED
                             ? "interrupted"
                             : status_info(problem->status)->title,
                         problem->hint);
    return exit_code;
}

static int run_command(const struct command *command, const struct config *config,
                       struct ranks *ranks, int argc, char **argv)
{
    struct problem problem = {0};
    struct command_call call = {
        .command = command, .config = config, .problem = &problem, .ranks = ranks};
    enum status status = command_parse(&call, argc, argv);
    STATUS_THEN(status, command->run(&call, &problem));
    status = ranks_agree(ranks, status);
    if (status != STATUS_OK) {
        problem.status = status;
        const int exit_code = print_problem(ranks, call.problem_path, &problem);
        return call.exit_code != 0 ? call.exit_code : exit_code;
    }
    if (fflush(stdout) != 0) {
        fprintf(stderr, "apsp: cannot write to standard output: %s\n", strerror(errno));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

static void print_usage(FILE *stream)
{
    fputs("usage: apsp COMMAND ...\n"
          "Computes all shortest paths of a graph, locally or with a running service.\n\n"
          "  apsp solve town.gr town.npy\n\n",
          stream);
    for (size_t i = 0; command_at(i) != NULL; i++) {
        const char *summary = command_at(i)->summary;
        fprintf(stream, "  apsp %-9s%.*s\n", command_at(i)->name, (int)strcspn(summary, ".,:\n"),
                summary);
    }
    fputs("\napsp COMMAND --help lists a command's flags; apsp version prints the version.\n"
          "Exit code: 0 success, 1 bad input, 2 usage error, 3 no usable device, 4 service\n"
          "unreachable or request refused, 130 interrupted.\n",
          stream);
}

static int refuse_command(const struct ranks *ranks, const char *word)
{
    struct problem problem = {0};
    problem_refuse(&problem, STATUS_UNKNOWN_PARAMETER, "apsp help lists the commands",
                   "unknown command %.60s", word);
    for (size_t i = 0; command_at(i) != NULL; i++) {
        const char *name = command_at(i)->name;
        if (word[0] == name[0] && memchr(word + 1, name[1], strnlen(word + 1, 2)) != NULL) {
            problem_hint(&problem, "did you mean apsp %s?", name);
        }
    }
    return print_problem(ranks, NULL, &problem);
}

/* Prints the help of the command with this name, or the usage if the name is NULL. */
static int run_help(const struct ranks *ranks, const char *name)
{
    const struct command *command = name != NULL ? find_command(name) : NULL;
    if (name == NULL) {
        print_usage(stdout);
        return EXIT_SUCCESS;
    }
    if (command == NULL) {
        return refuse_command(ranks, name);
    }
    command_print_help(command, stdout);
    if (command->ask == NULL) { /* a command without ask uses a solver */
        puts("\nSolver options (also set by --config FILE and by environment variables such as\n"
             "APSPD_SOLVER_BACKEND; --solver is short for --solver.backend):");
        config_print_help(CONFIG_COMMAND, stdout);
    }
    return EXIT_SUCCESS;
}

int apsp_run(struct ranks *ranks, int argc, char **argv)
{
    struct config config;
    struct config_request request;
    struct problem problem = {0};
    /* The ranks must agree, because each rank's host may have its own configuration file. */
    problem.status = ranks_agree(
        ranks, config_load(&config, CONFIG_COMMAND, &argc, argv, environ, &request, &problem));
    if (problem.status != STATUS_OK) {
        return print_problem(ranks, NULL, &problem);
    }
    if (request.task == CONFIG_SHOW_VERSION || (argc > 1 && strcmp(argv[1], "version") == 0)) {
        printf("apsp %s%s%s\n", APSPD_VERSION, build_commit[0] != '\0' ? " " : "", build_commit);
        return EXIT_SUCCESS;
    }
    const bool is_help = request.task == CONFIG_SHOW_HELP;
    if (argc < 2) {
        print_usage(is_help ? stdout : stderr);
        return is_help ? EXIT_SUCCESS : status_info(STATUS_BAD_PARAMETER)->exit_code;
    }
    if (strcmp(argv[1], "help") == 0) {
        return run_help(ranks, argc > 2 ? argv[2] : NULL);
    }
    const struct command *command = find_command(argv[1]);
    if (command == NULL) {
        return refuse_command(ranks, argv[1]);
    }
    if (ranks != NULL && command != &command_solve) {
        problem_refuse(&problem, STATUS_BAD_PARAMETER, "use apsp for the other commands",
                       "apsp-mpi supports only the solve command");
        return print_problem(ranks, NULL, &problem);
    }
    return is_help ? run_help(ranks, argv[1])
                   : run_command(command, &config, ranks, argc - 1, argv + 1);
}
