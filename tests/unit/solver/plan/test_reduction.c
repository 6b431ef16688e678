/* Separators of the core are separators of the whole, whatever the graph. */
#include "server/solver/plan/dissection.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HUB_LEAVES 100000

/* A pattern of these edges, both ways. */
static struct pattern make_pattern(uint32_t n, const uint32_t (*edges)[2], size_t count)
{
    struct pattern pattern;
    uint32_t *mark = calloc(n + 1, sizeof(*mark));
    assert_non_null(mark);
    assert_int_equal(pattern_init(&pattern, n, 2 * count), STATUS_OK);
    for (size_t i = 0; i < count; ++i) {
        ++pattern.offset[edges[i][0] + 1];
        ++pattern.offset[edges[i][1] + 1];
    }
    for (uint32_t v = 0; v < n; ++v) {
        pattern.offset[v + 1] += pattern.offset[v];
    }
    for (size_t i = 0; i < count; ++i) {
        for (int way = 0; way < 2; ++way) {
            const uint32_t from = edges[i][way];
            pattern.target[pattern.offset[from] + (int32_t)mark[from]++] =
                (int32_t)edges[i][1 - way];
        }
    }
    pattern_drop_parallel(&pattern, mark);
    free(mark);
    return pattern;
}

/* Any sides of the core that no entry leads between: then none does in the whole. */
static void check_expansion(const struct reduction *reduction, uint32_t seed)
{
    const struct pattern *core = &reduction->core;
    const struct pattern *whole = reduction->pattern;
    int32_t *core_side = calloc(core->vertex_count + 1, sizeof(*core_side));
    int32_t *side = calloc(whole->vertex_count + 1, sizeof(*side));
    assert_true(core_side != NULL && side != NULL);
    srand(seed);
    for (uint32_t v = 0; v < core->vertex_count; ++v) {
        core_side[v] = rand() % 2;
        for (int32_t e = core->offset[v]; e < core->offset[v + 1]; ++e) {
            const uint32_t other = (uint32_t)core->target[e];
            if (other < v && core_side[other] == 1 - core_side[v]) {
                core_side[v] = SIDE_SEPARATOR;
                break;
            }
        }
    }
    reduction_expand(reduction, core_side, side);
    for (uint32_t v = 0; v < whole->vertex_count; ++v) {
        for (int32_t e = whole->offset[v]; e < whole->offset[v + 1]; ++e) {
            const int32_t other = side[whole->target[e]];
            assert_true(side[v] == other || side[v] == SIDE_SEPARATOR || other == SIDE_SEPARATOR);
        }
    }
    for (uint32_t i = 0; i < core->vertex_count; ++i) {
        assert_int_equal(side[reduction->order[reduction->eliminated + i]], core_side[i]);
    }
    free(core_side);
    free(side);
}

static void sides_of_random_graphs_stay_apart(void **state)
{
    (void)state;
    uint32_t edges[400][2];
    for (uint32_t seed = 0; seed < 300; ++seed) {
        const uint32_t n = 2 + seed % 150;
        const size_t count = n + seed % 50;
        srand(seed);
        for (size_t i = 0; i < count; ++i) {
            edges[i][0] = (uint32_t)rand() % n;
            edges[i][1] = (edges[i][0] + 1 + (uint32_t)rand() % (n - 1)) % n;
        }
        struct pattern pattern = make_pattern(n, (const uint32_t(*)[2])edges, count);
        struct reduction reduction;
        assert_int_equal(reduction_make(&pattern, &reduction), STATUS_OK);
        assert_int_equal(reduction.eliminated + reduction.core.vertex_count, n);
        for (uint32_t v = 0; v < reduction.core.vertex_count; ++v) {
            assert_true(reduction.core.offset[v + 1] - reduction.core.offset[v] > 2);
        }
        check_expansion(&reduction, seed);
        reduction_finish(&reduction);
        pattern_finish(&pattern);
    }
}

static void nothing_is_left_of_a_path_nor_of_a_ring(void **state)
{
    (void)state;
    uint32_t edges[50][2];
    for (uint32_t i = 0; i < 50; ++i) {
        edges[i][0] = i;
        edges[i][1] = (i + 1) % 50;
    }
    for (size_t count = 49; count <= 50; ++count) {
        struct pattern pattern = make_pattern(50, (const uint32_t(*)[2])edges, count);
        struct reduction reduction;
        assert_int_equal(reduction_make(&pattern, &reduction), STATUS_OK);
        assert_int_equal(reduction.core.vertex_count, 0);
        check_expansion(&reduction, 1);
        reduction_finish(&reduction);
        pattern_finish(&pattern);
    }
}

static void the_list_of_a_hub_is_not_searched(void **state)
{
    (void)state;
    uint32_t(*edges)[2] = malloc(HUB_LEAVES * sizeof(*edges));
    assert_non_null(edges);
    for (uint32_t i = 0; i < HUB_LEAVES; ++i) {
        edges[i][0] = 0;
        edges[i][1] = i + 1;
    }
    struct pattern pattern = make_pattern(HUB_LEAVES + 1, (const uint32_t(*)[2])edges, HUB_LEAVES);
    struct reduction reduction;
    assert_int_equal(reduction_make(&pattern, &reduction), STATUS_OK);
    assert_int_equal(reduction.eliminated, 0);
    check_expansion(&reduction, 1);
    reduction_finish(&reduction);
    pattern_finish(&pattern);
    free(edges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides_of_random_graphs_stay_apart),
        cmocka_unit_test(nothing_is_left_of_a_path_nor_of_a_ring),
        cmocka_unit_test(the_list_of_a_hub_is_not_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
