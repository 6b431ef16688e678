#include "server/config_option.h"
#include "tests/lib/folder_fixture.h"
#include "tests/lib/test.h"

#include <unistd.h>

#define ARGUMENT_LIMIT 12
#define PATH_SIZE 512

static char *no_environment[] = {NULL};

struct load {
    enum status status;
    struct config config;
    struct config_request request;
    struct problem problem;
    int argc;
    char *argv[ARGUMENT_LIMIT];
};

/* Loads a configuration. `arguments` ends with NULL; argv[0] is inserted before it. */
static struct load load(enum config_program program, char **environment, char **arguments)
{
    struct load load = {.argc = 1, .argv = {(char *)"program"}};
    for (; arguments[load.argc - 1] != NULL; ++load.argc) {
        load.argv[load.argc] = arguments[load.argc - 1];
    }
    load.status = config_load(&load.config, program, &load.argc, load.argv, environment,
                              &load.request, &load.problem);
    return load;
}

#define FLAGS(...) ((char *[]){__VA_ARGS__, NULL})

static struct load load_flags(char **arguments)
{
    return load(CONFIG_DAEMON, no_environment, arguments);
}

static struct load load_variable(const char *variable)
{
    char *environment[] = {(char *)variable, NULL};
    char *arguments[] = {NULL};
    return load(CONFIG_DAEMON, environment, arguments);
}

static void write_file(char path[PATH_SIZE], const char *content, size_t size)
{
    assert_true(folder_template("test_config_XXXXXX", path, PATH_SIZE));
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, content, size), (ssize_t)size);
    close(file);
}

static struct load load_bytes(const char *content, size_t size)
{
    char path[PATH_SIZE];
    write_file(path, content, size);
    struct load loaded = load_flags(FLAGS("--config", path));
    unlink(path);
    return loaded;
}

static struct load load_text(const char *content)
{
    return load_bytes(content, strlen(content));
}

static void assert_refused(struct load loaded, const char *const *words)
{
    assert_int_equal(loaded.status, STATUS_CONFIG);
    for (; *words != NULL; ++words) {
        if (strstr(loaded.problem.detail, *words) == NULL) {
            fail_msg("\"%s\" is not in: %s", *words, loaded.problem.detail);
        }
    }
}

#define ASSERT_REFUSED(loaded, ...)                                                                \
    assert_refused((loaded), (const char *const[]){__VA_ARGS__, NULL})

TEST(the_defaults_are_as_documented)
{
    struct config config;
    config_defaults(&config);
    assert_string_equal(config.listen, "127.0.0.1:8080");
    assert_int_equal(config.http_threads, 4);
    assert_int_equal(config.body_limit_bytes, UINT64_C(4) << 30);
    assert_int_equal(config.document_limit_bytes, 65536);
    assert_int_equal(config.edge_limit, 1000000000);
    assert_string_equal(config.state_dir, "./apspd-state");
    assert_int_equal(config.solver.choice, SOLVER_AUTO);
    assert_string_equal(config.solver.cpu_isa, "auto");
    assert_int_equal(config.log_level, LOG_INFO);
}

TEST(a_flag_overrides_the_environment_which_overrides_the_file)
{
    char path[PATH_SIZE];
    const char *text = "[http]\nthreads = 5\nconnection_limit = 6\nwait_limit_s = 7\n";
    write_file(path, text, strlen(text));
    char *environment[] = {(char *)"APSPD_HTTP_CONNECTION_LIMIT=16",
                           (char *)"APSPD_HTTP_WAIT_LIMIT_S=17", (char *)"HOME=/", NULL};
    struct load loaded =
        load(CONFIG_DAEMON, environment, FLAGS("--config", path, "--http.wait_limit_s=27"));
    unlink(path);
    assert_int_equal(loaded.status, STATUS_OK);
    assert_int_equal(loaded.config.http_threads, 5);
    assert_int_equal(loaded.config.connection_limit, 16);
    assert_int_equal(loaded.config.wait_limit_s, 27);
}

TEST(each_short_flag_sets_its_key)
{
    struct load loaded =
        load_flags(FLAGS("--listen", "[::1]:0", "--state-dir=/x y", "--solver", "cpu"));
    assert_int_equal(loaded.status, STATUS_OK);
    assert_string_equal(loaded.config.listen, "[::1]:0");
    assert_string_equal(loaded.config.state_dir, "/x y");
    assert_int_equal(loaded.config.solver.choice, SOLVER_CPU);
}

TEST(byte_values_may_have_suffixes)
{
    struct load loaded =
        load_flags(FLAGS("--http.body_limit", "3 MiB", "--store.result_budget=2TiB"));
    assert_int_equal(loaded.status, STATUS_OK);
    assert_int_equal(loaded.config.body_limit_bytes, 3 << 20);
    assert_int_equal(loaded.config.result_budget_bytes, UINT64_C(2) << 40);
}

TEST(the_error_for_an_invalid_value_names_the_key_the_range_and_the_origin)
{
    static const char *const values[] = {"0",   "65",  "-1",   "+4",
                                         "",    " 4",  "4 ",   "4x",
                                         "0x4", "4.0", "4KiB", "99999999999999999999999",
                                         "four"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
        char variable[64];
        snprintf(variable, sizeof variable, "APSPD_HTTP_THREADS=%s", values[i]);
        ASSERT_REFUSED(load_variable(variable), "APSPD_HTTP_THREADS", "http.threads", values[i],
                       "1 to 64");
    }
    ASSERT_REFUSED(load_flags(FLAGS("--log.level=loud")), "--log.level", "loud", "debug, info");
    ASSERT_REFUSED(load_flags(FLAGS("--http.body_limit=16777217TiB")), "16777217TiB");
}

TEST(malformed_addresses_are_refused)
{
    static const char *const bad[] = {"localhost", ":80",    "h:",    "h:65536",
                                      "h:8x",      "::1:80", "[]:80", "h:000080"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        char flag[64];
        snprintf(flag, sizeof flag, "--listen=%s", bad[i]);
        ASSERT_REFUSED(load_flags(FLAGS(flag)), bad[i], "HOST:PORT");
    }
}

TEST(text_that_a_configuration_file_cannot_represent_is_refused)
{
    char longest[CONFIG_TEXT_SIZE + 16];
    snprintf(longest, sizeof longest, "--state-dir=%0*d", CONFIG_TEXT_SIZE, 7);
    ASSERT_REFUSED(load_flags(FLAGS("--state-dir=a\nb")), "state_dir");
    ASSERT_REFUSED(load_flags(FLAGS("--state-dir= a")), "state_dir");
    ASSERT_REFUSED(load_flags(FLAGS("--state-dir=")), "state_dir");
    ASSERT_REFUSED(load_flags(FLAGS(longest)), "state_dir");
}

TEST(unknown_keys_are_refused_with_their_line_number)
{
    struct load loaded = load_text("[http]\n; a comment\nthreads = 4\nthread = 4\n");
    ASSERT_REFUSED(loaded, ":4", "http.thread");
    assert_int_equal(loaded.problem.line, 4);
    ASSERT_REFUSED(load_text("[htp]\nthreads = 4\n"), ":2", "htp.threads");
    ASSERT_REFUSED(load_text("threads = 4\n"), ":1", ".threads");
    ASSERT_REFUSED(load_text("[http]\n\nrubbish\n[log]\n"), ":3");
    ASSERT_REFUSED(load_text("[http]\nthreads = 4 ; four\n"), ":2", "4 ; four");
    ASSERT_REFUSED(load_text("[http]\nthreads = 4\n  5\n"), ":3");
    ASSERT_REFUSED(load_variable("APSPD_HTTP_THREAD=4"), "APSPD_HTTP_THREAD");
    ASSERT_REFUSED(load_flags(FLAGS("--http.thread", "4")), "--http.thread");
    ASSERT_REFUSED(load_flags(FLAGS("serve")), "serve");
    ASSERT_REFUSED(load_flags(FLAGS("--listen")), "--listen needs a value");
    ASSERT_REFUSED(load_flags(FLAGS("--help=yes")), "no value");
    ASSERT_REFUSED(load_flags(FLAGS("--config", "/nowhere/at.ini")), "/nowhere/at.ini");
}

TEST(unrelated_environment_variables_are_ignored)
{
    assert_int_equal(load_variable("APSPD_TEST_DATA=x").status, STATUS_OK);
    assert_int_equal(load_variable("APSPD_SOURCE_ROOT=x").status, STATUS_OK);
    assert_int_equal(load_variable("APSPDX=1").status, STATUS_OK);
    ASSERT_REFUSED(load_variable("APSPD_CONFIG=/nowhere/at.ini"), "/nowhere/at.ini");
}

/* The library inih splits an overlong line and parses each part as a line. */
TEST(an_overlong_line_is_an_error)
{
    static char text[4096];
    snprintf(text, sizeof text, "[log]\n;%01100d\nlevel = debug\n", 0);
    struct load loaded = load_text(text);
    ASSERT_REFUSED(loaded, ":2", "too long");
    assert_int_equal(loaded.problem.line, 2);
    snprintf(text, sizeof text, "[log]\n;%0900d\nlevel = debug", 0);
    loaded = load_text(text);
    assert_int_equal(loaded.status, STATUS_OK);
    assert_int_equal(loaded.config.log_level, LOG_DEBUG);
}

TEST(a_nul_byte_is_an_error)
{
    const char bytes[] = "[log]\nlevel = de\0bug\n";
    ASSERT_REFUSED(load_bytes(bytes, sizeof bytes - 1), ":2");
}

TEST(flags_that_select_a_task_are_distinguished_from_keys)
{
    struct load loaded = load_flags(FLAGS("--check-config", "--print-config", "--version"));
    assert_int_equal(loaded.status, STATUS_OK);
    assert_int_equal(loaded.request.task, CONFIG_SHOW_VERSION);
    assert_int_equal(load_flags(FLAGS("--check-config")).request.task, CONFIG_CHECK);
    assert_int_equal(load_flags(FLAGS("--log.level=debug")).request.task, CONFIG_RUN);
}

TEST(the_command_reads_solver_keys_and_ignores_other_keys)
{
    struct load loaded = load(CONFIG_COMMAND, no_environment,
                              FLAGS("solve", "--solver", "cpu", "a.gr", "-", "--to", "raw",
                                    "--solver.cpu_threads=2", "--", "--solver"));
    assert_int_equal(loaded.status, STATUS_OK);
    assert_int_equal(loaded.config.solver.choice, SOLVER_CPU);
    assert_int_equal(loaded.config.solver.cpu_threads, 2);
    static const char *const left[] = {"program", "solve", "a.gr", "-",
                                       "--to",    "raw",   "--",   "--solver"};
    assert_int_equal(loaded.argc, 8);
    for (int i = 0; i < 8; ++i) {
        assert_string_equal(loaded.argv[i], left[i]);
    }
    loaded = load(CONFIG_COMMAND, no_environment, FLAGS("--http.threads", "2"));
    assert_int_equal(loaded.argc, 3);
}

TEST(a_mistyped_name_is_refused_with_a_hint)
{
    struct load loaded = load_text("[http]\nthraeds = 4\n");
    assert_non_null(strstr(loaded.problem.detail, "http.thraeds"));
    assert_string_equal(loaded.problem.hint, "--print-config lists every key");
    loaded = load_flags(FLAGS("--lisetn=1:2"));
    assert_non_null(strstr(loaded.problem.detail, "--lisetn"));
    assert_string_equal(loaded.problem.hint, "--help lists the flags");
}

static char *helped(enum config_program program)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    config_print_help(program, stream);
    fclose(stream);
    return text;
}

TEST(the_help_lists_every_flag_within_80_columns)
{
    static const char *const flags[] = {"--config ",    "--check-config",   "--print-config",
                                        "--help",       "--version",        "--listen",
                                        "--state-dir",  "--solver ",        "--http.threads ",
                                        "--log.level ", "--solver.cpu_isa "};
    char *text = helped(CONFIG_DAEMON);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; ++i) {
        if (strstr(text, flags[i]) == NULL) {
            fail_msg("%s is not in the help", flags[i]);
        }
    }
    for (const char *line = text; *line != '\0';) {
        const size_t size = strcspn(line, "\n");
        assert_true(size <= 80);
        line += size + 1;
    }
    free(text);
}

static char *printed(const struct config *config)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    config_print(config, stream);
    fclose(stream);
    return text;
}

TEST(a_printed_configuration_can_be_loaded_again)
{
    struct load set = load_flags(
        FLAGS("--listen=[::1]:9", "--http.threads=9", "--http.body_limit=7GiB", "--state-dir",
              "/a ;b #c", "--solver=gpu", "--solver.cpu_isa=avx2", "--log.level=error"));
    assert_int_equal(set.status, STATUS_OK);
    char *text = printed(&set.config);
    struct load again = load_text(text);
    assert_int_equal(again.status, STATUS_OK);
    char *text_again = printed(&again.config);
    assert_string_equal(text, text_again);
    assert_string_equal(again.config.state_dir, "/a ;b #c");
    assert_int_equal(again.config.solver.choice, SOLVER_GPU);
    assert_int_equal(again.config.log_level, LOG_ERROR);
    free(text);
    free(text_again);
}

TEST(the_sample_configuration_equals_the_printed_defaults)
{
    static char file_text[65536];
    char path[1024];
    struct config config;
    const char *root = getenv("APSPD_SOURCE_ROOT");
    assert_non_null(root);
    snprintf(path, sizeof path, "%s/config/apspd.ini", root);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(file_text, 1, sizeof file_text - 1, file);
    fclose(file);
    file_text[size] = '\0';
    config_defaults(&config);
    char *text = printed(&config);
    assert_string_equal(file_text, text);
    for (const char *line = text; line != NULL && *line != '\0';) {
        assert_true(strcspn(line, "\n") <= 78);
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    free(text);
}
