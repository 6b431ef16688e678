#include "tests/lib/scheduler_fixture.h"
#include "server/scheduler/start_stop.h"

void start(struct fixture *fixture)
{
    struct problem problem = {0};
    assert_int_equal(uv_loop_init(&fixture->loop), 0);
    assert_int_equal(store_open(fixture->folder, 1 << 20, &fixture->store, &problem), STATUS_OK);
    assert_int_equal(result_table_create(&fixture->results), STATUS_OK);
    assert_int_equal(scheduler_create(&fixture->loop, &fixture->config, fixture->store,
                                      fixture->results, NULL, &fixture->scheduler, &problem),
                     STATUS_OK);
    fixture->drained = false;
}

void set_drained(void *context)
{
    ((struct fixture *)context)->drained = true;
}

void run_until(struct fixture *fixture, const bool *condition)
{
    while (!*condition) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
}

void stop(struct fixture *fixture)
{
    if (!fixture->drained) {
        scheduler_drain(fixture->scheduler, set_drained, fixture);
        run_until(fixture, &fixture->drained);
    }
    assert_int_equal(scheduler_calls_open(fixture->scheduler), 0);
    scheduler_destroy(fixture->scheduler);
    uv_run(&fixture->loop, UV_RUN_DEFAULT);
    store_close(fixture->store);
    result_table_destroy(fixture->results);
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
}

void restart(struct fixture *fixture)
{
    stop(fixture);
    start(fixture);
}

int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    assert_true(folder_template("test_scheduler_XXXXXX", fixture->folder, sizeof(fixture->folder)));
    assert_non_null(mkdtemp(fixture->folder));
    fixture->config = (struct config){
        .result_limit = 1000,
        .edge_limit = 1000000,
        .queue_limit = 100,
        .history_limit = 1000,
        .drain_s = 20,
        .solver = {.choice = SOLVER_CPU, .cpu_threads = 1, .cpu_isa = "portable"},
    };
    log_set_level(LOG_ERROR);
    start(fixture);
    *state = fixture;
    return 0;
}

int tear_down(void **state)
{
    struct fixture *fixture = *state;
    char command[640];
    stop(fixture);
    snprintf(command, sizeof(command), "rm -rf '%s'", fixture->folder);
    assert_int_equal(system(command), 0);
    free(fixture);
    return 0;
}

void set_answered(struct call *call)
{
    *(bool *)call->context = true;
}

struct question *new_question(enum call_kind kind, const char *key)
{
    struct question *question = calloc(1, sizeof(*question));
    assert_non_null(question);
    question->call.kind = kind;
    question->call.answered = set_answered;
    question->call.context = &question->answered;
    const size_t size = strlen(key) + 1;
    assert_true(size <= sizeof(question->call.key));
    memcpy(question->call.key, key, size);
    if (kind == CALL_JOBS || kind == CALL_GRAPHS) {
        question->call.list.limit = 50;
    }
    return question;
}

struct question *new_upload(enum call_kind kind, const char *edges)
{
    struct question *question = new_question(kind, "");
    struct graph_options options = {0};
    struct problem problem;
    assert_int_equal(reader_create(FORMAT_DIMACS, &options, &question->call.submit.reader),
                     STATUS_OK);
    assert_int_equal(reader_feed(question->call.submit.reader, edges, strlen(edges), &problem),
                     STATUS_OK);
    return question;
}

void wait_for(struct fixture *fixture, const struct question *question)
{
    run_until(fixture, &question->answered);
}

void forget(struct question *question)
{
    assert_true(question->answered);
    call_finish(&question->call);
    free(question);
}

void call(struct fixture *fixture, struct question *question, enum status status,
          unsigned http_status)
{
    scheduler_post(fixture->scheduler, &question->call);
    wait_for(fixture, question);
    assert_string_equal(status_info(question->call.status)->code, status_info(status)->code);
    assert_int_equal(question->call.http_status, http_status);
}

void call_and_forget(struct fixture *fixture, struct question *question, enum status status,
                     unsigned http_status)
{
    call(fixture, question, status, http_status);
    forget(question);
}

void ask(struct fixture *fixture, enum call_kind kind, const char *key, enum status status,
         unsigned http_status)
{
    call_and_forget(fixture, new_question(kind, key), status, http_status);
}

json_t *body_of(const struct question *question)
{
    json_t *body = json_loads(question->call.body, 0, NULL);
    assert_non_null(body);
    return body;
}

json_t *document(struct fixture *fixture, enum call_kind kind, const char *key)
{
    struct question *question = new_question(kind, key);
    call(fixture, question, STATUS_OK, 200);
    json_t *body = body_of(question);
    forget(question);
    return body;
}

void assert_state(const struct question *question, const char *state)
{
    json_t *body = body_of(question);
    assert_string_equal(json_string_value(json_object_get(body, "state")), state);
    json_decref(body);
}

void solve(struct fixture *fixture, const char *edges, char job_id[JOB_ID_SIZE],
           char graph_id[GRAPH_ID_SIZE])
{
    struct question *question = new_upload(CALL_SUBMIT, edges);
    question->call.wait_s = LONG_S;
    call(fixture, question, STATUS_OK, 200);
    memcpy(job_id, question->call.job_id, JOB_ID_SIZE);
    memcpy(graph_id, question->call.graph_id, GRAPH_ID_SIZE);
    forget(question);
}

void assert_job_state(struct fixture *fixture, const char *job_id, const char *state)
{
    struct question *question = new_question(CALL_JOB, job_id);
    call(fixture, question, STATUS_OK, 200);
    assert_state(question, state);
    forget(question);
}

void finish_job(struct fixture *fixture, const char *job_id, const char *state)
{
    bool is_final = false;
    while (!is_final) {
        enum job_state now;
        struct question *question = new_question(CALL_JOB, job_id);
        question->call.wait_s = LONG_S;
        call(fixture, question, STATUS_OK, 200);
        json_t *body = body_of(question);
        const char *name = json_string_value(json_object_get(body, "state"));
        assert_true(job_state_from_name(name, &now));
        is_final = job_state_is_final(now);
        if (is_final) {
            assert_string_equal(name, state);
        }
        json_decref(body);
        forget(question);
    }
}

void assert_distance(struct fixture *fixture, const char *key, uint32_t source, uint32_t target,
                     const char *expected)
{
    struct result *result = result_table_find(fixture->results, 0, key);
    struct text text = {0};
    assert_non_null(result);
    result_append_distance(result, source, target, &text);
    assert_string_equal(text.bytes, expected);
    text_finish(&text);
    result_unref(result);
}

char *ring_of(unsigned n, unsigned weight)
{
    size_t capacity = ((size_t)n + 1) * 32;
    char *edges = malloc(capacity);
    assert_non_null(edges);
    size_t size = (size_t)snprintf(edges, capacity, "p sp %u %u\n", n, n);
    for (unsigned i = 0; i < n; i++) {
        size += (size_t)snprintf(edges + size, capacity - size, "a %u %u %u\n", i + 1,
                                 (i + 1) % n + 1, weight);
    }
    return edges;
}

void submit_ring(struct fixture *fixture, unsigned n, unsigned weight, char job_id[JOB_ID_SIZE])
{
    char *edges = ring_of(n, weight);
    struct question *question = new_upload(CALL_SUBMIT, edges);
    call(fixture, question, STATUS_OK, 202);
    memcpy(job_id, question->call.job_id, JOB_ID_SIZE);
    forget(question);
    free(edges);
}

void submit_long(struct fixture *fixture, unsigned weight, char job_id[JOB_ID_SIZE])
{
    static const unsigned long strides[] = {1, 7919, 104729, 1299709};
    const unsigned long n = 8000;
    char *edges = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&edges, &size);
    assert_non_null(stream);
    fprintf(stream, "p sp %lu %lu\n", n, 4 * n);
    for (unsigned long index = 0; index < 4 * n; ++index) {
        const unsigned long source = index / 4;
        const unsigned long target = (source * strides[index % 4] + strides[index % 4]) % n;
        fprintf(stream, "a %lu %lu %u\n", source + 1, target + 1, 100000 + weight);
    }
    assert_int_equal(fclose(stream), 0);
    struct question *question = new_upload(CALL_SUBMIT, edges);
    call(fixture, question, STATUS_OK, 202);
    memcpy(job_id, question->call.job_id, JOB_ID_SIZE);
    forget(question);
    free(edges);
}

void cancel(struct fixture *fixture, const char *job_id)
{
    struct question *question = new_question(CALL_CANCEL, job_id);
    call(fixture, question, STATUS_OK, 202);
    forget(question);
}
