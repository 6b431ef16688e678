#include "server/config_option.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define VARIABLE_PREFIX "APSPD_"
#define FILE_VARIABLE VARIABLE_PREFIX "CONFIG"
/* Maximum length of a line: a text value, its key and spaces. inih's default is 200. */
#define LINE_SIZE 1024

struct file_source {
    struct config *config;
    const char *path;
    FILE *stream;
    uint64_t line;
    struct problem *reterr;
    enum status status;
};

static enum status refuse_line(struct file_source *source, const char *what, const char *text)
{
    source->status =
        problem_set(source->reterr, STATUS_CONFIG, "%.*s:%" PRIu64 ": %s%.*s", CONFIG_SHOWN,
                    source->path, source->line, what, CONFIG_SHOWN, text);
    problem_at(source->reterr, source->line, 0);
    return source->status;
}

/* inih splits a line that does not fit its buffer into several lines, so this function refuses a
 * line that is too long. Returning NULL ends the parse. */
static char *read_line(char *buffer, int size, void *context)
{
    struct file_source *source = context;
    if (source->status != STATUS_OK) {
        return NULL;
    }
    source->line++;
    if (fgets(buffer, size, source->stream) == NULL) {
        return NULL;
    }
    size_t length = strlen(buffer);
    if ((length == 0 || buffer[length - 1] != '\n') && !feof(source->stream)) {
        refuse_line(source, "the line is too long, or contains a NUL byte", "");
        return NULL;
    }
    return buffer;
}

static int parse_pair(void *context, const char *section, const char *key, const char *value)
{
    struct file_source *source = context;
    char origin[CONFIG_SHOWN + 24];
    if (source->status != STATUS_OK) {
        return 0;
    }
    const struct config_option *option =
        config_option_find(CONFIG_DAEMON, section, strlen(section), key);
    if (option == NULL) {
        char name[2 * CONFIG_SHOWN];
        snprintf(name, sizeof(name), "%s.%s", section, key);
        refuse_line(source, "unknown key ", name);
        problem_hint(source->reterr, "--print-config lists every key");
        return 0;
    }
    snprintf(origin, sizeof(origin), "%.*s:%" PRIu64, CONFIG_SHOWN, source->path, source->line);
    source->status = config_option_set(source->config, option, value, origin, source->reterr);
    if (source->status != STATUS_OK) {
        problem_at(source->reterr, source->line, 0);
    }
    return source->status == STATUS_OK;
}

static enum status load_file(struct config *config, const char *path, struct problem *reterr)
{
    FILE *stream = fopen(path, "re");
    if (stream == NULL) {
        return problem_set(reterr, STATUS_CONFIG, "cannot read the configuration %s: %s", path,
                           strerror(errno));
    }
    struct file_source source = {config, path, stream, 0, reterr, STATUS_OK};
    ini_max_line = LINE_SIZE;
    ini_allow_multiline = false;
    ini_allow_inline_comments = false;
    int bad_line = ini_parse_stream(read_line, &source, parse_pair, &source);
    if (source.status == STATUS_OK && ferror(stream)) {
        refuse_line(&source, "the line cannot be read", "");
    } else if (source.status == STATUS_OK && bad_line != 0) {
        source.line = bad_line > 0 ? (uint64_t)bad_line : 0;
        refuse_line(&source, "the line is neither [section] nor key = value", "");
    }
    fclose(stream);
    return source.status;
}

/* Sets a key from the variable APSPD_<SECTION>_<KEY>; section names have no underscore. */
static enum status load_variable(struct config *config, const char *name, const char *value,
                                 struct problem *reterr)
{
    char key[CONFIG_SHOWN];
    const struct config_option *option = NULL;
    bool has_capitals = true;
    size_t size = 0;
    for (const char *c = name + strlen(VARIABLE_PREFIX); *c != '\0'; c++) {
        has_capitals = has_capitals && !islower((unsigned char)*c);
        key[size++] = (char)tolower((unsigned char)*c);
    }
    key[size] = '\0';
    const size_t section_size = strcspn(key, "_");
    if (has_capitals && section_size < size) {
        option = config_option_find(CONFIG_DAEMON, key, section_size, key + section_size + 1);
    }
    if (option != NULL) {
        return config_option_set(config, option, value, name, reterr);
    }
    return problem_refuse(reterr, STATUS_CONFIG,
                          "APSPD_<SECTION>_<KEY> sets an option; --print-config lists all options",
                          "unknown environment variable %s", name);
}

static enum status load_environment(struct config *config, char **environment,
                                    struct problem *reterr)
{
    enum status status = STATUS_OK;
    for (char **entry = environment; *entry != NULL && status == STATUS_OK; entry++) {
        char name[CONFIG_SHOWN];
        const size_t size = strcspn(*entry, "=");
        snprintf(name, sizeof(name), "%.*s", (int)size, *entry);
        /* Variables of the project's tests and clients, and the path of the file, are not keys. */
        if (strncmp(name, VARIABLE_PREFIX, strlen(VARIABLE_PREFIX)) == 0 &&
            strncmp(name, VARIABLE_PREFIX "TEST_", strlen(VARIABLE_PREFIX "TEST_")) != 0 &&
            strcmp(name, VARIABLE_PREFIX "SOURCE_ROOT") != 0 &&
            strcmp(name, VARIABLE_PREFIX "URL") != 0 && strcmp(name, VARIABLE_PREFIX "KEY") != 0 &&
            strcmp(name, FILE_VARIABLE) != 0) {
            const char *value = (*entry)[size] == '=' ? *entry + size + 1 : "";
            status = load_variable(config, name, value, reterr);
        }
    }
    return status;
}

static const struct config_option *find_flag(enum config_program program, const char *name)
{
    static const struct {
        const char *flag;
        const char *name;
    } short_flags[] = {
        {"listen", "http.listen"},
        {"state-dir", "store.state_dir"},
        {"solver", "solver.backend"},
    };
    for (size_t i = 0; i < sizeof(short_flags) / sizeof(short_flags[0]); i++) {
        if (strcmp(name, short_flags[i].flag) == 0) {
            name = short_flags[i].name;
            break;
        }
    }
    const char *dot = strchr(name, '.');
    return dot == NULL ? NULL : config_option_find(program, name, (size_t)(dot - name), dot + 1);
}

/* Returns the task that a flag without a value selects; CONFIG_RUN if it selects none. */
static enum config_task find_task(enum config_program program, const char *name)
{
    static const char *const names[] = {
        [CONFIG_SHOW_HELP] = "help",
        [CONFIG_SHOW_VERSION] = "version",
        [CONFIG_PRINT] = "print-config",
        [CONFIG_CHECK] = "check-config",
    };
    const enum config_task end = program == CONFIG_DAEMON ? CONFIG_RUN : CONFIG_PRINT;
    for (enum config_task task = CONFIG_SHOW_HELP; task < end; task++) {
        if (strcmp(name, names[task]) == 0) {
            return task;
        }
    }
    return CONFIG_RUN;
}

/* The state of a pass over the flags. There are two passes: one finds --config before the file is
 * read, and one sets keys afterwards. */
struct flag_walk {
    struct config *config; /* NULL in the first pass */
    enum config_program program;
    int argc;
    char **argv;
    int at;
    int kept;
    const char *path; /* value of --config */
    enum config_task task;
    struct problem *reterr;
};

static void keep_argument(struct flag_walk *walk)
{
    if (walk->config != NULL) {
        walk->argv[walk->kept] = walk->argv[walk->at];
    }
    walk->kept++;
}

static enum status walk_argument(struct flag_walk *walk)
{
    char flag[CONFIG_SHOWN + 3] = "--";
    const char *name = flag + strlen("--");
    const char *argument = walk->argv[walk->at];
    const char *equals = strchr(argument, '=');
    if (strncmp(argument, "--", 2) == 0) {
        const size_t length = strcspn(argument, "=");
        memcpy(flag, argument, length < CONFIG_SHOWN + 1 ? length : CONFIG_SHOWN + 1);
    }
    const bool is_short_help = strcmp(argument, "-h") == 0;
    const enum config_task task = find_task(walk->program, is_short_help ? "help" : name);
    const struct config_option *option = find_flag(walk->program, name);
    if (task != CONFIG_RUN && equals != NULL) {
        return problem_set(walk->reterr, STATUS_CONFIG, "%s takes no value", flag);
    }
    if (task != CONFIG_RUN) {
        walk->task = task < walk->task ? task : walk->task;
        return STATUS_OK;
    }
    if (option != NULL || strcmp(name, "config") == 0) {
        const char *value = equals != NULL              ? equals + 1
                            : walk->at + 1 < walk->argc ? walk->argv[++walk->at]
                                                        : NULL;
        if (value == NULL) {
            return problem_set(walk->reterr, STATUS_CONFIG, "%s needs a value", flag);
        }
        if (option == NULL) {
            walk->path = value;
        } else if (walk->config != NULL) {
            return config_option_set(walk->config, option, value, flag, walk->reterr);
        }
        return STATUS_OK;
    }
    if (walk->program == CONFIG_DAEMON) {
        return problem_refuse(walk->reterr, STATUS_CONFIG, "--help lists the flags",
                              "unknown argument %.*s", CONFIG_SHOWN, argument);
    }
    keep_argument(walk);
    return STATUS_OK;
}

/* Processes the flags; everything after a lone `--` is left to the program. */
static enum status walk_flags(struct flag_walk *walk)
{
    bool flags = true;
    walk->kept = walk->argc > 0 ? 1 : 0;
    for (walk->at = 1; walk->at < walk->argc; walk->at++) {
        flags = flags && strcmp(walk->argv[walk->at], "--") != 0;
        if (!flags && walk->program == CONFIG_COMMAND) {
            keep_argument(walk);
            continue;
        }
        STATUS_TRY(walk_argument(walk));
    }
    return STATUS_OK;
}

enum status config_load(struct config *config, enum config_program program, int *argc, char **argv,
                        char **environment, struct config_request *ret_request,
                        struct problem *reterr)
{
    struct config loaded;
    struct flag_walk walk = {
        .program = program,
        .argc = *argc,
        .argv = argv,
        .task = CONFIG_RUN,
        .reterr = reterr,
    };
    for (char **entry = environment; *entry != NULL && walk.path == NULL; entry++) {
        if (strncmp(*entry, FILE_VARIABLE "=", strlen(FILE_VARIABLE "=")) == 0) {
            walk.path = *entry + strlen(FILE_VARIABLE "=");
        }
    }
    config_defaults(&loaded);
    STATUS_TRY(walk_flags(&walk));
    if (walk.task > CONFIG_SHOW_VERSION) {
        STATUS_TRY(walk.path != NULL ? load_file(&loaded, walk.path, reterr) : STATUS_OK);
        STATUS_TRY(load_environment(&loaded, environment, reterr));
    }
    walk.config = &loaded;
    STATUS_TRY(walk_flags(&walk));
    *config = loaded;
    *argc = walk.kept;
    *ret_request = (struct config_request){walk.task, walk.path};
    return STATUS_OK;
}

/* Group read access is allowed: Kubernetes passes secrets by the group of a pod. */
enum status config_check_secret(const char *path, struct problem *reterr)
{
    struct stat about;
    if (stat(path, &about) == 0 && (about.st_mode & (S_IWGRP | S_IROTH | S_IWOTH)) == 0) {
        return STATUS_OK;
    }
    return problem_refuse(reterr, STATUS_CONFIG,
                          "run chmod 600 on the file, or chmod 640 to let a group read it",
                          "%s is readable by all, or writable by users other than its owner", path);
}
