#include "tests/lib/worker_fixture.h"

#include "proto/hierarchy.h"
#include "server/solver/solve_hierarchy.h"
#include "server/worker/proof.h"

#include <unistd.h>

static struct cpu_pool *pool; /* thread pool that all tasks use */

static int set_up(void **state)
{
    *state = make_fixture();
    return 0;
}

/* Returns a task whose file contains the correct matrix of the ring. */
static struct task solved_ring(const struct fixture *fixture, struct task_signal *signal)
{
    static const int32_t distances[] = {0, 1, 3, 6, 0, 2, 4, 5, 0};
    const struct task_folders folders = {fixture->folder, fixture->folder, -1, 0};
    struct task task = {.graph_id = RING_ID,
                        .vertex_count = 3,
                        .kind = KIND_I4,
                        .form = RESULT_FORM_MATRIX,
                        .signal = signal};
    task_open_files(&folders, &task);
    assert_int_equal(task.status, STATUS_OK);
    const struct matrix matrix = result_file_matrix(task.file);
    memcpy(matrix.elements, distances, sizeof(distances));
    return task;
}

static void prove_written(struct task *task)
{
    assert_int_equal(result_file_write_matrix(task->file), STATUS_OK);
    proof_check(1, &pool, task);
}

#define FIXTURE_TEST(name) TEST_FIXTURE(name, struct fixture *fixture, set_up, tear_down)

FIXTURE_TEST(a_correct_result_is_accepted_with_its_vertex_names)
{
    struct task task = solved_ring(fixture, &fixture->signal);
    prove_written(&task);
    assert_int_equal(task.status, STATUS_OK);
    assert_int_equal(vertex_names_count(task.names), 3);
    task_finish(&task);
}

FIXTURE_TEST(a_wrong_result_is_refused)
{
    struct task task = solved_ring(fixture, &fixture->signal);
    const struct matrix matrix = result_file_matrix(task.file);
    for (size_t row = 0; row < 3; row++) {
        ((int32_t *)matrix.elements)[4 * row] = 1;
    }
    prove_written(&task);
    assert_int_equal(task.status, STATUS_NOT_VERIFIED);
    task_finish(&task);
}

/* A proof checks one of the three rows. Over many proofs, each row must be checked. */
FIXTURE_TEST(each_row_is_sampled_by_some_proofs_but_not_by_all)
{
    for (size_t row = 0; row < 3; row++) {
        bool refused = false;
        bool passed = false;
        for (int i = 0; i < 1000 && !(refused && passed); i++) {
            struct task task = solved_ring(fixture, &fixture->signal);
            const struct matrix matrix = result_file_matrix(task.file);
            ((int32_t *)matrix.elements)[4 * row] = 1;
            prove_written(&task);
            refused = refused || task.status == STATUS_NOT_VERIFIED;
            passed = passed || task.status == STATUS_OK;
            task_finish(&task);
        }
        assert_true(refused && passed);
    }
}

FIXTURE_TEST(a_file_with_a_changed_header_is_refused)
{
    struct task task = solved_ring(fixture, &fixture->signal);
    const struct matrix matrix = result_file_matrix(task.file);
    ((unsigned char *)matrix.elements)[-1] ^= 1;
    prove_written(&task);
    assert_int_equal(task.status, STATUS_CORRUPT);
    assert_non_null(strstr(task.problem.detail, "or the headers"));
    task_finish(&task);
}

FIXTURE_TEST(a_truncated_file_is_refused)
{
    for (off_t size = 0; size < 2; size++) {
        struct task task = solved_ring(fixture, &fixture->signal);
        assert_int_equal(result_file_write_matrix(task.file), STATUS_OK);
        assert_int_equal(ftruncate(result_file_descriptor(task.file), size * 100), 0);
        proof_check(1, &pool, &task);
        assert_int_equal(task.status, STATUS_CORRUPT);
        assert_non_null(strstr(task.problem.detail, "changed the size"));
        task_finish(&task);
    }
}

/* Returns a task with the ring's hierarchy, whose weights are correct if `change` is 0. */
static struct task ring_by_hierarchy(const struct fixture *fixture, struct task_signal *signal,
                                     int change)
{
    const struct task_folders folders = {fixture->folder, fixture->folder, -1, 0};
    struct task task = {.graph_id = RING_ID,
                        .vertex_count = 3,
                        .kind = KIND_I4,
                        .form = RESULT_FORM_HIERARCHY,
                        .verify = true,
                        .signal = signal};
    struct hierarchy *hierarchy = NULL;
    void *bytes = NULL;
    uint64_t size = 0;
    task_open_files(&folders, &task);
    assert_int_equal(task.status, STATUS_OK);
    assert_int_equal(solve_hierarchy(task.graph,
                                     &(struct solve_request){.kind = KIND_I4, .threads = 1}, &bytes,
                                     &size, &task.outcome, &task.problem),
                     STATUS_OK);
    assert_int_equal(hierarchy_open(bytes, size, &hierarchy), STATUS_OK);
    for (size_t i = 0; i < 9; i++) {
        ((int32_t *)hierarchy->up)[i] += change;
    }
    hierarchy_close(hierarchy);
    assert_int_equal(result_file_write_hierarchy(task.file, bytes, size), STATUS_OK);
    free(bytes);
    return task;
}

FIXTURE_TEST(rows_of_a_hierarchy_are_computed_and_verified)
{
    for (int change = -1; change <= 1; change++) {
        struct task task = ring_by_hierarchy(fixture, &fixture->signal, change);
        proof_check(1, &pool, &task);
        assert_int_equal(task.status, change == 0 ? STATUS_OK : STATUS_NOT_VERIFIED);
        assert_int_equal(task.outcome.account.verification.done, change == 0);
        task_finish(&task);
    }
}

/* A worker process reports a cycle without its vertices, so the daemon searches for them. */
FIXTURE_TEST(the_vertices_of_a_negative_cycle_are_found_unless_the_job_is_cancelled)
{
    static const char text[] = "p sp 3 3\na 1 2 1\na 2 3 1\na 3 1 -3\n";
    for (int cancelled = 0; cancelled < 2; cancelled++) {
        struct task task = {.graph = read_dimacs(text),
                            .vertex_count = 3,
                            .status = STATUS_NEGATIVE_CYCLE,
                            .signal = &fixture->signal};
        atomic_store(&fixture->signal.cancelled, cancelled);
        proof_check(1, &pool, &task);
        assert_int_equal(task.status, cancelled ? STATUS_CANCELLED : STATUS_NEGATIVE_CYCLE);
        assert_int_equal(task.outcome.cycle_length, cancelled ? 0 : 3);
        task_finish(&task);
    }
}

static int destroy_pool(void **state)
{
    cpu_pool_destroy(pool);
    return 0;
}

TEST_GROUP(NULL, destroy_pool)
