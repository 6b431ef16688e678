#include "tests/lib/worker_fixture.h"

void delivered(struct message *message)
{
    (void)message;
}

struct graph *read_dimacs(const char *text)
{
    struct graph_options options = {0};
    struct problem problem;
    struct reader *reader;
    struct graph *graph;
    assert_int_equal(reader_create(FORMAT_DIMACS, &options, &reader), STATUS_OK);
    assert_int_equal(reader_feed(reader, text, strlen(text), &problem), STATUS_OK);
    assert_int_equal(reader_finish(reader, &graph, &problem), STATUS_OK);
    reader_destroy(reader);
    return graph;
}

struct graph *read_ring(void)
{
    return read_dimacs(RING);
}

void store_ring(const struct fixture *fixture)
{
    struct graph *graph = read_ring();
    fixture_put_graph(fixture->folder, RING_ID, graph);
    graph_destroy(graph);
}

void start(struct fixture *fixture, enum worker_isolation isolation)
{
    struct worker_config config = {
        .setup = {.solver = fixture->solver},
        .isolation = isolation,
        .stall_s = 600,
        .folders = {.graphs = fixture->folder, .results = fixture->folder},
        .home = fixture->home,
        .finished = delivered,
    };
    assert_int_equal(worker_start(&config, &fixture->worker), STATUS_OK);
    fixture->facts = worker_wait_opened(fixture->worker);
}

/* Wakes the mailbox's receiver with a semaphore, where the daemon uses uv_async_send. */
static void wake_home(void *context)
{
    assert_int_equal(sem_post(context), 0);
}

struct fixture *make_fixture(void)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    log_set_level(LOG_ERROR);
    fixture->solver =
        (struct solver_config){.choice = SOLVER_CPU, .cpu_threads = 1, .cpu_isa = "portable"};
    snprintf(fixture->path, sizeof(fixture->path), "/tmp/test_worker_XXXXXX");
    assert_non_null(mkdtemp(fixture->path));
    fixture->folder = open(fixture->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(sem_init(&fixture->woken, 0, 0), 0);
    assert_int_equal(mailbox_create(wake_home, &fixture->woken, &fixture->home), STATUS_OK);
    store_ring(fixture);
    return fixture;
}

int tear_down(void **state)
{
    struct fixture *fixture = *state;
    char command[128];
    worker_stop(fixture->worker);
    while (mailbox_pop(fixture->home) != NULL) {
    }
    mailbox_destroy(fixture->home);
    close(fixture->folder);
    snprintf(command, sizeof(command), "rm -rf '%s'", fixture->path);
    assert_int_equal(system(command), 0);
    free(fixture);
    return 0;
}

void give(struct fixture *fixture, struct task *task)
{
    struct task_signal *signal = worker_signal(fixture->worker);
    *signal = (struct task_signal){.cancelled = task->signal != NULL};
    task->signal = signal;
    if (task->graph_id[0] == '\0') {
        memcpy(task->graph_id, RING_ID, sizeof(RING_ID));
    }
    task->vertex_count = 3;
    task->kind = KIND_I4;
    task->form = RESULT_FORM_MATRIX;
    worker_give(fixture->worker, task);
}

void carry_out(struct fixture *fixture, struct task *task)
{
    give(fixture, task);
    struct message *message;
    while ((message = mailbox_pop(fixture->home)) == NULL) {
        assert_int_equal(sem_wait(&fixture->woken), 0);
    }
    assert_ptr_equal(message, &task->message);
}
