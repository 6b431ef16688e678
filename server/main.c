/* apspd: arguments in, exit code out. */
#include "server/config_option.h"
#include "server/http/request/auth.h"
#include "server/service.h"
#include "server/systemd.h"
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

/* Reports the settings of a valid configuration file that something else overrules. */
static int print_overruled(const struct config *config, const char *path)
{
    char *arguments[] = {"apspd", "--config", (char *)path, NULL};
    char *environment[] = {NULL};
    int count = 3;
    int socket = -1;
    struct config of_file;
    struct config_request request;
    struct problem problem = {0};
    if (systemd_receive_socket(&socket, &problem) != STATUS_OK) {
        return report_failure(&problem);
    }
    if (socket >= 0) {
        printf("http.listen is %s: the socket of the service manager overrules it\n",
               config->listen);
    }
    if (path != NULL && config_load(&of_file, CONFIG_DAEMON, &count, arguments, environment,
                                    &request, NULL) == STATUS_OK) {
        config_print_overruled(config, &of_file, path, stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct config config;
    struct config_request request = {0};
    struct problem problem = {0};
    int count = argc;
    /* A worker process, started only by this program. */
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
    switch (request.task) {
    case CONFIG_SHOW_HELP:
        config_print_help(CONFIG_DAEMON, stdout);
        return 0;
    case CONFIG_SHOW_VERSION:
        printf("apspd %s\n", APSPD_VERSION);
        return 0;
    case CONFIG_PRINT:
        config_print(&config, stdout);
        return 0;
    case CONFIG_HASH_KEY:
        return auth_hash_key(stdin, stdout, &problem) == STATUS_OK ? 0 : report_failure(&problem);
    case CONFIG_CHECK:
        return print_overruled(&config, request.path);
    case CONFIG_RUN:
        break;
    }
    return service_run(&config, request.path, argc, argv);
}
