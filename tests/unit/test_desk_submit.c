#include "server/store/graph_file.h"
#include "tests/unit/desk_fixture.h"

#include <dirent.h>

static void a_bad_graph_is_refused_and_nothing_is_kept(void **state)
{
    struct question *question = new_question(ASK_SUBMIT, "");
    struct graph_options options = {0};
    assert_int_equal(reader_create(FORMAT_DIMACS, &options, &question->ask.reader), STATUS_OK);
    ask(*state, question, STATUS_EMPTY_BODY, status_info(STATUS_EMPTY_BODY)->http);
    forget(question);
    question = new_question(ASK_JOBS, "");
    ask(*state, question, STATUS_OK, 200);
    assert_string_equal(question->ask.body, "{\"jobs\":[],\"next\":null}");
    forget(question);
}

static void a_stored_graph_is_solved_by_name_in_another_kind(void **state)
{
    struct question *question = new_upload(ASK_STORE_GRAPH, RING);
    snprintf(question->ask.parameters.name, NAME_SIZE, "ring");
    ask(*state, question, STATUS_OK, 201);
    forget(question);
    question = new_question(ASK_SUBMIT, "ring");
    question->ask.parameters.kind = KIND_F8;
    question->ask.wait_s = LONG_S;
    question->ask.wait_until_final = true;
    ask(*state, question, STATUS_OK, 200);
    assert_distance(*state, "ring", 0, 2, "3");
    forget(question);
}

static void an_unknown_graph_cannot_be_submitted(void **state)
{
    struct question *question = new_question(ASK_SUBMIT, "nowhere");
    ask(*state, question, STATUS_NO_SUCH_GRAPH, 404);
    forget(question);
}

static void a_name_that_looks_like_an_id_is_refused(void **state)
{
    struct question *question = new_upload(ASK_SUBMIT, RING);
    snprintf(question->ask.parameters.name, NAME_SIZE, "g_mine");
    ask(*state, question, STATUS_BAD_PARAMETER, 400);
    forget(question);
}

#define LARGE_VERTICES 600u
#define LARGE_EDGES (LARGE_VERTICES * LARGE_VERTICES * 3 / 2)

/* Large enough to be written while it is named: complete, each edge of it listed about three times.
 * The last of them, and the shortest, leads from 1 to `last`. */
static struct question *new_large_upload(unsigned last)
{
    char *edges = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&edges, &size);
    assert_non_null(stream);
    fprintf(stream, "p sp 1500 %u\n", LARGE_EDGES + 1);
    for (unsigned i = 0; i < LARGE_EDGES; i++) {
        fprintf(stream, "a %u %u 5\n", i / 900 + 1, i % 900 + 601);
    }
    fprintf(stream, "a 1 %u 4\n", last);
    assert_int_equal(fclose(stream), 0);
    struct question *question = new_upload(ASK_STORE_GRAPH, edges);
    free(edges);
    return question;
}

static void upload_large(struct fixture *fixture, unsigned last, unsigned http_status,
                         char id[GRAPH_ID_SIZE])
{
    struct question *question = new_large_upload(last);
    ask(fixture, question, STATUS_OK, http_status);
    memcpy(id, question->ask.graph_id, GRAPH_ID_SIZE);
    forget(question);
}

static size_t count_files(const char *folder, const char *name)
{
    char path[640];
    size_t count = 0;
    snprintf(path, sizeof(path), "%s%s", folder, name);
    DIR *files = opendir(path);
    assert_non_null(files);
    const struct dirent *entry;
    while ((entry = readdir(files)) != NULL) {
        count += entry->d_name[0] != '.';
    }
    closedir(files);
    return count;
}

static void expect_stored(const struct fixture *fixture, const char *id, uint32_t target)
{
    struct graph *graph;
    assert_int_equal(graph_file_read(store_graph_folder(fixture->store), id, &graph), STATUS_OK);
    assert_int_equal(graph->edge_count, LARGE_EDGES);
    assert_int_equal(graph->summary.parallel_merged, 1);
    assert_true(graph->target[target - 601] == target - 1 && graph->weight_i4[target - 601] == 4);
    graph_destroy(graph);
}

/* The second is as like the first as a row of the catalogue tells. */
static void large_graphs_are_stored_each_once(void **state)
{
    struct fixture *fixture = *state;
    char ids[3][GRAPH_ID_SIZE];
    upload_large(fixture, 601, 201, ids[0]);
    upload_large(fixture, 700, 201, ids[1]);
    upload_large(fixture, 601, 200, ids[2]);
    assert_string_equal(ids[0], ids[2]);
    assert_string_not_equal(ids[0], ids[1]);
    assert_int_equal(count_files(fixture->folder, "/graphs"), 2);
    expect_stored(fixture, ids[0], 601);
    expect_stored(fixture, ids[1], 700);
    restart(fixture);
    upload_large(fixture, 700, 200, ids[2]);
    assert_string_equal(ids[1], ids[2]);
}

/* Its edges alone would fit. */
static void a_large_graph_that_is_refused_leaves_neither_file_nor_descriptor(void **state)
{
    struct fixture *fixture = *state;
    restart(fixture);
    const size_t open_files = count_files("/proc/self", "/fd");
    struct question *question = new_large_upload(601);
    question->ask.quota.stored_bytes = LARGE_EDGES * 8 + 1;
    ask(fixture, question, STATUS_STORAGE_QUOTA, status_info(STATUS_STORAGE_QUOTA)->http);
    forget(question);
    assert_int_equal(count_files(fixture->folder, "/graphs"), 0);
    restart(fixture);
    assert_int_equal(count_files("/proc/self", "/fd"), open_files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESK_TEST(a_bad_graph_is_refused_and_nothing_is_kept),
        DESK_TEST(a_stored_graph_is_solved_by_name_in_another_kind),
        DESK_TEST(an_unknown_graph_cannot_be_submitted),
        DESK_TEST(a_name_that_looks_like_an_id_is_refused),
        DESK_TEST(large_graphs_are_stored_each_once),
        DESK_TEST(a_large_graph_that_is_refused_leaves_neither_file_nor_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
