/* apspd: arguments in, exit code out. */
#include "server/http/request/auth.h"
#include "server/job/worker/protocol.h"
#include "server/service.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

struct arguments {
    int count;
    char **values;
};

/* config_load moves the arguments about, so it gets a copy of their list each time. */
static enum status load(const struct arguments *arguments, struct config *config,
                        struct config_request *request, struct problem *reterr)
{
    size_t size = ((size_t)arguments->count + 1) * sizeof(char *);
    char **values = malloc(size);
    if (values == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory to start.");
    }
    memcpy(values, arguments->values, size);
    int count = arguments->count;
    config_defaults(config);
    enum status status =
        config_load(config, CONFIG_DAEMON, &count, values, environ, request, reterr);
    free(values);
    return status;
}

static enum status load_again(void *context, struct config *ret_config, struct problem *reterr)
{
    struct config_request request = {0};
    return load(context, ret_config, &request, reterr);
}

static int report_failure(const struct problem *problem)
{
    fprintf(stderr, "apspd: %s\n", problem->detail);
    if (problem->hint[0] != '\0') {
        fprintf(stderr, "apspd: %s\n", problem->hint);
    }
    return EX_CONFIG;
}

/* Recognizes the command line of a worker process, which only this program itself uses. */
static bool is_worker(int argc, char **argv)
{
    return argc == 3 && strcmp(argv[1], WORKER_FLAG) == 0 &&
           strtol(argv[2], NULL, 10) == WORKER_SOCKET;
}

int main(int argc, char **argv)
{
    if (is_worker(argc, argv)) {
        return worker_child_run(WORKER_SOCKET);
    }
    struct arguments arguments = {argc, argv};
    struct config config;
    struct config_request request = {0};
    struct problem problem = {0};
    if (load(&arguments, &config, &request, &problem) != STATUS_OK) {
        return report_failure(&problem);
    }
    if (request.help) {
        config_print_help(CONFIG_DAEMON, stdout);
        return 0;
    }
    if (request.version) {
        printf("apspd %s\n", APSPD_VERSION);
        return 0;
    }
    if (request.print) {
        config_print(&config, stdout);
        return 0;
    }
    if (request.hash_key) {
        return auth_hash_key(stdin, stdout, &problem) == STATUS_OK ? 0 : report_failure(&problem);
    }
    if (request.check) {
        return 0;
    }
    struct service_reload reload = {&arguments, request.path, load_again};
    return service_run(&config, &reload);
}
