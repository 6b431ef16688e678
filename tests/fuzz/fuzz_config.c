/* Parses arbitrary bytes as a configuration file. Prints an accepted configuration; parsing the
 * printed text must give the same values. */
#include "server/config_option.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static enum status load(const char *bytes, size_t size, struct config *config,
                        struct problem *reterr)
{
    static char *no_environment[] = {NULL};
    char program[] = "apspd";
    char flag[] = "--config";
    char path[32];
    char *argv[] = {program, flag, path, NULL};
    int argc = 3;
    struct config_request request = {0};
    int file = memfd_create("config", MFD_CLOEXEC);

    CHECK(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    config_defaults(config);
    enum status status =
        config_load(config, CONFIG_DAEMON, &argc, argv, no_environment, &request, reterr);
    close(file);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct problem problem = {0};
    struct config config;
    struct config again;
    char *text = NULL;
    size_t text_size = 0;

    if (load((const char *)bytes, size, &config, &problem) != STATUS_OK) {
        CHECK(problem.status == STATUS_CONFIG && problem.detail[0] != '\0');
        return 0;
    }
    FILE *stream = open_memstream(&text, &text_size);
    CHECK(stream != NULL);
    config_print(&config, stream);
    CHECK(fclose(stream) == 0);
    CHECK(load(text, text_size, &again, &problem) == STATUS_OK);
    CHECK(again.http_threads == config.http_threads &&
          again.body_limit_bytes == config.body_limit_bytes &&
          again.log_level == config.log_level && strcmp(again.listen, config.listen) == 0 &&
          strcmp(again.state_dir, config.state_dir) == 0);
    free(text);
    return 0;
}
