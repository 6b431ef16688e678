/* apspd: parses the arguments and returns the exit code. */
#include "server/config_option.h"
#include "server/http/request/auth.h"
#include "server/service.h"
#include "server/worker/child.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

static int report_failure(const struct problem *problem)
{
    fprintf(stderr, "apspd: %s\n", problem->detail);
    if (problem->hint[0] != '\0') {
        fprintf(stderr, "apspd: %s\n", problem->hint);
    }
    return EX_CONFIG;
}

static void print_change(const char *section, const char *key, const char *value, const char *old)
{
    printf("%s.%s is %s, not %s as in the configuration file\n", section, key, value, old);
}

static void log_change(const char *section, const char *key, const char *value, const char *old)
{
    log_write(LOG_WARNING, "setting_overridden", LOG_TEXT("section", section), LOG_TEXT("key", key),
              LOG_TEXT("value", value), LOG_TEXT("in_file", old));
}

/* Reports the settings of a valid configuration file that a socket of the service manager, the
 * environment or a flag overrides. */
static void compare_with_file(const struct config *config, const char *path, config_report *report)
{
    char *arguments[] = {"apspd", "--config", (char *)path, NULL};
    char *environment[] = {NULL};
    int count = 3;
    struct config file;
    struct config_request request;
    if (sd_listen_fds(false) > 0) {
        report("http", "listen", "the socket of the service manager", config->listen);
    }
    if (path != NULL && config_load(&file, CONFIG_DAEMON, &count, arguments, environment, &request,
                                    NULL) == STATUS_OK) {
        config_compare(config, &file, report);
    }
}

int main(int argc, char **argv)
{
    struct config config;
    struct config_request request = {0};
    struct problem problem = {0};
    int count = argc;
    /* apspd starts itself with this flag as a worker process. */
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
    case CONFIG_CHECK:
        compare_with_file(&config, request.path, print_change);
        return 0;
    case CONFIG_RUN:
        break;
    }
    compare_with_file(&config, request.path, log_change);
    return service_run(&config, request.path, argc, argv);
}
