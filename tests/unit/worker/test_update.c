#include "server/solver/solve_hierarchy.h"
#include "server/worker/proof.h"
#include "server/worker/update.h"
#include "tests/lib/worker_fixture.h"

static struct cpu_pool *pool; /* thread pool that all tasks use */

static int set_up(void **state)
{
    *state = make_fixture();
    return 0;
}

static void solve_into_file(struct task *task)
{
    void *bytes = NULL;
    uint64_t size = 0;
    assert_int_equal(solve_hierarchy(task->graph,
                                     &(struct solve_request){.kind = KIND_I4, .threads = 1}, &bytes,
                                     &size, &task->outcome, &task->problem),
                     STATUS_OK);
    assert_int_equal(result_file_write_hierarchy(task->file, bytes, size), STATUS_OK);
    free(bytes);
}

/* Updates the hierarchy of the ring: the first edge gets weight 0, and the second edge a larger
 * weight. In round 1 the update gets a list of changes, and in round 2 only the changed graph. */
TEST_WITH(a_hierarchy_is_updated_from_the_hierarchy_of_its_parent, set_up, tear_down)
{
    struct fixture *fixture = *state;
    const struct task_folders folders = {fixture->folder, fixture->folder, -1, 0};
    struct solve_arc arcs[] = {{0, 1, 0}, {1, 2, 50}};
    struct result *base = NULL;
    for (int round = 0; round < 3; round++) {
        struct task task = {.graph_id = RING_ID,
                            .vertex_count = 3,
                            .kind = KIND_I4,
                            .form = RESULT_FORM_HIERARCHY,
                            .signal = &fixture->signal,
                            .base = round == 1 ? result_ref(base) : base,
                            .arcs = round == 1 ? arcs : NULL,
                            .arc_count = round == 1 ? 2 : 0};
        task_open_files(&folders, &task);
        if (round == 0) {
            solve_into_file(&task);
        } else {
            task.graph->weight_i4[0] = 0;
            task.graph->weight_i4[1] = 50;
            update_task(1, &task);
            assert_true(task.is_updated);
            assert_int_equal(task.is_followed, round == 1);
            assert_true(task.outcome.plan.cached && task.outcome.plan.largest_separator > 0);
        }
        task.verify = true; /* checks all rows instead of a sample */
        proof_check(2, &pool, &task);
        assert_int_equal(task.status, STATUS_OK);
        assert_non_null(task.searches); /* kept for the first query */
        if (round == 0) {
            assert_int_equal(result_create("g_1", "r_1", &task.file, &task.names, &base),
                             STATUS_OK);
        }
        task_finish(&task);
    }
}

/* Replaces the stored ring with a path or, if `closed`, a ring of 100 vertices. */
static void store_path(const struct fixture *fixture, bool closed)
{
    char text[2048];
    int size = snprintf(text, sizeof(text), "p sp 100 %d\n", closed ? 100 : 99);
    for (int i = 1; i < 100; i++) {
        size += snprintf(text + size, sizeof(text) - (size_t)size, "a %d %d 1\n", i, i + 1);
    }
    snprintf(text + size, sizeof(text) - (size_t)size, closed ? "a 100 1 1\n" : "");
    struct graph *graph = read_dimacs(text);
    fixture_put_graph(fixture->folder, RING_ID, graph);
    graph_destroy(graph);
}

/* The hierarchy of a path has no arc between the path's ends. The update must notice this before it
 * computes anything. */
TEST_WITH(an_update_of_an_edge_without_an_arc_is_left_to_the_solver, set_up, tear_down)
{
    struct fixture *fixture = *state;
    const struct task_folders folders = {fixture->folder, fixture->folder, -1, 0};
    struct solve_arc arc = {99, 0, 1};
    struct result *base = NULL;
    for (int round = 0; round < 2; round++) {
        struct task task = {.graph_id = RING_ID,
                            .vertex_count = 100,
                            .kind = KIND_I4,
                            .form = RESULT_FORM_HIERARCHY,
                            .signal = &fixture->signal,
                            .base = base,
                            .arcs = &arc,
                            .arc_count = 1};
        store_path(fixture, round > 0);
        task_open_files(&folders, &task);
        if (round == 0) {
            solve_into_file(&task);
            proof_check(2, &pool, &task);
            assert_int_equal(result_create("g_1", "r_1", &task.file, &task.names, &base),
                             STATUS_OK);
        } else {
            update_task(1, &task);
            assert_false(task.is_updated);
            assert_int_equal(task.status, STATUS_OK);
            assert_int_not_equal(fixture->signal.progress.phase, PHASE_SOLVING);
        }
        task_finish(&task);
    }
}

static int destroy_pool(void **state)
{
    cpu_pool_destroy(pool);
    return 0;
}

TEST_GROUP(NULL, destroy_pool)
