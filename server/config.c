#include "server/config.h"

#include "server/config_option.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *flag;
    const char *section;
    const char *key;
} short_flags[] = {
    {"listen", "http", "listen"},
    {"state-dir", "store", "state_dir"},
    {"solver", "solver", "backend"},
};

void config_defaults(struct config *config)
{
    memset(config, 0, sizeof(*config));
    const struct config_option *option;
    for (size_t i = 0; (option = config_option_at(i)) != NULL; i++) {
        enum status status = config_option_set(config, option, option->fallback, "default", NULL);
        CHECK(status == STATUS_OK);
    }
}

/* The configuration file */

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
        problem_set(source->reterr, STATUS_CONFIG, "%.*s:%" PRIu64 ": %s%.*s", CONFIG_OPTION_SHOWN,
                    source->path, source->line, what, CONFIG_OPTION_SHOWN, text);
    problem_at(source->reterr, source->line, 0);
    return source->status;
}

/* inih hands a line that does not fit its buffer on in pieces, as if each were a line: so the
 * longest is refused here. Returning NULL ends the parse. */
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
        refuse_line(source, "the line is too long, or holds a NUL byte", "");
        return NULL;
    }
    return buffer;
}

static int take_pair(void *context, const char *section, const char *key, const char *value)
{
    struct file_source *source = context;
    char origin[CONFIG_OPTION_SHOWN + 24];
    if (source->status != STATUS_OK) {
        return 0;
    }
    const struct config_option *option = config_option_find(section, strlen(section), key);
    if (option == NULL) {
        char name[2 * CONFIG_OPTION_SHOWN];
        snprintf(name, sizeof(name), "%s.%s", section, key);
        refuse_line(source, "unknown key ", name);
        problem_hint(source->reterr, "--print-config lists every key");
        return 0;
    }
    snprintf(origin, sizeof(origin), "%.*s:%" PRIu64, CONFIG_OPTION_SHOWN, source->path,
             source->line);
    source->status = config_option_set(source->config, option, value, origin, source->reterr);
    if (source->status != STATUS_OK) {
        problem_at(source->reterr, source->line, 0);
    }
    return source->status == STATUS_OK;
}

/* The longest line: a text value, its key, blanks around. inih's own default is 200. */
#define LINE_SIZE 1024

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
    int bad_line = ini_parse_stream(read_line, &source, take_pair, &source);
    if (source.status == STATUS_OK && ferror(stream)) {
        refuse_line(&source, "cannot be read", "");
    } else if (source.status == STATUS_OK && bad_line != 0) {
        source.line = bad_line > 0 ? (uint64_t)bad_line : 0;
        refuse_line(&source, "neither [section] nor key = value", "");
    }
    fclose(stream);
    return source.status;
}

/* Environment */

#define VARIABLE_PREFIX "APSPD_"

static void variable_name(const struct config_option *option, char *buffer, size_t size)
{
    snprintf(buffer, size, VARIABLE_PREFIX "%s_%s", option->section, option->key);
    for (char *c = buffer; *c != '\0'; c++) {
        *c = (char)toupper((unsigned char)*c);
    }
}

/* Variables that mean something else to the project's own tests and to --config. */
static bool is_foreign_variable(const char *name)
{
    static const char test_prefix[] = VARIABLE_PREFIX "TEST_";
    return strncmp(name, VARIABLE_PREFIX, strlen(VARIABLE_PREFIX)) != 0 ||
           strncmp(name, test_prefix, strlen(test_prefix)) == 0 ||
           strcmp(name, VARIABLE_PREFIX "SOURCE_ROOT") == 0 ||
           strcmp(name, VARIABLE_PREFIX "CONFIG") == 0;
}

static enum status load_variable(struct config *config, const char *name, const char *value,
                                 struct problem *reterr)
{
    char known[CONFIG_OPTION_SHOWN];
    const struct config_option *option;
    for (size_t i = 0; (option = config_option_at(i)) != NULL; i++) {
        variable_name(option, known, sizeof(known));
        if (strcmp(known, name) == 0) {
            return config_option_set(config, option, value, name, reterr);
        }
    }
    problem_set(reterr, STATUS_CONFIG, "unknown environment variable %s", name);
    problem_hint(reterr, "APSPD_<SECTION>_<KEY> sets a key; --print-config lists them");
    return STATUS_CONFIG;
}

static enum status load_environment(struct config *config, char **environment,
                                    struct problem *reterr)
{
    for (char **entry = environment; *entry != NULL; entry++) {
        char name[CONFIG_OPTION_SHOWN];
        size_t size = strcspn(*entry, "=");
        size_t kept = size < sizeof(name) ? size : sizeof(name) - 1;
        memcpy(name, *entry, kept);
        name[kept] = '\0';
        if (is_foreign_variable(name)) {
            continue;
        }
        const char *value = (*entry)[size] == '=' ? *entry + size + 1 : "";
        enum status status = load_variable(config, name, value, reterr);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static const char *environment_value(char **environment, const char *name)
{
    size_t size = strlen(name);
    for (char **entry = environment; *entry != NULL; entry++) {
        if (strncmp(*entry, name, size) == 0 && (*entry)[size] == '=') {
            return *entry + size + 1;
        }
    }
    return NULL;
}

/* Flags */

/* The name of a flag without its dashes and value: NULL when the argument is not a flag. */
static const char *flag_name(const char *argument, char *buffer, size_t size)
{
    if (strncmp(argument, "--", 2) != 0 || argument[2] == '\0') {
        return NULL;
    }
    size_t length = strcspn(argument + 2, "=");
    if (length >= size) {
        length = size - 1;
    }
    memcpy(buffer, argument + 2, length);
    buffer[length] = '\0';
    return buffer;
}

static const struct config_option *flag_option(const char *name)
{
    for (size_t i = 0; i < sizeof(short_flags) / sizeof(short_flags[0]); i++) {
        if (strcmp(name, short_flags[i].flag) == 0) {
            const char *section = short_flags[i].section;
            return config_option_find(section, strlen(section), short_flags[i].key);
        }
    }
    const char *dot = strchr(name, '.');
    return dot == NULL ? NULL : config_option_find(name, (size_t)(dot - name), dot + 1);
}

static bool *request_word(struct config_request *request, enum config_program program,
                          const char *name)
{
    if (strcmp(name, "help") == 0) {
        return &request->help;
    }
    if (strcmp(name, "version") == 0) {
        return &request->version;
    }
    if (program == CONFIG_DAEMON && strcmp(name, "check-config") == 0) {
        return &request->check;
    }
    if (program == CONFIG_DAEMON && strcmp(name, "print-config") == 0) {
        return &request->print;
    }
    if (program == CONFIG_DAEMON && strcmp(name, "hash-key") == 0) {
        return &request->hash_key;
    }
    return NULL;
}

static bool takes_option(enum config_program program, const struct config_option *option)
{
    return option != NULL && (program == CONFIG_DAEMON || strcmp(option->section, "solver") == 0);
}

/* The flags are walked twice: for --config before the file is read, for the keys after. */
struct flag_walk {
    struct config *config; /* NULL in the first walk */
    enum config_program program;
    int argc;
    char **argv;
    int at;
    int kept;
    const char *path; /* of --config */
    struct config_request *request;
    struct problem *reterr;
};

/* The value behind = or the next argument; NULL when it is missing. */
static const char *flag_value(struct flag_walk *walk)
{
    const char *equals = strchr(walk->argv[walk->at], '=');
    if (equals != NULL) {
        return equals + 1;
    }
    return walk->at + 1 < walk->argc ? walk->argv[++walk->at] : NULL;
}

static void keep_argument(struct flag_walk *walk)
{
    if (walk->config != NULL) {
        walk->argv[walk->kept] = walk->argv[walk->at];
    }
    walk->kept++;
}

static enum status take_word(struct flag_walk *walk, const char *name, bool *word)
{
    if (strchr(walk->argv[walk->at], '=') != NULL) {
        return problem_set(walk->reterr, STATUS_CONFIG, "--%s takes no value", name);
    }
    *word = true;
    return STATUS_OK;
}

static enum status take_value(struct flag_walk *walk, const char *name,
                              const struct config_option *option)
{
    const char *value = flag_value(walk);
    char origin[CONFIG_OPTION_SHOWN + 3];
    snprintf(origin, sizeof(origin), "--%s", name);
    if (value == NULL) {
        return problem_set(walk->reterr, STATUS_CONFIG, "%s needs a value", origin);
    }
    if (option == NULL) {
        walk->path = value;
        return STATUS_OK;
    }
    return walk->config == NULL
               ? STATUS_OK
               : config_option_set(walk->config, option, value, origin, walk->reterr);
}

static enum status walk_argument(struct flag_walk *walk)
{
    char buffer[CONFIG_OPTION_SHOWN];
    const char *argument = walk->argv[walk->at];
    const char *name = flag_name(argument, buffer, sizeof(buffer));
    if (name != NULL) {
        bool *word = request_word(walk->request, walk->program, name);
        const struct config_option *option = flag_option(name);
        if (word != NULL) {
            return take_word(walk, name, word);
        }
        if (takes_option(walk->program, option)) {
            return take_value(walk, name, option);
        }
        if (strcmp(name, "config") == 0) {
            return take_value(walk, name, NULL);
        }
    }
    if (walk->program == CONFIG_DAEMON) {
        problem_set(walk->reterr, STATUS_CONFIG, "unknown argument %.*s", CONFIG_OPTION_SHOWN,
                    argument);
        problem_hint(walk->reterr, "--help lists the flags");
        return STATUS_CONFIG;
    }
    keep_argument(walk);
    return STATUS_OK;
}

/* Behind a lone -- everything is left to the program. */
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
        enum status status = walk_argument(walk);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

enum status config_load(struct config *config, enum config_program program, int *argc, char **argv,
                        char **environment, struct config_request *ret_request,
                        struct problem *reterr)
{
    struct config loaded;
    struct config_request request = {0};
    struct flag_walk walk = {
        .program = program,
        .argc = *argc,
        .argv = argv,
        .path = environment_value(environment, VARIABLE_PREFIX "CONFIG"),
        .request = &request,
        .reterr = reterr,
    };
    config_defaults(&loaded);
    enum status status = walk_flags(&walk);
    if (status == STATUS_OK && walk.path != NULL && !request.help && !request.version) {
        status = load_file(&loaded, walk.path, reterr);
    }
    if (status == STATUS_OK && !request.help && !request.version) {
        status = load_environment(&loaded, environment, reterr);
    }
    if (status == STATUS_OK) {
        walk.config = &loaded;
        status = walk_flags(&walk);
    }
    if (status != STATUS_OK) {
        return status;
    }
    request.path = walk.path;
    *config = loaded;
    *argc = walk.kept;
    *ret_request = request;
    return STATUS_OK;
}

/* Printing */

#define COLUMNS 78

/* The words in lines that a terminal of 80 columns holds, each behind prefix. */
static void print_lines(FILE *stream, const char *prefix, const char *words)
{
    while (*words != '\0') {
        const size_t room = COLUMNS - strlen(prefix);
        size_t size = strlen(words);
        if (size > room) {
            size = room;
            while (size > 0 && words[size] != ' ') {
                size--;
            }
            size = size == 0 ? strcspn(words, " ") : size;
        }
        fprintf(stream, "%s%.*s\n", prefix, (int)size, words);
        words += size;
        words += strspn(words, " ");
    }
}

static void print_option(const struct config *config, const struct config_option *option,
                         FILE *stream)
{
    char range[CONFIG_OPTION_TEXT_SIZE];
    char value[CONFIG_OPTION_TEXT_SIZE];
    char line[2 * CONFIG_OPTION_TEXT_SIZE];
    config_option_range(option, range);
    config_option_get(config, option, value);
    snprintf(line, sizeof(line), "%s: %s. Default: %s",
             option->choices != NULL ? "One of" : "Range", range, option->fallback);
    print_lines(stream, "; ", option->help);
    print_lines(stream, "; ", line);
    fprintf(stream, "%s = %s\n", option->key, value);
}

void config_print(const struct config *config, FILE *stream)
{
    const struct config_option *option;
    const char *section = "";
    print_lines(stream, "; ",
                "The configuration of apspd. A key given again by an environment variable "
                "(APSPD_HTTP_THREADS) or a flag (--http.threads) is overruled, the flag last. A "
                "comment takes a line of its own.");
    for (size_t i = 0; (option = config_option_at(i)) != NULL; i++) {
        if (strcmp(option->section, section) != 0) {
            section = option->section;
            fprintf(stream, "\n[%s]\n", section);
        }
        fputc('\n', stream);
        print_option(config, option, stream);
    }
}

static void print_daemon_words(FILE *stream)
{
    fputs("usage: apspd [--config FILE] [FLAGS]\n"
          "All shortest paths of uploaded graphs, answered over HTTP.\n\n"
          "  --config FILE    Settings from FILE; environment, then flags, overrule them.\n"
          "  --check-config   Say whether the configuration is right, and end.\n"
          "  --print-config   Print the configuration as a commented file, and end.\n"
          "  --hash-key       Read a key from standard input, print what stands for it in\n"
          "                   the file of keys, and end.\n"
          "  --help, --version\n\n"
          "Short for keys below: --listen, --state-dir, --solver (solver.backend). Every\n"
          "key is an environment variable too: APSPD_HTTP_THREADS for http.threads.\n\n",
          stream);
}

void config_print_help(enum config_program program, FILE *stream)
{
    const struct config_option *option;
    if (program == CONFIG_DAEMON) {
        print_daemon_words(stream);
    }
    for (size_t i = 0; (option = config_option_at(i)) != NULL; i++) {
        char range[CONFIG_OPTION_TEXT_SIZE];
        char line[2 * CONFIG_OPTION_TEXT_SIZE];
        if (!takes_option(program, option)) {
            continue;
        }
        config_option_range(option, range);
        snprintf(line, sizeof(line), "%s (%s; default %s)", option->help, range, option->fallback);
        fprintf(stream, "  --%s.%s VALUE\n", option->section, option->key);
        print_lines(stream, "      ", line);
    }
}
