#include "server/scheduler/scheduler_internal.h"
#include "server/store/graph_file.h"
#include "tests/lib/scheduler_fixture.h"

#include <dirent.h>
#include <stdatomic.h>
#include <sys/statvfs.h>

SCHEDULER_TEST(an_empty_upload_is_refused_and_not_stored)
{
    struct question *question = new_question(CALL_SUBMIT, "");
    struct graph_options options = {0};
    assert_int_equal(reader_create(FORMAT_DIMACS, &options, &question->call.submit.reader),
                     STATUS_OK);
    call_and_forget(fixture, question, STATUS_EMPTY_BODY, status_info(STATUS_EMPTY_BODY)->http);
    question = new_question(CALL_JOBS, "");
    call(fixture, question, STATUS_OK, 200);
    assert_string_equal(question->call.body, "{\"jobs\":[],\"next\":null}");
    forget(question);
}

SCHEDULER_TEST(a_stored_graph_found_by_name_is_solved_as_another_kind)
{
    struct question *question = new_upload(CALL_STORE_GRAPH, RING);
    snprintf(question->call.submit.parameters.name, NAME_SIZE, "ring");
    call_and_forget(fixture, question, STATUS_OK, 201);
    question = new_question(CALL_SUBMIT, "ring");
    question->call.submit.parameters.kind = KIND_F8;
    question->call.wait_s = LONG_S;
    call(fixture, question, STATUS_OK, 200);
    assert_distance(fixture, "ring", 0, 2, "3");
    forget(question);
}

static struct question *name_ring(struct fixture *fixture, const char *name, enum status status,
                                  unsigned http_status)
{
    struct question *question = new_upload(CALL_STORE_GRAPH, RING);
    snprintf(question->call.submit.parameters.name, NAME_SIZE, "%s", name);
    call(fixture, question, status, http_status);
    return question;
}

/* The number of names is limited because each result of a graph has keys for all names, and each
 * document lists them. */
SCHEDULER_TEST(the_number_of_names_of_a_graph_is_limited)
{
    struct question *question = name_ring(fixture, "first", STATUS_OK, 201);
    struct graph_table *graphs = &fixture->scheduler->graphs;
    struct graph_entry *entry = graph_table_find_id(graphs, question->call.graph_id);
    forget(question);
    for (int i = 2; i < GRAPH_NAMES_MAX; i++) {
        char name[24];
        snprintf(name, sizeof(name), "name-%d", i);
        assert_int_equal(graph_table_name(graphs, name, entry, 0), STATUS_OK);
    }
    forget(name_ring(fixture, "last", STATUS_OK, 200));
    question = name_ring(fixture, "beyond", STATUS_BAD_PARAMETER, 400);
    assert_true(question->call.problem.limit == GRAPH_NAMES_MAX);
    forget(question);
    forget(name_ring(fixture, "first", STATUS_OK, 200));
    /* When one of its names has moved to another graph, the graph may get a new name. */
    question = new_upload(CALL_STORE_GRAPH, LINE);
    snprintf(question->call.submit.parameters.name, NAME_SIZE, "first");
    call_and_forget(fixture, question, STATUS_OK, 201);
    forget(name_ring(fixture, "beyond", STATUS_OK, 200));
}

#define LARGE_VERTICES 600u
#define LARGE_EDGES (LARGE_VERTICES * LARGE_VERTICES * 3 / 2)

/* Returns an upload of a graph that is so large that it is written while its ID is computed. Each
 * of 600 vertices has an edge to each of 900 others, and a lighter edge leads from 1 to `last`. */
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
    struct question *question = new_upload(CALL_STORE_GRAPH, edges);
    free(edges);
    return question;
}

static void upload_large(struct fixture *fixture, unsigned last, unsigned http_status,
                         char id[GRAPH_ID_SIZE])
{
    struct question *question = new_large_upload(last);
    call(fixture, question, STATUS_OK, http_status);
    memcpy(id, question->call.graph_id, GRAPH_ID_SIZE);
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
    assert_int_equal(graph_file_read(store_folder(fixture->store, STORE_GRAPHS), id, &graph),
                     STATUS_OK);
    assert_int_equal(graph->edge_count, LARGE_EDGES);
    assert_int_equal(graph->summary.parallel_merged, 1);
    assert_true(graph->target[target - 601] == target - 1 && graph->weight_i4[target - 601] == 4);
    graph_destroy(graph);
}

/* The graphs differ in one edge, so their rows in the catalogue differ only in the ID. */
SCHEDULER_TEST(each_large_graph_is_stored_once)
{
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

/* The quota is large enough for the edges, but not for the rest of the graph. */
SCHEDULER_TEST(a_refused_large_graph_leaves_no_file_or_descriptor)
{
    restart(fixture);
    const size_t open_files = count_files("/proc/self", "/fd");
    struct question *question = new_large_upload(601);
    question->call.quota.stored_bytes = LARGE_EDGES * 8 + 1;
    call_and_forget(fixture, question, STATUS_STORAGE_QUOTA,
                    status_info(STATUS_STORAGE_QUOTA)->http);
    assert_int_equal(count_files(fixture->folder, "/graphs"), 0);
    restart(fixture);
    assert_int_equal(count_files("/proc/self", "/fd"), open_files);
}

static atomic_ulong free_blocks = 1UL << 40;

/* Replaces fstatvfs of the C library, to simulate a disk with `free_blocks` bytes of free space. */
int fstatvfs(int descriptor, struct statvfs *ret_info)
{
    (void)descriptor;
    *ret_info = (struct statvfs){
        .f_bavail = atomic_load(&free_blocks), .f_blocks = 1UL << 40, .f_frsize = 1};
    return 0;
}

SCHEDULER_TEST(two_concurrent_uploads_of_a_new_graph_are_both_accepted)
{
    struct question *one = new_upload(CALL_SUBMIT, RING);
    struct question *two = new_upload(CALL_SUBMIT, RING);
    one->call.wait_s = two->call.wait_s = LONG_S;
    scheduler_post(fixture->scheduler, &one->call);
    scheduler_post(fixture->scheduler, &two->call);
    wait_for(fixture, one);
    wait_for(fixture, two);
    assert_string_equal(one->call.graph_id, two->call.graph_id);
    assert_string_not_equal(one->call.job_id, two->call.job_id);
    assert_state(one, "done");
    assert_state(two, "done");
    forget(one);
    forget(two);
}

/* Returns a call that submits a stored graph. Its response waits only for the commit. */
static struct question *new_stored(const char *graph_id, const char *key)
{
    struct question *question = new_question(CALL_SUBMIT, graph_id);
    snprintf(question->call.submit.idempotency_key, IDEMPOTENCY_KEY_SIZE, "%s", key);
    return question;
}

SCHEDULER_TEST(a_repeated_request_waits_for_the_commit_of_the_first_request)
{
    struct question *graph = new_upload(CALL_STORE_GRAPH, RING);
    call(fixture, graph, STATUS_OK, 201);
    struct question *first = new_stored(graph->call.graph_id, "order-1");
    struct question *second = new_stored(graph->call.graph_id, "order-1");
    scheduler_post(fixture->scheduler, &first->call);
    scheduler_post(fixture->scheduler, &second->call);
    wait_for(fixture, second);
    assert_true(first->answered);
    assert_string_equal(second->call.job_id, first->call.job_id);
    forget(first);
    forget(second);
    forget(graph);
}

static struct question *post_named(struct fixture *fixture, const char *edges)
{
    struct question *question = new_upload(CALL_STORE_GRAPH, edges);
    snprintf(question->call.submit.parameters.name, NAME_SIZE, "one");
    scheduler_post(fixture->scheduler, &question->call);
    return question;
}

static bool has_moved_name(const struct question *question, const struct question *from)
{
    char words[NAME_SIZE];
    snprintf(words, sizeof(words), "has moved from graph %s to this graph", from->call.graph_id);
    return question->call.submit.warnings != NULL &&
           strstr(question->call.submit.warnings, words) != NULL;
}

/* The second upload takes the name from the first upload, which is not on the disk yet. */
SCHEDULER_TEST(two_concurrent_uploads_with_one_name_report_that_the_name_moves)
{
    struct question *ring = post_named(fixture, RING);
    struct question *line = post_named(fixture, LINE);
    wait_for(fixture, ring);
    wait_for(fixture, line);
    struct question *owner = new_question(CALL_GRAPH, "one");
    call(fixture, owner, STATUS_OK, 200);
    const bool is_ring = strcmp(owner->call.graph_id, ring->call.graph_id) == 0;
    assert_int_equal(has_moved_name(ring, line), is_ring);
    assert_int_equal(has_moved_name(line, ring), !is_ring);
    forget(owner);
    forget(line);
    forget(ring);
}

SCHEDULER_TEST(a_graph_uploaded_during_its_deletion_is_kept)
{
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    solve(fixture, RING, job_id, graph_id);
    struct question *deletion = new_question(CALL_DELETE_GRAPH, graph_id);
    struct question *upload = new_upload(CALL_SUBMIT, RING);
    upload->call.wait_s = LONG_S;
    scheduler_post(fixture->scheduler, &deletion->call);
    scheduler_post(fixture->scheduler, &upload->call);
    wait_for(fixture, deletion);
    wait_for(fixture, upload);
    assert_state(upload, "done");
    forget(deletion);
    forget(upload);
    restart(fixture);
    assert_distance(fixture, graph_id, 0, 2, "3");
}

SCHEDULER_TEST(a_job_whose_result_does_not_fit_on_disk_is_refused)
{
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    solve(fixture, LINE, job_id, graph_id);
    size_t bytes = 0;
    assert_int_equal(result_file_size(3, KIND_I4, &bytes), STATUS_OK);
    atomic_store(&free_blocks, bytes - 1);
    struct question *question = new_upload(CALL_SUBMIT, RING);
    question->call.submit.parameters.form = RESULT_FORM_MATRIX;
    call(fixture, question, STATUS_DISK_FULL, 507);
    assert_true(question->call.problem.limit == (double)(bytes - 1));
    assert_true(question->call.problem.actual > (double)bytes);
    forget(question);
    json_t *body = document(fixture, CALL_GRAPHS, "");
    assert_int_equal(json_array_size(json_object_get(body, "graphs")), 1);
    json_decref(body);
    /* A request that needs no space is accepted on a full disk. The refused request is accepted
     * when the disk has space again. */
    solve(fixture, LINE, job_id, graph_id);
    atomic_store(&free_blocks, 1UL << 40);
    solve(fixture, RING, job_id, graph_id);
}
