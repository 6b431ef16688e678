#include "server/store/graph_file.h"
#include "server/store/store.h"
#include "tests/lib/store_fixture.h"
#include "tests/lib/test.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static enum status try_open(const struct fixture *fixture, struct store **ret_store,
                            struct problem *reterr)
{
    char path[640];
    snprintf(path, sizeof path, "%s/state", fixture->path);
    return store_open(path, 1 << 20, ret_store, reterr);
}

static struct store *start_store(const struct fixture *fixture)
{
    struct store *store = fixture_open_store(fixture);
    assert_int_equal(store_start(store), STATUS_OK);
    return store;
}

static struct graph_row graph_row(const char *id, uint32_t vertex_count)
{
    struct graph_row row = {.vertex_count = vertex_count, .created_s = 1};
    snprintf(row.id, sizeof row.id, "%s", id);
    return row;
}

static struct job_row job_row(const char *id, const char *graph_id)
{
    struct job_row row = {.state = JOB_QUEUED, .created_s = 1};
    snprintf(row.id, sizeof row.id, "%s", id);
    snprintf(row.graph_id, sizeof row.graph_id, "%s", graph_id);
    return row;
}

static struct result_row result_row(const char *graph_id)
{
    struct result_row row = {.kind = KIND_I4, .etag = "e1", .created_s = 1};
    snprintf(row.graph_id, sizeof row.graph_id, "%s", graph_id);
    return row;
}

static struct store_change put_of(const struct graph *graph, const char *id, uint32_t vertex_count)
{
    return (struct store_change){
        .ops = {{.kind = STORE_PUT_GRAPH,
                 .graph = {.row = graph_row(id, vertex_count), .graph = graph}}},
        .op_count = 1};
}

static struct store_change publish_of(struct result *result, const char *graph_id)
{
    return (struct store_change){
        .ops = {{.kind = STORE_PUT_RESULT,
                 .result = {.row = result_row(graph_id), .result = result}}},
        .op_count = 1};
}

static struct store_change eviction_of(const char *graph_id)
{
    return (struct store_change){
        .ops = {{.kind = STORE_DELETE_RESULT, .result = {.row = result_row(graph_id)}}},
        .op_count = 1};
}

static struct store_change job_of(const char *id, const char *graph_id)
{
    return (struct store_change){.ops = {{.kind = STORE_PUT_JOB, .job = job_row(id, graph_id)}},
                                 .op_count = 1};
}

static enum status put_graph(struct store *store, const char *id, uint32_t vertex_count)
{
    struct graph *graph = fixture_path_graph(vertex_count, WEIGHT_INTEGER, 1);
    struct store_change change = put_of(graph, id, vertex_count);
    enum status status = fixture_apply(store, &change);
    graph_destroy(graph);
    return status;
}

static enum status put_result(struct store *store, const char *graph_id, uint32_t vertex_count)
{
    struct result *result = fixture_make_result(store, graph_id, "e1", vertex_count);
    struct store_change change = publish_of(result, graph_id);
    enum status status = fixture_apply(store, &change);
    result_unref(result);
    return status;
}

/* All rows of the catalogue as words, in the order in which a walk visits them. */
struct rows {
    char words[4096];
    struct graph_row graph;
    struct result_row result;
};

static void add_word(struct rows *rows, const char *format, const char *word)
{
    size_t length = strlen(rows->words);
    snprintf(rows->words + length, sizeof rows->words - length, "%s%s ", format, word);
}

static enum status see_graph(void *context, const struct graph_row *row)
{
    struct rows *rows = context;
    rows->graph = *row;
    add_word(rows, "", row->id);
    return STATUS_OK;
}

static enum status see_name(void *context, const struct name_row *row)
{
    add_word(context, "name:", row->name);
    return STATUS_OK;
}

static enum status see_result(void *context, const struct result_row *row)
{
    struct rows *rows = context;
    rows->result = *row;
    add_word(rows, "result:", row->graph_id);
    return STATUS_OK;
}

static enum status see_job(void *context, const struct job_row *row)
{
    add_word(context, "", row->id);
    return STATUS_OK;
}

static void expect_rows(struct store *store, struct rows *rows, const char *words)
{
    const struct catalogue_visitor visitor = {.context = rows,
                                              .graph = see_graph,
                                              .name = see_name,
                                              .result = see_result,
                                              .job = see_job};
    *rows = (struct rows){0};
    assert_int_equal(store_visit(store, &visitor), STATUS_OK);
    assert_string_equal(rows->words, words);
}

static void expect_after_restart(const struct fixture *fixture, const char *words)
{
    struct rows rows;
    struct store *store = fixture_open_store(fixture);
    expect_rows(store, &rows, words);
    store_close(store);
}

FIXTURE_TEST(a_new_state_directory_is_private_and_complete)
{
    store_close(fixture_open_store(fixture));
    struct stat info;
    assert_int_equal(fstatat(fixture->folder, "state", &info, 0), 0);
    assert_int_equal(info.st_mode & 07777, 0700);
    const char *const entries[] = {"LOCK",    "FORMAT", "catalogue.db", "graphs",
                                   "results", "orders", "coordinates",  "quarantine"};
    assert_int_equal(fixture_count_files(fixture, "state"), 8);
    for (size_t i = 0; i < 8; i++) {
        char path[64];
        snprintf(path, sizeof path, "state/%s", entries[i]);
        assert_int_equal(faccessat(fixture->folder, path, F_OK, 0), 0);
    }
    expect_after_restart(fixture, "");
}

FIXTURE_TEST(a_directory_writable_by_others_is_refused)
{
    store_close(fixture_open_store(fixture));
    struct store *store = NULL;
    struct problem problem = {0};
    assert_int_equal(fchmodat(fixture->folder, "state", 01777, 0), 0);
    assert_int_equal(try_open(fixture, &store, &problem), STATUS_CONFIG);
    assert_non_null(strstr(problem.detail, "other users may write"));
    assert_int_equal(fchmodat(fixture->folder, "state", 02770, 0), 0);
    store_close(fixture_open_store(fixture));
}

FIXTURE_TEST(uploads_and_results_survive_a_restart)
{
    struct rows rows;
    struct store *store = start_store(fixture);
    struct graph *graph = fixture_path_graph(10, WEIGHT_INTEGER, 1);
    struct store_change change = put_of(graph, "g_1", 10);
    store_add_op(&change, STORE_PUT_NAME)->name =
        (struct name_row){.name = "ten", .graph_id = "g_1"};
    store_add_op(&change, STORE_PUT_JOB)->job = job_row("j_1", "g_1");
    assert_int_equal(fixture_apply(store, &change), STATUS_OK);
    assert_int_equal(put_result(store, "g_1", 10), STATUS_OK);
    store_close(store);
    graph_destroy(graph);

    store = fixture_open_store(fixture);
    expect_rows(store, &rows, "g_1 name:ten result:g_1 j_1 ");
    assert_int_equal(rows.graph.file_bytes, change.ops[0].graph.row.file_bytes);
    assert_int_equal(rows.result.bytes, 128 + 400 + statistics_size(10) + sizeof(uint64_t));
    assert_int_equal(graph_file_read(store_folder(store, STORE_GRAPHS), "g_1", &graph), STATUS_OK);
    assert_int_equal(graph->vertex_count, 10);
    graph_destroy(graph);
    store_close(store);
}

FIXTURE_TEST(a_deleted_graph_leaves_no_rows_or_files)
{
    struct store *store = start_store(fixture);
    assert_int_equal(put_graph(store, "g_1", 4), STATUS_OK);
    assert_int_equal(put_graph(store, "g_2", 5), STATUS_OK);
    assert_int_equal(put_result(store, "g_1", 4), STATUS_OK);
    assert_int_equal(put_result(store, "g_2", 5), STATUS_OK);
    struct store_change change = {.ops = {{.kind = STORE_DELETE_GRAPH, .id = "g_1"}},
                                  .op_count = 1};
    assert_int_equal(fixture_apply(store, &change), STATUS_OK);
    assert_int_equal(fixture_count_files(fixture, "state/graphs"), 1);
    assert_int_equal(fixture_count_files(fixture, "state/results"), 1);
    struct store_change evict = eviction_of("g_2");
    assert_int_equal(fixture_apply(store, &evict), STATUS_OK);
    assert_int_equal(fixture_count_files(fixture, "state/results"), 0);
    store_close(store);
    expect_after_restart(fixture, "g_2 ");
}

/* Dropping the last reference closes the file. The test also compares inodes, because another file
 * may have been opened with the same descriptor number. */
FIXTURE_TEST(the_store_drops_its_reference_to_an_evicted_result)
{
    for (uint32_t n = 4; n <= 4200; n += 4196) { /* a small result, then a large result */
        struct store *store = start_store(fixture);
        struct store_change evict = eviction_of("g_1");
        evict.retired[KIND_I4] = fixture_make_result(store, "g_1", "e1", n);
        const int descriptor = result_file_descriptor(result_content(evict.retired[KIND_I4]));
        struct stat about[2];
        assert_true(fstat(descriptor, &about[0]) == 0 && fixture_apply(store, &evict) == STATUS_OK);
        assert_true(fstat(descriptor, &about[1]) != 0 || about[1].st_ino != about[0].st_ino);
        store_close(store);
    }
}

/* The changes of a test, which are submitted before the store's thread starts. They form one batch
 * with one commit, so all outcomes are known when the first outcome is reported. */
#define BATCH_SIZE 100
struct batch {
    struct store_change changes[BATCH_SIZE];
    size_t done;
    size_t known_at_first;
    bool in_order;
};

static void note_done(struct store_change *change)
{
    struct batch *batch = change->context;
    if (batch->done == 0) {
        for (size_t i = 0; i < BATCH_SIZE; i++) {
            batch->known_at_first += batch->changes[i].status == STATUS_OK;
        }
    }
    batch->in_order &= change == &batch->changes[batch->done++];
}

FIXTURE_TEST(waiting_changes_share_one_commit)
{
    static struct batch batch;
    batch = (struct batch){.in_order = true};
    struct store *store = fixture_open_store(fixture);
    for (size_t i = 0; i < BATCH_SIZE; i++) {
        char id[JOB_ID_SIZE];
        snprintf(id, sizeof id, "j_%03zu", i);
        batch.changes[i] = job_of(id, "g");
        batch.changes[i].status = STATUS_COUNT;
        batch.changes[i].done = note_done;
        batch.changes[i].context = &batch;
        store_apply(store, &batch.changes[i]);
    }
    assert_int_equal(store_start(store), STATUS_OK);
    store_close(store);
    assert_int_equal(batch.done, BATCH_SIZE);
    assert_int_equal(batch.known_at_first, BATCH_SIZE);
    assert_true(batch.in_order);
}

/* The next fsync of a file of this size blocks until the test releases it. */
static struct {
    atomic_long file_size; /* 0 = no fsync blocks */
    sem_t reached;
    sem_t opened;
} endpoint;

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0) {
        CHECK(errno == EINTR);
    }
}

int fsync(int descriptor)
{
    struct stat info;
    long gated = atomic_load(&endpoint.file_size);
    if (gated > 0 && fstat(descriptor, &info) == 0 && info.st_size == gated &&
        atomic_compare_exchange_strong(&endpoint.file_size, &gated, 0)) {
        sem_post(&endpoint.reached);
        wait_for(&endpoint.opened);
    }
    return (int)syscall(SYS_fsync, descriptor);
}

/* While the result of g_1 is written to the disk, other operations on results wait, but the job of
 * g_2 is accepted. */
FIXTURE_TEST(writing_a_large_result_does_not_delay_the_acceptance_of_jobs)
{
    struct store *store = start_store(fixture);
    assert_int_equal(put_graph(store, "g_1", 10), STATUS_OK);
    struct result *result = fixture_make_result(store, "g_1", "e1", 10);
    sem_t finished;
    sem_init(&finished, 0, 0);
    sem_init(&endpoint.reached, 0, 0);
    sem_init(&endpoint.opened, 0, 0);
    atomic_store(&endpoint.file_size, (long)result_file_bytes(result_content(result)));
    struct store_change slow = publish_of(result, "g_1");
    struct store_change evict = eviction_of("g_1");
    slow.done = evict.done = fixture_post;
    slow.context = evict.context = &finished;
    store_apply(store, &slow);
    store_apply(store, &evict);
    wait_for(&endpoint.reached);
    assert_int_equal(put_graph(store, "g_2", 10), STATUS_OK);
    assert_int_equal(sem_trywait(&finished), -1);
    sem_post(&endpoint.opened);
    wait_for(&finished);
    wait_for(&finished);
    assert_int_equal(slow.status, STATUS_OK);
    assert_int_equal(evict.status, STATUS_OK);
    assert_int_equal(fixture_count_files(fixture, "state/results"), 0);
    store_close(store);
    result_unref(result);
    expect_after_restart(fixture, "g_1 g_2 ");
}

/* The result is evicted and immediately solved again. Deleting the first file must not delete the
 * second file. The test repeats these steps, because such an error needs both threads to run at the
 * same time. */
FIXTURE_TEST(a_result_evicted_and_published_again_keeps_its_file)
{
    struct store *store = start_store(fixture);
    sem_t finished;
    sem_init(&finished, 0, 0);
    assert_int_equal(put_graph(store, "g_1", 10), STATUS_OK);
    for (int round = 0; round < 40; round++) {
        struct result *result = fixture_make_result(store, "g_1", "e1", 10);
        struct store_change evict = eviction_of("g_1");
        struct store_change again = publish_of(result, "g_1");
        evict.done = again.done = fixture_post;
        evict.context = again.context = &finished;
        store_apply(store, &evict);
        store_apply(store, &again);
        wait_for(&finished);
        wait_for(&finished);
        result_unref(result);
        assert_int_equal(fixture_count_files(fixture, "state/results"), 1);
    }
    store_close(store);
    expect_after_restart(fixture, "g_1 result:g_1 ");
}

/* The graph is deleted and uploaded again in one batch. Deleting the first file must not delete the
 * second file. */
FIXTURE_TEST(a_graph_deleted_and_uploaded_again_keeps_its_file)
{
    struct store *store = start_store(fixture);
    assert_int_equal(put_graph(store, "g_1", 4), STATUS_OK);
    struct graph *graph = fixture_path_graph(4, WEIGHT_INTEGER, 1);
    struct store_change change = {.ops = {{.kind = STORE_DELETE_GRAPH, .id = "g_1"}},
                                  .op_count = 1};
    struct store_op *put = store_add_op(&change, STORE_PUT_GRAPH);
    put->graph.row = graph_row("g_1", 4);
    put->graph.graph = graph;
    assert_int_equal(fixture_apply(store, &change), STATUS_OK);
    graph_destroy(graph);
    assert_int_equal(fixture_count_files(fixture, "state/graphs"), 1);
    store_close(store);
    expect_after_restart(fixture, "g_1 ");
}

FIXTURE_TEST(files_without_a_row_are_removed)
{
    struct store *store = start_store(fixture);
    assert_int_equal(put_graph(store, "g_1", 4), STATUS_OK);
    assert_int_equal(put_result(store, "g_1", 4), STATUS_OK);
    store_close(store);
    const char *const orphans[] = {
        "state/graphs/g_2",      "state/graphs/.tmp-0123",           "state/results/g_1.f4.result",
        "state/results/.tmp-77", "state/results/g_1.f4.result.root", "state/results/notes"};
    for (size_t i = 0; i < sizeof orphans / sizeof orphans[0]; i++) {
        close(openat(fixture->folder, orphans[i], O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    }
    expect_after_restart(fixture, "g_1 result:g_1 ");
    assert_int_equal(fixture_count_files(fixture, "state/graphs"), 1);
    assert_int_equal(fixture_count_files(fixture, "state/results"), 1);
    assert_int_equal(fixture_count_files(fixture, "state/quarantine"), 0);
}

/* Each file fills half of the budget, so two of the three files remain. */
FIXTURE_TEST(the_size_of_the_quarantine_is_limited)
{
    store_close(fixture_open_store(fixture));
    struct statvfs disk;
    assert_int_equal(fstatvfs(fixture->folder, &disk), 0);
    const off_t half = (off_t)(disk.f_blocks * disk.f_frsize / 16);
    const char *const names[] = {"state/quarantine/g_a", "state/quarantine/g_b",
                                 "state/quarantine/g_c"};
    for (time_t i = 0; i < 3; i++) {
        const struct timespec times[] = {{.tv_sec = 10 + i * 2 % 3}, {.tv_sec = 10 + i * 2 % 3}};
        const int file = openat(fixture->folder, names[i], O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        assert_int_equal(ftruncate(file, half), 0);
        assert_int_equal(futimens(file, times), 0);
        close(file);
    }
    store_close(fixture_open_store(fixture));
    assert_int_equal(fixture_count_files(fixture, "state/quarantine"), 2);
    assert_int_equal(faccessat(fixture->folder, names[0], F_OK, 0), -1);
    /* The budget also applies to files that are added while the store is open. */
    struct store *store = start_store(fixture);
    assert_int_equal(put_graph(store, "g_1", 4), STATUS_OK);
    assert_int_equal(put_result(store, "g_1", 4), STATUS_OK);
    fixture_flip(fixture->folder, "state/results/g_1.i4.result", -9);
    struct store_change change = {0};
    struct result_row *row = &store_add_op(&change, STORE_QUARANTINE_RESULT)->result.row;
    snprintf(row->graph_id, GRAPH_ID_SIZE, "g_1");
    row->kind = KIND_I4;
    assert_int_equal(fixture_apply(store, &change), STATUS_OK);
    store_close(store);
    assert_int_equal(faccessat(fixture->folder, "state/quarantine/g_1.i4.result", F_OK, 0), 0);
    assert_int_equal(faccessat(fixture->folder, names[2], F_OK, 0), -1);
    assert_int_equal(fixture_count_files(fixture, "state/quarantine"), 2);
}

FIXTURE_TEST(a_damaged_result_is_moved_to_quarantine)
{
    struct store *store = start_store(fixture);
    const char *const ids[] = {"g_flip", "g_good", "g_head", "g_long"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(put_graph(store, ids[i], 4), STATUS_OK);
        assert_int_equal(put_result(store, ids[i], 4), STATUS_OK);
    }
    store_close(store);
    fixture_flip(fixture->folder, "state/results/g_flip.i4.result", -1);
    fixture_flip(fixture->folder, "state/results/g_head.i4.result", 7);
    int file = openat(fixture->folder, "state/results/g_long.i4.result", O_RDWR | O_CLOEXEC);
    assert_int_equal(ftruncate(file, 100), 0);
    close(file);
    expect_after_restart(fixture, "g_flip g_good g_head g_long result:g_good ");
    assert_int_equal(fixture_count_files(fixture, "state/quarantine"), 3);
    assert_int_equal(fixture_count_files(fixture, "state/results"), 1);
    expect_after_restart(fixture, "g_flip g_good g_head g_long result:g_good ");
}

FIXTURE_TEST(rows_of_lost_files_are_deleted)
{
    struct store *store = start_store(fixture);
    assert_int_equal(put_graph(store, "g_1", 4), STATUS_OK);
    assert_int_equal(put_graph(store, "g_2", 4), STATUS_OK);
    assert_int_equal(put_result(store, "g_1", 4), STATUS_OK);
    assert_int_equal(put_result(store, "g_2", 4), STATUS_OK);
    store_close(store);
    assert_int_equal(unlinkat(fixture->folder, "state/graphs/g_1", 0), 0);
    assert_int_equal(unlinkat(fixture->folder, "state/results/g_2.i4.result", 0), 0);
    expect_after_restart(fixture, "g_2 ");
    assert_int_equal(fixture_count_files(fixture, "state/results"), 0);
}

static void expect_refused(const struct fixture *fixture, enum status expected, const char *words)
{
    struct store *store = NULL;
    struct problem problem = {0};
    assert_int_equal(try_open(fixture, &store, &problem), expected);
    assert_null(store);
    assert_non_null(strstr(problem.detail, words));
}

static void write_format(const struct fixture *fixture, const char *text)
{
    int file =
        openat(fixture->folder, "state/FORMAT", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

FIXTURE_TEST(unsupported_directory_formats_are_refused)
{
    struct store *store = start_store(fixture);
    assert_int_equal(put_graph(store, "g_1", 4), STATUS_OK);
    store_close(store);
    write_format(fixture, "apspd state 8 0123456789abcdef0123456789abcdef and more\n");
    expect_refused(fixture, STATUS_CONFIG, "newer apspd: its format is 8");
    write_format(fixture, "apspd state 3 0123456789abcdef0123456789abcdef\n");
    expect_refused(fixture, STATUS_CONFIG, "older apspd: its format is 3");
    write_format(fixture, "apspd state 7 0123456789abcdef0123456789abcdef\n");
    expect_refused(fixture, STATUS_CONFIG, "another state directory");
    write_format(fixture, "apspd state 7 0123\n");
    expect_refused(fixture, STATUS_CONFIG, "damaged");
    write_format(fixture, "my own files\n");
    expect_refused(fixture, STATUS_CONFIG, "does not belong to a state directory");
    assert_int_equal(unlinkat(fixture->folder, "state/FORMAT", 0), 0);
    expect_refused(fixture, STATUS_CONFIG, "no FORMAT");
    assert_int_equal(fixture_count_files(fixture, "state/graphs"), 1);
}

/* Root may write anywhere, so a child process gives up this privilege and opens the store. */
FIXTURE_TEST(an_unwritable_directory_is_reported)
{
    assert_int_equal(fchmod(fixture->folder, 0555), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct store *store;
        struct problem problem = {0};
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
            _exit(2);
        }
        bool told = try_open(fixture, &store, &problem) == STATUS_IO &&
                    strstr(problem.detail, "Permission denied") != NULL;
        _exit(told ? 0 : 1);
    }
    int outcome;
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_int_equal(outcome, 0);
    assert_int_equal(fchmod(fixture->folder, 0700), 0);
}

/* A limit on file sizes simulates a full disk. Once the limit is lifted, the store works again. */
FIXTURE_TEST(a_full_disk_fails_only_the_change_that_does_not_fit)
{
    struct rlimit before;
    struct store *store = start_store(fixture);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    const struct rlimit small = {.rlim_cur = 200000, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum status large = put_graph(store, "g_large", 50000);
    enum status fits = put_graph(store, "g_small", 50);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(large, STATUS_DISK_FULL);
    assert_int_equal(fits, STATUS_OK);
    assert_int_equal(fixture_count_files(fixture, "state/graphs"), 1);
    assert_int_equal(put_graph(store, "g_large", 50000), STATUS_OK);
    store_close(store);
    expect_after_restart(fixture, "g_small g_large ");
}

FIXTURE_TEST(the_store_reports_the_free_bytes_of_its_disk)
{
    struct store *store = fixture_open_store(fixture);
    assert_in_range(store_free_bytes(store), 1, store_disk_bytes(store));
    store_close(store);
}
