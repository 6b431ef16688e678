/* Checks the state directory after the process dies at a call that makes data durable, or after the
 * call fails, for every such call. A death after one call is the same as a death before the next
 * call. This program intercepts these calls, both of the store and of SQLite. For each k, a child
 * process runs a script of changes, and dies or gets an error at the k-th such call. The parent
 * process then opens the state directory again and checks it. */
#include "server/store/coordinates_file.h"
#include "server/store/graph_file.h"
#include "server/store/store.h"
#include "tests/lib/store_fixture.h"
#include "tests/lib/test.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define EXIT_CRASHED 9
#define CHANGE_COUNT 5
/* The script makes about 120 calls. If far fewer are counted, the interception does not work. */
#define CALL_COUNT_MIN 100

/* Without this option, ThreadSanitizer makes every child wait for a second before it exits. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "atexit_sleep_ms=0";
}

/* The call that fails, and its errno; 0 means that the process dies instead. */
static struct {
    atomic_uint calls;
    unsigned target; /* 0 = none */
    int error;
    atomic_bool was_sync;
} plan;

/* Counts a call. Returns true and sets errno if this call must fail. */
static bool intercepted(bool is_sync)
{
    if (atomic_fetch_add(&plan.calls, 1) + 1 != plan.target) {
        return false;
    }
    if (plan.error == 0) {
        _exit(EXIT_CRASHED);
    }
    atomic_store(&plan.was_sync, is_sync);
    errno = plan.error;
    return true;
}

#define INTERCEPT(is_sync, ...) intercepted(is_sync) ? -1 : syscall(__VA_ARGS__)

/* A sync is counted but not executed. This test simulates the death of the process, not of the
 * machine, and a real sync would take a hundred times as long as everything else. */
int fsync(int descriptor)
{
    (void)descriptor;
    return intercepted(true) ? -1 : 0;
}

int fdatasync(int descriptor)
{
    return fsync(descriptor);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
    return INTERCEPT(false, SYS_pwrite64, descriptor, bytes, size, offset);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return (int)(INTERCEPT(false, SYS_renameat, from_folder, from, to_folder, to));
}

int unlinkat(int folder, const char *name, int flags)
{
    return (int)(INTERCEPT(false, SYS_unlinkat, folder, name, flags));
}

int posix_fallocate(int descriptor, off_t offset, off_t size)
{
    const int failed = (int)(INTERCEPT(false, SYS_fallocate, descriptor, 0, offset, size));
    return failed == 0 ? 0 : errno;
}

int ftruncate(int descriptor, off_t size)
{
    return (int)(INTERCEPT(false, SYS_ftruncate, descriptor, size));
}

/* The state of the catalogue after each change of the script: two jobs are accepted, one is solved,
 * one is deleted with its graph, and one is solved again. */
static const char *const states[CHANGE_COUNT + 1] = {
    "",
    "g_a j_a:queued ",
    "g_a g_b j_a:queued j_b:queued ",
    "g_a g_b g_a:e1 j_a:done j_b:queued ",
    "g_a g_a:e1 j_a:done ",
    "g_a g_a:e2 j_a:done ",
};
/* Another valid state between the last two changes: the file is new, but its row is old. The
 * checksum reveals this mismatch, so the store discards the result, which is then solved again. */
static const char between[] = "g_a j_a:done ";

/* Whether the script failed to create a result file. The store does not learn of this failure. */
static bool file_failed;

static enum status accept_job(struct store *store, const char *graph_id, const char *job_id)
{
    struct graph *graph = fixture_path_graph(30, WEIGHT_INTEGER, 1);
    struct graph_row row = {.vertex_count = 30};
    struct job_row job = {.state = JOB_QUEUED, .created_s = job_id[2]};
    snprintf(row.id, sizeof row.id, "%s", graph_id);
    snprintf(job.id, sizeof job.id, "%s", job_id);
    snprintf(job.graph_id, sizeof job.graph_id, "%s", graph_id);
    struct store_change change = {
        .ops = {{.kind = STORE_PUT_GRAPH, .graph = {.row = row, .graph = graph}},
                {.kind = STORE_PUT_JOB, .job = job}},
        .op_count = 2};
    struct store_op *add = store_add_op(&change, STORE_ADD_COORDINATES);
    memcpy(add->coordinates.graph_id, row.id, sizeof row.id);
    struct coordinates *coordinates;
    struct coordinates_info info;
    CHECK(coordinates_create(30, &coordinates) == STATUS_OK);
    coordinates_complete(coordinates);
    enum status status = coordinates_file_write(store_folder(store, STORE_COORDINATES), graph_id,
                                                coordinates, &add->coordinates.file, &info);
    coordinates_destroy(coordinates);
    file_failed = status != STATUS_OK;
    if (status == STATUS_OK) {
        status = fixture_apply(store, &change);
    }
    graph_destroy(graph);
    return status;
}

static enum status finish_job(struct store *store, const char *etag, int32_t element)
{
    struct result *result;
    struct result_file *file;
    struct vertex_names *names;
    struct result_row row = {.graph_id = "g_a", .kind = KIND_I4};
    const struct job_row job = {
        .id = "j_a", .graph_id = "g_a", .state = JOB_DONE, .created_s = 'a'};
    snprintf(row.etag, sizeof row.etag, "%s", etag);
    enum status status = result_file_create(store_folder(store, STORE_RESULTS), 30, KIND_I4,
                                            RESULT_FORM_MATRIX, &file);
    if (status != STATUS_OK) {
        return status;
    }
    ((int32_t *)result_file_matrix(file).elements)[7] = element;
    status = result_file_write_matrix(file);
    if (status == STATUS_OK) {
        status = result_file_seal(file);
    }
    if (status != STATUS_OK) {
        result_file_destroy(file);
        return status;
    }
    CHECK(vertex_names_create_range(30, 1, &names) == STATUS_OK);
    CHECK(result_create("g_a", etag, &file, &names, &result) == STATUS_OK);
    struct store_change change = {
        .ops = {{.kind = STORE_PUT_RESULT, .result = {.row = row, .result = result}},
                {.kind = STORE_PUT_JOB, .job = job}},
        .op_count = 2};
    status = fixture_apply(store, &change);
    result_unref(result);
    return status;
}

static enum status delete_job(struct store *store)
{
    struct store_change change = {
        .ops = {{.kind = STORE_DELETE_GRAPH, .id = "g_b"}, {.kind = STORE_DELETE_JOB, .id = "j_b"}},
        .op_count = 2};
    return fixture_apply(store, &change);
}

static enum status run_change(struct store *store, int number)
{
    switch (number) {
    case 0:
        return accept_job(store, "g_a", "j_a");
    case 1:
        return accept_job(store, "g_b", "j_b");
    case 2:
        return finish_job(store, "e1", 1);
    case 3:
        return delete_job(store);
    default:
        return finish_job(store, "e2", 2);
    }
}

/* Runs the script of changes, reports each success through the pipe, and stops at a failure. */
static void run_script(const char *path, int pipe_end)
{
    struct store *store;
    struct problem problem;
    if (store_open(path, 1 << 20, &store, &problem) != STATUS_OK) {
        /* Opening the store may fail only because of an injected error. */
        if (plan.error == 0) {
            fprintf(stderr, "%s\n", problem.detail);
        }
        _exit(plan.error == 0);
    }
    CHECK(store_start(store) == STATUS_OK);
    /* A sync that failed before this point does not count: SQLite ignores two failed syncs of its
     * folder, and the store syncs the folder again. */
    atomic_store(&plan.was_sync, false);
    enum status status = STATUS_OK;
    bool by_store = true; /* whether a failure is the store's, not that of creating a result file */
    for (int i = 0; i < CHANGE_COUNT && status == STATUS_OK; i++) {
        status = run_change(store, i);
        by_store = i != 2 && i != 4 && !file_failed;
        if (status == STATUS_OK) {
            CHECK(write(pipe_end, "+", 1) == 1);
        }
    }
    /* After a failure that leaves the disk in an unknown state, the store refuses all changes. */
    if (status == STATUS_IO && by_store) {
        CHECK(accept_job(store, "g_c", "j_c") == STATUS_IO);
    }
    CHECK(write(pipe_end, atomic_load(&plan.was_sync) ? "s" : ".", 1) == 1);
    store_close(store);
    CHECK(write(pipe_end, atomic_load(&plan.calls) < plan.target ? "<" : ".", 1) == 1);
    _exit(0);
}

struct outcome {
    int acknowledged;
    bool sync_failed; /* a sync failed during the script */
    bool missed;      /* all changes were done before the k-th call */
    bool crashed;
};

static struct outcome run_child(const char *path, unsigned target, int error)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        atomic_store(&plan.calls, 0); /* the parent process has made calls too */
        plan.target = target;
        plan.error = error;
        run_script(path, ends[1]);
    }
    close(ends[1]);
    struct outcome outcome = {0};
    char word;
    while (read(ends[0], &word, 1) == 1) {
        outcome.acknowledged += word == '+';
        outcome.sync_failed |= word == 's';
        outcome.missed |= word == '<';
    }
    close(ends[0]);
    int code;
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code));
    outcome.crashed = WEXITSTATUS(code) == EXIT_CRASHED;
    assert_true(outcome.crashed || WEXITSTATUS(code) == 0);
    return outcome;
}

struct seen {
    char words[256];
    int graph_folder;
};

static void add_word(struct seen *seen, const char *word, const char *mark, const char *more)
{
    size_t length = strlen(seen->words);
    snprintf(seen->words + length, sizeof seen->words - length, "%s%s%s ", word, mark, more);
}

static enum status see_graph(void *context, const struct graph_row *row)
{
    struct seen *seen = context;
    struct graph *graph;
    assert_int_equal(graph_file_read(seen->graph_folder, row->id, &graph), STATUS_OK);
    graph_destroy(graph);
    add_word(seen, row->id, "", "");
    return STATUS_OK;
}

static enum status see_result(void *context, const struct result_row *row)
{
    add_word(context, row->graph_id, ":", row->etag);
    return STATUS_OK;
}

static enum status see_job(void *context, const struct job_row *row)
{
    add_word(context, row->id, ":", job_state_name(row->state));
    return STATUS_OK;
}

static void recover(const char *path, struct seen *seen)
{
    struct store *store;
    struct problem problem = {0};
    enum status status = store_open(path, 1 << 20, &store, &problem);
    assert_string_equal(problem.detail, "");
    assert_int_equal(status, STATUS_OK);
    *seen = (struct seen){.graph_folder = store_folder(store, STORE_GRAPHS)};
    const struct catalogue_visitor visitor = {
        .context = seen, .graph = see_graph, .result = see_result, .job = see_job};
    assert_int_equal(store_visit(store, &visitor), STATUS_OK);
    store_close(store);
}

static size_t count_words(const char *words, const char *prefix, char unless)
{
    size_t count = 0;
    for (const char *word = words; *word != '\0'; word = strchr(word, ' ') + 1) {
        size_t length = strcspn(word, " ");
        count += strncmp(word, prefix, strlen(prefix)) == 0 &&
                 (unless == '\0' || memchr(word, unless, length) == NULL);
    }
    return count;
}

/* Checks the state after a crash: acknowledged changes are present, the change in flight is present
 * completely or not at all, and every file belongs to a row. */
static void expect_sound(const struct fixture *fixture, const char *name, int acknowledged)
{
    char path[640];
    struct seen seen;
    snprintf(path, sizeof path, "%s/%s", fixture->path, name);
    recover(path, &seen);
    bool sound =
        strcmp(seen.words, states[acknowledged]) == 0 ||
        (acknowledged < CHANGE_COUNT && strcmp(seen.words, states[acknowledged + 1]) == 0) ||
        (acknowledged == CHANGE_COUNT - 1 && strcmp(seen.words, between) == 0);
    if (!sound) {
        fail_msg("%s: after %d acknowledged: %s", name, acknowledged, seen.words);
    }
    snprintf(path, sizeof path, "%s/graphs", name);
    assert_int_equal(fixture_count_files(fixture, path), count_words(seen.words, "g_", ':'));
    snprintf(path, sizeof path, "%s/coordinates", name);
    assert_int_equal(fixture_count_files(fixture, path), count_words(seen.words, "g_", ':'));
    snprintf(path, sizeof path, "%s/results", name);
    assert_int_equal(fixture_count_files(fixture, path), count_words(seen.words, "g_a:", '\0'));
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STEP 5 /* sanitizers make each fork slow, so only every fifth call is tested */
#else
#define STEP 1
#endif

/* Runs the script with its k-th call failing, for every step-th k until the script completes. */
static void try_calls(const struct fixture *fixture, int error, unsigned step)
{
    for (unsigned target = 1;; target += step) {
        char name[32];
        char path[640];
        snprintf(name, sizeof name, "state-%u", target);
        snprintf(path, sizeof path, "%s/%s", fixture->path, name);
        struct outcome outcome = run_child(path, target, error);
        assert_int_equal(outcome.crashed, error == 0 && !outcome.missed);
        /* A failed sync must be reported, so the script must not complete after it. */
        assert_true(!outcome.sync_failed || outcome.acknowledged < CHANGE_COUNT);
        expect_sound(fixture, name, outcome.acknowledged);
        if (outcome.missed) {
            assert_int_equal(outcome.acknowledged, CHANGE_COUNT);
            print_message("%u calls made\n", target - 1);
            assert_true(target > CALL_COUNT_MIN);
            return;
        }
    }
}

FIXTURE_TEST(a_crash_before_any_system_call_loses_no_committed_data)
{
    try_calls(fixture, 0, 2 * STEP - 1);
}

FIXTURE_TEST(a_change_that_fails_with_an_io_error_is_not_acknowledged)
{
    try_calls(fixture, EIO, STEP);
}

FIXTURE_TEST(a_change_that_fails_on_a_full_disk_is_not_acknowledged)
{
    try_calls(fixture, ENOSPC, 5 * STEP);
}

FIXTURE_TEST(interrupted_system_calls_are_repeated_or_reported)
{
    try_calls(fixture, EINTR, 2 * STEP);
}
