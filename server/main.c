/* apspd: arguments in, exit code out. */
#include "server/config_option.h"
#include "server/http/request/auth.h"
#include "server/service.h"
#include "server/worker/child.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

static int report_failure(const struct problem *problem)
{
    fprintf(stderr, "apspd: %s\n", problem->detail);
    if (problem->hint[0] != '\0') {
        fprintf(stderr, "apspd: %s\n", problem->hint);
    }
    return EX_CONFIG;
}

int main(int argc, char **argv)
{
    struct config config;
    struct config_request request = {0};
    struct problem problem = {0};
    int count = argc;
    /* The command line of a worker process, which only this program itself uses. */
    if (argc == 3 && strcmp(argv[1], WORKER_FLAG) == 0 &&
        strtol(argv[2], NULL, 10) == WORKER_SOCKET) {
        return worker_child_run(WORKER_SOCKET, NULL);
    }
    if (argc == 5 && strcmp(argv[1], "--add-key") == 0) {
        return auth_add_key(argv[2], argv[3], argv[4], stdout, &problem) == STATUS_OK
                   ? 0
                   : report_failure(&problem);
    }
    if (config_load(&config, CONFIG_DAEMON, &count, argv, environ, &request, &problem) !=
        STATUS_OK) {
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
    return service_run(&config, request.path, argc, argv);
}
