/* Every folder in invalid/ contains an input and the expected problem. The input must be refused
 * with this problem, regardless of how the input is split into pieces. */
#include "tests/lib/graph_fixture.h"
#include "tests/lib/test.h"

#include <dirent.h>

#define INPUT_LIMIT (1u << 18)

static size_t read_file(const char *folder, const char *name, const char *file, char *bytes)
{
    char path[4096];
    FILE *stream;
    size_t size;

    snprintf(path, sizeof path, "%s/%s/%s", folder, name, file);
    stream = fopen(path, "rb");
    if (stream == NULL) {
        fail_msg("cannot open %s", path);
    }
    size = fread(bytes, 1, INPUT_LIMIT - 1, stream);
    bytes[size] = '\0';
    fclose(stream);
    return size;
}

static enum format format_of(const char *name)
{
    char format[16] = {0};
    size_t size = strcspn(name, "-");

    assert_true(size < sizeof format);
    memcpy(format, name, size);
    return format_from_name(format);
}

static void check_fact(const char *name, const char *fact, const struct problem *problem)
{
    unsigned long long number = 0;

    if (strncmp(fact, "code ", 5) == 0) {
        if (strcmp(fact + 5, status_info(problem->status)->code) != 0) {
            fail_msg("%s: %s, got %s", name, fact, status_info(problem->status)->code);
        }
    } else if (sscanf(fact, "line %llu", &number) == 1) {
        if (number != problem->line) {
            fail_msg("%s: %s, got %llu", name, fact, (unsigned long long)problem->line);
        }
    } else if (sscanf(fact, "column %llu", &number) == 1) {
        if (number != problem->column) {
            fail_msg("%s: %s, got %llu", name, fact, (unsigned long long)problem->column);
        }
    } else if (strncmp(fact, "detail ", 7) == 0) {
        if (strstr(problem->detail, fact + 7) == NULL) {
            fail_msg("%s: %s, got %s", name, fact, problem->detail);
        }
    } else {
        fail_msg("%s: what is '%s'?", name, fact);
    }
}

static void check_facts(const char *name, char *facts, const struct problem *problem)
{
    char *rest = facts;

    for (char *fact = strsep(&rest, "\n"); fact != NULL; fact = strsep(&rest, "\n")) {
        if (*fact != '\0') {
            check_fact(name, fact, problem);
        }
    }
}

static void check_case(const char *folder, const char *name)
{
    static const size_t pieces[] = {INPUT_LIMIT, 1, 0, 7};
    static char input[INPUT_LIMIT];
    static char facts[INPUT_LIMIT];
    size_t size = read_file(folder, name, "input", input);

    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        struct graph_options options = {0};
        struct problem problem = {0};
        struct graph *graph = NULL;
        enum status status =
            read_graph(format_of(name), &options, input, size, pieces[i], &graph, &problem);

        if (status == STATUS_OK) {
            fail_msg("%s is accepted", name);
        }
        assert_int_equal(status, problem.status);
        assert_null(graph);
        read_file(folder, name, "problem", facts);
        check_facts(name, facts, &problem);
    }
}

TEST(every_case_is_refused_as_documented)
{
    const char *root = getenv("APSPD_SOURCE_ROOT");
    const struct dirent *entry;
    char folder[4096];
    int count = 0;
    DIR *cases;

    assert_non_null(root);
    snprintf(folder, sizeof folder, "%s/tests/unit/invalid", root);
    cases = opendir(folder);
    assert_non_null(cases);
    while ((entry = readdir(cases)) != NULL) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        check_case(folder, entry->d_name);
        count++;
    }
    closedir(cases);
    assert_true(count >= 32);
}
