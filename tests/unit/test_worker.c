#include "server/job/worker.h"

#include "proto/reader.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define RING "p sp 3 3\na 1 2 1\na 2 3 2\na 3 1 4\n"

struct fixture {
    struct solver_config solver;
    struct mailbox *home;
    struct worker_opening opening;
    struct worker *worker;
    int folder;
    struct work_signal signal;
};

static void delivered(struct message *message)
{
    (void)message;
}

/* Files in the folder stay unnamed: nothing is published here. */
static int set_up(void **state)
{
    static struct fixture fixture;
    fixture =
        (struct fixture){.solver = {.choice = SOLVER_CPU, .cpu_threads = 1, .cpu_isa = "portable"}};
    fixture.folder = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fixture.opening.message.deliver = delivered;
    assert_int_equal(mailbox_create(NULL, NULL, &fixture.home), STATUS_OK);
    struct worker_config config = {
        .solver = &fixture.solver,
        .graph_folder = fixture.folder,
        .result_folder = fixture.folder,
        .home = fixture.home,
        .finished = delivered,
        .opening = &fixture.opening,
    };
    assert_int_equal(worker_start(&config, &fixture.worker), STATUS_OK);
    assert_ptr_equal(mailbox_wait(fixture.home), &fixture.opening.message);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    worker_stop(fixture->worker);
    mailbox_destroy(fixture->home);
    close(fixture->folder);
    return 0;
}

static struct graph *read_ring(void)
{
    struct graph_options options = {0};
    struct problem problem;
    struct reader *reader;
    struct graph *graph;
    assert_int_equal(reader_create(FORMAT_DIMACS, &options, &reader), STATUS_OK);
    assert_int_equal(reader_feed(reader, RING, strlen(RING), &problem), STATUS_OK);
    assert_int_equal(reader_finish(reader, &graph, &problem), STATUS_OK);
    reader_destroy(reader);
    return graph;
}

static void carry_out(struct fixture *fixture, struct work *work)
{
    work->signal = &fixture->signal;
    work->kind = KIND_I4;
    struct work_load load = {.works = work, .count = 1};
    worker_give(fixture->worker, &load);
    assert_ptr_equal(mailbox_wait(fixture->home), &load.message);
}

static void an_opened_worker_tells_its_device_and_limits(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(fixture->opening.status, STATUS_OK);
    assert_string_equal(fixture->opening.device.solver, "cpu");
    assert_true(fixture->opening.vertex_limit[KIND_I4] > 1000);
    assert_true(fixture->opening.vertex_limit[KIND_F8] < fixture->opening.vertex_limit[KIND_I4]);
    /* Computed as i4, in memory beside its own. */
    assert_true(fixture->opening.vertex_limit[KIND_U2] < fixture->opening.vertex_limit[KIND_I4]);
    assert_true(fixture->opening.batch_limit[KIND_I4] >= 128);
    assert_int_equal(fixture->opening.batch_limit[KIND_U2], fixture->opening.batch_limit[KIND_I4]);
}

static void work_comes_home_solved(void **state)
{
    struct fixture *fixture = *state;
    struct work work = {.graph = read_ring()};
    carry_out(fixture, &work);
    assert_int_equal(work.status, STATUS_OK);
    assert_null(work.graph);
    assert_int_equal(vertex_names_count(work.names), 3);
    struct matrix matrix = result_file_matrix(work.file);
    double distance;
    assert_true(matrix_distance(&matrix, 0, 2, &distance));
    assert_true(distance == 3);
    assert_true(atomic_load(&fixture->signal.rounds_done) > 0);
    work_finish(&work);
}

static void cancelled_work_comes_home_at_once(void **state)
{
    struct fixture *fixture = *state;
    struct work work = {.graph = read_ring()};
    atomic_store(&fixture->signal.cancelled, true);
    carry_out(fixture, &work);
    assert_int_equal(work.status, STATUS_CANCELLED);
    assert_null(work.file);
    work_finish(&work);
}

static void a_missing_graph_file_is_told(void **state)
{
    struct work work = {.graph_id = "g_absent"};
    carry_out(*state, &work);
    assert_int_not_equal(work.status, STATUS_OK);
    assert_non_null(strstr(work.problem.detail, "g_absent"));
    work_finish(&work);
}

static void many_come_home_each_with_its_own_end(void **state)
{
    struct fixture *fixture = *state;
    struct work_signal cancelled = {0};
    struct work works[4] = {{.graph = read_ring()},
                            {.graph_id = "g_absent"},
                            {.graph = read_ring()},
                            {.graph = read_ring()}};
    struct work_load load = {.works = works, .count = 4};
    for (int i = 0; i < 4; i++) {
        works[i].kind = i == 3 ? KIND_F8 : KIND_I4;
        works[i].signal = i == 2 ? &cancelled : &fixture->signal;
    }
    atomic_store(&cancelled.cancelled, true);
    worker_give(fixture->worker, &load);
    assert_ptr_equal(mailbox_wait(fixture->home), &load.message);
    assert_int_equal(works[0].status, STATUS_OK);
    assert_int_not_equal(works[1].status, STATUS_OK);
    assert_int_equal(works[2].status, STATUS_CANCELLED);
    assert_int_equal(works[3].status, STATUS_OK);
    for (int i = 0; i < 4; i++) {
        assert_null(works[i].graph);
        assert_int_equal(works[i].file != NULL, works[i].status == STATUS_OK);
    }
    struct matrix matrix = result_file_matrix(works[3].file);
    double distance;
    assert_true(matrix_distance(&matrix, 0, 2, &distance));
    assert_true(distance == 3);
    assert_true(works[0].outcome.account.timings.compute_s > 0);
    for (int i = 0; i < 4; i++) {
        work_finish(&works[i]);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_opened_worker_tells_its_device_and_limits),
        TEST(work_comes_home_solved),
        TEST(cancelled_work_comes_home_at_once),
        TEST(a_missing_graph_file_is_told),
        TEST(many_come_home_each_with_its_own_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
