#include "server/solver/cpu/kernel.h"
#include "tests/lib/test.h"
#include "tests/solver/laws.h"
#include "tests/solver/shapes.h"
#include "tests/solver/table.h"
#include "tests/solver/trial.h"

#define LAW_VERTICES 150

/* Runs the table with each kernel: with one thread at even sizes, with two at odd sizes. */
static void run_each_kernel(uint32_t n)
{
    struct solver *chosen[TRIAL_CPUS_MAX];
    size_t count = 0;
    for (size_t index = n % 2; index < trial_cpu_count; index += 2) {
        chosen[count++] = trial_cpus[index];
    }
    assert_true(table_run(chosen, count, n));
}

TEST(matrices_of_up_to_200_vertices_match_the_oracle)
{
    for (uint32_t n = 0; n <= (trial_is_quick() ? 100 : 200); n = trial_next_size(n)) {
        run_each_kernel(n);
    }
}

TEST(matrices_of_about_one_tile_match_the_oracle)
{
    static const uint32_t sizes[] = {CPU_TILE - 1, CPU_TILE,         CPU_TILE + 1,
                                     2 * CPU_TILE, 2 * CPU_TILE + 1, 3 * CPU_TILE - 1};
    const size_t count = trial_is_quick() ? 3 : sizeof(sizes) / sizeof(sizes[0]);
    for (size_t index = 0; index < count; ++index) {
        if (trial_is_quick()) {
            run_each_kernel(sizes[index]);
        } else {
            assert_true(table_run(trial_cpus, trial_cpu_count, sizes[index]));
        }
    }
}

static void run_law(bool (*law)(struct solver *solver, const struct edge_list *list))
{
    for (size_t index = 0; index < shape_count; ++index) {
        if (!shapes[index].integral) {
            continue;
        }
        struct edge_list list = shapes_make(&shapes[index], LAW_VERTICES, 1);
        for (size_t solver = 0; solver < trial_cpu_count; ++solver) {
            assert_true(law(trial_cpus[solver], &list));
        }
        edge_list_finish(&list);
    }
}

TEST(a_vertex_is_at_distance_zero_from_itself)
{
    run_law(laws_diagonal_is_zero);
}

TEST(distances_satisfy_the_triangle_inequality)
{
    run_law(laws_triangle_inequality);
}

TEST(relabelling_the_vertices_permutes_the_matrix)
{
    run_law(laws_relabelling_permutes);
}

TEST(reversing_the_edges_transposes_the_matrix)
{
    run_law(laws_reversing_transposes);
}

TEST(adding_an_edge_as_long_as_the_distance_changes_no_distance)
{
    run_law(laws_useless_edge_changes_nothing);
}

TEST_GROUP(trial_open_cpus, trial_close_cpus)
