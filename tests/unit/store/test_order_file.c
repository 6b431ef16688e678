#include "server/store/order_file.h"

#include "tests/lib/store_fixture.h"
#include "tests/lib/test.h"

#define BUDGET ((uint64_t)64 << 20)
#define LIMIT 1000

static const uint32_t words[] = {5, 4, 3, 2, 1, UINT32_MAX};
#define WORD_COUNT (sizeof(words) / sizeof(words[0]))

static struct order_file open_file(const struct fixture *fixture, const struct graph *graph,
                                   uint64_t seed)
{
    struct order_file file = {0};
    order_file_open(fixture->folder, BUDGET, graph, seed, &file);
    assert_true(file.descriptor > 0);
    return file;
}

static bool has_words(const struct order_file *file)
{
    size_t count = 0;
    uint32_t *read = order_file_read(file->descriptor, LIMIT, &count);
    if (read != NULL) {
        assert_int_equal(count, WORD_COUNT);
        assert_memory_equal(read, words, sizeof(words));
    }
    free(read);
    return read != NULL;
}

static bool is_kept(const struct fixture *fixture, const struct graph *graph, uint64_t seed)
{
    struct order_file file = open_file(fixture, graph, seed);
    const bool kept = has_words(&file);
    order_file_finish(&file);
    assert_int_equal(file.descriptor, 0);
    return kept;
}

static void keep(const struct fixture *fixture, const struct graph *graph, uint64_t seed)
{
    struct order_file file = open_file(fixture, graph, seed);
    order_file_write(file.descriptor, words, WORD_COUNT);
    order_file_finish(&file);
}

static uint32_t count_files(const struct fixture *fixture)
{
    uint32_t count = 0;
    DIR *stream = opendir(fixture->path);
    assert_non_null(stream);
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(stream);
    return count;
}

FIXTURE_TEST(an_order_is_found_by_the_pattern_of_edges_regardless_of_weights)
{
    struct graph *graph = fixture_path_graph(100, WEIGHT_INTEGER, 3);
    struct graph *heavier = fixture_path_graph(100, WEIGHT_REAL, 7);
    struct graph *longer = fixture_path_graph(101, WEIGHT_INTEGER, 3);
    assert_false(is_kept(fixture, graph, 0));
    keep(fixture, graph, 0);
    assert_true(is_kept(fixture, graph, 0));
    assert_true(is_kept(fixture, heavier, 0));
    assert_false(is_kept(fixture, longer, 0));
    graph->directed = !graph->directed;
    assert_false(is_kept(fixture, graph, 0));
    graph->directed = !graph->directed;
    graph->target[5] = 0;
    assert_false(is_kept(fixture, graph, 0));
    graph_destroy(longer);
    graph_destroy(heavier);
    graph_destroy(graph);
}

FIXTURE_TEST(orders_are_not_shared_between_tenants)
{
    struct graph *graph = fixture_path_graph(100, WEIGHT_INTEGER, 3);
    keep(fixture, graph, order_file_seed("secret", "one"));
    assert_true(is_kept(fixture, graph, order_file_seed("secret", "one")));
    assert_false(is_kept(fixture, graph, order_file_seed("secret", "two")));
    assert_false(is_kept(fixture, graph, order_file_seed("secret", "")));
    assert_false(is_kept(fixture, graph, order_file_seed("another", "one")));
    graph_destroy(graph);
}

FIXTURE_TEST(an_order_that_was_never_written_leaves_no_file)
{
    struct graph *graph = fixture_path_graph(100, WEIGHT_INTEGER, 3);
    assert_false(is_kept(fixture, graph, 0));
    assert_int_equal(count_files(fixture), 0);
    graph_destroy(graph);
}

FIXTURE_TEST(damaged_records_are_ignored_and_written_again)
{
    struct graph *graph = fixture_path_graph(100, WEIGHT_INTEGER, 3);
    keep(fixture, graph, 0);
    struct order_file file = open_file(fixture, graph, 0);
    struct stat about;
    assert_int_equal(fstat(file.descriptor, &about), 0);
    for (off_t at = 0; at < about.st_size; at++) {
        unsigned char byte;
        assert_int_equal(pread(file.descriptor, &byte, 1, at), 1);
        byte ^= 0x10;
        assert_int_equal(pwrite(file.descriptor, &byte, 1, at), 1);
        assert_false(has_words(&file));
        byte ^= 0x10;
        assert_int_equal(pwrite(file.descriptor, &byte, 1, at), 1);
        assert_true(has_words(&file));
    }
    for (off_t size = about.st_size - 1; size >= 0; size--) {
        assert_int_equal(ftruncate(file.descriptor, size), 0);
        assert_false(has_words(&file));
    }
    order_file_write(file.descriptor, words, WORD_COUNT);
    assert_true(has_words(&file));
    size_t count;
    assert_null(order_file_read(file.descriptor, WORD_COUNT - 1, &count));
    order_file_finish(&file);
    graph_destroy(graph);
}

/* Sets the modification time of the file, because the file system's clock may give two files the
 * same time. */
static void date(const struct fixture *fixture, const struct graph *graph, uint64_t seed,
                 time_t second)
{
    struct order_file file = open_file(fixture, graph, seed);
    const struct timespec times[] = {{.tv_sec = second}, {.tv_sec = second}};
    assert_int_equal(futimens(file.descriptor, times), 0);
    order_file_finish(&file);
}

FIXTURE_TEST(the_least_recently_used_order_is_evicted_first)
{
    struct graph *graph = fixture_path_graph(100, WEIGHT_INTEGER, 3);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        keep(fixture, graph, seed);
        date(fixture, graph, seed, (time_t)(1000 + seed * 7 % 5));
    }
    /* Each file counts as 64 KiB. The files from oldest to newest are 5, 3, 1, 4, 2, until opening
     * file 3 makes it the newest. */
    assert_true(is_kept(fixture, graph, 3));
    order_file_trim(fixture->folder, 5 * 65536);
    assert_int_equal(count_files(fixture), 5);
    order_file_trim(fixture->folder, 3 * 65536);
    assert_int_equal(count_files(fixture), 3);
    assert_true(is_kept(fixture, graph, 3));
    assert_false(is_kept(fixture, graph, 5));
    order_file_trim(fixture->folder, 0);
    assert_int_equal(count_files(fixture), 0);
    graph_destroy(graph);
}

FIXTURE_TEST(a_new_order_evicts_older_orders)
{
    struct graph *graph = fixture_path_graph(100, WEIGHT_INTEGER, 3);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct order_file file = {0};
        order_file_open(fixture->folder, 2 * 65536, graph, seed, &file);
        order_file_write(file.descriptor, words, WORD_COUNT);
        order_file_finish(&file);
        assert_int_equal(count_files(fixture), seed < 2 ? seed : 2);
    }
    graph_destroy(graph);
}

/* The first record is short, because it says that no plan is worthwhile. Later a plan replaces it,
 * so the file grows. */
FIXTURE_TEST(a_growing_order_evicts_other_orders)
{
    struct graph *graph = fixture_path_graph(100, WEIGHT_INTEGER, 3);
    const size_t count = 3 * 65536 / sizeof(uint32_t);
    uint32_t *long_words = calloc(count, sizeof(*long_words));
    assert_non_null(long_words);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        keep(fixture, graph, seed);
        date(fixture, graph, seed, (time_t)(1000 + seed));
    }
    struct order_file file = {0};
    order_file_open(fixture->folder, 4 * 65536, graph, 2, &file);
    order_file_write(file.descriptor, long_words, count);
    order_file_finish(&file);
    assert_int_equal(count_files(fixture), 1);
    free(long_words);
    graph_destroy(graph);
}

FIXTURE_TEST(files_with_unknown_names_are_removed)
{
    static const char *const names[] = {"note", "0123456789abcdef0123456789abcdeF",
                                        "0123456789abcdef0123456789abcdef0"};
    struct graph *graph = fixture_path_graph(100, WEIGHT_INTEGER, 3);
    keep(fixture, graph, 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const int file = openat(fixture->folder, names[i], O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        assert_true(file >= 0);
        close(file);
    }
    assert_int_equal(symlinkat("/nowhere", fixture->folder, "0123456789abcdef0123456789abcdef"), 0);
    order_file_trim(fixture->folder, BUDGET);
    assert_int_equal(count_files(fixture), 1);
    assert_true(is_kept(fixture, graph, 0));
    graph_destroy(graph);
}
