#include "server/scheduler/change.h"
#include "tests/lib/change_fixture.h"

static struct tenant *tenant_of(struct fixture *fixture, const char *name)
{
    struct tenant *tenant;
    assert_int_equal(tenant_find(scheduler_tenants(fixture->scheduler), name, &tenant), STATUS_OK);
    return tenant;
}

static struct question *new_call(struct fixture *fixture, enum call_kind kind, const char *tenant,
                                 const char *key)
{
    struct question *question = new_question(kind, key);
    question->call.tenant = tenant_of(fixture, tenant);
    return question;
}

static struct question *new_submit(struct fixture *fixture, const char *tenant, const char *edges)
{
    struct question *question = new_upload(CALL_SUBMIT, edges);
    question->call.tenant = tenant_of(fixture, tenant);
    question->call.wait_s = 60;
    return question;
}

/* Submits RING for a tenant, with the name "ring" and the Idempotency-Key "order". Copies the IDs
 * of the job and the graph. */
static void solve_as(struct fixture *fixture, const char *tenant, char job_id[JOB_ID_SIZE],
                     char graph_id[GRAPH_ID_SIZE])
{
    struct question *question = new_submit(fixture, tenant, RING);
    snprintf(question->call.submit.parameters.name, NAME_SIZE, "ring");
    snprintf(question->call.submit.idempotency_key, IDEMPOTENCY_KEY_SIZE, "order");
    call(fixture, question, STATUS_OK, 200);
    memcpy(job_id, question->call.job_id, JOB_ID_SIZE);
    memcpy(graph_id, question->call.graph_id, GRAPH_ID_SIZE);
    forget(question);
}

static void expect(struct fixture *fixture, enum call_kind kind, const char *tenant,
                   const char *key, enum status status, unsigned http_status)
{
    struct question *question = new_call(fixture, kind, tenant, key);
    call_and_forget(fixture, question, status, http_status);
}

static void expect_none(struct fixture *fixture, const char *tenant, const char *job_id,
                        const char *graph_id)
{
    static const enum call_kind of_graphs[] = {CALL_GRAPH, CALL_DELETE_GRAPH, CALL_RESULT,
                                               CALL_ESTIMATE, CALL_SUBMIT};
    static const enum call_kind of_jobs[] = {CALL_JOB, CALL_EVENTS, CALL_CANCEL};
    for (size_t i = 0; i < sizeof(of_graphs) / sizeof(of_graphs[0]); i++) {
        expect(fixture, of_graphs[i], tenant, graph_id, STATUS_NO_SUCH_GRAPH, 404);
        expect(fixture, of_graphs[i], tenant, "ring", STATUS_NO_SUCH_GRAPH, 404);
        expect(fixture, of_graphs[i], tenant, job_id, STATUS_NO_SUCH_JOB, 404);
    }
    for (size_t i = 0; i < sizeof(of_jobs) / sizeof(of_jobs[0]); i++) {
        expect(fixture, of_jobs[i], tenant, job_id, STATUS_NO_SUCH_JOB, 404);
    }
}

static size_t count_listed(struct fixture *fixture, enum call_kind kind, const char *tenant,
                           const char *member)
{
    struct question *question = new_call(fixture, kind, tenant, "");
    call(fixture, question, STATUS_OK, 200);
    json_t *body = body_of(question);
    const size_t count = json_array_size(json_object_get(body, member));
    json_decref(body);
    forget(question);
    return count;
}

static void expect_lists(struct fixture *fixture, const char *tenant, size_t count)
{
    assert_int_equal(count_listed(fixture, CALL_JOBS, tenant, "jobs"), count);
    assert_int_equal(count_listed(fixture, CALL_GRAPHS, tenant, "graphs"), count);
}

SCHEDULER_TEST(objects_of_a_tenant_stay_hidden_from_others_after_a_restart)
{
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    solve_as(fixture, "a", job_id, graph_id);
    for (int i = 0; i < 2; i++) {
        expect_none(fixture, "b", job_id, graph_id);
        expect_none(fixture, "", job_id, graph_id);
        expect_lists(fixture, "a", 1);
        expect_lists(fixture, "b", 0);
        expect_lists(fixture, "", 0);
        expect(fixture, CALL_GRAPH, "a", "ring", STATUS_OK, 200);
        expect(fixture, CALL_RESULT, "a", job_id, STATUS_OK, 200);
        expect(fixture, CALL_JOB, "a", job_id, STATUS_OK, 200);
        restart(fixture);
    }
}

/* Both tenants submit the same graph with the same name and the same Idempotency-Key. */
SCHEDULER_TEST(equal_requests_of_two_tenants_are_independent)
{
    char job_ids[3][JOB_ID_SIZE];
    char graph_ids[3][GRAPH_ID_SIZE];
    static const char *const tenants[] = {"", "a", "b"};
    for (int i = 0; i < 3; i++) {
        solve_as(fixture, tenants[i], job_ids[i], graph_ids[i]);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(job_ids[i], job_ids[j]);
            assert_string_not_equal(graph_ids[i], graph_ids[j]);
        }
    }
    restart(fixture);
    expect(fixture, CALL_DELETE_GRAPH, "a", "ring", STATUS_OK, 204);
    for (int i = 0; i < 3; i++) {
        struct question *question = new_call(fixture, CALL_GRAPH, tenants[i], "ring");
        call(fixture, question, i == 1 ? STATUS_NO_SUCH_GRAPH : STATUS_OK, i == 1 ? 404 : 200);
        assert_string_equal(question->call.graph_id, i == 1 ? "" : graph_ids[i]);
        forget(question);
    }
}

SCHEDULER_TEST(a_cursor_of_another_tenant_is_refused)
{
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    solve_as(fixture, "a", job_id, graph_id);
    struct question *question = new_call(fixture, CALL_GRAPHS, "b", "");
    memcpy(question->call.list.cursor, graph_id, GRAPH_ID_SIZE);
    call_and_forget(fixture, question, STATUS_BAD_PARAMETER, 400);
}

SCHEDULER_TEST(bytes_are_counted_reserved_and_released)
{
    struct tenant *tenant = tenant_of(fixture, "a");
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    size_t result_bytes;
    assert_int_equal(result_file_size(3, KIND_I4, &result_bytes), STATUS_OK);
    solve_as(fixture, "a", job_id, graph_id);
    assert_int_equal(tenant->reserved_bytes, 0);
    const uint64_t bytes = tenant->stored_bytes;
    assert_true(bytes > result_bytes);
    restart(fixture);
    tenant = tenant_of(fixture, "a");
    assert_int_equal(tenant->stored_bytes, bytes);
    struct question *question = new_submit(fixture, "a", LINE);
    question->call.submit.parameters.form = RESULT_FORM_MATRIX;
    question->call.quota.stored_bytes = bytes + result_bytes;
    call_and_forget(fixture, question, STATUS_STORAGE_QUOTA, 507);
    question = new_submit(fixture, "a", LINE);
    question->call.quota.stored_bytes = 3 * bytes;
    call_and_forget(fixture, question, STATUS_OK, 200);
    expect(fixture, CALL_DELETE_GRAPH, "a", graph_id, STATUS_OK, 204);
    assert_in_range(tenant->stored_bytes, 1, bytes); /* the stored path is smaller than the ring */
    assert_int_equal(tenant->reserved_bytes, 0);
    assert_int_equal(tenant->reserved_places, 0);
    assert_int_equal(tenant->share.count, 0);
}

SCHEDULER_TEST(a_job_that_ends_with_another_jobs_result_releases_its_reservation)
{
    struct tenant *tenant = tenant_of(fixture, "a");
    struct question *first = new_submit(fixture, "a", RING);
    struct question *second = new_submit(fixture, "a", RING);
    scheduler_post(fixture->scheduler, &first->call);
    scheduler_post(fixture->scheduler, &second->call);
    wait_for(fixture, first);
    wait_for(fixture, second);
    assert_state(first, "done");
    assert_state(second, "done");
    assert_string_not_equal(first->call.job_id, second->call.job_id);
    assert_int_equal(tenant->reserved_bytes, 0);
    forget(first);
    forget(second);
}

/* Requests get queue places in the order in which they arrive. A refused request is not accepted
 * later, even when another job has left the queue. */
SCHEDULER_TEST(the_quota_of_waiting_jobs_is_enforced)
{
    struct question *first = new_submit(fixture, "a", RING);
    struct question *second = new_submit(fixture, "a", LINE);
    struct question *other = new_submit(fixture, "b", LINE);
    first->call.quota.waiting_jobs = second->call.quota.waiting_jobs = 1;
    other->call.quota.waiting_jobs = 1;
    scheduler_post(fixture->scheduler, &first->call);
    scheduler_post(fixture->scheduler, &second->call);
    scheduler_post(fixture->scheduler, &other->call);
    wait_for(fixture, second);
    assert_int_equal(second->call.status, STATUS_JOB_QUOTA);
    assert_int_equal(second->call.http_status, 429);
    assert_true(second->call.retry_after_s > 0);
    wait_for(fixture, first);
    wait_for(fixture, other);
    assert_state(first, "done");
    assert_state(other, "done");
    forget(first);
    forget(second);
    forget(other);
}

TEST(a_tenant_name_always_finds_the_same_tenant)
{
    struct tenant *tenants = NULL;
    struct tenant *nobody;
    struct tenant *a;
    struct tenant *b;
    struct tenant *again;
    assert_int_equal(tenant_find(&tenants, "", &nobody), STATUS_OK);
    assert_int_equal(tenant_find(&tenants, "a", &a), STATUS_OK);
    assert_int_equal(tenant_find(&tenants, "b", &b), STATUS_OK);
    assert_int_equal(tenant_find(&tenants, "a", &again), STATUS_OK);
    assert_ptr_equal(a, again);
    assert_ptr_not_equal(a, b);
    assert_int_equal(tenant_number(nobody), 0);
    assert_int_equal(tenant_number(NULL), 0);
    assert_int_not_equal(tenant_number(a), 0);
    assert_int_not_equal(tenant_number(a), tenant_number(b));
    tenant_free_all(tenants);
}

TEST(waiting_jobs_and_reserved_queue_places_count_towards_the_quota)
{
    struct admission admission = {0};
    struct tenant tenant = {.reserved_places = 1};
    const struct quota none = {0};
    const struct quota three = {.waiting_jobs = 3};
    struct problem problem;
    atomic_store(&tenant.share.count, 1);
    assert_int_equal(tenant_check_queue(&admission, 1, 64, &tenant, &three, &problem), STATUS_OK);
    atomic_store(&tenant.share.count, 2);
    assert_int_equal(tenant_check_queue(&admission, 1, 64, &tenant, &three, &problem),
                     STATUS_JOB_QUOTA);
    assert_true(problem.limit == 3 && problem.actual == 3);
    assert_int_equal(tenant_check_queue(&admission, 1, 64, &tenant, &none, &problem), STATUS_OK);
    assert_int_equal(tenant_check_queue(&admission, 1, 64, NULL, &none, &problem), STATUS_OK);
}

/* Reserves queue places for a tenant until one is refused. Returns the number of reserved
 * places. */
static uint32_t fill_queue(const struct admission *admission, struct tenant *tenant,
                           uint32_t *free_places)
{
    const struct quota none = {0};
    struct problem problem = {0};
    uint32_t count = 0;
    while (tenant_check_queue(admission, *free_places, 64, tenant, &none, &problem) == STATUS_OK) {
        tenant->reserved_places++;
        (*free_places)--;
        count++;
    }
    assert_int_equal(problem.status, STATUS_QUEUE_FULL);
    return count;
}

TEST(a_tenant_leaves_as_many_queue_places_free_as_it_uses)
{
    const struct admission shared = {.tenant_count = 2};
    struct tenant tenants[8] = {{.number = 1}};
    uint32_t free_places = 64;
    assert_int_equal(fill_queue(&shared, &tenants[0], &free_places), 32);
    for (uint32_t i = 1; i < 7; i++) {
        assert_true(fill_queue(&shared, &tenants[i], &free_places) > 0);
    }
    assert_int_equal(free_places, 0);
    assert_int_equal(fill_queue(&shared, &tenants[7], &free_places), 0);
}

TEST(a_single_tenant_can_fill_the_queue)
{
    const struct admission open = {0};
    const struct admission alone = {.tenant_count = 1};
    struct tenant nobody = {0};
    struct tenant tenant = {.number = 1};
    uint32_t free_places = 64;
    assert_int_equal(fill_queue(&open, &nobody, &free_places), 64);
    free_places = 64;
    assert_int_equal(fill_queue(&alone, &tenant, &free_places), 64);
}

TEST(the_quota_counts_stored_and_expected_bytes)
{
    struct tenant tenant = {.stored_bytes = 60, .reserved_bytes = 30};
    const struct quota none = {0};
    const struct quota hundred = {.stored_bytes = 100};
    struct problem problem;
    assert_int_equal(tenant_check_bytes(&tenant, &hundred, 10, &problem), STATUS_OK);
    assert_int_equal(tenant_check_bytes(&tenant, &hundred, 11, &problem), STATUS_STORAGE_QUOTA);
    assert_true(problem.limit == 100 && problem.actual == 101);
    assert_int_equal(tenant_check_bytes(&tenant, &hundred, UINT64_MAX, &problem),
                     STATUS_STORAGE_QUOTA);
    assert_int_equal(tenant_check_bytes(&tenant, &none, UINT64_MAX, &problem), STATUS_OK);
}

/* Posts a change of a tenant's graph, and runs the loop until it waits behind other changes. */
static struct question *park_change(struct fixture *fixture, const char *tenant,
                                    const char *graph_id, double weight)
{
    struct question *question = new_call(fixture, CALL_CHANGE, tenant, graph_id);
    struct vertex_names *names = NULL;
    struct edge_changes *changes = &question->call.submit.changes;
    assert_int_equal(
        graph_file_read_names(store_folder(fixture->store, STORE_GRAPHS), graph_id, &names),
        STATUS_OK);
    assert_int_equal(identity_of_names(names, changes->names_digest), STATUS_OK);
    vertex_names_destroy(names);
    changes->list = calloc(1, sizeof(*changes->list));
    assert_non_null(changes->list);
    changes->list[0] = (struct edge_change){.target = 1, .weight = weight};
    changes->count = 1;
    const uint32_t before = fixture->scheduler->submissions;
    scheduler_post(fixture->scheduler, &question->call);
    while (fixture->scheduler->submissions == before) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    return question;
}

static void do_nothing(struct pool_work *work)
{
    (void)work;
}

SCHEDULER_TEST(changes_of_several_tenants_are_started_in_turn)
{
    struct scheduler *scheduler = fixture->scheduler;
    uint32_t *running = &scheduler->pool.running[POOL_STORED];
    struct pool_work nothing[2] = {{.run = do_nothing, .then = do_nothing},
                                   {.run = do_nothing, .then = do_nothing}};
    struct tenant *busy = tenant_of(fixture, "busy");
    struct tenant *other = tenant_of(fixture, "other");
    struct question *questions[3];
    char job[JOB_ID_SIZE];
    char graphs[2][GRAPH_ID_SIZE];
    solve_as(fixture, "busy", job, graphs[0]);
    solve_as(fixture, "other", job, graphs[1]);
    scheduler_share_queue(scheduler, 2);
    *running = 2;
    busy->pool.turn = ++scheduler->pool.last_turn;
    questions[0] = park_change(fixture, "busy", graphs[0], 10);
    questions[1] = park_change(fixture, "busy", graphs[0], 11);
    questions[2] = park_change(fixture, "other", graphs[1], 12);
    *running = 1;
    pool_queue(scheduler, scheduler->nobody, POOL_UPLOAD, &nothing[0]);
    assert_true(other->pool.running[POOL_STORED] == 1 && busy->pool.running[POOL_STORED] == 0);
    *running -= 1;
    pool_queue(scheduler, scheduler->nobody, POOL_UPLOAD, &nothing[1]);
    assert_int_equal(busy->pool.running[POOL_STORED], 1);
    for (size_t i = 0; i < 3; i++) {
        wait_for(fixture, questions[i]);
        assert_int_equal(questions[i]->call.status, STATUS_OK);
        forget(questions[i]);
    }
}
